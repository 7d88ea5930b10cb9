"""Promises: what is asked for, proved and charged. Pure ε, ρ (zCDP) and (ε, δ), one per file."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.errors import InputError
from discreet.model.promises.approximate import ApproximatePromise
from discreet.model.promises.concentrated import ConcentratedPromise, concentrated_rho
from discreet.model.promises.promise import LETTERS, Promise
from discreet.model.promises.pure import PurePromise, pure_epsilon

PROMISES: tuple[type[Promise], ...] = (PurePromise, ConcentratedPromise, ApproximatePromise)


def promise_of(numbers: Mapping[str, Fraction | None], where: str) -> Promise:
    """The promise with these numbers by their keys; `where` names the table they stand in. A δ of 0 is pure ε."""
    given = {key: number for key, number in numbers.items() if number is not None and (number or key != "delta")}
    for form in PROMISES:
        if set(form.keys) == set(given):
            return form(**given)
    raise InputError(
        f"{where} states its promise in no way that is known",
        found=" and ".join(f"{where}.{key}" for key in given) or f"neither {where}.epsilon nor {where}.rho",
        allowed="; or ".join(" with ".join(form.keys) for form in PROMISES),
        remedy="give the numbers of one of them",
    )


__all__ = [
    "LETTERS",
    "PROMISES",
    "ApproximatePromise",
    "ConcentratedPromise",
    "Promise",
    "PurePromise",
    "concentrated_rho",
    "promise_of",
    "pure_epsilon",
]
