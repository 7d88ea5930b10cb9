"""Rényi divergences of a mechanism: the curve α ↦ D_α, with relative entropy at 1 and the tight ε at ∞.

    D_α(P‖Q) = log( Σ p^α q^(1−α) ) / (α − 1),      D_1 = Σ p log(p/q),      D_∞ = log max p/q,

largest over edges and directions. D_α is non-decreasing in α and adds up under composition.
References: Rényi (1961); Mironov (2017) for Rényi differential privacy; CY for relative entropy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.currencies.bracket import INFINITE, ZERO, Bracket, Worst, enclosed
from discreet.currencies.channel import LossChannel, channel_of
from discreet.currencies.pair import Pair
from discreet.currencies.tight import tight_epsilon
from discreet.currencies.worst import worst_edge
from discreet.errors import InputError
from discreet.model.mechanism import Mechanism
from discreet.numerics.arrays import Floats
from discreet.numerics.exact import exact
from discreet.numerics.moments import log_moments, loss_errors
from discreet.numerics.outward import ball, power_ball, relative_entropy_ball

ORDERS = (Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4), Fraction(8), Fraction(16), Fraction(32), Fraction(64))
"""Orders shown when none are asked for."""
LARGEST_ORDER = 10**6


def renyi(source: Mechanism | LossChannel, order: object) -> Worst:
    """D_α of a mechanism at one order α ≥ 1; `math.inf` or "infinity" gives the tight ε."""
    channel = channel_of(source)
    if order in (math.inf, "inf", "infinity"):
        tight = tight_epsilon(channel)
        return Worst(tight.bracket, tight.edge)
    alpha = _order(order)
    values, margins = _floats(channel, float(alpha))
    return worst_edge(channel, values, margins, lambda pair: pair_renyi(pair, alpha))


def renyi_curve(source: Mechanism | LossChannel, orders: Sequence[object] = ORDERS) -> tuple[tuple[float, Worst], ...]:
    """(α, D_α) at several orders."""
    channel = channel_of(source)
    return tuple((float(exact(order, "order")), renyi(channel, order)) for order in orders)


def relative_entropy(source: Mechanism | LossChannel) -> Worst:
    """The largest D(P‖Q) over edges, in nats."""
    return renyi(source, 1)


def pair_renyi(pair: Pair, order: Fraction) -> Bracket:
    """D_α of one pair in one direction, in balls."""
    if pair.first == pair.second:
        return ZERO
    if any(p and not q for p, q in pair.key):
        return INFINITE
    first, second = [p for p, _ in pair.key], [q for _, q in pair.key]
    if order == 1:
        return enclosed(lambda: relative_entropy_ball(first, second, pair.denominator), low=0.0)
    return enclosed(lambda: power_ball(first, second, pair.denominator, order).log() / ball(order - 1), low=0.0)


def _order(order: object) -> Fraction:
    alpha = exact(order, "order")
    if not 1 <= alpha <= LARGEST_ORDER:
        raise InputError(
            "A Rényi order is out of range",
            found=str(alpha),
            allowed=f"1 (relative entropy) to {LARGEST_ORDER}, or infinity",
            remedy="choose an order of at least 1",
        )
    return alpha


def _floats(channel: LossChannel, order: float) -> tuple[Floats, Floats]:
    """Float D_α of every directed edge with a bound on its error."""
    values, margins = np.zeros(channel.directed), np.zeros(channel.directed)
    logs, plain = np.ascontiguousarray(channel.logs.T), np.ascontiguousarray(channel.probabilities.T)
    at = 0
    for edges in channel.chunks():
        for start, (one, other) in ((at, (0, 1)), (at + len(channel.edges), (1, 0))):
            first, second = edges[:, one], edges[:, other]
            with np.errstate(invalid="ignore"):
                losses = logs[first] - logs[second]
            losses[np.isneginf(logs[first])] = 0.0
            here = slice(start, start + len(edges))
            if order == 1:
                values[here], margins[here] = _relative_entropies(plain[first], logs[first], losses, channel.log_error)
            else:
                logged, error = log_moments(plain[first], logs[first], losses, order - 1, channel.log_error)
                values[here], margins[here] = logged / (order - 1), error / (order - 1)
        at += len(edges)
    return values, margins


def _relative_entropies(mass: Floats, log_mass: Floats, losses: Floats, log_error: float) -> tuple[Floats, Floats]:
    """Σ p L with its error bound, which is relative to Σ p |L|."""
    with np.errstate(invalid="ignore"):
        terms = np.where(mass > 0, mass * losses, np.where(np.isposinf(losses), np.inf, 0.0))
    size = np.abs(terms).sum(axis=1)
    wrong = (mass * loss_errors(log_mass, losses, log_error)).sum(axis=1)
    margin = np.where(np.isinf(size), 0.0, (mass.shape[1] + 8) * 2.0**-52 * size + 2 * wrong + mass.shape[1] * 1e-300)
    return terms.sum(axis=1), margin
