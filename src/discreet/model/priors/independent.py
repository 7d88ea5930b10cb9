"""Independent respondents, each with its own probabilities p_it: P(θ) = Π_i p_{iθ_i}."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np

from discreet.frozen import dataclass
from discreet.model.priors.weights import (
    ExactWeights,
    check_count,
    check_distribution,
    over_one_denominator,
    with_respondents,
)
from discreet.model.universe import AnyUniverse, Universe


@dataclass(frozen=True)
class IndependentPrior:
    """Rows [respondent][type]."""

    rows: tuple[tuple[Fraction, ...], ...]
    kind = "independent"

    def __post_init__(self) -> None:
        for i, row in enumerate(self.rows):
            check_distribution(row, f"prior.probabilities[{i}]")

    @cached_property
    def identical(self) -> bool:
        return all(row == self.rows[0] for row in self.rows)

    def check(self, universe: AnyUniverse) -> None:
        u = with_respondents(universe, self.kind)
        check_count(len(self.rows), u.respondents, "one row of probabilities for each respondent")
        for row in self.rows:
            check_count(len(row), u.types, "one probability for each type in every row")

    def exchangeable(self, universe: AnyUniverse) -> bool:
        return self.identical

    def zeros(self, universe: AnyUniverse) -> tuple[str, ...]:
        return tuple(f"type {t} of respondent {i}" for i, row in enumerate(self.rows) for t, p in enumerate(row) if p == 0)

    def of_database(self, types: Sequence[int], universe: Universe) -> Fraction:
        return prod((row[t] for row, t in zip(self.rows, types, strict=True)), start=Fraction(1))

    def on_histograms(self, vectors: np.ndarray, universe: Universe) -> ExactWeights:
        """The law of the counts, one respondent at a time."""
        law: dict[tuple[int, ...], Fraction] = {(0,) * universe.types: Fraction(1)}
        for row in self.rows:
            following: dict[tuple[int, ...], Fraction] = {}
            for h, p in law.items():
                for t, chance in enumerate(row):
                    if chance:
                        grown = (*h[:t], h[t] + 1, *h[t + 1 :])
                        following[grown] = following.get(grown, Fraction(0)) + p * chance
            law = following
        return over_one_denominator([law.get(tuple(h), Fraction(0)) for h in vectors.tolist()])
