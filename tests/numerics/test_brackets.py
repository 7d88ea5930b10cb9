"""Brackets against a high-precision oracle, which is itself asked for an interval around its answer."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError, TooLarge
from discreet.numerics.brackets import (
    compare_ratio_exp,
    exp_bracket,
    float_down,
    float_up,
    log_bracket,
    rational_above_exp,
    rational_below_exp,
)

RATIONALS = st.fractions(min_value=-60, max_value=60, max_denominator=10**6)
POSITIVE = st.fractions(min_value=Fraction(1, 10**12), max_value=10**12)


def oracle(function: str, argument: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """An interval around exp or log of the argument, far narrower than `bits`, from mpmath."""
    with mpmath.workprec(3 * bits + 400):
        value = getattr(mpmath, function)(mpmath.mpf(argument.numerator) / argument.denominator)
        mantissa, exponent = int(value.man) * (-1 if value < 0 else 1), int(value.exp)
    centre = mantissa * Fraction(2) ** exponent
    slack = abs(centre) / 2 ** (3 * bits + 300) + Fraction(1, 2 ** (3 * bits + 300))
    return centre - slack, centre + slack


def encloses(bracket: tuple[Fraction, Fraction], narrow: tuple[Fraction, Fraction]) -> bool:
    """Strictly: the whole of the oracle's interval lies inside the bracket."""
    return bracket[0] < narrow[0] and narrow[1] < bracket[1]


@given(RATIONALS, st.integers(1, 300))
def test_exp_is_enclosed(x: Fraction, bits: int) -> None:
    lower, upper = exp_bracket(x, bits)
    if x == 0:
        assert lower == upper == 1
        return
    assert encloses((lower, upper), oracle("exp", x, bits + 100))
    assert (upper - lower) * 2**bits <= lower


@given(POSITIVE, st.integers(1, 300))
def test_log_is_enclosed(ratio: Fraction, bits: int) -> None:
    lower, upper = log_bracket(ratio, bits)
    if ratio == 1:
        assert lower == upper == 0
        return
    assert encloses((lower, upper), oracle("log", ratio, bits + 100))
    assert (upper - lower) * 2**bits <= 1
    assert lower >= 0 if ratio > 1 else upper <= 0


def test_near_misses_are_noticed() -> None:
    """Swapped, shifted or copied sides do not enclose: the check above can fail."""
    narrow = oracle("exp", Fraction(1), 200)
    lower, upper = exp_bracket(Fraction(1), 64)
    width = upper - lower
    assert encloses((lower, upper), narrow)
    assert not encloses((upper, lower), narrow)
    assert not encloses((upper, upper), narrow)
    assert not encloses((lower, lower), narrow)
    assert not encloses((lower + width, upper + width), narrow)
    assert not encloses((lower - width, upper - width), narrow)


@pytest.mark.parametrize("x", [Fraction(10**4), Fraction(-(10**4)), Fraction(1, 10**9), Fraction(22, 7)])
@pytest.mark.parametrize("bits", [8, 64, 10**4])
def test_exp_far_out_and_deep(x: Fraction, bits: int) -> None:
    lower, upper = exp_bracket(x, bits)
    assert encloses((lower, upper), oracle("exp", x, bits + 20_000))
    assert (upper - lower) * 2**bits <= lower


@pytest.mark.parametrize(
    "ratio",
    [
        Fraction(10**400),
        Fraction(1, 10**400),
        1 + Fraction(1, 10**50),
        1 - Fraction(1, 10**50),
        Fraction(2**70),
    ],
)
@pytest.mark.parametrize("bits", [8, 64, 10**4])
def test_log_far_out_and_deep(ratio: Fraction, bits: int) -> None:
    lower, upper = log_bracket(ratio, bits)
    assert encloses((lower, upper), oracle("log", ratio, bits + 1000))
    assert (upper - lower) * 2**bits <= 1


@given(RATIONALS, st.integers(1, 200))
def test_dyadic_rationals_on_either_side(x: Fraction, bits: int) -> None:
    below, above = rational_below_exp(x, bits), rational_above_exp(x, bits)
    assert below <= above
    for side in (below, above):
        assert side.denominator & (side.denominator - 1) == 0


@given(POSITIVE, st.integers(20, 120))
def test_exp_undoes_log(ratio: Fraction, bits: int) -> None:
    lower, upper = log_bracket(ratio, bits)
    assert exp_bracket(lower, bits)[0] <= ratio <= exp_bracket(upper, bits)[1]


