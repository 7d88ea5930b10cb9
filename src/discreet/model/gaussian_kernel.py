"""The discrete Gaussian as a kernel: output k at state s has probability f(k−s), f(j) ∝ e^(−j²/2σ²), tails gathered at the ends.

    P(k|s) = f(k−s) for low < k < high,   P(low|s) = Σ_{j ≤ low−s} f(j),   P(high|s) = Σ_{j ≥ high−s} f(j)

σ² is rational, probabilities are not: they are known from both sides (`numerics.discrete_gaussian`), never as one rational.
For neighbours whose totals are at most Δ apart it is ρ-zCDP with ρ = Δ²/2σ², whatever is clipped afterwards.
Reference: Canonne, Kamath & Steinke (2020), Thm 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import NoReturn

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.actions import Action
from discreet.model.noise_kernel import NoiseKernel, Recommended, kept
from discreet.numerics.discrete_gaussian import (
    GaussianBrackets,
    gaussian_brackets,
    gaussian_log_tails,
    gaussian_logs,
)
from discreet.numerics.exact import brief, format_exact
from discreet.numerics.logspace import log1mexp

MOST_VARIANCE = 10**8
"""The largest σ²: noise of ten thousand either way. Beyond it the table behind a draw does not fit."""


@dataclass(frozen=True)
class GaussianKernel(NoiseKernel):
    """Discrete Gaussian noise with parameter σ²; its variance is at most that."""

    low: int
    high: int
    step: int
    sigma_squared: Fraction
    actions: Recommended | None = None
    family = "discrete-gaussian"
    rational = False

    def __post_init__(self) -> None:
        if not 0 < self.sigma_squared <= MOST_VARIANCE:
            raise InputError(
                "The parameter σ² of a discrete Gaussian kernel is above 0 and not too large to be drawn from",
                found=brief(self.sigma_squared),
                allowed=f"0 < sigma_squared <= {MOST_VARIANCE:,}",
                remedy="correct it, or use smaller weights",
            )
        self._check_range()

    def with_actions(self, actions: Sequence[Action | tuple[Action, ...]]) -> GaussianKernel:
        return replace(self, actions=kept(actions))

    def parameters(self) -> dict[str, str | int]:
        return {"sigma_squared": format_exact(self.sigma_squared)}

    def rho(self, moved: int) -> Fraction:
        """ρ for totals that are at most so far apart."""
        return Fraction(moved * moved) / (2 * self.sigma_squared)

    def brackets(self, bits: int) -> GaussianBrackets:
        """Both sides of the noise at every distance that an output can have from a state."""
        return _brackets(self.sigma_squared, self.width, bits)

    def log_masses(self, outputs: np.ndarray, states: np.ndarray) -> np.ndarray:
        """log P(output | state) [output, state] for some outputs and totals, whole numbers in low..high."""
        table = gaussian_logs(self.sigma_squared, np.abs(outputs[:, None] - states[None, :]))
        ends = (outputs == self.low, outputs == self.high)
        if any(end.any() for end in ends):
            tails = gaussian_log_tails(self.sigma_squared, self.width)
            for end, far in zip(ends, (states - self.low, self.high - states), strict=True):
                table[end] = np.where(far > 0, tails[np.abs(far)], log1mexp(np.minimum(tails[1], 0.0)))
        return np.asarray(table)

    def probability(self, output: int, place: int) -> NoReturn:
        """Refused: no rational is this probability."""
        raise _irrational()

    def whole_rows(self, places: Sequence[int]) -> NoReturn:
        """Refused: no table of rationals is this kernel."""
        raise _irrational()


@lru_cache(maxsize=8)
def _brackets(sigma_squared: Fraction, count: int, bits: int) -> GaussianBrackets:
    return gaussian_brackets(sigma_squared, count, bits)


def _irrational() -> InputError:
    return InputError(
        "The probabilities of discrete Gaussian noise are irrational, and this needs exact ones",
        found="a discrete-gaussian kernel",
        allowed="a table, geometric or staircase kernel",
        remedy="ask for its ρ, its value or a reading of one output, which are proved from both sides",
    )
