"""Noise on the statistic itself, then the best reply (or the number at face value).

`geometric`            ∝ e^(−ε|k|/Δ) on ω, Δ its sensitivity     `laplace`   its continuous twin
`truncated geometric`  the same, clipped to the range and taken at face value
`staircase`            Geng & Viswanath's noise on ω             `inverse sensitivity`   ∝ e^(−ε·d(ω, ω′)/2), d replacements

The statistic must add up: its values are whole numbers of some unit.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp

import numpy as np

from discreet.design.comparison.plain_noise import noise_on_the_statistic
from discreet.design.comparison.way import Way, answered, inapplicable, published, rows_of
from discreet.design.program.sections import Ground, Section, summed
from discreet.design.proposal import Proposal
from discreet.design.routes.oblivious import lattice_summary
from discreet.errors import TooLarge
from discreet.frozen import dataclass
from discreet.mechanisms.staircase import best_plateau
from discreet.model.actions import NamedActions
from discreet.model.kernel import GeometricKernel, StaircaseKernel
from discreet.model.mechanism import Mechanism
from discreet.model.promises import Promise, pure_epsilon
from discreet.model.replies import best_replies, reply_loss
from discreet.watch import Watch

MOST_OUTPUTS = 4_000
FAINT = 20.0
"""Noise beyond the range by steps that fall by e^−20 together is gathered: what it would tell is lost with it."""
QUADRATURE = 12
"""Gauss-Legendre points for each unit of the Laplace mechanism's output."""


@dataclass(frozen=True, eq=False)
class NoiseLattice:
    """The statistic as whole numbers: the place of each of its values counted from the lowest, and one neighbour's step."""

    section: Section
    places: np.ndarray
    masses: np.ndarray
    step: int
    promise: Promise

    @property
    def epsilon(self) -> float:
        return float(pure_epsilon(self.promise))

    @property
    def width(self) -> int:
        return int(self.places.max()) + 1


def lattice(base: Ground, most: int = MOST_OUTPUTS) -> NoiseLattice:
    """The lattice of a statistic that adds up and has at most so many values."""
    found = _lattice(base)
    if found.width > most:
        raise TooLarge(
            "The statistic has too many values for this baseline",
            size=f"{found.width:,}",
            fits=f"{most:,}",
            remedy="compare with what is shown",
        )
    return found


@lru_cache(maxsize=1)
def _lattice(base: Ground) -> NoiseLattice:
    """Several ways ask for it, one after another."""
    summary = lattice_summary(base.problem)
    section = summed(base, summary)
    places = np.zeros(len(base.exact_omegas), dtype=np.int64)
    places[base.column] = section.space.vectors[section.image, 0]
    places -= int(places.min())
    masses = np.bincount(base.column, base.masses, len(base.exact_omegas))
    # nobody can move a constant statistic
    step = max(1, summary.step(base.problem.neighbours))
    return NoiseLattice(section, places, masses, step, base.problem.promise)


class OnStatistic(Way):
    """Noise on the statistic, read by Bayes' rule."""

    @abstractmethod
    def channel(self, on: NoiseLattice) -> np.ndarray:
        """Probabilities [output, ω]."""

    def loss(self, base: Ground, watch: Watch) -> float:
        on = lattice(base)
        return answered(base.problem, self.channel(on) * on.masses, base.exact_omegas)

    def propose(self, base: Ground, watch: Watch) -> Proposal | None:
        # totals and values of the statistic ascend together, so a column of one is a column of the other
        on = lattice(base)
        return published(on.section, self.channel(on), self.words)

    def entries(self, base: Ground) -> int:
        on = lattice(base)
        return rows_of(base.problem, on.width) * len(on.section.space)


class InClosedForm(OnStatistic):
    """Noise that is published in closed form: no table to be rounded, and as many different replies as there are outputs."""

    stairs = False

    def beyond(self, on: NoiseLattice) -> int:
        """So many outputs beyond either end of the range say more than the end itself."""
        return 0

    def propose(self, base: Ground, watch: Watch) -> Proposal | None:
        noise = self._closed(base)
        if noise is None:
            return super().propose(base, watch)
        plain = noise.kernel
        assert isinstance(plain, (GeometricKernel, StaircaseKernel))
        on = lattice(base)
        beyond = self.beyond(on)
        noise = replace(noise, kernel=replace(plain, low=plain.low - beyond, high=plain.high + beyond, actions=None))
        totals = {total: state for state, total in enumerate(noise.places.tolist())}
        lowest = min(totals)
        states = [totals[lowest + place] for place in on.places.tolist()]
        seen = noise.probabilities[:, states] * on.masses
        each = [best_replies(d, seen, base.exact_omegas).actions for d in base.problem.decisions]
        replies = each[0] if len(each) == 1 else tuple(zip(*each, strict=True))
        return Proposal(noise.summary, noise.kernel.with_actions(replies), None, self.words, "optimal")

    def entries(self, base: Ground) -> int:
        return super().entries(base) if self._closed(base) is None else 0

    def _closed(self, base: Ground) -> Mechanism | None:
        noise = noise_on_the_statistic(base.problem, stairs=self.stairs) if base.problem.unbiased is None else None
        return noise if noise is not None and isinstance(noise.kernel, (GeometricKernel, StaircaseKernel)) else None


