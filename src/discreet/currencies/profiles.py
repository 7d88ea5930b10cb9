"""The privacy profile of a mechanism: δ(ε), its inverse and everything that follows from the same edges.

    δ(ε) = max over edges and directions of Σ_y max(P(y) − e^ε Q(y), 0),

convex and decreasing, piecewise linear in e^ε with kinks at privacy-loss values. The mechanism is (ε, δ)-DP
exactly when δ ≥ δ(ε). Any neighbour graph, any finite mechanism.

References: CY ((ε, δ)-closeness), DR Def. 1.1.4, Balle, Barthe & Gaboardi (2018) for the name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.currencies.bracket import Bracket, Worst, enclosed
from discreet.currencies.channel import LossChannel, channel_of
from discreet.currencies.curve import AttackCurve, attack_curve, over_edges
from discreet.currencies.pair import Pair
from discreet.currencies.tight import TightEpsilon, log_of, tight_epsilon
from discreet.currencies.worst import worst_edge
from discreet.errors import InputError
from discreet.model.mechanism import Mechanism
from discreet.numerics.arrays import Floats
from discreet.numerics.brackets import compare_ratio_exp
from discreet.numerics.digits import float_above, float_below
from discreet.numerics.exact import exact
from discreet.numerics.outward import hockey_stick_ball


@dataclass(frozen=True, eq=False)
class Profile:
    """A channel seen through its attack curve; computed when asked for, then kept."""

    channel: LossChannel

    @cached_property
    def epsilon(self) -> TightEpsilon:
        """The tight ε, exact."""
        return tight_epsilon(self.channel)

    @cached_property
    def curve(self) -> AttackCurve:
        """The attack curve of all edges."""
        return attack_curve(self.channel)

    @cached_property
    def breakpoints(self) -> tuple[tuple[float, float], ...]:
        """(ε, δ) at every kink of δ(ε) for ε ≥ 0, from ε = 0 up; each δ is an upper bound at its ε."""
        slopes = self.curve.slopes()
        with np.errstate(divide="ignore"):
            kinks = np.log(slopes[(slopes > 1) & np.isfinite(slopes)])
        epsilons = np.unique(np.concatenate([[0.0], kinks]))
        if math.isfinite(self.epsilon.upper):
            epsilons = np.unique(np.minimum(np.append(epsilons, self.epsilon.upper), self.epsilon.upper))
        deltas = self.deltas(epsilons)
        return tuple(zip(epsilons.tolist(), deltas.tolist(), strict=True))

    def deltas(self, epsilons: Sequence[float] | Floats) -> Floats:
        """Upper bounds of δ at many ε at once, each within the error of the attack curve."""
        points = np.asarray(epsilons, dtype=np.float64)
        if points.size and not points.min() >= 0:
            raise _negative("ε", float(points.min()))
        upper = self.curve.delta_ends(points)[1]
        return np.where(points >= self.epsilon.upper, 0.0, upper)

    def delta_for_epsilon(self, epsilon: object) -> Worst:
        """The smallest δ at this ε, with the worst edge."""
        at = _non_negative(epsilon, "ε")
        values, margins = _hockey_sticks(self.channel, float(at))
        return worst_edge(self.channel, values, margins, lambda pair: pair_delta(pair, at))

    def epsilon_for_delta(self, delta: object) -> Worst:
        """The smallest ε ≥ 0 at this δ, with the worst edge; infinite when no ε will do."""
        at = _non_negative(delta, "δ")
        if at == 0:
            return Worst(self.epsilon.bracket, self.epsilon.edge)
        if at >= 1 or Fraction(self.delta_for_epsilon(0).upper) <= at:
            return Worst(Bracket(0.0, 0.0))
        curve, chance = self.curve, float(at)

        def reach(a: Floats, b: Floats) -> Floats:
            margin = curve.relative_error * b + curve.absolute_error + 2.0**-50 * chance
            with np.errstate(divide="ignore", invalid="ignore"):
                needed = np.log(np.maximum(b - chance + margin, 0.0) / a)
            needed[np.isnan(needed)] = 0.0
            return np.asarray(np.maximum(needed.max(axis=1), 0.0) * (1 + 2.0**-48) + 2.0**-48)

        return worst_edge(self.channel, over_edges(self.channel, reach), 0.0, lambda pair: pair_epsilon(pair, at))


def profile(source: Mechanism | LossChannel) -> Profile:
    """The profile of a mechanism over its neighbour graph."""
    return Profile(channel_of(source))


def pair_delta(pair: Pair, epsilon: Fraction) -> Bracket:
    """δ(ε) of one pair in one direction, in balls; at ε = 0 the exact total variation, and 0 where no loss exceeds ε."""
    if epsilon == 0:
        return outward(pair.total_variation)
    if all(q and compare_ratio_exp(p, q, epsilon) <= 0 for p, q in pair.key if p):
        return Bracket(0.0, 0.0)
    above = [(p, q) for p, q in pair.key if p and (q == 0 or compare_ratio_exp(p, q, epsilon) > 0)]
    first, second = [p for p, _ in above], [q for _, q in above]
    return enclosed(lambda: hockey_stick_ball(first, second, pair.denominator, epsilon), low=0.0, high=1.0)


def pair_epsilon(pair: Pair, delta: Fraction) -> Bracket:
    """The smallest ε ≥ 0 with δ(ε) ≤ delta for one pair in one direction.

    δ(ε) ≤ δ means b − e^ε a ≤ δ at every corner, so ε = max log((b − δ)/a).
    """
    worst = Fraction(1)
    for alarms, hits in pair.curve:
        excess = Fraction(hits, pair.denominator) - delta
        if excess > 0 and alarms == 0:
            return log_of(None)
        if excess > 0:
            worst = max(worst, excess * pair.denominator / alarms)
    return log_of(worst)


def _hockey_sticks(channel: LossChannel, epsilon: float) -> tuple[Floats, Floats]:
    """Float δ(ε) of every directed edge and a bound on its error.

    A term p(1 − e^(ε−L)) is wrong by at most p times the errors of the loss, of its exponential and of p.
    """
    logs, plain = np.ascontiguousarray(channel.logs.T), np.ascontiguousarray(channel.probabilities.T)
    values, masses = np.zeros(channel.directed), np.zeros(channel.directed)
    at, slack = 0, 4 * channel.log_error + 2.0**-50 * epsilon
    for edges in channel.chunks():
        with np.errstate(invalid="ignore"):
            losses = logs[edges[:, 0]] - logs[edges[:, 1]]
        losses[np.isnan(losses)] = 0.0
        for start, sign, states in ((at, 1.0, edges[:, 0]), (at + len(channel.edges), -1.0, edges[:, 1])):
            below, mass = epsilon - sign * losses, plain[states]
            values[start : start + len(edges)] = np.sum(-mass * np.expm1(np.minimum(below, 0.0)), axis=1)
            masses[start : start + len(edges)] = np.sum(mass, axis=1, where=below < slack)
        at += len(edges)
    count = len(channel.outputs)
    relative = 2 * slack + (count + 16) * 2.0**-52
    return values, relative * masses + count * 1e-307


def _non_negative(value: object, what: str) -> Fraction:
    number = exact(value, what)
    if number < 0:
        raise _negative(what, float(number))
    return number


def _negative(what: str, found: float) -> InputError:
    return InputError(f"{what} is negative", found=f"{found:g}", allowed="numbers from 0 on", remedy=f"give {what} ≥ 0")


def outward(value: Fraction) -> Bracket:
    """Floats around an exact number."""
    return Bracket(float_below(value), float_above(value))
