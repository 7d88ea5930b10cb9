"""What is done today under ρ (zCDP): discrete Gaussian noise on the statistic, σ² = Δ²/2ρ, read by Bayes or at face value."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.design.comparison.noise import FaceValue, NoiseLattice, OnStatistic
from discreet.design.program.sections import Ground
from discreet.design.proposal import Proposal
from discreet.model.kernel import GaussianKernel
from discreet.model.promises import ConcentratedPromise, concentrated_rho
from discreet.watch import Watch


class GaussianWay(OnStatistic):
    """Outputs reach one range beyond the statistic's on either side."""

    name = "discrete gaussian"
    words = "discrete Gaussian noise on the statistic, then the best reply"
    serves = (ConcentratedPromise,)

    def channel(self, on: NoiseLattice) -> np.ndarray:
        return channel(on, on.width)

    def propose(self, base: Ground, watch: Watch) -> Proposal | None:
        """None: the route of Gaussian sums begins with this one."""
        return None


class GaussianFaceValue(FaceValue):
    """The noisy number clipped to the range is taken as the action, or the listed action nearest to it."""

    name = "discrete gaussian at face value"
    words = "discrete Gaussian noise clipped to the range, taken at face value"
    serves = (ConcentratedPromise,)

    def channel(self, on: NoiseLattice) -> np.ndarray:
        return channel(on, 0)


def channel(on: NoiseLattice, beyond: int) -> np.ndarray:
    """Probabilities [output, ω] of clipped noise whose outputs reach so far beyond the range."""
    variance = Fraction(on.step * on.step) / (2 * concentrated_rho(on.promise))
    kernel = GaussianKernel(-beyond, max(on.width - 1, 1) + beyond, on.step, variance)
    rows = np.exp(kernel.log_masses(np.arange(kernel.low, kernel.high + 1), on.places))
    return rows if on.width > 1 else rows[: kernel.width - 1] / rows[: kernel.width - 1].sum(axis=0)
