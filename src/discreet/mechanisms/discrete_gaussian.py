"""The discrete Gaussian mechanism: P(noise = k) proportional to e^(−k²/2σ²) on the integers.

It satisfies zCDP with ρ = Δ²/2σ² for an integer statistic of sensitivity Δ, exactly as the continuous one, with
variance at most σ². With Y such noise, its smallest δ is

    δ(ε) = P(Y > εσ²/Δ − Δ/2) − e^ε P(Y > εσ²/Δ + Δ/2).

Infinite, so it serves analysis and comparison. Sums run to a distance beyond which all that is left is below the
smallest float; `delta_bracket` bounds the rest of them as well.

Reference: Canonne, Kamath & Steinke (2020), "The discrete Gaussian for differential privacy", Thm 4, Thm 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import TooLarge
from discreet.mechanisms.parameters import integer, non_negative, positive
from discreet.model.guarantee import Guarantee
from discreet.model.promises import ApproximatePromise
from discreet.numerics.arrays import Floats

REACH = 40
MAX_SIGMA = 10**4


@dataclass(frozen=True)
class DiscreteGaussian:
    """Discrete Gaussian noise for an integer statistic of the given sensitivity."""

    sigma: Fraction
    sensitivity: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive(self.sigma, "sigma"))
        object.__setattr__(self, "sensitivity", integer(self.sensitivity, "sensitivity", least=1))
        if self.sigma > MAX_SIGMA:
            raise TooLarge(
                "a discrete Gaussian whose sums would be long",
                size=f"sigma = {float(self.sigma):g}",
                fits=f"sigma up to {MAX_SIGMA}",
                remedy="Use the Gaussian mechanism, from which it cannot be told apart at this scale.",
            )

    @property
    def rho(self) -> Fraction:
        """The zCDP parameter Δ²/2σ²."""
        return Fraction(self.sensitivity) ** 2 / (2 * self.sigma**2)

    def log_pmf(self, noise: ArrayLike) -> Floats:
        """Log probabilities of integer noise."""
        k = np.asarray(noise, dtype=np.float64)
        return np.asarray(-k * k / (2 * float(self.sigma) ** 2) - self._log_total)

    def pmf(self, noise: ArrayLike) -> Floats:
        """Probabilities of integer noise."""
        return np.exp(self.log_pmf(noise))

    def cdf(self, noise: ArrayLike) -> Floats:
        """P(noise ≤ k)."""
        k = np.floor(np.asarray(noise, dtype=np.float64))
        start = np.where(k >= 0, k + 1, -k)
        index = np.minimum(start, len(self._tails) - 1).astype(np.int64)
        return np.where(k >= 0, 1 - self._tails[index], self._tails[index])

    def variance(self) -> float:
        """E noise², at most σ²."""
        k = np.arange(1, len(self._tails), dtype=np.float64)
        return float(2 * math.fsum(k * k * self.pmf(k)))

    def mean_absolute(self) -> float:
        """E|noise|."""
        k = np.arange(1, len(self._tails), dtype=np.float64)
        return float(2 * math.fsum(k * self.pmf(k)))

    def delta_bracket(self, epsilon: object) -> tuple[float, float]:
        """Floats around the smallest δ for which the mechanism is (ε, δ)-DP.

        Sums a positive term per integer above the threshold and bounds what is left out by a geometric series.
        """
        from flint import arb

        from discreet.numerics.outward import ball, enclosure

        at = non_negative(epsilon, "epsilon")
        sigma_squared, reach = self.sigma**2, self.sensitivity
        first = math.floor(at * sigma_squared / reach - Fraction(reach, 2)) + 1
        last = max(first, reach, 0) + math.ceil(REACH * self.sigma) + 1

        def weight(k: int) -> arb:
            return ball(-Fraction(k * k) / (2 * sigma_squared)).exp()

        def rest(k: int) -> arb:
            """The weights from k ≥ 1 up: between 0 and their geometric bound weight(k)/(1 − e^(−k/σ²))."""
            bound = weight(k) / (1 - ball(Fraction(-k) / sigma_squared).exp())
            return arb(0).union(bound)

        def value() -> arb:
            growth, terms, total = ball(at).exp(), arb(0), arb(1)
            span = math.ceil(REACH * self.sigma) + 1
            for k in range(1, span):
                total += 2 * weight(k)
            total += 2 * rest(span)
            for k in range(first, last):
                terms += weight(k) - growth * weight(k + reach)
            # The terms beyond are non-negative and at most their weights.
            terms += rest(last)
            return terms / total

        low, high = enclosure(value, max_bits=1 << 11)
        return max(low, 0.0), min(high, 1.0)

    def delta(self, epsilon: object) -> float:
        """The smallest δ at this ε, rounded up."""
        return self.delta_bracket(epsilon)[1]

    def guarantee(self, epsilon: object, neighbours: str, unit: str) -> Guarantee:
        """(ε, δ(ε)) with δ rounded up, for neighbours between whom the statistic moves by at most the sensitivity."""
        return Guarantee(ApproximatePromise(non_negative(epsilon, "epsilon"), Fraction(self.delta(epsilon))), neighbours, unit)

    @cached_property
    def _log_total(self) -> float:
        """log Σ_k e^(−k²/2σ²) over all integers."""
        k = np.arange(1, self._span(), dtype=np.float64)
        return math.log1p(2 * math.fsum(np.exp(-k * k / (2 * float(self.sigma) ** 2))))

    @cached_property
    def _tails(self) -> Floats:
        """P(noise ≥ k) for k = 0, 1, … until it is zero."""
        return np.cumsum(self.pmf(np.arange(self._span()))[::-1])[::-1]

    def _span(self) -> int:
        return math.ceil(REACH * float(self.sigma)) + 2