class GeometricNoise(InClosedForm):
    """Two-sided geometric noise; what leaves the range is gathered at its ends, which loses nothing."""

    name = "geometric"
    words = "geometric noise on the statistic, then the best reply"

    def channel(self, on: NoiseLattice) -> np.ndarray:
        ratio = exp(-on.epsilon / on.step)
        reach = np.arange(-on.width, on.width + 1)
        centre = (1 - ratio) / (1 + ratio) if ratio < 1 else 0.0
        return clipped(centre * ratio ** np.abs(reach).astype(float), on.places)


class FaceValue(GeometricNoise):
    """The clipped noisy number is taken as the action (or the listed action nearest to it): never better than the best reply."""

    name = "truncated geometric"
    words = "geometric noise clipped to the range, taken at face value"

    def loss(self, base: Ground, watch: Watch) -> float:
        decision = base.problem.decision
        if not decision.is_loss:
            raise inapplicable("a number is taken at face value only for losses")
        on = lattice(base)
        low, high = base.exact_omegas[0], base.exact_omegas[-1]
        assert not isinstance(decision.actions, NamedActions), "losses compare numbers"
        shown = [decision.actions.nearest(low + (high - low) * Fraction(k, max(on.width - 1, 1))) for k in range(on.width)]
        joint = self.channel(on) * on.masses
        return float(decision.weight) * float(reply_loss(decision, joint, base.exact_omegas, shown).sum())

    def propose(self, base: Ground, watch: Watch) -> Proposal | None:
        return None


class LaplaceWay(OnStatistic):
    """ω + Laplace(Δ/ε): posteriors change smoothly between lattice points, so the output is integrated by Gauss-Legendre.

    On a lattice it is geometric noise post-processed (e^(−c|y|) obeys Ghosh et al.'s condition), so that is published instead.
    """

    name = "laplace"
    words = "Laplace noise on the statistic, then the best reply"

    def channel(self, on: NoiseLattice) -> np.ndarray:
        rate = on.epsilon / on.step
        if rate == 0:
            return np.ones((1, len(on.places)))
        nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE)
        inner = (np.arange(on.width - 1)[:, None] + (nodes + 1) / 2).ravel()
        measure = np.tile(weights / 2, on.width - 1)
        kernel = measure[:, None] * rate / 2 * np.exp(-rate * np.abs(inner[:, None] - on.places[None, :]))
        # every output below the lowest value has the same posterior, and so above the highest: two outputs hold the tails
        ends = np.stack([np.exp(-rate * on.places) / 2, np.exp(-rate * (on.width - 1 - on.places)) / 2])
        return np.vstack([kernel, ends])

    def loss(self, base: Ground, watch: Watch) -> float:
        on = lattice(base, 4 * MOST_OUTPUTS // QUADRATURE)
        return answered(base.problem, self.channel(on) * on.masses, base.exact_omegas)

    def propose(self, base: Ground, watch: Watch) -> Proposal | None:
        return None


class StaircaseWay(InClosedForm):
    """Beyond the range an output and the one a whole step further out have the same posterior: each stands for all of them."""

    name = "staircase"
    stairs = True
    words = "staircase noise on the statistic, then the best reply"

    def beyond(self, on: NoiseLattice) -> int:
        steps = ceil(FAINT / on.epsilon) if on.epsilon else 1
        return on.step * max(1, min(steps, on.width // on.step))

    def channel(self, on: NoiseLattice) -> np.ndarray:
        if on.epsilon == 0:
            return np.ones((1, len(on.places)))
        ratio = exp(-on.epsilon)
        plateau = best_plateau(Fraction(on.epsilon), on.step)
        outputs = np.arange(-on.step, on.width + on.step)
        stairs = (np.abs(outputs[:, None] - on.places[None, :]) + on.step - plateau) // on.step
        unit = (1 - ratio) / ((2 * plateau - 1) * (1 - ratio) + 2 * on.step * ratio)
        kernel = unit * ratio ** stairs.astype(float)
        kernel[(outputs < 0) | (outputs >= on.width)] /= 1 - ratio
        return kernel


class InverseSensitivityWay(OnStatistic):
    """The exponential mechanism by the number of neighbours' steps to each value."""

    name = "inverse sensitivity"
    words = "inverse sensitivity mechanism, then the best reply"

    def channel(self, on: NoiseLattice) -> np.ndarray:
        far = -(-np.abs(on.places[:, None] - on.places[None, :]) // on.step)
        raw = np.exp(-on.epsilon * far / 2)
        return np.asarray(raw / raw.sum(axis=0))


def clipped(pmf: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The kernel [output, ω] of adding noise with the given pmf over −width..width and clipping to 0..width−1."""
    width = len(pmf) // 2
    kernel = pmf[np.arange(width)[:, None] - places[None, :] + width]
    beyond = (1 - pmf.sum()) / 2
    if width > 1:
        up, down = np.cumsum(pmf), np.cumsum(pmf[::-1])
        kernel[0] = up[width - places] + beyond
        kernel[-1] = down[places + 1] + beyond
    return kernel
