"""A finite mixture: each cell is of one of a few kinds, and within its kind respondents are iid or Dirichlet-multinomial.

    P(h) = Σ_k w_k·P_k(h),   Σ_k w_k = 1

Towns where some streets are full of families and most have none: a single concentration spreads cells over everything between,
a mixture says that they are the one or the other. Order does not matter, so every route for exchangeable priors serves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.origin import Origin
from discreet.model.priors.exchangeable import DirichletMultinomialPrior
from discreet.model.priors.iid import IidPrior
from discreet.model.priors.weights import ExactWeights, check_distribution, orderings
from discreet.model.universe import AnyUniverse, Universe

Component = IidPrior | DirichletMultinomialPrior


@dataclass(frozen=True)
class MixturePrior:
    """Components with their weights; a varying number of respondents has its law in `size`, the same for all components."""

    weights: tuple[Fraction, ...]
    components: tuple[Component, ...]
    size: tuple[Fraction, ...] | None = None
    origin: Origin | None = None

    @property
    def kind(self) -> str:
        """`release` when it was learned."""
        return "mixture" if self.origin is None else "release"

    def __post_init__(self) -> None:
        check_distribution(self.weights, "prior.components.weight")
        if len(self.components) != len(self.weights) or len(self.components) < 2 or min(self.weights) == 0:
            raise InputError(
                "A mixture has two components or more, each with a weight above 0",
                found=f"{len(self.components)} components",
                allowed="at least two",
                remedy="give every component a weight, or use another kind of prior for a single one",
            )
        if any(one.size is not None or one.origin is not None for one in self.components):
            raise InputError(
                "A component of a mixture is a law of types alone",
                found="a component with a size or an origin of its own",
                allowed="probabilities or a concentration",
                remedy="state prior.size once, for the mixture",
            )
        if any(isinstance(one, IidPrior) and min(one.probabilities) == 0 for one in self.components):
            raise InputError(
                "In a component of a mixture a type is impossible",
                found="a probability of 0",
                allowed="numbers above 0",
                remedy="give every type a small probability in every component",
            )

    @property
    def parts(self) -> tuple[tuple[Fraction, Component], ...]:
        """Each weight with its component, which knows the law of the number of respondents."""
        return tuple((w, replace(one, size=self.size)) for w, one in zip(self.weights, self.components, strict=True))

    def check(self, universe: AnyUniverse) -> None:
        for _, one in self.parts:
            one.check(universe)

    def exchangeable(self, universe: AnyUniverse) -> bool:
        return True

    def zeros(self, universe: AnyUniverse) -> tuple[str, ...]:
        return self.parts[0][1].zeros(universe)

    def of_database(self, types: Sequence[int], universe: Universe) -> Fraction:
        h = universe.histogram_of(types)
        return self.on_histograms(np.array([h]), universe)[0] / orderings(h)

    def on_histograms(self, vectors: np.ndarray, universe: Universe) -> ExactWeights:
        laws = [(w, one.on_histograms(vectors, universe)) for w, one in self.parts]
        denominator = lcm(*(w.denominator * law.denominator for w, law in laws))
        factors = [w.numerator * (denominator // (w.denominator * law.denominator)) for w, law in laws]
        columns = zip(*(law.numerators for _, law in laws), strict=True)
        return ExactWeights(tuple(sum(f * n for f, n in zip(factors, row, strict=True)) for row in columns), denominator)
