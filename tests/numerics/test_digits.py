"""Numbers in words: the text lies on the side that was asked for, and as near as its digits allow."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.numerics import digits
from discreet.numerics.digits import Side, about, at_least, at_most, between, written
from discreet.numerics.exact import exact

RATIONALS = st.fractions() | st.builds(
    lambda mantissa, power: Fraction(mantissa) * Fraction(10) ** power, st.integers(-(10**20), 10**20), st.integers(-40, 40)
)
SHARES = st.fractions(0, 1) | st.integers(0, 40).map(lambda k: 1 - Fraction(1, 10**k)) | st.floats(0, 1).map(exact)


def read(text: str) -> Fraction:
    """The number that a reader takes from a text, per cents divided by a hundred."""
    number = text.removesuffix(" %").rpartition(" ")[2]
    return exact(number) / (100 if text.endswith("%") else 1)


def unit(text: str) -> Fraction:
    """One unit of the last of so many significant digits, as seen from the first."""
    return Fraction(10) ** Decimal(text).adjusted() if Decimal(text) else Fraction(10) ** -60


@given(RATIONALS, st.integers(1, 15))
def test_limits_are_rounded_to_their_safe_side_and_no_further(x: Fraction, places: int) -> None:
    low, high = at_least(x, places), at_most(x, places)
    assert read(low) <= x <= read(high)
    for text in (low, high):
        assert abs(read(text) - x) < 10 * unit(text) * Fraction(10) ** (1 - places)


@given(RATIONALS, st.integers(1, 15))
def test_an_estimate_is_the_nearest(x: Fraction, places: int) -> None:
    assert abs(read(about(x, places)) - x) <= 10 * unit(about(x, places)) * Fraction(10) ** (1 - places) / 2
    assert abs(read(about(x, places)) - x) <= min(read(at_most(x, places)) - x, x - read(at_least(x, places)))


@given(RATIONALS)
def test_what_was_given_is_written_back(x: Fraction) -> None:
    text = digits.given(x)
    assert text.startswith("about ") or read(text) == x


@given(SHARES, st.integers(1, 5))
def test_shares_are_rounded_to_their_safe_side(share: Fraction, places: int) -> None:
    assert read(digits.percent_at_least(share, places)) <= share <= read(digits.percent_at_most(share, places))
    told = digits.percent_about(share)
    if told.startswith("more"):
        assert read(told) < share < 1
    elif told.startswith("less"):
        assert 0 < share < read(told)
    else:
        assert abs(read(told) - share) <= Fraction(1, 200)
        assert (read(told) in (0, 1)) == (share in (0, 1))


@pytest.mark.parametrize(
    ("share", "most", "least", "near"),
    [
        ("0.7310585786300049", "73.2 %", "73.1 %", "73 %"),
        ("0.9998187", "99.99 %", "99.9 %", "more than 99.9 %"),
        ("0.99999999", "100 %", "99.9 %", "more than 99.9 %"),
        ("1e-12", "0.0001 %", "0 %", "less than 0.1 %"),
        ("0.05", "5 %", "5 %", "5 %"),
        ("1", "100 %", "100 %", "100 %"),
    ],
)
def test_shares_as_they_read(share: str, most: str, least: str, near: str) -> None:
    x = exact(share)
    assert (digits.percent_at_most(x), digits.percent_at_least(x), digits.percent_about(x)) == (most, least, near)


def test_brackets_and_ends_as_they_read() -> None:
    assert between(Fraction(1, 2), Fraction(1, 2)) == "0.5"
    assert between(Fraction(1, 3), Fraction(1, 3), 3) == "between 0.333 and 0.334"
    assert between(0.1, 0.2, words="{} to {}") == "0.1 to 0.2"
    assert at_most(float("inf")) == "infinite" and about(float("nan")) == "not known"
    assert at_most(-0.0) == "0" and at_most(1e22) == "1e+22" and at_most(Fraction(1, 10**9)) == "1e-9"
    assert about(0.25, 1, signed=True) == "+0.2" and about(-0.25, 2, signed=True) == "-0.25"
    assert digits.given(0.1) == "0.1" and digits.given(Fraction(1, 3)) == "1/3" and digits.given(1e-9) == "1e-9"
    assert digits.percent_given(0.05) == "5 %"


@given(RATIONALS)
def test_numbers_for_json_hold_as_floats_and_as_decimals(x: Fraction) -> None:
    low, high = digits.number_at_least(x), digits.number_at_most(x)
    assert exact(low) <= x <= exact(high)
    if low < high:
        assert Fraction(low) <= x <= Fraction(high)
    below, above = digits.float_below(x), digits.float_above(x)
    assert max(Fraction(below), exact(below)) <= x <= min(Fraction(above), exact(above))


def test_decimals_stay_what_they_are_in_json() -> None:
    assert digits.number_at_least(Fraction(9, 10)) == digits.number_at_most(Fraction(9, 10)) == 0.9
    assert digits.number_at_least(Fraction(1, 3)) < Fraction(1, 3) < digits.number_at_most(Fraction(1, 3))


def test_a_near_miss_would_be_seen() -> None:
    # Rounding to the nearest, as `:.4g` does, lies on the wrong side: the properties above notice.
    x = Fraction(462117, 10**6)
    assert exact(f"{float(x):.4g}") < x and exact(written(x, Side.ABOVE, 4)) > x
