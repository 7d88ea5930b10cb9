"""Numbers at even distances, start + k·step for k = 0..size−1: what a million outputs recommend that are taken at face value.

They compare, hash and iterate as the tuple of the numbers does, and are made when somebody asks for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import overload

import numpy as np

from discreet.frozen import dataclass
from discreet.numerics.exact import format_exact, format_integer


@dataclass(frozen=True, eq=False)
class Progression(Sequence[Fraction]):
    """So many numbers from `start` on."""

    start: Fraction
    step: Fraction
    size: int

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, place: int) -> Fraction: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Fraction]: ...

    def __getitem__(self, place: int | slice) -> Fraction | Sequence[Fraction]:
        found = range(self.size)[place]
        return self.start + self.step * found if isinstance(found, int) else tuple(self.start + self.step * k for k in found)

    def __iter__(self) -> Iterator[Fraction]:
        whole = self._whole
        return map(Fraction, whole) if whole is not None else (self.start + self.step * k for k in range(self.size))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Progression):
            return (self.start, self.step, self.size) == (other.start, other.step, other.size)
        return tuple(self) == other if isinstance(other, tuple) and len(other) == self.size else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    @property
    def _whole(self) -> range | None:
        """The numbers, where all are whole."""
        if self.start.denominator != 1 or self.step.denominator != 1 or self.step == 0:
            return None
        start, step = self.start.numerator, self.step.numerator
        return range(start, start + self.size * step, step)

    def texts(self) -> Iterable[str]:
        """The numbers as they are written."""
        return map(format_exact, self) if self._whole is None else map(format_integer, self._whole)

    def floats(self) -> np.ndarray:
        """The numbers, nearly."""
        return float(self.start) + float(self.step) * np.arange(self.size)

    def moved(self, origin: Fraction, unit: Fraction) -> Progression:
        """origin + unit·x for every number x."""
        return Progression(origin + unit * self.start, unit * self.step, self.size)
