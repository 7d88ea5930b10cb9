"""Guarantees: a bare number is not a promise to anyone. A guarantee names its promise, its neighbours and its privacy unit."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.promises import Promise, pure_epsilon

RELATIONS = {"replace-one": "bounded", "add-remove-one": "unbounded", "given": "given graph"}


@dataclass(frozen=True)
class Guarantee:
    """A promise for a relation between databases and a unit: who one respondent is."""

    promise: Promise
    neighbours: str
    unit: str

    def __post_init__(self) -> None:
        if self.neighbours not in RELATIONS:
            raise InputError(
                "A guarantee names a known relation between databases",
                found=self.neighbours,
                allowed=list(RELATIONS),
                remedy="choose one of these",
            )
        if not self.unit.strip():
            raise InputError(
                "A guarantee names its privacy unit",
                found="nothing",
                allowed="who is protected, in words",
                remedy='for instance "household"',
            )

    @property
    def epsilon(self) -> Fraction:
        """The ε of a purely private promise, for those who serve no other."""
        return pure_epsilon(self.promise)

    def __str__(self) -> str:
        return f"{self.promise} for {self.neighbours} ({RELATIONS[self.neighbours]}) neighbours, unit: {self.unit}"
