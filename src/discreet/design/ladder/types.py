"""The law of one respondent's type as the ladder reads it: p and v as exact rationals, sorted by value.

Floats are taken at face value (the rational they are), decimals and fractions exactly; p is divided by its
sum, and types of probability zero are left out: no database of positive probability holds them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from discreet.errors import InputError

Number = int | float | Fraction | Decimal


@dataclass(frozen=True)
class TypeLaw:
    """Atoms (value, probability) in increasing order of value; equal values are one atom."""

    atoms: tuple[tuple[Fraction, Fraction], ...]

    @classmethod
    def of(cls, probabilities: Sequence[Number], values: Sequence[Number]) -> TypeLaw:
        """Check and sort p and v."""
        masses, points = exact_law(probabilities, values)
        merged: dict[Fraction, Fraction] = {}
        for value, mass in zip(points, masses, strict=True):
            if mass > 0:
                merged[value] = merged.get(value, Fraction(0)) + mass
        return cls(tuple(sorted(merged.items())))

    @property
    def mean(self) -> Fraction:
        """E v."""
        return sum((v * p for v, p in self.atoms), Fraction(0))

    @property
    def variance(self) -> Fraction:
        """Var v."""
        return sum((v * v * p for v, p in self.atoms), Fraction(0)) - self.mean**2


def exact_law(
    probabilities: Sequence[Number], values: Sequence[Number]
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """(p, v) as exact rationals, p divided by its sum."""
    if len(probabilities) != len(values) or not len(values):
        raise InputError(
            "each type needs one probability and one value",
            found=f"{len(probabilities)} probabilities and {len(values)} values",
            allowed="lists of the same length, at least one entry each",
        )
    masses, points = (tuple(_exact(x) for x in xs) for xs in (probabilities, values))
    total = sum(masses, Fraction(0))
    if min(masses) < 0 or abs(total - 1) > Fraction(1, 10**6):
        raise InputError(
            "probabilities of types must be non-negative and sum to one",
            found=[float(m) for m in masses],
            allowed="numbers in 0..1 that sum to one",
        )
    return tuple(m / total for m in masses), points


def _exact(x: Number) -> Fraction:
    if isinstance(x, float) and not math.isfinite(x):
        raise InputError("probabilities and values must be finite numbers", found=x)
    return Fraction(x)
