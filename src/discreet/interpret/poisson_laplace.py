"""A privatised single count in closed form: Gamma-Poisson with clamping and Laplace noise.

θ ~ Gamma(α, rate β),  x|θ ~ Poisson(θ),  t|x ~ Laplace(q(x), b),  q clamps to [a0, a1],  b = (a1 − a0)/ε.
p(θ|t) is a mixture over x of Gamma(α+x, rate β+1) with weights NB(x; α, β/(1+β))·Lap(t; q(x), b). Because q is
constant from a1 on, the infinite tail folds into the prior: with L_x = Lap(t; q(x), b) and L = Lap(t; a1, b),
  p(t) = L + Σ_{x<a1} NB(x)(L_x − L),   p(θ|t) = [L·Gamma(θ; α, β) + Σ_{x<a1} NB(x)(L_x − L)·Gamma(θ; α+x, β+1)]/p(t).

Bounds of BG Thm 11: p(θ|t) ∈ p(θ)·exp(±ε), since one record is at distance d** = 1 from any other. That takes
the discrete metric on counts, which the paper leaves unsaid. Reference: BG Ex. 5, Fig. 3. Implements it
without simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InputError
from discreet.mechanisms.laplace import Laplace
from discreet.numerics.arrays import Floats
from discreet.numerics.exact import exact


@dataclass(frozen=True)
class PoissonLaplace:
    """The model with its constants: prior Gamma(shape, rate), clamp [low, high], ε."""

    shape: Fraction
    rate: Fraction
    low: int
    high: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        for name in ("shape", "rate", "epsilon"):
            number = exact(getattr(self, name), name)
            if number <= 0:
                raise InputError(
                    f"{name} must be positive",
                    found=str(number),
                    allowed="a number above 0",
                    remedy="with ε = 0 nothing about the count is published" if name == "epsilon" else f"correct {name}",
                )
            object.__setattr__(self, name, number)
        if not 0 <= self.low < self.high:
            raise InputError(
                "The clamp needs 0 <= low < high",
                found=f"{self.low} to {self.high}",
                allowed="for instance 0 to 6",
                remedy="correct the clamp",
            )

    @property
    def noise(self) -> Laplace:
        """The Laplace noise on the clamped count."""
        return Laplace(self.epsilon, Fraction(self.high - self.low))

    def posterior(self, t: float) -> CountPosterior:
        """The posterior of θ after publishing t."""
        if not np.isfinite(t):
            raise InputError(
                "A published count is a finite number",
                found=str(t),
                allowed="any real number",
                remedy="correct it",
            )
        return CountPosterior(self, float(t))

    def prior_density(self, theta: ArrayLike) -> Floats:
        """Gamma(α, β) at θ."""
        return _gamma(theta, float(self.shape), float(self.rate))

    def bounds(self, theta: ArrayLike) -> tuple[Floats, Floats]:
        """BG Thm 11: what no posterior density can leave, whatever the data model and the published value."""
        prior = self.prior_density(theta)
        factor = np.exp(float(self.epsilon))
        return prior / factor, prior * factor

    def draw_prior_predictive(self, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """(θ, t) drawn from prior, model and mechanism."""
        theta = rng.gamma(float(self.shape), 1 / float(self.rate), size=draws)
        counts = np.clip(rng.poisson(theta), self.low, self.high)
        return theta, counts + rng.laplace(scale=float(self.noise.scale), size=draws)


@dataclass(frozen=True)
class CountPosterior:
    """p(θ|t): a Gamma mixture with one component for each count below the clamp and the prior for the rest."""

    model: PoissonLaplace
    t: float

    def _parts(self) -> tuple[Floats, Floats, Floats]:
        """Weights, shapes and rates of the components; the last is the prior's own. Weights may be negative."""
        from scipy.stats import nbinom

        m = self.model
        x = np.arange(m.high)
        alpha, beta = float(m.shape), float(m.rate)
        far = float(m.noise.pdf(self.t - m.high))
        near = m.noise.pdf(self.t - np.maximum(x, m.low))
        weights = np.append(nbinom.pmf(x, alpha, beta / (1 + beta)) * (near - far), far)
        return weights, np.append(alpha + x, alpha), np.append(np.full(m.high, beta + 1), beta)

    @property
    def probability(self) -> float:
        """The prior predictive density p(t)."""
        return float(self._parts()[0].sum())

    def density(self, theta: ArrayLike) -> Floats:
        """p(θ|t)."""
        weights, shapes, rates = self._parts()
        points = np.asarray(theta, dtype=np.float64)[..., None]
        return np.asarray(_gamma(points, shapes, rates) @ weights / weights.sum())

    def mean(self) -> float:
        """E[θ|t]."""
        weights, shapes, rates = self._parts()
        return float(weights @ (shapes / rates) / weights.sum())

    def cdf(self, theta: ArrayLike) -> Floats:
        """P(θ ≤ · | t)."""
        from scipy.special import gammainc

        weights, shapes, rates = self._parts()
        points = np.asarray(theta, dtype=np.float64)[..., None]
        return np.asarray(gammainc(shapes, points * rates) @ weights / weights.sum())

    def quantile(self, q: float) -> float:
        """The value below which θ lies with probability q."""
        from scipy.optimize import brentq

        if not 0 < q < 1:
            raise InputError("A quantile needs a probability", found=str(q), allowed="0 < q < 1", remedy="correct it")
        top = 1.0
        while float(self.cdf(top)) < q:
            top *= 2
        return float(brentq(lambda x: float(self.cdf(x)) - q, 0.0, top, xtol=1e-12))

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """The equal-tailed credible interval."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)


def _gamma(theta: ArrayLike, shape: ArrayLike, rate: ArrayLike) -> Floats:
    from scipy.stats import gamma

    return np.asarray(gamma.pdf(np.asarray(theta, dtype=np.float64), shape, scale=1 / np.asarray(rate, dtype=np.float64)))
