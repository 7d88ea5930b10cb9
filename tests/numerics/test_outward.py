"""Outward rounding: the exact value is never outside, and a bound turned inside out is noticed."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.numerics import outward

WEIGHTS = st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 10**6)), min_size=1, max_size=12)


@given(st.floats(-745, 709), st.floats(5e-324, 1e308))
def test_the_library_is_as_good_as_assumed(exponent: float, number: float) -> None:
    steps = 2.0**-52 * outward.LIBRARY_ULPS
    with mpmath.workprec(2400):
        power, log = mpmath.exp(mpmath.mpf(exponent)), mpmath.log(mpmath.mpf(number))
        assert abs(mpmath.mpf(float(np.exp(exponent))) - power) <= steps * power + mpmath.mpf(2) ** -1072
        assert abs(mpmath.mpf(float(np.log(number))) - log) <= steps * abs(log) + mpmath.mpf(2) ** -1072


@given(st.fractions())
def test_balls_hold_the_number(value: Fraction) -> None:
    ball = outward.ball(value)
    low, high = outward.lower_float(ball), outward.upper_float(ball)
    assert Fraction(low) <= value <= Fraction(high)
    assert outward.lower_fraction(ball) <= value <= outward.upper_fraction(ball)


def test_unbounded_balls_have_unbounded_ends() -> None:
    for unbounded in (arb.pos_inf(), arb(0).log(), arb.nan()):
        assert outward.lower_float(unbounded) == -math.inf
        assert outward.upper_float(unbounded) == math.inf


def test_an_enclosure_takes_bits_until_it_is_tight() -> None:
    tiny = Fraction(1, 10**200)

    def cancelling() -> arb:
        return (1 + outward.ball(tiny)).log()

    low, high = outward.enclosure(cancelling)
    assert 0 < low <= 1e-200 <= high
    assert high - low < 1e-14 * high
    before = ctx.prec
    assert outward.enclosure(lambda: arb(2)) == (2.0, 2.0)
    assert ctx.prec == before


def test_an_enclosure_of_hidden_zero_stays_true() -> None:
    low, high = outward.enclosure(lambda: arb(2).sqrt() ** 2 - 2, max_bits=256)
    assert low < 0 < high < 1e-60


@given(WEIGHTS, st.fractions(0, 5, max_denominator=100))
def test_hockey_stick_against_the_oracle(weights: list[tuple[int, int]], epsilon: Fraction) -> None:
    first, second = zip(*weights, strict=True)
    low, high = outward.enclosure(lambda: outward.hockey_stick_ball(first, second, 10**6, epsilon))
    with mpmath.workprec(300):
        growth = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        value = mpmath.fsum(max(p - growth * q, mpmath.mpf(0)) for p, q in weights) / 10**6
        assert mpmath.mpf(low) <= value <= mpmath.mpf(high)
    assert high - low <= 1e-14 * high


@given(WEIGHTS, st.fractions(Fraction(1, 10), 20, max_denominator=10))
def test_divergences_against_the_oracle(weights: list[tuple[int, int]], order: Fraction) -> None:
    first, second = zip(*weights, strict=True)
    with mpmath.workprec(300):
        ratios = [(p, mpmath.mpf(p) / q, q) for p, q in weights if p]
        entropy = mpmath.fsum(p * mpmath.log(ratio) for p, ratio, _ in ratios) / 10**6
        exponent = mpmath.mpf(order.numerator) / order.denominator
        power = mpmath.fsum(q * ratio**exponent for _, ratio, q in ratios) / 10**6
        slack = mpmath.mpf(2) ** -250
        low, high = outward.enclosure(lambda: outward.relative_entropy_ball(first, second, 10**6))
        assert mpmath.mpf(low) - slack <= entropy <= mpmath.mpf(high) + slack
        low, high = outward.enclosure(lambda: outward.power_ball(first, second, 10**6, order))
        assert mpmath.mpf(low) * (1 - slack) <= power <= mpmath.mpf(high) * (1 + slack)
        # Near-miss: the bound with its sides swapped encloses nothing unless it is a point.
        assert low == high or not mpmath.mpf(high) <= power <= mpmath.mpf(low)


def test_zero_probabilities() -> None:
    assert outward.upper_float(outward.relative_entropy_ball([1, 1], [2, 0], 2)) == math.inf
    assert outward.upper_float(outward.power_ball([1, 1], [2, 0], 2, Fraction(2))) == math.inf
    low, high = outward.enclosure(lambda: outward.power_ball([1, 1], [2, 0], 2, Fraction(1, 2)))
    assert low <= math.sqrt(2) / 2 <= high
    low, high = outward.enclosure(lambda: outward.hockey_stick_ball([1, 1], [2, 0], 2, Fraction(1)))
    assert (low, high) == (0.5, 0.5)
    with pytest.raises(InputError):
        outward.hockey_stick_ball([1], [1, 2], 3, Fraction(1))
