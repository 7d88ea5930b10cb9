"""Attack risk: what the best attacker achieves who must tell two neighbouring databases apart.

    advantage        max P(A) − Q(A) = total variation = δ(0)
    success at FPR   the largest P(A) with Q(A) ≤ α: exact for the worst edge, randomising between two corners
    Bayes success    max π P(A) + (1 − π)(1 − Q(A)) for a prior chance π of P

References: CY (detection theory), BG Thm 8 (power), Neyman & Pearson (1933).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from discreet.currencies.bracket import Bracket, Worst
from discreet.currencies.curve import over_edges
from discreet.currencies.pair import Pair
from discreet.currencies.profiles import Profile, outward
from discreet.currencies.tradeoffs import probability
from discreet.currencies.worst import worst_edge
from discreet.numerics.arrays import Floats


def advantage(source: Profile) -> Worst:
    """The largest hits minus false alarms over edges and events."""
    return source.delta_for_epsilon(0)


def success_at(source: Profile, alpha: object) -> Worst:
    """The largest TPR of any attack on one edge with FPR at most alpha."""
    level = probability(alpha, "alpha")
    values = over_edges(source.channel, lambda a, b: _interpolated(a, b, float(level)))
    margins = 8 * source.curve.relative_error * values + source.curve.absolute_error
    found = worst_edge(source.channel, values, margins, lambda pair: pair_success(pair, level))
    return found if found.edge is not None else Worst(outward(level))


def bayes_success(source: Profile, prior: object = Fraction(1, 2)) -> Worst:
    """The largest chance of naming the right one of two neighbours, when P has the given prior chance."""
    chance = probability(prior, "prior")
    pi = float(chance)
    values = over_edges(source.channel, lambda a, b: np.maximum((pi * b - (1 - pi) * a).max(axis=1), 0.0) + (1 - pi))
    margins = np.full(len(values), 4 * source.curve.relative_error + 2.0**-50)
    found = worst_edge(source.channel, values, margins, lambda pair: pair_bayes(pair, chance))
    return found if found.edge is not None else Worst(outward(max(chance, 1 - chance)))


def pair_success(pair: Pair, alpha: Fraction) -> Bracket:
    """The Neyman-Pearson power of one pair at an exact level, exact before rounding."""
    level = alpha * pair.denominator
    corners = pair.curve
    best = Fraction(0)
    for (a, b), (a_next, b_next) in pairwise(corners):
        if a_next <= level:
            best = Fraction(b_next)
        elif a <= level:
            best = b + Fraction(b_next - b, a_next - a) * (level - a)
    return outward(best / pair.denominator)


def pair_bayes(pair: Pair, prior: Fraction) -> Bracket:
    """Σ_y max(π P(y), (1 − π) Q(y)): the chance of guessing right."""
    total = sum((max(prior * p, (1 - prior) * q) for p, q in pair.key), Fraction(0))
    return outward(total / pair.denominator)


def _interpolated(a: Floats, b: Floats, level: float) -> Floats:
    """The concave curve through (0, 0) and the corners [edge, corner] at one false-alarm level."""
    zero = np.zeros((len(a), 1))
    a, b = np.hstack([zero, a]), np.hstack([zero, b])
    last = np.maximum((a <= level).sum(axis=1) - 1, 0)
    row = np.arange(len(a))
    following = np.minimum(last + 1, a.shape[1] - 1)
    run = a[row, following] - a[row, last]
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(run > 0, (level - a[row, last]) / run, 0.0)
    return np.asarray(b[row, last] + np.clip(part, 0.0, 1.0) * (b[row, following] - b[row, last]))