@given(st.integers(0, 10**30), st.integers(0, 10**30), st.fractions(-20, 20, max_denominator=1000))
def test_comparison_agrees_with_the_oracle(numerator: int, denominator: int, epsilon: Fraction) -> None:
    if numerator == 0 and denominator == 0:
        return
    sign = compare_ratio_exp(numerator, denominator, epsilon)
    if denominator == 0:
        assert sign == 1
        return
    lower, upper = oracle("exp", epsilon, 400)
    ratio = Fraction(numerator, denominator)
    if epsilon == 0:
        assert sign == (ratio > 1) - (ratio < 1)
    else:
        assert sign == (1 if ratio > upper else -1)
        assert not lower <= ratio <= upper


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(-1), Fraction(1, 1000), Fraction(50)])
@pytest.mark.parametrize("bits", [100, 127, 128, 129, 1000, 3000])
def test_comparison_refines_until_decided(epsilon: Fraction, bits: int) -> None:
    """Two neighbours on a grid of 2^−bits on either side of e^ε get opposite signs."""
    lower, upper = oracle("exp", epsilon, bits)
    floor = math.floor(lower * 2**bits)
    assert math.floor(upper * 2**bits) == floor
    assert compare_ratio_exp(floor, 2**bits, epsilon) == -1
    assert compare_ratio_exp(floor + 1, 2**bits, epsilon) == 1


def test_comparison_at_the_edges() -> None:
    one = Fraction(1)
    assert compare_ratio_exp(1, 0, one) == 1
    assert compare_ratio_exp(0, 1, one) == -1
    assert compare_ratio_exp(0, 1, -one) == -1
    assert compare_ratio_exp(5, 5, Fraction(0)) == 0
    assert compare_ratio_exp(6, 5, Fraction(0)) == 1
    assert compare_ratio_exp(5, 6, Fraction(0)) == -1
    assert compare_ratio_exp(10**100, 1, Fraction(10**12)) == -1
    assert compare_ratio_exp(1, 10**100, Fraction(-(10**12))) == 1
    for numerator, denominator in ((0, 0), (-1, 1), (1, -1)):
        with pytest.raises(InputError):
            compare_ratio_exp(numerator, denominator, one)


def test_sizes_alone_decide_no_close_case() -> None:
    """Powers of two around e^ε, where the shortcut by bit lengths ends, agree with the bracket."""
    for numerator in range(1, 400):
        epsilon = Fraction(numerator, 7)
        lower, upper = exp_bracket(epsilon, 64)
        for power in range(100):
            expected = -1 if 2**power < lower else 1 if 2**power > upper else 0
            assert compare_ratio_exp(2**power, 1, epsilon) == expected


@pytest.mark.parametrize("epsilon", [300, 1000, 5000, 9999])
def test_sizes_alone_decide_no_close_case_far_out(epsilon: int) -> None:
    """The powers of two on either side of e^ε, and of e^−ε, where 1.44 and 1.45 for 1/log 2 are many bits apart."""
    below = math.floor(epsilon / math.log(2))
    for power in range(below - 30, below + 31):
        expected = -1 if power <= below else 1
        assert compare_ratio_exp(1 << power, 1, Fraction(epsilon)) == expected
        assert compare_ratio_exp(1, 1 << power, Fraction(-epsilon)) == -expected


@given(st.fractions() | st.floats(allow_nan=False, allow_infinity=False).map(Fraction))
def test_floats_round_outward_and_no_further(value: Fraction) -> None:
    down, up = float_down(value), float_up(value)
    assert Fraction(down) <= value <= Fraction(up)
    if down != up:
        assert math.nextafter(down, math.inf) == up
    else:
        assert Fraction(down) == value


def test_floats_of_huge_and_tiny_rationals() -> None:
    largest, smallest = math.nextafter(math.inf, 0), math.nextafter(0, 1)
    huge, tiny = Fraction(10**400), Fraction(1, 10**400)
    assert (float_down(huge), float_up(huge)) == (largest, math.inf)
    assert (float_down(-huge), float_up(-huge)) == (-math.inf, -largest)
    assert (float_down(tiny), float_up(tiny)) == (0.0, smallest)
    assert (float_down(-tiny), float_up(-tiny)) == (-smallest, 0.0)
    between = (Fraction(largest) + 2**1024) / 2
    assert (float_down(between), float_up(between)) == (largest, math.inf)
    assert math.copysign(1, float_up(Fraction(0))) == 1
    assert float_down(7) == float_up(7) == 7.0


def test_refusals() -> None:
    with pytest.raises(TooLarge):
        exp_bracket(Fraction(10**9), 64)
    for ratio in (Fraction(0), Fraction(-1)):
        with pytest.raises(InputError):
            log_bracket(ratio, 64)
    with pytest.raises(InputError):
        exp_bracket(Fraction(1), 0)
