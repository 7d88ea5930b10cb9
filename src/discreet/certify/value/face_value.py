"""Noise at face value: what it loses over its whole range is known whatever the prior, so no law has to be formed.

ω = origin + unit·S for every database, and the mechanism publishes S plus two-sided geometric noise Z of ratio r, gathered at the
ends of the range of S; the action recommended after y is origin + unit·y. Gathering moves no output away from S, so each loss is at
most that of the noise itself:

    E Z² = 2r/(1−r)²,        E|Z| = 2r/(1−r²),        E pinball_q(Z) = E|Z|/2 for every q, since Z is symmetric.

Where the mechanism tells only S in a window [a, b] apart and gathers the rest at its ends, absolute and pinball errors grow by the
distance from S to the window at most, |y − S| ≤ |y − S′| + |S′ − S| with S′ the end or S itself, and for independent respondents

    E dist(S, [a, b]) ≤ (max S − b)·P(S > b) + (a − min S)·P(S < a),        P(S ≥ k) ≤ (Σ_t p_t·x^w_t)^N / x^k for every x > 1

(Chernoff), for one rational x near the best.

Exact rationals and bracketed logarithms; an upper side of the loss, hardly more than it where the range is far wider than noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.model.kernel import GeometricKernel, NoiseKernel
from discreet.model.lattice import StatisticLattice, statistic_lattice
from discreet.model.losses import DistanceLoss, SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.priors import IidPrior
from discreet.model.progression import Progression
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.brackets import log_bracket, rational_above_exp

GRID, LOG_BITS, PROBABILITY_BITS = 1 << 20, 120, 30
MOST_WEIGHT = 1_000
"""Powers of x beyond this are too long."""
MOST_MISSED = Fraction(1, 1 << 20)
"""In steps of the statistic; where more is missed, laws tell more than this."""


def face_value_payoff(mechanism: Mechanism) -> Fraction | None:
    """A lower side of the expected payoff, of a whole range under any prior; None when it is not noise at face value."""
    kernel, lattice = mechanism.kernel, statistic_lattice(mechanism.problem)
    losses = [d.loss for d in mechanism.problem.decisions]
    if lattice is None or not isinstance(kernel, GeometricKernel) or not all(isinstance(x, DistanceLoss) for x in losses):
        return None
    if not at_face_value(kernel, lattice, len(losses)):
        return None
    missed = _missed(mechanism, lattice)
    if missed is None or (missed and any(isinstance(x, SquaredLoss) for x in losses)):
        return None
    r = kernel.ratio
    total = Fraction(0)
    for decision in mechanism.problem.decisions:
        loss = decision.distance
        if isinstance(loss, SquaredLoss):
            noise = lattice.unit**2 * 2 * r / (1 - r) ** 2
        else:
            noise = lattice.unit * (loss.pinballs * r / (1 - r**2) + missed)
        total += decision.weight * noise
    return -total


def _missed(mechanism: Mechanism, lattice: StatisticLattice) -> Fraction | None:
    """At least the mean distance from S to what the mechanism tells apart; None when it reads otherwise, or that is not known."""
    problem, summary, kernel = mechanism.problem, mechanism.summary, mechanism.kernel
    universe, prior = problem.universe, problem.prior
    if not isinstance(universe, Universe) or not isinstance(summary, LinearSummary) or not isinstance(kernel, GeometricKernel):
        return None
    low, high = lattice.summary.range(universe)
    first, last = summary.clip(low), summary.clip(high)
    if summary.weights != lattice.summary.weights or first < kernel.low or kernel.high < last:
        return None
    if (first, last) == (low, high):
        return Fraction(0)
    if not isinstance(prior, IidPrior) or universe.smallest != universe.largest or max(summary.weights) > MOST_WEIGHT:
        return None
    size, top = universe.largest, max(summary.weights)
    mirrored = tuple(top - w for w in summary.weights)
    above = (high - last) * _reaches(summary.weights, prior.probabilities, size, last + 1)
    below = (first - low) * _reaches(mirrored, prior.probabilities, size, size * top - first + 1)
    return above + below if above + below <= MOST_MISSED else None


def _reaches(weights: Sequence[int], probabilities: Sequence[Fraction], size: int, k: int) -> Fraction:
    """At least the probability that a sum over so many independent respondents is k or more."""
    pairs = list(zip(probabilities, weights, strict=True))
    mean = sum((p * w for p, w in pairs), Fraction(0))
    variance = sum((p * w * w for p, w in pairs), Fraction(0)) - mean**2
    if not variance:
        return Fraction(1)
    x = 1 + Fraction(max(1, round((k - size * mean) / (size * variance) * GRID)), GRID)
    growth = sum((p * x**w for p, w in pairs), Fraction(0))
    exponent = size * log_bracket(growth, LOG_BITS)[1] - k * log_bracket(x, LOG_BITS)[0]
    return Fraction(1) if exponent >= 0 else rational_above_exp(exponent, PROBABILITY_BITS)


def at_face_value(kernel: NoiseKernel, lattice: StatisticLattice, makers: int) -> bool:
    """Whether every output recommends the value that it shows, to every decision maker."""
    if kernel.actions is None:
        return False
    if isinstance(kernel.actions, Progression) and makers == 1:
        return kernel.actions == Progression(lattice.omega(kernel.low), lattice.unit, kernel.width)
    for shown, action in zip(lattice.omegas(kernel.low, kernel.high), kernel.actions, strict=True):
        if action != (shown if makers == 1 and not isinstance(action, tuple) else (shown,) * makers):
            return False
    return True
