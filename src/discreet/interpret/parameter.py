"""The exact posterior about a model parameter after published values.

Dirichlet prior, one cell: p(θ|s) = Σ_h w_h · Dirichlet(θ; c + h) with w_h ∝ DirichletMultinomial(h; c)·m(s|h):
a finite mixture. One parameter, many cells, any prior density: p(θ|s) ∝ π(θ) Π_c p(s_c|θ) on a grid of
Gauss-Legendre nodes, which is exact to the quadrature's order for these analytic likelihoods.

Reference: BG eq. (9). The samplers of `rejection` and `augmentation` are checked against these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InputError
from discreet.interpret.beliefs import beliefs
from discreet.interpret.channel import Outputs, log_likelihood, position_of
from discreet.interpret.likelihood import output_counts
from discreet.interpret.models import OneParameterModel
from discreet.interpret.posteriors import impossible
from discreet.model.mechanism import Mechanism
from discreet.model.priors import DirichletMultinomialPrior
from discreet.numerics.arrays import Floats
from discreet.numerics.logspace import log_sum_exp

NODES = 2000


@dataclass(frozen=True, eq=False)
class DirichletMixture:
    """Σ_k weight_k · Dirichlet(components_k): exact posterior of type probabilities."""

    weights: Floats
    components: Floats
    log_evidence: float

    def mean(self) -> Floats:
        """E[θ|s]."""
        return np.asarray(self.weights @ (self.components / self.components.sum(axis=1, keepdims=True)))

    def density(self, theta: ArrayLike, kind: int = 1) -> Floats:
        """Marginal posterior density of one type's probability."""
        from scipy.stats import beta

        a, b = self._beta(kind)
        return np.asarray(beta.pdf(np.asarray(theta, dtype=np.float64)[..., None], a, b) @ self.weights)

    def cdf(self, theta: ArrayLike, kind: int = 1) -> Floats:
        """P(θ_kind ≤ θ | s)."""
        from scipy.special import betainc

        a, b = self._beta(kind)
        return np.asarray(betainc(a, b, np.asarray(theta, dtype=np.float64)[..., None]) @ self.weights)

    def quantile(self, q: float, kind: int = 1) -> float:
        """The value below which θ_kind lies with probability q."""
        from scipy.optimize import brentq

        return float(brentq(lambda x: float(self.cdf(x, kind)) - q, 0.0, 1.0, xtol=1e-13))

    def interval(self, level: float = 0.9, kind: int = 1) -> tuple[float, float]:
        """The equal-tailed credible interval of one type's probability."""
        return self.quantile((1 - level) / 2, kind), self.quantile((1 + level) / 2, kind)

    def draw(self, draws: int, rng: np.random.Generator) -> Floats:
        """Independent exact draws [draw, type]."""
        chosen = rng.choice(len(self.weights), size=draws, p=self.weights / self.weights.sum())
        gammas = rng.standard_gamma(self.components[chosen])
        return np.asarray(gammas / gammas.sum(axis=1, keepdims=True))

    def _beta(self, kind: int) -> tuple[Floats, Floats]:
        a = self.components[:, kind]
        return a, self.components.sum(axis=1) - a


def dirichlet_posterior(mechanism: Mechanism, output: str | int | Fraction, concentration: Sequence[Fraction]) -> DirichletMixture:
    """The posterior of type probabilities after one published value, under a Dirichlet prior."""
    held = beliefs([mechanism], DirichletMultinomialPrior(tuple(concentration)))
    if held.kind != "histogram":
        raise InputError(
            "This posterior needs the histograms listed",
            found=f"atoms of kind {held.kind!r}",
            allowed="a mechanism that reads a histogram or a total",
            remedy="use the data-augmentation sampler",
        )
    logs = held.log_weights + log_likelihood(mechanism, position_of(mechanism, output), held.vectors, held.kind)
    evidence = float(log_sum_exp(logs))
    if evidence == -np.inf:
        raise impossible()
    c = np.array([float(x) for x in concentration])
    return DirichletMixture(np.exp(logs - evidence), c + held.vectors, evidence)


@dataclass(frozen=True, eq=False)
class GridPosterior:
    """A density on quadrature nodes: `masses` are density times quadrature weight and sum to one."""

    nodes: Floats
    masses: Floats
    density: Floats
    log_evidence: float

    def mean(self) -> float:
        """E[θ|s]."""
        return float(self.masses @ self.nodes)

    def standard_deviation(self) -> float:
        """Posterior standard deviation."""
        return float(np.sqrt(self.masses @ (self.nodes - self.mean()) ** 2))

    def quantile(self, q: float) -> float:
        """The value below which θ lies with probability q, interpolated between nodes."""
        middle = np.cumsum(self.masses) - self.masses / 2
        return float(np.interp(q, middle, self.nodes))

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """The equal-tailed credible interval."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)


def grid_posterior(
    groups: Sequence[tuple[OneParameterModel, Outputs]],
    log_prior: Callable[[Floats], Floats],
    lower: float,
    upper: float,
    nodes: int = NODES,
) -> GridPosterior:
    """The posterior of one parameter between `lower` and `upper`; `log_prior` need not be normalised."""
    if not (np.isfinite(lower) and np.isfinite(upper) and lower < upper):
        raise InputError(
            "The range of the parameter is not finite",
            found=f"{lower} to {upper}",
            allowed="lower < upper",
            remedy="cut the prior where nothing is left of it",
        )
    points, weights = _legendre(lower, upper, nodes)
    logs = np.asarray(log_prior(points), dtype=np.float64) + np.log(weights)
    prior_total = float(log_sum_exp(logs))
    for model, outputs in groups:
        counts = output_counts(model, outputs)
        seen = counts > 0
        laws = [log_sum_exp(model.log_kernel[seen] + model.log_atoms(float(x)), axis=1) for x in points]
        logs = logs + np.array(laws) @ counts[seen]
    evidence = float(log_sum_exp(logs))
    if not np.isfinite(evidence):
        raise impossible()
    masses = np.exp(logs - evidence)
    return GridPosterior(points, masses, masses / weights, evidence - prior_total)


def _legendre(lower: float, upper: float, nodes: int) -> tuple[Floats, Floats]:
    """Composite Gauss-Legendre: panels of twenty nodes."""
    x, w = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(lower, upper, max(nodes // 20, 1) + 1)
    half = (edges[1] - edges[0]) / 2
    middles = (edges[1:] + edges[:-1]) / 2
    return (middles[:, None] + half * x).ravel(), np.tile(half * w, len(middles))
