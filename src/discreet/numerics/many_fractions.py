"""Many fractions at once, exactly: whole numbers over positive whole numbers, never reduced to lowest terms.

They compute with each other and with single fractions as numbers do, one place at a time; comparisons are 1 or 0. A formula at a
hundred thousand places takes a fiftieth of the time that its fractions take one by one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np


class Fractions:
    """above/below, place by place; `below` is positive, for all places or for each."""

    __slots__ = ("above", "below")

    def __init__(self, above: Any, below: Any) -> None:
        self.above, self.below = above, below

    @staticmethod
    def of(numbers: Sequence[Fraction]) -> Fractions:
        """These numbers over one denominator."""
        below = lcm(*(x.denominator for x in numbers))
        return Fractions(np.array([x.numerator * (below // x.denominator) for x in numbers], dtype=object), below)

    def each(self) -> list[Fraction]:
        """The numbers, in lowest terms."""
        return [Fraction(int(a), int(b)) for a, b in np.broadcast(self.above, self.below)]

    def __add__(self, other: Fractions | Fraction) -> Fractions:
        above, below = _parts(other)
        return Fractions(self.above * below + above * self.below, self.below * below)

    def __mul__(self, other: Fractions | Fraction) -> Fractions:
        above, below = _parts(other)
        return Fractions(self.above * above, self.below * below)

    def __neg__(self) -> Fractions:
        return Fractions(-self.above, self.below)

    def __sub__(self, other: Fractions | Fraction) -> Fractions:
        return self + -other

    def __rsub__(self, other: Fraction) -> Fractions:
        return -self + other

    def __truediv__(self, other: Fractions | Fraction) -> Fractions:
        above, below = _parts(other)
        if np.any(above == 0):
            raise ZeroDivisionError
        sign = np.where(above < 0, -1, 1).astype(object)
        return Fractions(sign * self.above * below, sign * self.below * above)

    def __rtruediv__(self, other: Fraction) -> Fractions:
        return Fractions(self.above * 0 + other.numerator, other.denominator) / self

    def __pow__(self, exponent: int) -> Fractions:
        if exponent < 0:
            return Fraction(1) / self ** (-exponent)
        return Fractions(self.above**exponent, self.below**exponent)

    def __abs__(self) -> Fractions:
        return Fractions(abs(self.above), self.below)

    def compared(self, test: Callable[[Any, Any], Any], other: Fractions | Fraction) -> Fractions:
        """1 where the test holds and 0 elsewhere."""
        above, below = _parts(other)
        return Fractions(test(self.above * below, above * self.below).astype(int).astype(object), 1)

    def __lt__(self, other: Fractions | Fraction) -> Fractions:
        return self.compared(operator.lt, other)

    def __le__(self, other: Fractions | Fraction) -> Fractions:
        return self.compared(operator.le, other)

    def __gt__(self, other: Fractions | Fraction) -> Fractions:
        return self.compared(operator.gt, other)

    def __ge__(self, other: Fractions | Fraction) -> Fractions:
        return self.compared(operator.ge, other)

    def __eq__(self, other: Fractions | Fraction) -> Fractions:  # type: ignore[override]
        return self.compared(operator.eq, other)

    def __ne__(self, other: Fractions | Fraction) -> Fractions:  # type: ignore[override]
        return self.compared(operator.ne, other)

    __hash__ = None  # type: ignore[assignment]
    __radd__, __rmul__ = __add__, __mul__


def larger(one: Fractions | Fraction, other: Fractions | Fraction) -> Any:
    """The larger of both, at each place."""
    (a, b), (c, d) = _parts(one), _parts(other)
    first = a * d >= c * b
    if isinstance(one, Fractions) or isinstance(other, Fractions):
        a, b, c, d = (np.asarray(x, dtype=object) for x in (a, b, c, d))
        return Fractions(np.where(first, a, c), np.where(first, b, d))
    return one if first else other


def _parts(other: Fractions | Fraction) -> tuple[Any, Any]:
    return (other.above, other.below) if isinstance(other, Fractions) else (other.numerator, other.denominator)
