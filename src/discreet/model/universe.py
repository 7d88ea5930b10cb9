"""The universe: every database that could have been collected.

A universe of respondents is Θ = {0..T}^n for n between `smallest` and `largest`; a type t carries the value v_t.
A listed universe names its databases outright and leaves their inside unsaid (used with a given neighbour graph).

Notation: N respondents, T+1 types, h = (h_0..h_T) the histogram of types, C(N+T, T) histograms.
Reference: SY section 2 (Setting), DR 1.1 (databases as histograms).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import comb
from typing import TYPE_CHECKING

from discreet.errors import InputError, TooLarge
from discreet.frozen import dataclass
from discreet.numerics.exact import brief, counted

if TYPE_CHECKING:
    import numpy as np

MOST_STATES = 2_000_000
"""The most states that are ever listed one by one; beyond it a summary or a closed form must be used."""
MOST_COUNTS = 40_000_000
"""The most counts of types in all listed histograms together."""
MOST_RESPONDENTS = 10**12
"""More than all people there are, and small enough for counts to stay 64-bit numbers."""


@dataclass(frozen=True)
class Universe:
    """Databases of `smallest`..`largest` respondents whose types 0..T have the given values."""

    values: tuple[Fraction, ...]
    smallest: int
    largest: int

    def __post_init__(self) -> None:
        if len(self.values) < 2:
            raise InputError(
                "There is nothing to learn from respondents who all have the same type",
                found=f"{len(self.values)} values",
                allowed="at least two values, one for each type",
                remedy="list the value of every type, for instance values = [0, 1]",
            )
        if not 0 <= self.smallest <= self.largest:
            raise InputError(
                "The range of the number of respondents is empty or negative",
                found=f"from {brief(self.smallest)} to {brief(self.largest)}",
                allowed="0 <= from <= to",
                remedy="put the smaller number first",
            )
        if self.largest > MOST_RESPONDENTS:
            raise InputError(
                "There are more respondents than people",
                found=counted(self.largest),
                allowed=f"up to {MOST_RESPONDENTS:,}",
                remedy="set respondents to the number of records in one cell",
            )
        if self.largest == 0:
            raise InputError(
                "A database without respondents has nothing to publish",
                found="0 respondents",
                allowed="1 or more",
                remedy="set respondents to the number of records in one cell",
            )

    @classmethod
    def of(cls, respondents: int, values: tuple[Fraction, ...]) -> Universe:
        """The universe of a fixed number of respondents."""
        return cls(values=values, smallest=respondents, largest=respondents)

    @property
    def types(self) -> int:
        """Number of types, T + 1."""
        return len(self.values)

    @property
    def fixed(self) -> bool:
        return self.smallest == self.largest

    @property
    def respondents(self) -> int:
        """N, when it is fixed."""
        if not self.fixed:
            raise InputError(
                "This needs a fixed number of respondents",
                found=f"{self.smallest} to {self.largest} respondents",
                allowed="one number",
                remedy="use replace-one neighbours with respondents = N",
            )
        return self.largest

    @cached_property
    def database_count(self) -> int:
        """Number of databases; for huge universes this is itself a huge integer, so it is capped at 2**4096."""
        if self.largest * self.types.bit_length() > 4096:
            return 1 << 4096
        return sum(self.types**n for n in range(self.smallest, self.largest + 1))

    @cached_property
    def histogram_count(self) -> int:
        """Σ_n C(n+T, T), by the hockey-stick identity."""
        T = self.types - 1
        below = comb(self.smallest + T, T + 1) if self.smallest else 0
        return comb(self.largest + T + 1, T + 1) - below

    @property
    def histogram_pairs(self) -> int:
        """At least about how many pairs of histograms are neighbours, without listing them."""
        return self.histogram_count * min(self.largest, self.types) * (self.types - 1) // 2

    def databases(self) -> Iterator[tuple[int, ...]]:
        """Every database as a tuple of types, sizes ascending, first respondent slowest."""
        self.must_list(self.database_count, "databases")
        for n in range(self.smallest, self.largest + 1):
            yield from product(range(self.types), repeat=n)

    def histograms(self) -> np.ndarray:
        """Every histogram as a row [state, type], sizes ascending, then by the counts of T, T−1, …, 1."""
        import numpy as np

        self.must_list(self.histogram_count, "histograms")
        sizes = range(self.smallest, self.largest + 1)
        return np.concatenate([boxed_histograms(n, (0,) * self.types, (n,) * self.types, 0) for n in sizes])

    def histogram_of(self, types: Sequence[int]) -> tuple[int, ...]:
        """How many respondents of each type a database has."""
        counts = [0] * self.types
        for t in types:
            counts[t] += 1
        return tuple(counts)

    def histograms_of(self, databases: np.ndarray) -> np.ndarray:
        """`histogram_of` every row [database, respondent]; what is no type, where databases differ in size, is nobody."""
        import numpy as np

        return np.stack([(databases == t).sum(axis=1) for t in range(self.types)], axis=1)

    def must_list(self, count: int, what: str, most: int = MOST_STATES) -> None:
        if what == "histograms":
            most = min(most, MOST_COUNTS // self.types)
        if count > most:
            raise TooLarge(
                f"There are too many {what} to list",
                size=f"{counted(count)} {what} for {counted(self.largest)} respondents of {self.types} types",
                fits=f"{most:,} {what}: for instance {self.fitting(most):,} respondents of {self.types} types"
                if what == "histograms"
                else f"{most:,} {what}",
                remedy="use a coarser summary (a weighted sum, a clamped histogram) or fewer types",
            )

    def fitting(self, most: int) -> int:
        """The largest fixed number of respondents whose histograms number at most `most`."""
        low, high, T = 0, 1, self.types - 1
        while comb(high + T, T) <= most:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if comb(middle + T, T) <= most else (low, middle)
        return low


@dataclass(frozen=True)
class ListedUniverse:
    """Databases known by name only."""

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.names) < 2:
            raise InputError(
                "A listed universe needs at least two databases",
                found=f"{len(self.names)}",
                allowed="two or more different names",
                remedy="list every database under data.neighbours.states",
            )
        if len(set(self.names)) != len(self.names):
            twice = sorted(name for name, times in Counter(self.names).items() if times > 1)
            raise InputError(
                "Two databases have the same name",
                found=", ".join(twice[:5]),
                allowed="different names",
                remedy="rename or remove the repetition",
            )


AnyUniverse = Universe | ListedUniverse


def boxed_histograms(total: int, lower: tuple[int, ...], upper: tuple[int, ...], reference: int) -> np.ndarray:
    """Histograms of `total` respondents with lower_j ≤ h_j ≤ upper_j for every type.

    Rows [state, type], ordered by the counts of the last type, …, the first, the reference left out.
    """
    import numpy as np

    upper = tuple(min(cap, total) for cap in upper)
    columns: dict[int, np.ndarray] = {}
    left = np.array([total - lower[reference]], dtype=np.int64)
    for j in reversed(range(len(lower))):
        if j == reference:
            continue
        repeats = np.maximum(np.minimum(left, upper[j]) - lower[j] + 1, 0)
        starts = np.cumsum(repeats) - repeats
        counts = lower[j] + np.arange(repeats.sum()) - np.repeat(starts, repeats)
        columns = {i: np.repeat(column, repeats) for i, column in columns.items()}
        left = np.repeat(left, repeats) - counts
        columns[j] = counts
    columns[reference] = left + lower[reference]
    rows = np.column_stack([columns[j] for j in range(len(lower))])
    return rows if upper[reference] >= total else rows[rows[:, reference] <= upper[reference]]
