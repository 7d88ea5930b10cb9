"""Recoding: the total map from a value in a column to a type. No value is dropped, and none can raise an error.

    type(x) = missing                     x is NULL, NaN, a blank text or "NA", unless that very text is listed
              rule(x)                     where the rule applies
              outside                     otherwise: not listed, not a number, beyond the bins

`values`  lists the texts (or numbers) of each type;
`bins`    edges e_0 < … < e_m: type j when e_j ≤ x < e_{j+1};
`bounds`  whole numbers low..high: type ⌊x⌋ − low after clipping ⌊x⌋ to the bounds, so below is 0 and above is the last.

Numbers are read as doubles, by every engine alike. A text is a number when it is written as `NUMBER` says; so neither
blanks, nor words such as "inf", nor digits of other scripts are. Type `absent` fills cells that are short.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from discreet.errors import InputError

NUMBER = r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?"
"""How a number is written in a text column, for a full match."""

LARGEST_BOUND = 2**53
MOST_TYPES = 10_000
GAP = r"[ \t]*(NA)?[ \t]*"
"""How people write that nothing is known: a text of spaces and tabs alone, or NA; for a full match."""
_NUMBER = re.compile(NUMBER, re.ASCII)
_GAP = re.compile(GAP)
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,37}", re.ASCII)


@dataclass(frozen=True)
class Values:
    """`groups[j]` lists the texts that are type j."""

    groups: tuple[tuple[str, ...], ...]
    kind = "values"

    def __post_init__(self) -> None:
        every = [text for group in self.groups for text in group]
        if not self.groups or not all(self.groups):
            raise InputError(
                "Every type needs a value",
                found="a type without values",
                allowed="one or more values for each type",
                remedy='for instance values = [["none"], ["one", "two"]]',
            )
        if len(set(every)) != len(every) or not all(every) or any("\0" in text for text in every):
            raise InputError(
                "The recoding lists a value twice, an empty one, or one that is no text",
                found=f"{len(every)} values",
                allowed="different texts, none empty",
                remedy="correct recoding.values",
            )

    @property
    def types(self) -> int:
        """How many types the rule gives."""
        return len(self.groups)

    @property
    def texts(self) -> tuple[tuple[str, int], ...]:
        """Every listed text with its type."""
        return tuple((text, j) for j, group in enumerate(self.groups) for text in group)

    @property
    def integers(self) -> tuple[tuple[int, int], ...]:
        """The texts that a whole number can equal, as numbers, with their types."""
        return tuple((int(text), j) for text, j in self.texts if _INTEGER.fullmatch(text))

    @property
    def numbers(self) -> tuple[tuple[float, int], ...]:
        """The texts that a decimal number can equal, as doubles, with their types; the first of equal ones counts."""
        found: dict[float, int] = {}
        for text, j in self.texts:
            if _NUMBER.fullmatch(text):
                found.setdefault(float(text), j)
        return tuple(found.items())


@dataclass(frozen=True)
class Bins:
    """Half-open bins between ascending edges."""

    edges: tuple[Fraction, ...]
    kind = "bins"

    def __post_init__(self) -> None:
        floats = self.doubles
        if len(floats) < 2 or any(a >= b for a, b in pairwise(floats)):
            raise InputError(
                "Bins need two or more edges in ascending order",
                found=", ".join(map(str, self.edges)) or "none",
                allowed="for instance [0, 10, 25, 100]",
                remedy="sort the edges and keep them apart",
            )

    @property
    def types(self) -> int:
        """How many types the rule gives."""
        return len(self.edges) - 1

    @property
    def doubles(self) -> tuple[float, ...]:
        """The edges as they are compared."""
        return tuple(float(edge) for edge in self.edges)


@dataclass(frozen=True)
class Bounds:
    """Whole numbers low..high, everything beyond clipped."""

    low: int
    high: int
    kind = "bounds"

    def __post_init__(self) -> None:
        if not -LARGEST_BOUND <= self.low < self.high <= LARGEST_BOUND:
            raise InputError(
                "Bounds need low < high",
                found=f"{self.low}..{self.high}",
                allowed="whole numbers below 2^53",
                remedy="correct recoding.low and recoding.high",
            )

    @property
    def types(self) -> int:
        """How many types the rule gives."""
        return self.high - self.low + 1


Rule = Values | Bins | Bounds


@dataclass(frozen=True)
class Recoding:
    """A column, its rule, the number of types (T+1), and the types of what the rule does not cover."""

    column: str
    rule: Rule
    types: int
    missing: int
    outside: int
    absent: int | None = None

    def __post_init__(self) -> None:
        if not self.column or "\0" in self.column:
            raise InputError(
                "The recoding names no column",
                found="nothing",
                allowed="the name of a column",
                remedy="set recoding.column",
            )
        if not max(2, self.rule.types) <= self.types <= MOST_TYPES:
            raise InputError(
                "The recoding has too few or too many types",
                found=f"{self.types}",
                allowed=f"{max(2, self.rule.types)} to {MOST_TYPES}",
                remedy="set recoding.types to those of the mechanism",
            )
        for name in ("missing", "outside", "absent"):
            found = getattr(self, name)
            if found is not None and not 0 <= found < self.types:
                raise InputError(
                    f"The plan's recoding.{name} is not a type",
                    found=str(found),
                    allowed=f"0 to {self.types - 1}",
                    remedy="declare which type such respondents have",
                )

    def type_of(self, value: object) -> int:
        """The type of one value as Python holds it; the definition that all engines must meet."""
        if value is None or (isinstance(value, (float, Decimal)) and math.isnan(value)):
            return self.missing
        if isinstance(value, str) and _GAP.fullmatch(value) and value not in self.listed_gaps:
            return self.missing
        if isinstance(self.rule, Values):
            return self._listed(self.rule, value)
        number = _as_double(value)
        if number is None:
            return self.outside
        if isinstance(self.rule, Bins):
            edges = self.rule.doubles
            if not edges[0] <= number < edges[-1]:
                return self.outside
            return sum(edge <= number for edge in edges) - 1
        if number <= self.rule.low:
            return 0
        return self.rule.types - 1 if number >= self.rule.high else math.floor(number) - self.rule.low

    @property
    def listed_gaps(self) -> tuple[str, ...]:
        """Texts that look like gaps and are listed as values of a type, which they then are."""
        return tuple(text for text, _ in self.rule.texts if _GAP.fullmatch(text)) if isinstance(self.rule, Values) else ()

    def _listed(self, rule: Values, value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool):
            return dict(rule.integers).get(value, self.outside)
        if isinstance(value, (float, Decimal)):
            return dict(rule.numbers).get(float(value), self.outside)
        return dict(rule.texts).get(as_text(value), self.outside)


def as_text(value: object) -> str:
    """How a key, a unit or a listed value is written: digits, "true", "2026-01-31"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _as_double(value: object) -> float | None:
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
