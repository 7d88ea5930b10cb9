"""Actions: what a decision maker can choose. Numbers, names, or every real number of an interval."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.numerics.exact import brief, exact

Action = Fraction | str


@dataclass(frozen=True)
class RealActions:
    """Every real number between `lower` and `upper`, or every real number when both are None."""

    lower: Fraction | None = None
    upper: Fraction | None = None
    ordered = True

    def __post_init__(self) -> None:
        if (self.lower is None) != (self.upper is None):
            raise InputError(
                "A range of real actions has two ends",
                found="one end",
                allowed="from and to, or neither",
                remedy="give the smallest and the largest action that makes sense",
            )
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise InputError(
                "The range of actions is empty",
                found=f"from {brief(self.lower)} to {brief(self.upper)}",
                allowed="from < to",
                remedy="put the smaller number first",
            )

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Both ends, for those who have refused all real numbers."""
        if self.lower is None or self.upper is None:
            raise InputError(
                "This needs a range of actions",
                found='actions = "real"',
                allowed="actions = { from = 0.1, to = 10 }",
                remedy="give the smallest and the largest action that makes sense",
            )
        return self.lower, self.upper

    def __contains__(self, action: object) -> bool:
        return isinstance(action, Fraction) and (self.lower is None or self.upper is None or self.lower <= action <= self.upper)

    def covers(self, low: Fraction, high: Fraction, unit: Fraction) -> bool:
        """Whether low, low + unit, … up to high are all allowed."""
        return low in self and high in self

    def nearest(self, number: Fraction) -> Fraction:
        """The allowed action next to a number."""
        if self.lower is None or self.upper is None:
            return number
        return min(max(number, self.lower), self.upper)


@dataclass(frozen=True)
class ListedActions:
    """Different numbers in ascending order."""

    numbers: tuple[Fraction, ...]
    ordered = True

    def __post_init__(self) -> None:
        if not self.numbers:
            raise _empty()
        if any(before >= after for before, after in pairwise(self.numbers)):
            raise InputError(
                "Actions must be different numbers in ascending order",
                found="a repetition or another order",
                allowed="for instance [0, 1, 2.5]",
                remedy="sort the list and remove repetitions",
            )

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Action]:
        return iter(self.numbers)

    def __contains__(self, action: object) -> bool:
        return isinstance(action, (int, Fraction)) and self.numbers[self.beside(Fraction(action))] == action

    def covers(self, low: Fraction, high: Fraction, unit: Fraction) -> bool:
        """Whether low, low + unit, … up to high are all allowed."""
        if low not in self or high not in self or (high - low) / unit + 1 > len(self.numbers):
            return False
        if self._whole is not None and low.denominator == unit.denominator == 1 and self._is_consecutive:
            return True
        return all(low + unit * k in self for k in range(int((high - low) / unit) + 1))

    def position(self, action: Action) -> int:
        """The place of an action in the list."""
        if isinstance(action, str) or action not in self:
            raise KeyError(action)
        return self.beside(action)

    def beside(self, number: Fraction) -> int:
        """The place of the first action that is not smaller than a number; of the last where all are."""
        whole = self._whole  # to compare fractions takes ten times as long
        place = bisect_left(self.numbers, number) if whole is None else bisect_left(whole, ceil(number))
        return min(place, len(self.numbers) - 1)

    @cached_property
    def _whole(self) -> list[int] | None:
        """The numbers, where all are whole."""
        return None if any(a.denominator != 1 for a in self.numbers) else [a.numerator for a in self.numbers]

    @property
    def _is_consecutive(self) -> bool:
        """Whether whole numbers leave none out."""
        return self._whole is not None and self._whole[-1] - self._whole[0] + 1 == len(self._whole)

    @cached_property
    def floats(self) -> np.ndarray:
        """The numbers as floats."""
        return np.array([a.numerator / a.denominator for a in self.numbers])

    @cached_property
    def step(self) -> Fraction | None:
        """What is between all neighbours; None where that differs, or there are none."""
        first = self.numbers[1] - self.numbers[0] if len(self.numbers) > 1 else None
        return first if first is not None and all(b - a == first for a, b in pairwise(self.numbers)) else None

    def nearest(self, number: Fraction) -> Fraction:
        """The listed action next to a number, the smaller of two."""
        right = self.beside(number)
        left = max(right - 1, 0)
        return min(self.numbers[left], self.numbers[right], key=lambda a: abs(a - number))


@dataclass(frozen=True)
class NamedActions:
    """Labels; their order counts as the order of actions where a theorem asks for one."""

    labels: tuple[str, ...]
    ordered = True

    def __post_init__(self) -> None:
        if not self.labels:
            raise _empty()
        if len(set(self.labels)) != len(self.labels) or not all(label.strip() for label in self.labels):
            raise InputError(
                "Actions need different, non-empty names",
                found="a repetition or an empty name",
                allowed='for instance ["open", "wait", "close"]',
                remedy="rename or remove the repetition",
            )
        numbers = [label for label in self.labels if is_number(label)]
        if numbers:
            raise InputError(
                "The name of an action reads as a number, so it would be taken for one",
                found=numbers[0],
                allowed="names that are words",
                remedy="give all actions as numbers, or rename this one",
            )

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Action]:
        return iter(self.labels)

    def __contains__(self, action: object) -> bool:
        return action in self.labels

    def position(self, action: Action) -> int:
        return self.labels.index(str(action))


def is_number(text: str) -> bool:
    try:
        exact(text)
    except InputError:
        return False
    return True


Choices = ListedActions | NamedActions
Actions = RealActions | Choices


def _empty() -> InputError:
    return InputError(
        "There is no action to choose",
        found="an empty list",
        allowed="at least one action",
        remedy='list the actions, or use "real" or "integer"',
    )
