"""Statistics ω: what the decision depends on.

`sum`    ω = Σ_i v(θ_i)            `mean`  ω = Σ_i v(θ_i) / n
`count`  ω = #{i : θ_i in of}      `table` a value for each histogram or database, by its label

Sum, count and (for fixed n) mean are linear: ω = Σ_t weight_t · h_t. Reference: SY section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.universe import AnyUniverse, ListedUniverse, Universe


@dataclass(frozen=True)
class SumStatistic:
    """The total of the values."""

    kind = "sum"
    ordered = False

    def check(self, universe: AnyUniverse) -> None:
        _must_have_respondents(universe, self.kind)

    def weights(self, universe: Universe) -> tuple[Fraction, ...] | None:
        return universe.values

    def of_histogram(self, h: Sequence[int], universe: Universe) -> Fraction:
        return _total(universe.values, h)


@dataclass(frozen=True)
class MeanStatistic:
    """The average of the values."""

    kind = "mean"
    ordered = False

    def check(self, universe: AnyUniverse) -> None:
        u = _must_have_respondents(universe, self.kind)
        if u.smallest == 0:
            raise InputError(
                "The mean of no respondents does not exist",
                found="respondents from 0",
                allowed="from 1",
                remedy="start the range at 1, or use the sum",
            )

    def weights(self, universe: Universe) -> tuple[Fraction, ...] | None:
        return tuple(v / universe.respondents for v in universe.values) if universe.fixed else None

    def of_histogram(self, h: Sequence[int], universe: Universe) -> Fraction:
        return _total(universe.values, h) / sum(h)


@dataclass(frozen=True)
class CountStatistic:
    """How many respondents have one of the types `of`."""

    of: tuple[int, ...]
    kind = "count"
    ordered = False

    def check(self, universe: AnyUniverse) -> None:
        u = _must_have_respondents(universe, self.kind)
        wrong = [t for t in self.of if not 0 <= t < u.types]
        if wrong or not self.of or len(set(self.of)) != len(self.of):
            raise InputError(
                "statistic.of must name the types that are counted",
                found=f"{list(self.of)}",
                allowed=f"different types from 0 to {u.types - 1}",
                remedy="correct statistic.of",
            )
        if len(self.of) == u.types:
            raise InputError(
                "Counting every type counts all respondents",
                found=f"of = {list(self.of)}",
                allowed="some types but not all",
                remedy="leave out the types that should not count",
            )

    def weights(self, universe: Universe) -> tuple[Fraction, ...] | None:
        return tuple(Fraction(int(t in self.of)) for t in range(universe.types))

    def of_histogram(self, h: Sequence[int], universe: Universe) -> Fraction:
        return Fraction(sum(h[t] for t in self.of))


@dataclass(frozen=True)
class TableStatistic:
    """A value for each histogram ("38,2,0"), each database ("0,1,1" or a name of a listed universe)."""

    table: tuple[tuple[str, Fraction], ...]
    by: str = "histogram"
    kind = "table"

    @property
    def ordered(self) -> bool:
        """Whether it looks at the order of respondents."""
        return self.by == "database"

    @cached_property
    def values(self) -> dict[str, Fraction]:
        return dict(self.table)

    def check(self, universe: AnyUniverse) -> None:
        if isinstance(universe, ListedUniverse):
            wanted = list(universe.names)
        elif self.by == "histogram":
            wanted = [",".join(map(str, h)) for h in universe.histograms().tolist()]
        else:
            wanted = [",".join(map(str, d)) for d in universe.databases()]
        missing = [label for label in wanted if label not in self.values]
        if missing or len(self.values) != len(wanted) or len(self.table) != len(wanted):
            unknown = sorted(set(self.values) - set(wanted))
            what = "name" if isinstance(universe, ListedUniverse) else self.by
            also = f"a value for {unknown[0]}" if unknown else "a repetition"
            raise InputError(
                f"statistic.values must give one value for each {what}",
                found=f"no value for {missing[0]}" if missing else also,
                allowed=f"{len(wanted)} labels such as {wanted[0]!r}",
                remedy="complete the table",
            )

    def weights(self, universe: Universe) -> tuple[Fraction, ...] | None:
        return None

    def of_histogram(self, h: Sequence[int], universe: Universe) -> Fraction:
        if self.by != "histogram":
            raise InputError(
                "This statistic depends on the order of respondents, so a histogram does not determine it",
                found="statistic.by = 'database'",
                allowed="statistic.by = 'histogram'",
                remedy="give values by histogram, or use the summary 'database'",
            )
        return self.values[",".join(map(str, h))]

    def of_label(self, label: str) -> Fraction:
        return self.values[label]


Statistic = SumStatistic | MeanStatistic | CountStatistic | TableStatistic


def of_name(statistic: Statistic, name: str) -> Fraction:
    """ω of one database of a listed universe; only tables speak of those."""
    if not isinstance(statistic, TableStatistic):
        raise _no_values(statistic.kind)
    return statistic.of_label(name)


def of_database(statistic: Statistic, types: Sequence[int], universe: Universe) -> Fraction:
    """ω of one database."""
    if isinstance(statistic, TableStatistic) and statistic.ordered:
        return statistic.of_label(",".join(map(str, types)))
    return statistic.of_histogram(universe.histogram_of(types), universe)


def on_histograms(statistic: Statistic, vectors: np.ndarray, universe: Universe) -> tuple[Fraction, ...]:
    """ω of each histogram row, exactly."""
    weights = statistic.weights(universe)
    if weights is None:
        return tuple(statistic.of_histogram(h, universe) for h in vectors.tolist())
    scale = lcm(*(w.denominator for w in weights))
    scaled = [int(w * scale) for w in weights]
    largest = max(map(abs, scaled)) * int(np.abs(vectors).sum(axis=1).max(initial=0))
    kind = np.int64 if largest < 2**62 else object
    totals = vectors.astype(kind) @ np.array(scaled, dtype=kind)
    seen = {total: Fraction(total, scale) for total in set(totals.tolist())}
    return tuple(seen[total] for total in totals.tolist())


def linear_range(statistic: Statistic, universe: Universe) -> tuple[Fraction, Fraction]:
    """The smallest and largest value that the statistic can take, without listing anything when it is linear."""
    if isinstance(statistic, TableStatistic):
        return min(statistic.values.values()), max(statistic.values.values())
    weights = statistic.weights(universe)
    if weights is None:  # the mean of a varying number
        return min(universe.values), max(universe.values)
    sizes = (universe.smallest, universe.largest)
    return min(n * min(weights) for n in sizes), max(n * max(weights) for n in sizes)


def _total(weights: Sequence[Fraction], h: Sequence[int]) -> Fraction:
    return sum((w * c for w, c in zip(weights, h, strict=True)), Fraction(0))


def _must_have_respondents(universe: AnyUniverse, kind: str) -> Universe:
    if not isinstance(universe, Universe):
        raise _no_values(kind)
    return universe


def _no_values(kind: str) -> InputError:
    return InputError(
        "Databases listed by name have no values to add up",
        found=f"statistic.kind = {kind!r}",
        allowed="kind = 'table'",
        remedy="give a value for each name",
    )
