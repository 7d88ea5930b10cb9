"""The Gaussian mechanism, calibrated exactly: normal noise of standard deviation σ on a statistic of sensitivity Δ.

    δ(ε) = Φ(Δ/2σ − εσ/Δ) − e^ε Φ(−Δ/2σ − εσ/Δ).

It is (ε, δ(ε))-DP for every ε ≥ 0, and for no smaller δ; it is never ε-DP. It satisfies zCDP with ρ = Δ²/2σ² and
Gaussian privacy with μ = Δ/σ. δ is evaluated in ball arithmetic, so `delta` is a proven upper bound and
`calibrated` returns a σ that is proven to suffice.

Reference: Balle & Wang (2018), "Improving the Gaussian mechanism", Thm 8; Dong, Roth & Su (2022) for μ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from discreet.mechanisms.parameters import between, non_negative, positive
from discreet.model.guarantee import Guarantee
from discreet.model.promises import ApproximatePromise
from discreet.numerics.arrays import Floats

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True)
class Gaussian:
    """Normal noise for a real statistic of the given sensitivity."""

    sigma: Fraction
    sensitivity: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive(self.sigma, "sigma"))
        object.__setattr__(self, "sensitivity", positive(self.sensitivity, "sensitivity"))

    @classmethod
    def calibrated(cls, epsilon: object, delta: object, sensitivity: object = 1) -> Gaussian:
        """The least noise, to one part in 10^12, that is (ε, δ)-DP: proven to suffice, and 10^-12 less does not."""
        target_epsilon = non_negative(epsilon, "epsilon")
        target_delta = between(delta, 0, 1, "delta")
        reach = positive(sensitivity, "sensitivity")
        low, high = Fraction(1), Fraction(1)
        while not _suffices(high, target_epsilon, target_delta):
            high *= 2
        while _suffices(low, target_epsilon, target_delta):
            low /= 2
        while high - low > high / 10**12:
            middle = Fraction(float((low + high) / 2))
            low, high = (low, middle) if _suffices(middle, target_epsilon, target_delta) else (middle, high)
        return cls(high * reach, reach)

    @property
    def mu(self) -> Fraction:
        """Δ/σ: telling two neighbours apart is as hard as telling N(0, 1) from N(μ, 1)."""
        return self.sensitivity / self.sigma

    @property
    def rho(self) -> Fraction:
        """The zCDP parameter Δ²/2σ²."""
        return self.mu**2 / 2

    def delta_bracket(self, epsilon: object) -> tuple[float, float]:
        """Floats around the smallest δ for which the mechanism is (ε, δ)-DP."""
        from discreet.numerics.outward import enclosure

        at = non_negative(epsilon, "epsilon")
        low, high = enclosure(lambda: _delta(self.sigma / self.sensitivity, at))
        return max(low, 0.0), min(high, 1.0)

    def delta(self, epsilon: object) -> float:
        """The smallest δ at this ε, rounded up."""
        return self.delta_bracket(epsilon)[1]

    def guarantee(self, epsilon: object, neighbours: str, unit: str) -> Guarantee:
        """(ε, δ(ε)) with δ rounded up, for neighbours between whom the statistic moves by at most the sensitivity."""
        return Guarantee(ApproximatePromise(non_negative(epsilon, "epsilon"), Fraction(self.delta(epsilon))), neighbours, unit)

    def log_pdf(self, noise: ArrayLike) -> Floats:
        """Log density of the noise."""
        z = np.asarray(noise, dtype=np.float64) / float(self.sigma)
        return np.asarray(-0.5 * z * z - math.log(float(self.sigma)) - 0.5 * math.log(2 * math.pi))

    def pdf(self, noise: ArrayLike) -> Floats:
        """Density of the noise."""
        return np.exp(self.log_pdf(noise))

    def cdf(self, noise: ArrayLike) -> Floats:
        """P(noise ≤ x)."""
        from scipy.special import ndtr

        return np.asarray(ndtr(np.asarray(noise, dtype=np.float64) / float(self.sigma)))

    def variance(self) -> float:
        """σ²."""
        return float(self.sigma**2)

    def mean_absolute(self) -> float:
        """E|noise| = σ√(2/π)."""
        return float(self.sigma) * math.sqrt(2 / math.pi)


def _delta(scale: Fraction, epsilon: Fraction) -> arb:
    """δ(ε) at σ/Δ = scale, as a ball: Φ(x) = erfc(−x/√2)/2."""
    from flint import arb

    from discreet.numerics.outward import ball

    root = arb(2).sqrt()
    half, drift = 1 / (2 * ball(scale)), ball(epsilon * scale)
    upper = ((drift - half) / root).erfc() / 2
    lower = ((drift + half) / root).erfc() / 2
    return upper - ball(epsilon).exp() * lower


def _suffices(scale: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether δ(ε) ≤ delta is proven at σ/Δ = scale."""
    from flint import ctx

    from discreet.numerics.outward import lower_fraction, upper_fraction

    bits = 128
    while True:
        with ctx.workprec(bits):
            found = _delta(scale, epsilon)
            if found.is_finite():
                if upper_fraction(found) <= delta:
                    return True
                if lower_fraction(found) > delta or bits >= 1 << 14:
                    return False
        bits *= 2
