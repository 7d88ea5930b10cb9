"""Symmetric noise Z on the integers that falls in stairs: the float law behind geometric and staircase mechanisms.

    f(j) = c·b^k(|j|),   k(i) = 0 for i < m,   k(i) = 1 + ⌊(i − m)/W⌋ for i ≥ m,   b = e^(−fall),
    c = (1 − b)/(2(m + b(W − m)) − (1 − b))

A centre of 2m − 1 integers, then stairs of W integers either side, each lower by b than the one before; f(j + W) = b·f(j) for
j ≥ 0. Geometric noise is the case W = m = 1. Exact kernels of the same noise are `model.closed_kernel`.

Notation: W → stair, m → plateau. Reference: Geng & Viswanath (2014); Ghosh et al. (2012).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.mechanisms.parameters import Pure
from discreet.model.closed_kernel import ClosedKernel
from discreet.model.priors.weights import log_ratio
from discreet.numerics.arrays import Floats


@dataclass(frozen=True)
class IntegerNoise:
    """Noise that falls by e^(−fall) once every `stair` integers beyond a centre of 2·plateau − 1."""

    stair: int
    plateau: int
    fall: float

    def __post_init__(self) -> None:
        if not 1 <= self.plateau <= self.stair:
            raise InputError(
                "The plateau of a staircase is not within its stair",
                found=f"{self.plateau} of {self.stair}",
                allowed=f"1 to {self.stair}",
                remedy="use best_plateau for the loss in question",
            )
        if not self.fall > 0:
            raise InputError(
                "Noise has to fall",
                found=f"a fall of {self.fall} per stair",
                allowed="above 0",
                remedy="at ε = 0 nothing can be told: publish a constant",
            )

    @classmethod
    def of(cls, kernel: ClosedKernel) -> IntegerNoise:
        """The noise of a closed-form kernel."""
        return cls(kernel.stair, kernel.plateau, -log_ratio(kernel.ratio.numerator, kernel.ratio.denominator))

    @property
    def family(self) -> str:
        return "geometric" if self.stair == 1 else "staircase"

    @property
    def ratio(self) -> float:
        """b."""
        return math.exp(-self.fall)

    @cached_property
    def centre(self) -> float:
        """c = f(0)."""
        return self._rest / (2 * self._within(0) - self._rest)

    def log_pmf(self, noise: ArrayLike) -> Floats:
        """Log probabilities of integer noise."""
        steps = np.floor((np.abs(np.asarray(noise, dtype=np.float64)) - self.plateau) / self.stair) + 1
        with np.errstate(invalid="ignore"):
            return np.asarray(math.log(self.centre) - np.where(steps > 0, self.fall * steps, 0.0))

    def pmf(self, noise: ArrayLike) -> Floats:
        """Probabilities of integer noise."""
        return np.exp(self.log_pmf(noise))

    def tail(self, start: ArrayLike) -> Floats:
        """P(Z ≥ start)."""
        j = np.asarray(start, dtype=np.float64)
        ahead = np.where(j > 0, j, 1 - j)
        whole = np.floor(ahead / self.stair)
        within = ahead - whole * self.stair
        passed = np.minimum(within, self.plateau) + self.ratio * np.maximum(within - self.plateau, 0.0)
        far = self.centre * np.exp(-self.fall * whole) * (self._within(0) / self._rest - passed)
        return np.where(j > 0, far, 1.0 - far)

    def cdf(self, noise: ArrayLike) -> Floats:
        """P(Z ≤ k) = P(Z ≥ −k)."""
        return self.tail(-np.floor(np.asarray(noise, dtype=np.float64)))

    def variance(self) -> float:
        """E Z², period by period: |j| = kW + t has weight c·b^k·(1 or b)."""
        periods = self.stair**2 * self.ratio * (1 + self.ratio) / self._rest**3 * self._within(0)
        crossed = 2 * self.stair * self.ratio / self._rest**2 * self._within(1)
        return 2 * self.centre * (periods + crossed + self._within(2) / self._rest)

    def mean_absolute(self) -> float:
        """E|Z|."""
        periods = self.stair * self.ratio / self._rest**2 * self._within(0)
        return 2 * self.centre * (periods + self._within(1) / self._rest)

    @property
    def _rest(self) -> float:
        """1 − b, without cancellation."""
        return -math.expm1(-self.fall)

    def _within(self, power: int) -> float:
        """Σ_{t<m} t^p + b Σ_{m≤t<W} t^p, for p = 0, 1, 2."""
        upper = _power_sum(self.plateau, power)
        return upper + self.ratio * (_power_sum(self.stair, power) - upper)


class Additive(Pure, ABC):
    """A family that adds integer noise: its law answers for it."""

    @property
    @abstractmethod
    def law(self) -> IntegerNoise:
        """The law of the noise in floats."""

    def log_pmf(self, noise: ArrayLike) -> Floats:
        """Log probabilities of integer noise."""
        return self.law.log_pmf(noise)

    def pmf(self, noise: ArrayLike) -> Floats:
        """Probabilities of integer noise."""
        return self.law.pmf(noise)

    def cdf(self, noise: ArrayLike) -> Floats:
        """P(noise ≤ k)."""
        return self.law.cdf(noise)

    def variance(self) -> float:
        """E noise²."""
        return self.law.variance()

    def mean_absolute(self) -> float:
        """E|noise|."""
        return self.law.mean_absolute()


def _power_sum(count: int, power: int) -> int:
    """Σ_{t<count} t^power for power 0, 1, 2."""
    if power == 0:
        return count
    return count * (count - 1) // 2 if power == 1 else (count - 1) * count * (2 * count - 1) // 6
