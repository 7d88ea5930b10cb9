"""What every promise answers, whatever its kind.

A promise bounds how differently a mechanism may behave at two neighbours θ, θ′. It is data: its numbers, what they mean on one
edge, what they grow to for a unit that is several edges wide, and how it is said and written. Its exact check is in `certify`,
registered under its kind; whom it protects is said by a `Guarantee`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar

from discreet.errors import InputError
from discreet.numerics.exact import brief, format_exact

LETTERS = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}
"""The letter of each number, by the key it has in files."""


class Promise(ABC):
    """A bound on what neighbours may change; a frozen dataclass whose fields are its numbers, as in files."""

    kind: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    """Its numbers by the keys they have in files; the last is the one whose smallest value certify brackets."""
    adjective: ClassVar[str]
    """What a mechanism is that keeps it, whatever its numbers: those among which one is the best."""
    constraint: ClassVar[str]
    """What holds on every edge θ–θ′, in both directions, as a line of mathematics."""

    @property
    def numbers(self) -> dict[str, Fraction]:
        """Its numbers by their keys."""
        return {key: getattr(self, key) for key in self.keys}

    @property
    def letter(self) -> str:
        """The letter of the number whose smallest value is looked for."""
        return LETTERS[self.keys[-1]]

    @property
    def level(self) -> Fraction:
        """Its one number, along which losses fall; a promise of several numbers has none."""
        if len(self.keys) > 1:
            raise InputError(
                "A promise of several numbers is no level",
                found=self.brief(),
                allowed="a promise of ε or of ρ alone",
                remedy="ask for one of these",
            )
        return self.numbers[self.keys[0]]

    def at(self, level: Fraction) -> Promise:
        """The same kind of promise at another level."""
        assert self.level >= 0
        return type(self)(**{self.keys[0]: level})

    @abstractmethod
    def must_be_askable(self) -> None:
        """Refuse numbers that no problem can sensibly ask for."""

    @abstractmethod
    def keeps(self, other: Promise) -> bool:
        """Whether whoever keeps this promise keeps the other, which is of the same kind."""

    @abstractmethod
    def over(self, rows: int, cells: int) -> Promise:
        """What is promised to a unit with `rows` rows in each of `cells` cells, each cell published under this promise."""

    @abstractmethod
    def meaning(self, numbers: dict[str, str]) -> str:
        """What follows for published values, with the numbers written as given: the end of a sentence."""

    def document(self) -> dict[str, str]:
        """The numbers as exact text."""
        return {key: format_exact(number) for key, number in self.numbers.items()}

    def brief(self) -> str:
        """The numbers, shortened where they are long."""
        return ", ".join(f"{LETTERS[key]} = {brief(number)}" for key, number in self.numbers.items())

    def __str__(self) -> str:
        return ", ".join(f"{LETTERS[key]} = {text}" for key, text in self.document().items())


def must_not_be_negative(promise: Promise) -> None:
    """Refuse a promise with a negative number."""
    if any(number < 0 for number in promise.numbers.values()):
        raise InputError(
            "The level of a promise must be a number from 0 on", found=promise.brief(), allowed="0 or more", remedy="correct it"
        )
