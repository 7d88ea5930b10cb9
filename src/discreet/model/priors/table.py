"""A probability for each database by its label: "0,1,1", or a name of a listed universe. Any correlation goes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.priors.weights import (
    ExactWeights,
    check_distribution,
    orderings,
    over_one_denominator,
)
from discreet.model.universe import AnyUniverse, ListedUniverse, Universe
from discreet.numerics.exact import counted


@dataclass(frozen=True)
class TablePrior:
    """Pairs (label, probability); databases left out have probability zero."""

    table: tuple[tuple[str, Fraction], ...]
    kind = "table"

    def __post_init__(self) -> None:
        check_distribution([p for _, p in self.table], "prior.probabilities")
        if len(self.by_label) != len(self.table):
            raise InputError(
                "A database is listed twice in the prior",
                found="a repetition",
                allowed="each database once",
                remedy="remove the repetition",
            )

    @cached_property
    def by_label(self) -> dict[str, Fraction]:
        return dict(self.table)

    def check(self, universe: AnyUniverse) -> None:
        if isinstance(universe, ListedUniverse):
            known = set(universe.names)
            unknown = [label for label in self.by_label if label not in known]
            allowed = "a name from data.neighbours.states"
        else:
            unknown = [label for label in self.by_label if not _is_database(label, universe)]
            allowed = f'types 0..{universe.types - 1} of each respondent, such as "0,1,1"'
        if unknown:
            raise InputError(
                "The prior speaks of a database that does not exist",
                found=unknown[0],
                allowed=allowed,
                remedy="correct prior.probabilities",
            )

    def exchangeable(self, universe: AnyUniverse) -> bool:
        """Whether every reordering of a database has the same probability."""
        if not isinstance(universe, Universe):
            return False
        groups: dict[tuple[int, ...], list[Fraction]] = {}
        for label, p in self.table:
            groups.setdefault(universe.histogram_of(types_of(label)), []).append(p)
        return all(len(set(chances)) == 1 and (chances[0] == 0 or len(chances) == orderings(h)) for h, chances in groups.items())

    def zeros(self, universe: AnyUniverse) -> tuple[str, ...]:
        named = tuple(f"database {label}" for label, p in self.table if p == 0)
        count = len(universe.names) if isinstance(universe, ListedUniverse) else universe.database_count
        missing = count - len(self.table)
        return named + ((f"{counted(missing)} databases that are not listed",) if missing else ())

    def of_database(self, types: Sequence[int], universe: Universe) -> Fraction:
        return self.of_label(",".join(map(str, types)))

    def of_label(self, label: str) -> Fraction:
        return self.by_label.get(label, Fraction(0))

    def on_histograms(self, vectors: np.ndarray, universe: Universe) -> ExactWeights:
        law: dict[tuple[int, ...], Fraction] = {}
        for label, p in self.table:
            h = universe.histogram_of(types_of(label))
            law[h] = law.get(h, Fraction(0)) + p
        return over_one_denominator([law.get(tuple(h), Fraction(0)) for h in vectors.tolist()])


def types_of(label: str) -> tuple[int, ...]:
    return tuple(int(part) for part in label.split(",")) if label else ()


def _is_database(label: str, universe: Universe) -> bool:
    parts = label.split(",") if label else []
    return universe.smallest <= len(parts) <= universe.largest and all(
        part.isascii() and part.isdigit() and len(part) < 10 and str(int(part)) == part and int(part) < universe.types
        for part in parts
    )
