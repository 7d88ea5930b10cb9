"""Guarantees: a bare ε is not a promise. A guarantee names its neighbours and its privacy unit.

m(s|θ) ≤ e^ε m(s|θ′) for every output s and all neighbours θ, θ′; the unit says who one respondent is.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InputError
from discreet.numerics.exact import brief, format_exact

RELATIONS = {"replace-one": "bounded", "add-remove-one": "unbounded", "given": "given graph"}


@dataclass(frozen=True)
class Guarantee:
    """ε for a relation and a unit; δ > 0 only for mechanisms that are not purely ε-private."""

    epsilon: Fraction
    neighbours: str
    unit: str
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.epsilon < 0 or not 0 <= self.delta < 1:
            raise InputError(
                "A guarantee needs ε from 0 on and δ from 0 to below 1",
                found=f"ε = {brief(self.epsilon)}, δ = {brief(self.delta)}", allowed="ε >= 0, 0 <= δ < 1",
                remedy="correct them",
            )
        if self.neighbours not in RELATIONS:
            raise InputError(
                "A guarantee names a known relation between databases", found=self.neighbours,
                allowed=list(RELATIONS), remedy="choose one of these",
            )
        if not self.unit.strip():
            raise InputError(
                "A guarantee names its privacy unit", found="nothing", allowed="who is protected, in words",
                remedy='for instance "household"',
            )

    def __str__(self) -> str:
        level = f"ε = {format_exact(self.epsilon)}"
        if self.delta:
            level += f", δ = {format_exact(self.delta)}"
        return f"{level} for {self.neighbours} ({RELATIONS[self.neighbours]}) neighbours, unit: {self.unit}"
