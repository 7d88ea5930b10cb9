"""Second derivatives and ranges of rational functions: never left by any point of the interval, and not absurdly wide."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from discreet.errors import InputError
from discreet.numerics.polynomials import at, has_root
from discreet.numerics.rational_functions import polynomial_range, range_on, second_derivative, value_at


def random_polynomial(rng: random.Random, degree: int) -> tuple[Fraction, ...]:
    return (*(Fraction(rng.randint(-9, 9), rng.randint(1, 5)) for _ in range(degree)), Fraction(rng.randint(1, 5)))


@pytest.mark.parametrize("seed", range(60))
def test_nothing_leaves_the_range(seed: int) -> None:
    rng = random.Random(seed)
    low = Fraction(rng.randint(-5, 5))
    high = low + Fraction(rng.randint(1, 20), 10)
    function = random_polynomial(rng, rng.randint(0, 4)), random_polynomial(rng, rng.randint(0, 3))
    if has_root(function[1], low, high):
        with pytest.raises(InputError, match="too close to zero"):
            range_on(function, low, high)
        return
    below, above = range_on(function, low, high)
    points = [low + (high - low) * Fraction(k, 97) for k in range(98)]
    values = [value_at(function, x) for x in points]
    assert below <= min(values) and max(values) <= above
    polynomial = [at(function[0], x) for x in points]
    ends = polynomial_range(function[0], low, high)
    assert ends[0] <= min(polynomial) and max(polynomial) <= ends[1]


def test_ranges_close_in_on_short_intervals() -> None:
    """Near-miss: a range that only ever grew would be valid and useless."""
    function = (Fraction(1), Fraction(2)), (Fraction(0), Fraction(1))
    (low, high), (below, above) = (range_on(function, Fraction(3), 3 + h) for h in (Fraction(1, 10), Fraction(1, 100)))
    assert above - below < (high - low) / 9


@pytest.mark.parametrize("seed", range(30))
def test_the_second_derivative_is_the_limit_of_second_differences(seed: int) -> None:
    rng = random.Random(seed)
    function = random_polynomial(rng, rng.randint(0, 4)), (Fraction(30), *random_polynomial(rng, 1))
    x, h = Fraction(rng.randint(-10, 10), 7), Fraction(1, 10**9)
    f = [value_at(function, x + k * h) for k in (-1, 0, 1)]
    difference = (f[0] - 2 * f[1] + f[2]) / h**2
    assert abs(difference - value_at(second_derivative(function), x)) < Fraction(1, 10**6)
