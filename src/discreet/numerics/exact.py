"""Exact numbers: what a person wrote, read as a rational and nothing else.

`exact("0.1") == exact(0.1) == Fraction(1, 10)`: a binary float is read by its shortest decimal, which is what
was typed, not by the binary fraction that stands in for it. Anything that is not one finite number is
refused, and so is a text whose value would not fit in memory ("1e999999999").
"""

import numbers
import re
from collections.abc import Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm

from discreet.errors import InputError

MAX_CHARACTERS = 50_000
MAX_EXPONENT = 10_000
MAX_PLACES = 15

_DECIMAL = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?", re.ASCII)
_QUOTIENT = re.compile(r"([+-]?[0-9]+)\s*/\s*([0-9]+)", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_ALLOWED = 'a finite number, for example 2, 0.25, "1e-3" or "1/3"'


LARGEST = 10**100
"""Numbers up to this have squares, and sums of squares, that floats can hold."""


def exact(value: object, what: str = "number") -> Fraction:
    """The rational that `value` stands for; `what` names it in the error message.

    Reads int, Fraction, Decimal, str, float and NumPy scalars; refuses bool, NaN, infinity and nonsense.
    """
    if isinstance(value, str):
        return _from_text(value, what)
    if isinstance(value, bool) or not isinstance(value, (numbers.Number, Decimal)):
        raise InputError(
            f"{what} is not a number",
            found=f"{_shown(value)} of type {type(value).__name__}",
            allowed=_ALLOWED,
            remedy=f"Write {what} as a number or as a fraction in quotes",
        )
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal):
        return _from_decimal(value, what)
    if isinstance(value, float):
        return _from_text(float.__repr__(value), what)
    if isinstance(value, numbers.Real):
        return _from_text(str(value), what)
    raise InputError(
        f"{what} is not a real number",
        found=_shown(value),
        allowed=_ALLOWED,
        remedy=f"Give the real number meant by {what}",
    )


def must_fit_floats(values: Iterable[Fraction], what: str) -> None:
    """Refuse numbers so large or so small that floats cannot hold their squares: floats propose what is then proved exactly."""
    for value in values:
        if value and not Fraction(1, LARGEST) <= abs(value) <= LARGEST:
            raise InputError(
                f"{what} is too large or too small to be computed with",
                found=brief(value),
                allowed="0, or a size from 1e-100 to 1e100",
                remedy="write it in another unit",
            )


def share(text: str, what: str = "share") -> Fraction:
    """A share as a person writes it: 0.5, 1/2 or 50%."""
    whole = text.strip()
    return exact(whole[:-1].rstrip(), what) / 100 if whole.endswith("%") else exact(whole, what)


def read_integer(text: str, what: str = "integer", max_digits: int = 1_000_000) -> int:
    """The integer written in decimal digits, beyond the length at which `int` refuses, up to `max_digits`."""
    if not isinstance(text, str) or len(text) > max_digits + 1 or not _INTEGER.fullmatch(text):
        raise InputError(
            f"{what} is not an integer in decimal digits",
            found=_shown(text),
            allowed=f'an optional sign and at most {max_digits} digits, for example "18446744073709551616"',
            remedy=f"Write {what} as a string of decimal digits",
        )
    digits = text.lstrip("+-")
    return -_of_digits(digits) if text.startswith("-") else _of_digits(digits)


def _of_digits(digits: str) -> int:
    """In halves: all at once a million digits take half a minute."""
    if len(digits) < 4000:
        return int(digits)
    half = len(digits) // 2
    return _of_digits(digits[:-half]) * 10**half + _of_digits(digits[-half:])


def format_integer(value: int) -> str:
    """Decimal digits of an integer of any length (`str` refuses beyond a few thousand digits)."""
    if value.bit_length() < 13_000:
        return str(value)
    return format(Decimal(value), "f")


