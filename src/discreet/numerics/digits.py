"""A number in words, with the direction in which it stays true: the one place where a number becomes text.

    at_most(x)   t ≥ x      what is promised as an upper limit is rounded up
    at_least(x)  t ≤ x      what is promised as a lower limit is rounded down
    about(x)     |t − x| at most half a unit of t's last digit: an estimate, never a promise
    given(x)     t = x      what a person wrote, written back

t is the decimal that is read off the text, x is exact: a rational, or a float read by its shortest decimal as everywhere
(`exact`). Pass the rational or the end of a bracket itself, not a float made from it, which may lie on the wrong side; for
numbers in JSON `number_at_most` and `number_at_least` make that float. Shares are written in per cent by the same rules,
and never as 0 % or 100 % in an estimate that is neither.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, Inexact
from enum import Enum
from fractions import Fraction

from discreet.numerics.brackets import float_up
from discreet.numerics.exact import brief, exact

Number = int | float | Fraction

PLAIN = range(-5, 15)
"""Powers of ten of the first digit within which no exponent is written."""
HUGE = 10**300
LONGEST = 24
"""Digits up to which a given decimal is written back whole."""
MOST_NINES = 6
"""Significant digits up to which a share is kept apart from 100 %."""
LEAST_PERCENT = Fraction(1, 10**4)
"""Limits below this many per cent are not told apart."""
TOLD_APART = Fraction(1, 10)
"""Per cents within which an estimate says only that it is not 0 % or 100 %."""


class Side(Enum):
    """On which side of the number its text lies."""

    ABOVE = "at most"
    BELOW = "at least"
    NEAR = "about"
    SAME = "given"


ROUNDING = {Side.ABOVE: ROUND_CEILING, Side.BELOW: ROUND_FLOOR, Side.NEAR: ROUND_HALF_EVEN}


def at_most(x: Number, digits: int = 6) -> str:
    """The text of an upper limit: no smaller than x."""
    return written(x, Side.ABOVE, digits)


def at_least(x: Number, digits: int = 6) -> str:
    """The text of a lower limit: no larger than x."""
    return written(x, Side.BELOW, digits)


def about(x: Number, digits: int = 4, *, signed: bool = False) -> str:
    """The text of an estimate, to the nearest; `signed` writes the plus of a difference."""
    return ("+" if signed and x > 0 else "") + written(x, Side.NEAR, digits)


def given(x: Number) -> str:
    """What was given, written back exactly (numbers too long for that are marked as "about")."""
    return written(x, Side.SAME, 0)


def between(lower: Number, upper: Number, digits: int = 6, *, words: str = "between {} and {}") -> str:
    """A bracket in words, or the one number that both ends are exactly."""
    low, high = at_least(lower, digits), at_most(upper, digits)
    return low if low == high else words.format(low, high)


def percent_at_most(share: Number, digits: int = 3) -> str:
    """An upper limit of a share; more digits near 100 % rather than a limit that says nothing."""
    return written(share, Side.ABOVE, digits, percent=True)


def percent_at_least(share: Number, digits: int = 3) -> str:
    """A lower limit of a share; more digits near 100 %, as above."""
    return written(share, Side.BELOW, digits, percent=True)


def percent_about(share: Number) -> str:
    """An estimated share: whole per cents where that is enough, and the ends told apart in words."""
    scaled = 100 * exact(share)
    if 100 > scaled > 100 - TOLD_APART:
        return "more than " + written(1 - TOLD_APART / 100, Side.SAME, 0, percent=True)
    if 0 < scaled < TOLD_APART:
        return "less than " + written(TOLD_APART / 100, Side.SAME, 0, percent=True)
    return written(share, Side.NEAR, len(str(int(scaled))) if 1 <= scaled <= 99 else 3, percent=True)


def percent_given(share: Number) -> str:
    """A share as it was given."""
    return written(share, Side.SAME, 0, percent=True)


def written(x: Number, side: Side, digits: int, *, percent: bool = False) -> str:
    """The text of a number on a side; every other function here ends in this one."""
    if isinstance(x, float) and not math.isfinite(x):
        return "not known" if math.isnan(x) else "infinite" if x > 0 else "minus infinite"
    value = 100 * exact(x) if percent else exact(x)
    if side is Side.SAME:
        text = _back(value)
    else:
        text = _plain(_share(value, side, digits) if percent else _rounded(value, side, digits))
    return f"{text} %" if percent else text


def number_at_most(x: Number) -> float:
    """A float for an upper limit: the one that is printed as exactly x, else one no smaller than x, itself and as printed."""
    if isinstance(x, float):
        return x
    value = exact(x)
    if abs(value) < HUGE and exact(float(value)) == value:
        return float(value)
    return float_above(value)


def number_at_least(x: Number) -> float:
    """A float for a lower limit: the one that is printed as exactly x, else one no larger than x, itself and as printed."""
    return -number_at_most(-x) + 0.0


def float_above(value: Fraction) -> float:
    """A float no smaller than the number, itself and as the decimal that it is printed with: the upper end of a bracket."""
    found = float_up(value)
    while math.isfinite(found) and exact(found) < value:
        found = math.nextafter(found, math.inf)
    return found


def float_below(value: Fraction) -> float:
    """A float no larger than the number, itself and as the decimal that it is printed with: the lower end of a bracket."""
    return -float_above(-value) + 0.0


def _rounded(value: Fraction, side: Side, digits: int) -> Decimal:
    context = Context(prec=digits, rounding=ROUNDING[side])
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _share(scaled: Fraction, side: Side, digits: int) -> Decimal:
    """Per cents of a share: further digits just below 100, and no more than `LEAST_PERCENT` tells apart."""
    if side is Side.ABOVE and 0 < scaled < LEAST_PERCENT:
        scaled = LEAST_PERCENT
    if side is Side.BELOW and 0 < scaled < LEAST_PERCENT:
        scaled = Fraction(0)
    found = _rounded(scaled, side, digits)
    while digits < MOST_NINES and scaled < 100 and (found >= 100 or (scaled > 99 and found == 99)):
        digits += 1
        found = _rounded(scaled, side, digits)
    return found


def _back(value: Fraction) -> str:
    try:
        return _plain(Context(prec=LONGEST, traps=[Inexact]).divide(Decimal(value.numerator), Decimal(value.denominator)))
    except Inexact:
        return brief(value)


def _plain(value: Decimal) -> str:
    if value == 0:
        return "0"
    shown = value.normalize()
    return f"{shown:f}" if shown.adjusted() in PLAIN else f"{shown:e}"
