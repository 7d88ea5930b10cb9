"""Floats that know how far they may be from the truth: running error analysis for sums, products and quotients.

A `Near` holds value and error with |truth − value| ≤ error. Each operation adds what its own rounding may cost, 2^−53 of
the result and a trifle for underflow; errors themselves are rounded up by a few steps. Divisors must stay away from zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.numerics.roundings import UNIT

UP = 1 + 2.0**-50
TRIFLE = 1e-300


@dataclass(frozen=True, eq=False)
class Near:
    """Values and the most that each may be off."""

    value: np.ndarray
    error: np.ndarray

    __array_ufunc__ = None  # numpy leaves mixed operations to this class

    @classmethod
    def of(cls, numbers: Sequence[Fraction]) -> Near:
        """Correctly rounded floats of exact numbers."""
        values = np.array([float(x) for x in numbers])
        off = [float(abs(Fraction(v) - x)) for v, x in zip(values.tolist(), numbers, strict=True)]
        return cls(values, np.array(off) * UP)

    @classmethod
    def exactly(cls, values: np.ndarray) -> Near:
        return cls(values, np.zeros_like(values))

    @property
    def low(self) -> np.ndarray:
        return _down(self.value - self.error)

    @property
    def high(self) -> np.ndarray:
        return -_down(-self.value - self.error)

    def at(self, places: np.ndarray | tuple[slice | None, ...]) -> Near:
        return Near(self.value[places], self.error[places])

    def __neg__(self) -> Near:
        return Near(-self.value, self.error)

    def __abs__(self) -> Near:
        return Near(np.abs(self.value), self.error)

    def __add__(self, other: Near | float) -> Near:
        other = _near(other)
        return _rounded(self.value + other.value, self.error + other.error)

    __radd__ = __add__

    def __sub__(self, other: Near | float) -> Near:
        return self + -_near(other)

    def __rsub__(self, other: Near | float) -> Near:
        return -self + other

    def __mul__(self, other: Near | float) -> Near:
        other = _near(other)
        off = np.abs(self.value) * other.error + np.abs(other.value) * self.error + self.error * other.error
        return _rounded(self.value * other.value, off)

    __rmul__ = __mul__

    def __truediv__(self, other: Near | float) -> Near:
        other = _near(other)
        least = np.abs(other.value) * (1 - UNIT) - other.error
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.value / other.value
            off = (self.error + np.abs(found) * other.error) / least * UP
        return _rounded(found, np.where(least > 0, off, np.inf))

    def __rtruediv__(self, other: Near | float) -> Near:
        return _near(other) / self

    def __pow__(self, exponent: int) -> Near:
        power = Near.exactly(np.ones_like(self.value))
        for _ in range(abs(exponent)):
            power = power * self
        return power if exponent >= 0 else 1.0 / power


def larger(left: Near, right: Near) -> Near:
    """The larger of two: off by its own error, or where they cannot be told apart by the larger error."""
    sure = np.where(left.low > right.high, left.error, np.maximum(left.error, right.error))
    return Near(np.maximum(left.value, right.value), np.where(right.low > left.high, right.error, sure))


def _near(number: Near | float) -> Near:
    """A plain float stands for a constant that was rounded once."""
    if isinstance(number, Near):
        return number
    return Near(np.asarray(number, dtype=float), np.asarray(abs(number) * UNIT * UP))


def _rounded(value: np.ndarray, error: np.ndarray) -> Near:
    return Near(value, error * UP + np.abs(value) * (UNIT * UP) + TRIFLE)


def _down(value: np.ndarray) -> np.ndarray:
    return np.nextafter(value, -np.inf)