def format_exact(value: Fraction) -> str:
    """Shortest exact text: an integer, a decimal of at most 15 places, else "p/q". `exact` reads it back."""
    numerator, denominator = value.numerator, value.denominator
    if denominator == 1:
        return format_integer(numerator)
    places = _decimal_places(denominator)
    if places is None:
        return f"{format_integer(numerator)}/{format_integer(denominator)}"
    digits = format_integer(abs(numerator) * 10**places // denominator).rjust(places + 1, "0")
    sign = "-" if numerator < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def ranked(numbers: Iterable[Fraction]) -> tuple[tuple[Fraction, ...], list[int]]:
    """The different numbers, ascending, and which of them each is; a fraction takes ten times as long to hash as its two parts."""
    ratios = [number.as_integer_ratio() for number in numbers]
    values = sorted(Fraction(*ratio) for ratio in set(ratios))
    place = {value.as_integer_ratio(): k for k, value in enumerate(values)}
    return tuple(values), [place[ratio] for ratio in ratios]


def brief(value: Fraction | int) -> str:
    """A number for a message: exact when that is short, else about 15 significant digits."""
    if value.denominator.bit_length() < 64 and value.numerator.bit_length() < 64:
        return format_exact(Fraction(value))
    context = Context(prec=15)
    return f"about {context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize()}"


def counted(count: int) -> str:
    """A count for a message, with thousands apart."""
    return f"{count:,}" if count < 10**18 else "more than 10^18"


def normalised(
    weights: Sequence[Fraction], tolerance: Fraction | float = 1e-9, what: str = "probabilities"
) -> tuple[tuple[Fraction, ...], bool]:
    """Weights that sum to exactly one, and whether they had to be divided by their sum.

    Refuses a negative weight, an empty sequence, and a sum further than `tolerance` from one.
    """
    total = sum(weights, Fraction(0))
    for position, weight in enumerate(weights):
        if weight < 0:
            raise InputError(
                f"{what} contain a negative number",
                found=f"{brief(weight)} at position {position}",
                allowed="numbers from 0 to 1 that sum to 1",
                remedy="Correct that entry",
            )
    if abs(total - 1) > exact(tolerance, "tolerance"):
        raise InputError(
            f"{what} do not sum to one",
            found=f"a sum of {brief(total)} over {len(weights)} entries",
            allowed=f"a sum within {float(tolerance):g} of 1",
            remedy='Correct the entries, or write them as exact fractions such as "1/3"',
        )
    if total == 1:
        return tuple(weights), False
    return tuple(weight / total for weight in weights), True


def _from_text(text: str, what: str) -> Fraction:
    body = text.strip() if len(text) <= MAX_CHARACTERS else ""
    quotient = _QUOTIENT.fullmatch(body)
    if quotient:
        numerator, denominator = read_integer(quotient[1], what), read_integer(quotient[2], what)
        if denominator != 0:
            return Fraction(numerator, denominator)
    decimal = _DECIMAL.fullmatch(body)
    if decimal and (decimal[2] or decimal[3]):
        fraction_digits = decimal[3] or ""
        exponent_text = decimal[4] or "0"
        # A long exponent is never converted: its length alone says that it is out of range.
        exponent = int(exponent_text) if len(exponent_text) < 10 else MAX_EXPONENT + 1
        if abs(exponent) <= MAX_EXPONENT:
            digits = read_integer(decimal[1] + (decimal[2] or "") + fraction_digits, what)
            return _scaled(digits, exponent - len(fraction_digits))
        raise _out_of_range(what, _shown(text))
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"{what} is too long",
            found=f"a text of {len(text)} characters",
            allowed=f"at most {MAX_CHARACTERS} characters",
            remedy=f"Write {what} with fewer digits",
        )
    raise InputError(
        f"{what} is not a finite number",
        found=_shown(text),
        allowed=_ALLOWED,
        remedy=f"Write {what} as a number or as a fraction in quotes",
    )


def _from_decimal(value: Decimal, what: str) -> Fraction:
    if not value.is_finite():
        return _from_text(str(value), what)
    _, digits, exponent = value.as_tuple()
    if abs(int(exponent)) > MAX_EXPONENT + len(digits) or len(digits) > MAX_CHARACTERS:
        raise _out_of_range(what, f"a decimal with {len(digits)} digits and exponent {exponent}")
    return Fraction(value)


def _scaled(digits: int, exponent: int) -> Fraction:
    """digits · 10^exponent."""
    return Fraction(digits * 10**exponent) if exponent >= 0 else Fraction(digits, 10**-exponent)


@lru_cache(256)
def _decimal_places(denominator: int) -> int | None:
    """How many decimal places write 1/denominator exactly, or None when none or more than MAX_PLACES do."""
    if denominator > 10**MAX_PLACES:
        return None
    for places in range(1, MAX_PLACES + 1):
        if 10**places % denominator == 0:
            return places
    return None


def _out_of_range(what: str, found: str) -> InputError:
    return InputError(
        f"{what} is out of range",
        found=found,
        allowed=f"a decimal exponent between -{MAX_EXPONENT} and {MAX_EXPONENT}",
        remedy=f"Write {what} with a smaller exponent",
    )


def _shown(value: object) -> str:
    """At most 60 characters of what was found, without converting a huge integer to text."""
    if isinstance(value, int) and value.bit_length() > 200:
        return f"an integer of {value.bit_length()} bits"
    text = repr(value[:80]) if isinstance(value, (str, bytes)) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def whole_steps(numbers: Sequence[Fraction]) -> tuple[Fraction, tuple[int, ...]]:
    """The largest unit of which all numbers are whole multiples, and the multiples; some unit where all are zero."""
    bottom = lcm(*(x.denominator for x in numbers))
    whole = [int(x * bottom) for x in numbers]
    step = gcd(*whole) or 1
    return Fraction(step, bottom), tuple(x // step for x in whole)
