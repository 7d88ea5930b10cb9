"""A limit that holds whatever the data: noise on ω read near its face value (limited shrinkage).

A cell with ω is published as y = ω + Z, Z symmetric noise, and read as a(y) = y + e(y). Let ρ be the loss of an error, convex.

**Theorem.** If a never falls and the shift e never rises as y rises, and −D₋ ≤ e ≤ D₊, then at every ω, whatever the prior,
    E ρ(a(ω+Z) − ω) ≤ max(L(−D₋), L(D₊)),      L(d) = E ρ(Z + d).
Proof. With the mean shift m = E e(ω+Z), convexity gives ρ(Z+e) − ρ(Z+m) ≤ ρ′(Z+e)·(e − m). As Z rises, ρ′(Z+e) = ρ′(a − ω) never
falls and e never rises, so the mean of the right side, a covariance, is at most 0. L is convex, and m lies in [−D₋, D₊]. ∎
Squared error: L(d) = E Z² + d², so shifts up to √(1/10) of the noise's deviation lose at most 1.1 times what plain noise loses.

Outputs end at low and high, where what lies beyond is gathered. At k units below the upper end that changes the loss by
−E[ρ(Z + e) − ρ(k + e); Z > k] with e = e(high): least favourable at k = 0 and e = −D₋ (differences of ρ grow, and where ρ(k+e)
rises with k every term is already positive), so gathering costs nothing anywhere if
    E[ρ(Z − D₋) − ρ(−D₋); Z > 0] ≥ 0,
and the same at the lower end. For squared error that is D ≤ E Z²/2E|Z|; for the pinball at q, E(Z−D₋)₊ ≥ q·E Z₊, and 1 − q below.

Reference: Efron & Morris (1971), limited translation of Bayes rules, there for normal noise and squared error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import exp, expm1, floor, log2, sqrt

import numpy as np

from discreet.design.comparison.counted_world import CountedWorld
from discreet.design.comparison.evaluation import recommended, why_not_listed
from discreet.design.comparison.plain_noise import plain_loss
from discreet.design.comparison.truths import ListedWorld, Replies, SummedWorld, side_by_side
from discreet.mechanisms.integer_noise import IntegerNoise
from discreet.model.actions import Action, ListedActions
from discreet.model.closed_kernel import ClosedKernel, GeometricKernel
from discreet.model.decision import Decision
from discreet.model.gaussian_kernel import GaussianKernel
from discreet.model.lattice import StatisticLattice, statistic_lattice
from discreet.model.losses import DistanceLoss, SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.noise_kernel import NoiseKernel
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.discrete_gaussian import gaussian_moments

FINE = 20
"""Shifts are whole multiples of a unit over a power of two, so that a window has about so many bits of them."""
HALVINGS, FURTHEST = 60, 1e3
"""Of the search for a window, which is not wider than so many deviations of the noise."""
SAFE = 1e-9
"""By so much, relatively, numbers in floats are rounded outward."""


@dataclass(frozen=True)
class Limit:
    """The most that a mechanism loses on average over its noise, at any data with ω from `lowest` to `highest`."""

    loss: float
    lowest: Fraction
    highest: Fraction
    whole: bool
    """Whether these are all the values that ω can have."""


def proved_limit(mechanism: Mechanism) -> Limit | None:
    """The limit of the theorem, its conditions checked on the exact actions; None where it says nothing."""
    lattice, kernel, summary = statistic_lattice(mechanism.problem), mechanism.kernel, mechanism.summary
    if lattice is None or not isinstance(kernel, NoiseKernel) or not isinstance(summary, LinearSummary):
        return None
    universe = mechanism.problem.universe
    assert isinstance(universe, Universe)
    if summary.weights != lattice.summary.weights:
        return None
    noise, total = _noise(kernel), 0.0
    for i, decision in enumerate(mechanism.problem.decisions):
        most = _most_lost(decision, _shifts(mechanism, lattice, i), lattice.unit, noise)
        if most is None:
            return None
        total += float(decision.weight) * most
    low, high = lattice.summary.range(universe)
    whole = kernel.low <= low and high <= kernel.high and summary.clip(low) == low and summary.clip(high) == high
    first, last = max(low, kernel.low), min(high, kernel.high)
    return Limit(total * (1 + SAFE), lattice.omega(first), lattice.omega(last), whole)


def limit_in(seen: ListedWorld | SummedWorld) -> Limit | None:
    """The limit by the theorem, or by looking at every state where these are listed."""
    if isinstance(seen, CountedWorld):
        return Limit(seen.most * (1 + SAFE), *seen.problem.omega_range, True)
    proved = proved_limit(seen.mechanism)
    if proved is not None or why_not_listed(seen.mechanism) is not None:
        return proved
    risk = (seen if isinstance(seen, ListedWorld) else ListedWorld(seen.mechanism)).risk
    lowest, highest = seen.problem.omega_range
    return Limit(float(risk.max()) + SAFE * float(np.abs(risk).max()), lowest, highest, True)


def limited_reading(noise: Mechanism, replies: Replies, chances: np.ndarray, never: float) -> Mechanism | None:
    """Noise on the statistic with replies moved so near to face value that no data lose more than `never` times plain noise.

    `chances` are those of each output where the replies are best: of outputs that never happen there, no reply is known.
    """
    lattice, kernel = statistic_lattice(noise.problem), noise.kernel
    if lattice is None or not isinstance(kernel, NoiseKernel):
        return None
    law, read = _noise(kernel), list[list[Action]]()
    likely = np.flatnonzero(chances > np.finfo(float).tiny / np.finfo(float).eps)
    for i, decision in enumerate(noise.problem.decisions):
        faces = recommended(noise, i)
        if not isinstance(decision.loss, DistanceLoss) or not len(likely):
            return None
        wanted = np.array([float(r[i] if isinstance(r, tuple) else r) for r in replies])
        wanted = (wanted - np.array([float(f) for f in faces])) / float(lattice.unit)
        wanted[: likely[0]], wanted[likely[-1] + 1 :] = wanted[likely[0]], wanted[likely[-1]]
        width = law.window(decision.loss, never * plain_loss(noise.problem, lattice, decision.loss))
        read.append(_moved(decision, faces, np.clip(_falling(wanted), -width[0], width[1]), lattice.unit, max(width)))
    return replace(noise, kernel=kernel.with_actions(side_by_side(read)))


def _falling(shifts: np.ndarray) -> np.ndarray:
    """Shifts that never rise, half-way between the largest such below and the smallest above; and never fall by more than one."""
    falling = (np.minimum.accumulate(shifts) + np.maximum.accumulate(shifts[::-1])[::-1]) / 2
    units = np.arange(len(shifts))
    return np.asarray(np.maximum.accumulate(falling + units) - units)


def _moved(decision: Decision, faces: Sequence[Action], shifts: np.ndarray, unit: Fraction, width: float) -> list[Action]:
    """Face values and shifts in units of the lattice, as exact actions; listed actions are taken from those on the way."""
    parts = 1 << int(np.clip(FINE - floor(log2(max(width, 1e-300))), 0, 2 * FINE))
    units = np.arange(len(shifts)) * parts
    steps = np.maximum.accumulate(np.trunc(shifts * parts).astype(np.int64) + units) - units
    found: list[Action] = []
    for face, step in zip(faces, steps.tolist(), strict=True):
        assert isinstance(face, Fraction)
        found.append(_towards(decision, face, Fraction(step, parts) * unit))
    return found


def _towards(decision: Decision, face: Fraction, shift: Fraction) -> Fraction:
    """The allowed action nearest to face + shift that is not beyond it."""
    actions = decision.actions
    if not isinstance(actions, ListedActions):
        return actions.nearest(face + shift)  # type: ignore[union-attr]
    near = actions.nearest(face + shift)
    if abs(near - face) <= abs(shift):
        return near
    at = actions.position(near) - (1 if shift > 0 else -1)
    return actions.numbers[at] if 0 <= at < len(actions) and abs(actions.numbers[at] - face) <= abs(shift) else face


def _shifts(mechanism: Mechanism, lattice: StatisticLattice, maker: int) -> list[tuple[Fraction, Fraction]]:
    """Each action with its shift from face value, in units of the lattice."""
    kernel = mechanism.kernel
    assert isinstance(kernel, NoiseKernel)
    found = []
    for k, action in enumerate(recommended(mechanism, maker), kernel.low):
        assert isinstance(action, Fraction)
        found.append((action, (action - lattice.omega(k)) / lattice.unit))
    return found


def _most_lost(decision: Decision, shifts: list[tuple[Fraction, Fraction]], unit: Fraction, noise: _Noise) -> float | None:
    """The bound of the theorem for one decision maker; None where its conditions do not hold."""
    loss = decision.loss
    if not isinstance(loss, DistanceLoss):
        return None
    if any(before[0] > after[0] or before[1] < after[1] for before, after in pairwise(shifts)):
        return None
    up, down = float(shifts[0][1]), -float(shifts[-1][1])
    if max(up, down) > 0 and not noise.known(loss):
        return None
    if (down > 0 and not noise.may_gather(loss, down, above=True)) or (up > 0 and not noise.may_gather(loss, up, above=False)):
        return None
    return float(unit) ** loss.degree * max(noise.loss(loss, up), noise.loss(loss, -down))


@dataclass(frozen=True)
class _Noise:
    """Symmetric noise on the integers: E Z², E|Z|, and E(Z−d)₊ for d ≥ 0 where that is known."""

    squares: float
    sizes: float
    beyond: Callable[[float], float] | None

    def known(self, loss: DistanceLoss) -> bool:
        return isinstance(loss, SquaredLoss) or self.beyond is not None

    def loss(self, loss: DistanceLoss, shift: float) -> float:
        """L(d) in units of the lattice."""
        if isinstance(loss, SquaredLoss):
            return self.squares + shift**2
        q = float(loss.quantile)  # type: ignore[arg-type]
        past = self.sizes / 2 if shift == 0 or self.beyond is None else self.beyond(abs(shift))
        return loss.pinballs * ((1 - q if shift > 0 else q) * abs(shift) + past)

    def may_gather(self, loss: DistanceLoss, shift: float, *, above: bool) -> bool:
        """Whether gathering what lies beyond an end costs nothing, with actions shifted inwards by so much there."""
        if isinstance(loss, SquaredLoss):
            return 2 * shift * self.sizes * (1 + SAFE) <= self.squares
        q = float(loss.quantile)  # type: ignore[arg-type]
        assert self.beyond is not None
        return self.beyond(shift) >= (q if above else 1 - q) * self.sizes / 2 * (1 + SAFE)

    def window(self, loss: DistanceLoss, most: float) -> tuple[float, float]:
        """How far below and above face value shifts may be, to lose `most` at worst: D₋ and D₊, in units of the lattice."""
        if not self.known(loss):
            return 0.0, 0.0

        def widest(sign: int) -> float:
            near, far = 0.0, FURTHEST * (sqrt(self.squares) + self.sizes)
            for _ in range(HALVINGS):
                middle = (near + far) / 2
                good = self.loss(loss, sign * middle) <= most * (1 - 2 * SAFE) and self.may_gather(loss, middle, above=sign < 0)
                near, far = (middle, far) if good else (near, middle)
            return near

        return widest(-1), widest(1)


def _noise(kernel: NoiseKernel) -> _Noise:
    if isinstance(kernel, GaussianKernel):
        return _Noise(*gaussian_moments(kernel.sigma_squared), None)
    assert isinstance(kernel, ClosedKernel)
    law = IntegerNoise.of(kernel)
    ratio, rest = law.ratio, -expm1(-law.fall)

    def beyond(d: float) -> float:
        m = floor(d)
        return exp(-law.fall * (m + 1)) * ((m + 1 - d) + ratio / rest) / (1 + ratio)

    return _Noise(law.variance(), law.mean_absolute(), beyond if isinstance(kernel, GeometricKernel) else None)
