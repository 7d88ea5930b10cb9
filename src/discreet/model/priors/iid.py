"""Independent, identically distributed respondents: given outright, or as the proportions of reference data.

P(h) = P(n) · n!/(h_0!…h_T!) · Π p_t^{h_t}, with P(n) = 1 when the number of respondents is fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import lcm, prod

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.origin import Origin, must_have_source
from discreet.model.priors.weights import (
    ExactWeights,
    check_count,
    check_distribution,
    check_size,
    orderings,
    powers,
    size_probability,
    two_ways,
    with_respondents,
)
from discreet.model.universe import AnyUniverse, Universe
from discreet.numerics.exact import brief


@dataclass(frozen=True)
class IidPrior:
    """Every respondent has type t with probability p_t; `size` holds P(n) when the size varies."""

    probabilities: tuple[Fraction, ...]
    size: tuple[Fraction, ...] | None = None
    origin: Origin | None = None

    @property
    def kind(self) -> str:
        """`release` when it was learned."""
        return "iid" if self.origin is None else "release"

    def __post_init__(self) -> None:
        check_distribution(self.probabilities, "prior.probabilities")
        if self.size is not None:
            check_distribution(self.size, "prior.size")

    def check(self, universe: AnyUniverse) -> None:
        u = with_respondents(universe, self.kind)
        check_count(len(self.probabilities), u.types, "one probability for each type")
        check_size(self.size, u)

    def exchangeable(self, universe: AnyUniverse) -> bool:
        return True

    def zeros(self, universe: AnyUniverse) -> tuple[str, ...]:
        first = with_respondents(universe, self.kind).smallest
        sizes = tuple(f"{first + i} respondents" for i, p in enumerate(self.size or ()) if p == 0)
        return tuple(f"type {t}" for t, p in enumerate(self.probabilities) if p == 0) + sizes

    def of_database(self, types: Sequence[int], universe: Universe) -> Fraction:
        chance = prod((self.probabilities[t] for t in types), start=Fraction(1))
        return size_probability(self.size, len(types), universe) * chance

    def on_histograms(self, vectors: np.ndarray, universe: Universe) -> ExactWeights:
        scale = lcm(*(p.denominator for p in self.probabilities))
        most = universe.largest
        wholes = [int(p * scale) for p in self.probabilities]
        rises, scales = [powers(whole, most) for whole in wholes], powers(scale, most)
        size_scale = lcm(*(p.denominator for p in self.size)) if self.size else 1
        if len(vectors) <= most or len(wholes) < 2:
            ends, thirds, counts = None, [0] * len(vectors), vectors
        else:
            # n!/(h_0!…h_T!) = n!/(h_0!…r!) · r!/(h_{T−1}! h_T!) with r = h_{T−1} + h_T: few beginnings, each with many ends
            ends, thirds = tuple(wholes[-2:]), vectors[:, -1].tolist()
            counts = np.column_stack([vectors[:, :-2], vectors[:, -2] + vectors[:, -1]])
            rises[-2:] = [[1] * (most + 1)]
        known: dict[tuple[int, ...], list[int]] = {}
        numerators = []
        for key, third in zip(zip(*counts.T.tolist(), strict=True), thirds, strict=True):
            if key not in known:
                n = sum(key)
                chance = int(size_probability(self.size, n, universe) * size_scale) * scales[most - n] * orderings(key)
                chance = prod((rise[count] for rise, count in zip(rises, key, strict=True)), start=chance)
                known[key] = [chance] if ends is None else [chance * end for end in two_ways(*ends, key[-1])]
            numerators.append(known[key][third])
        return ExactWeights(tuple(numerators), size_scale * scales[most])


@dataclass(frozen=True)
class ReferencePrior:
    """iid with the proportions of public reference data, each count raised by `pseudo_count`."""

    counts: tuple[int, ...]
    source: str
    pseudo_count: Fraction = Fraction(0)
    size: tuple[Fraction, ...] | None = None
    kind = "reference"

    def __post_init__(self) -> None:
        if not self.counts:
            raise InputError(
                "The reference data has no types",
                found="no counts",
                allowed="one count for each type",
                remedy="give the number of records of each type in the reference data",
            )
        if any(c < 0 for c in self.counts) or self.pseudo_count < 0:
            raise InputError(
                "Reference counts cannot be negative",
                found=brief(min(Fraction(min(self.counts)), self.pseudo_count)),
                allowed="numbers from 0",
                remedy="correct prior.counts",
            )
        if sum(self.counts) + len(self.counts) * self.pseudo_count == 0:
            raise InputError(
                "The reference data is empty",
                found="all counts are 0",
                allowed="at least one record",
                remedy="give the number of records of each type in the reference data",
            )
        must_have_source(self.source)

    @cached_property
    def iid(self) -> IidPrior:
        raised = [c + self.pseudo_count for c in self.counts]
        return IidPrior(tuple(Fraction(c) / sum(raised) for c in raised), self.size)

    @property
    def probabilities(self) -> tuple[Fraction, ...]:
        return self.iid.probabilities

    def check(self, universe: AnyUniverse) -> None:
        self.iid.check(universe)

    def exchangeable(self, universe: AnyUniverse) -> bool:
        return True

    def zeros(self, universe: AnyUniverse) -> tuple[str, ...]:
        return self.iid.zeros(universe)

    def of_database(self, types: Sequence[int], universe: Universe) -> Fraction:
        return self.iid.of_database(types, universe)

    def on_histograms(self, vectors: np.ndarray, universe: Universe) -> ExactWeights:
        return self.iid.on_histograms(vectors, universe)
