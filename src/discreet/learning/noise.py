"""The noise of a learning release as a law: its variance, how far it reaches, and its transform, also when it is tilted.

    geometric            f(j) ∝ r^|j|            φ(w) = (1−r)²/(1 − 2r·cos w + r²)
    discrete Gaussian    f(j) ∝ e^(−j²/2σ²)      φ(w) = Σ_k e^(−σ²(w+2πk)²/2) / Σ_k e^(−σ²(2πk)²/2)

the second by Poisson's summation. Tilted by θ, f(j)·e^(θj)/M(θ), Gaussian noise is Gaussian around μ = θσ²: its terms gain the
factors e^(iμ(w+2πk)), and M(θ) = e^(θ²σ²/2)·Σ_k e^(2πikμ − σ²(2πk)²/2)/Σ_k e^(−σ²(2πk)²/2). Where σ² is small the sums over
j itself are short, and are taken.

Notation: r → ratio, σ² → sigma_squared.
Reference: Canonne, Kamath & Steinke (2020), Fact 18 (Poisson's summation).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, pi

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.kernel import GaussianKernel, GeometricKernel, Kernel

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class GeometricLaw:
    """Geometric noise of a ratio."""

    ratio: float
    tilts = False

    @property
    def variance(self) -> float:
        return 2 * self.ratio / (1 - self.ratio) ** 2

    @property
    def reach(self) -> int:
        """Noise is farther out with a probability below 10^-13."""
        return int(np.ceil(32 / -np.log(self.ratio))) + 1

    def transform(self, w: Array) -> Array:
        """E e^(iwN)."""
        r = self.ratio
        return np.asarray((1 - r) ** 2 / (1 - 2 * r * np.cos(w) + r * r))


@dataclass(frozen=True)
class GaussianLaw:
    """Discrete Gaussian noise of a parameter σ²."""

    sigma_squared: float
    tilts = True

    @property
    def variance(self) -> float:
        """That of the parameter; the noise has no more."""
        return self.sigma_squared

    @property
    def reach(self) -> int:
        """Noise is farther out with a probability below 10^-30."""
        return ceil(12 * self.sigma_squared**0.5) + 2

    def transform(self, w: Array) -> Array:
        """E e^(iwN)."""
        return np.asarray(self.tilted(w, 0.0)[0].real)

    def tilted(self, w: Array, tilt: float) -> tuple[Complex, float]:
        """E e^(iwN) under the noise tilted by θ, and log E e^(θN) of the noise itself."""
        s, centre = self.sigma_squared, tilt * self.sigma_squared
        if s < 1:
            j = np.arange(-self.reach, self.reach + 1) + round(centre)
            plain, shifted = (
                np.exp(-(np.arange(-self.reach, self.reach + 1) ** 2) / (2 * s)),
                np.exp(-((j - centre) ** 2) / (2 * s)),
            )
            found = np.exp(1j * np.outer(w, j)) @ shifted / shifted.sum()
            return found, centre * tilt / 2 + log(shifted.sum() / plain.sum())
        k = 2 * pi * np.arange(-2, 3)
        at_zero = float(np.exp(-s * k**2 / 2).sum())
        total = float((np.exp(1j * centre * k) * np.exp(-s * k**2 / 2)).sum().real)
        terms = np.asarray(w)[:, None] + k[None, :]
        found = (np.exp(1j * centre * terms) * np.exp(-s * terms**2 / 2)).sum(axis=1) / total
        return found, centre * tilt / 2 + log(total / at_zero)


NoiseLaw = GeometricLaw | GaussianLaw


def noise_of(kernels: set[Kernel]) -> NoiseLaw:
    """The one law of all numbers of a learning release; other kernels are refused."""
    laws: set[NoiseLaw] = set()
    for kernel in kernels:
        if isinstance(kernel, GeometricKernel):
            laws.add(GeometricLaw(float(kernel.ratio)))
        elif isinstance(kernel, GaussianKernel):
            laws.add(GaussianLaw(float(kernel.sigma_squared)))
        else:
            laws.clear()
            break
    if len(laws) != 1:
        raise InputError(
            "The numbers of this learning release have other noise than the rule knows",
            found=f"{len(kernels)} kernels",
            allowed="geometric noise of one ratio, or discrete Gaussian noise of one σ²",
            remedy="publish a learning release with discreet learn",
        )
    return laws.pop()
