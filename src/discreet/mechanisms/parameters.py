"""Parameters of the named families: read exactly and refused when no mechanism has them."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InputError
from discreet.model.guarantee import Guarantee
from discreet.model.promises import PurePromise
from discreet.numerics.exact import exact, format_exact

OTHERS = "use the exponential or the inverse sensitivity mechanism on the listed databases"


class Pure:
    """A family that keeps a pure promise for the neighbours that its parameters speak about."""

    epsilon: Fraction

    def guarantee(self, neighbours: str, unit: str) -> Guarantee:
        """ε: for additive noise, where the statistic moves by at most the sensitivity; for the others, along the graph."""
        return Guarantee(PurePromise(self.epsilon), neighbours, unit)


def positive(value: object, what: str) -> Fraction:
    """An exact number above zero."""
    number = exact(value, what)
    if number <= 0:
        raise _refusal(what, number, "a number above 0")
    return number


def non_negative(value: object, what: str) -> Fraction:
    """An exact number, zero or above."""
    number = exact(value, what)
    if number < 0:
        raise _refusal(what, number, "a number from 0 up")
    return number


def between(value: object, low: int, high: int, what: str) -> Fraction:
    """An exact number strictly between two integers."""
    number = exact(value, what)
    if not low < number < high:
        raise _refusal(what, number, f"a number strictly between {low} and {high}")
    return number


def integer(value: object, what: str, *, least: int | None = None) -> int:
    """An integer, at least `least` when that is given."""
    number = exact(value, what)
    if number.denominator != 1 or (least is not None and number < least):
        raise _refusal(what, number, "an integer" if least is None else f"an integer from {least} up")
    return number.numerator


def _refusal(what: str, number: Fraction, allowed: str) -> InputError:
    return InputError(
        f"{what} is out of range",
        found=format_exact(number),
        allowed=allowed,
        remedy=f"Give {what} as {allowed}.",
    )
