"""Statements: a guarantee in one currency, as a kind and its numbers.

| kind | numbers | promise for every two neighbours P, Q |
|---|---|---|
| epsilon | epsilon | P(A) ≤ e^ε Q(A) |
| approximate | epsilon, delta | P(A) ≤ e^ε Q(A) + δ |
| kl | kl | D(P‖Q) ≤ kl nats, both ways |
| tv | tv | P(A) ≤ Q(A) + tv |
| mi | mi | I(X_i; Y given all others) ≤ mi nats, any distribution |
| zcdp | rho | D_α ≤ ρα for every α > 1 |
| renyi | order, renyi | D_α ≤ renyi at α = order |
| gaussian | mu | f-DP with the trade-off of N(0, 1) against N(μ, 1) |
| tradeoff | corners | f-DP with the piecewise linear f through the corners |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from discreet.errors import InputError, suggest
from discreet.numerics.digits import at_least, at_most
from discreet.numerics.exact import exact, format_exact

KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "epsilon": ("epsilon",),
        "approximate": ("epsilon", "delta"),
        "kl": ("kl",),
        "tv": ("tv",),
        "mi": ("mi",),
        "zcdp": ("rho",),
        "renyi": ("order", "renyi"),
        "gaussian": ("mu",),
        "tradeoff": ("corners",),
    }
)
PROBABILITIES = {"delta", "tv"}


@dataclass(frozen=True)
class Statement:
    """A guarantee: its kind and exact numbers (a trade-off has its corners instead)."""

    kind: str
    numbers: Mapping[str, Fraction]
    corners: tuple[tuple[Fraction, Fraction], ...] = ()

    def __post_init__(self) -> None:
        names = KINDS.get(self.kind)
        if names is None:
            raise unknown_kind(self.kind)
        wanted = set() if self.kind == "tradeoff" else set(names)
        if set(self.numbers) != wanted:
            raise InputError(
                f"A guarantee of kind {self.kind!r} has other numbers",
                found=", ".join(self.numbers) or "none",
                allowed=", ".join(names),
                remedy="give exactly these",
            )
        for name, value in self.numbers.items():
            check_number(name, value)

    def __str__(self) -> str:
        # Numbers of a guarantee are limits: up is safe, and for corners of a trade-off down and left.
        if self.corners:
            return "f-DP through " + ", ".join(f"({at_least(a)}, {at_least(b)})" for a, b in self.corners)
        return self.kind + ": " + ", ".join(f"{name} = {_short(value)}" for name, value in self.numbers.items())


def statement(kind: str, **numbers: object) -> Statement:
    """A statement from numbers as a person writes them."""
    if kind not in KINDS:
        raise unknown_kind(kind)
    return Statement(kind, {name: exact(value, name) for name, value in numbers.items()})


def check_number(name: str, value: Fraction) -> None:
    """Refuse a number that no guarantee has."""
    low, high = (1, None) if name == "order" else (0, 1 if name in PROBABILITIES else None)
    if value < low or (high is not None and value > high) or (name == "order" and value == 1):
        allowed = "above 1" if name == "order" else "0 to 1" if high == 1 else "0 or more"
        raise InputError(f"{name} is out of range", found=_short(value), allowed=allowed, remedy=f"correct {name}")


def unknown_kind(kind: str) -> InputError:
    """The refusal of a word that is no currency."""
    near = suggest(kind, KINDS)
    return InputError(
        "There is no such currency",
        found=kind,
        allowed=list(KINDS),
        remedy=f"Did you mean {near}?" if near else "choose one of these",
    )


def _short(value: Fraction) -> str:
    text = format_exact(value)
    return text if len(text) <= 18 else at_most(value, 12)
