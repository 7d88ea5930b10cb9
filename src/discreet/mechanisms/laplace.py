"""The Laplace mechanism: density e^(−|x|/b)/(2b) with scale b = Δ/ε, for a real statistic of sensitivity Δ.

It is ε-DP: |log f(x) − log f(x′)| ≤ |x − x′|/b ≤ ε for values at most Δ apart. It is continuous, so it serves
analysis and comparison; what is published is finite.

References: BG Ex. 1, Ex. 3 (whose printed density lacks its minus sign); DR; Dwork, McSherry, Nissim & Smith (2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet.mechanisms.parameters import Pure, positive
from discreet.numerics.arrays import Floats


@dataclass(frozen=True)
class Laplace(Pure):
    """Laplace noise that makes a real statistic of the given sensitivity ε-DP."""

    epsilon: Fraction
    sensitivity: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", positive(self.sensitivity, "sensitivity"))

    @property
    def scale(self) -> Fraction:
        """b = Δ/ε."""
        return self.sensitivity / self.epsilon

    def log_pdf(self, noise: ArrayLike) -> Floats:
        """Log density of the noise."""
        b = float(self.scale)
        return np.asarray(-np.abs(np.asarray(noise, dtype=np.float64)) / b - np.log(2 * b))

    def pdf(self, noise: ArrayLike) -> Floats:
        """Density of the noise."""
        return np.exp(self.log_pdf(noise))

    def cdf(self, noise: ArrayLike) -> Floats:
        """P(noise ≤ x)."""
        x = np.asarray(noise, dtype=np.float64)
        tail = 0.5 * np.exp(-np.abs(x) / float(self.scale))
        return np.where(x >= 0, 1 - tail, tail)

    def quantile(self, probability: ArrayLike) -> Floats:
        """The x with P(noise ≤ x) = probability."""
        p = np.asarray(probability, dtype=np.float64)
        with np.errstate(divide="ignore"):
            upper = -np.log(2 * np.minimum(1 - p, 0.5))
            lower = np.log(2 * np.minimum(p, 0.5))
        return np.asarray(float(self.scale) * np.where(p >= 0.5, upper, lower))

    def variance(self) -> float:
        """2b²."""
        return float(2 * self.scale**2)

    def mean_absolute(self) -> float:
        """E|noise| = b."""
        return float(self.scale)
