"""Noise at face value: what it loses is known whatever the prior, so no law has to be formed.

ω = origin + unit·S for every database, and the mechanism publishes S plus two-sided geometric noise Z of ratio r, gathered at the
ends of the range of S; the action recommended after y is origin + unit·y. Gathering moves no output away from S, so each loss is at
most that of the noise itself:

    E Z² = 2r/(1−r)²,        E|Z| = 2r/(1−r²),        E pinball_q(Z) = E|Z|/2 for every q, since Z is symmetric.

Exact rationals; an upper side of the loss, and hardly more than it where the range is much wider than the noise.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.model.kernel import GeometricKernel
from discreet.model.lattice import StatisticLattice, statistic_lattice
from discreet.model.losses import DistanceLoss, SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe


def face_value_payoff(mechanism: Mechanism) -> Fraction | None:
    """A lower side of the expected payoff under any prior; None when the mechanism is not noise at face value."""
    kernel, lattice = mechanism.kernel, statistic_lattice(mechanism.problem)
    losses = [d.loss for d in mechanism.problem.decisions]
    if lattice is None or not isinstance(kernel, GeometricKernel) or not all(isinstance(x, DistanceLoss) for x in losses):
        return None
    if not _reads_the_statistic(mechanism, lattice) or not _at_face_value(kernel, lattice, len(losses)):
        return None
    r = kernel.ratio
    total = Fraction(0)
    for decision in mechanism.problem.decisions:
        loss = decision.distance
        if isinstance(loss, SquaredLoss):
            noise = lattice.unit**2 * 2 * r / (1 - r) ** 2
        else:
            noise = loss.pinballs * lattice.unit * r / (1 - r**2)
        total += decision.weight * noise
    return -total


def _reads_the_statistic(mechanism: Mechanism, lattice: StatisticLattice) -> bool:
    """Whether the summary is S, over a range that holds every database."""
    universe, summary, kernel = mechanism.problem.universe, mechanism.summary, mechanism.kernel
    if not isinstance(universe, Universe) or not isinstance(summary, LinearSummary) or not isinstance(kernel, GeometricKernel):
        return False
    low, high = lattice.summary.range(universe)
    held = summary.clip(low) == low and summary.clip(high) == high
    return held and summary.weights == lattice.summary.weights and kernel.low <= low and high <= kernel.high


def _at_face_value(kernel: GeometricKernel, lattice: StatisticLattice, makers: int) -> bool:
    """Whether every output recommends the value that it shows, to every decision maker."""
    if kernel.actions is None:
        return False
    for k, action in enumerate(kernel.actions, kernel.low):
        shown = lattice.omega(k)
        if action != (shown if makers == 1 and not isinstance(action, tuple) else (shown,) * makers):
            return False
    return True
