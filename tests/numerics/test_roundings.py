"""The one unit of every proof that uses floats: never less than what exact arithmetic shows."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

from discreet.numerics.roundings import UNIT, drift


@pytest.mark.parametrize("count", [1, 2, 3, 10, 1000, 10**6, 10**9, 2**51])
def test_drift_is_no_less_than_the_lemma_and_hardly_more(count: int) -> None:
    lemma = count * Fraction(UNIT) / (1 - count * Fraction(UNIT))
    assert lemma <= Fraction(drift(count)) <= lemma * (1 + Fraction(8, 2**53))


def test_nothing_is_lost_by_no_rounding_and_everything_by_too_many() -> None:
    assert drift(0) == 0.0
    assert drift(2**52) == drift(2**60) == inf
    with pytest.raises(ValueError, match="-1 roundings"):
        drift(-1)


@pytest.mark.parametrize("count", [2, 17, 400])
def test_products_and_sums_stay_within_it(count: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(50):
        numbers = rng.uniform(0.5, 2.0, count)
        product, total = 1.0, 0.0
        exact_product, exact_total = Fraction(1), Fraction(0)
        for x in numbers.tolist():
            product, exact_product = product * x, exact_product * Fraction(x)
            total, exact_total = total + x, exact_total + Fraction(x)
        for found, truth in ((product, exact_product), (total, exact_total)):
            assert abs(Fraction(found) - truth) <= Fraction(drift(count)) * truth


def test_near_miss_half_the_roundings_are_too_few() -> None:
    """1 + u/2-like steps that are all rounded the same way: (1 + 2u)^k in floats against itself exactly."""
    k, x = 64, 1 + 2.0**-52
    worst, value, exact = Fraction(0), 1.0, Fraction(1)
    for _ in range(k):
        value, exact = value * x * (1 - UNIT), exact * Fraction(x) * Fraction(1 - UNIT)
        worst = max(worst, abs(Fraction(value) / exact - 1))
    assert worst <= Fraction(drift(2 * k))
    assert worst > Fraction(drift(k // 8))
