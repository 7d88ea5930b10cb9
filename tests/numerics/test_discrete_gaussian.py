"""Discrete Gaussian probabilities from both sides, held against sums of balls."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from discreet.numerics.discrete_gaussian import (
    gaussian_brackets,
    gaussian_log_tails,
    gaussian_logs,
    gaussian_moments,
)

BITS = 150


def truth(variance: Fraction, count: int) -> list[float]:
    """f(0), f(1), … by 400-bit balls."""
    ctx.prec = 400
    try:
        weights = [(-arb(k * k) * variance.denominator / (2 * variance.numerator)).exp() for k in range(40 * int(variance + 2))]
        total = 2 * sum(weights[1:], arb(0)) + 1
        return [weights[k] / total for k in range(count)]
    finally:
        ctx.prec = 53


@pytest.mark.parametrize("variance", [Fraction(1, 7), Fraction(1), Fraction(27, 25), Fraction(50)])
def test_brackets_hold_the_truth_and_are_narrow(variance: Fraction) -> None:
    found, true = gaussian_brackets(variance, 12, BITS), truth(variance, 12)
    ctx.prec = 400
    try:
        for (low, high), p in zip(found.masses, true, strict=True):
            assert arb(low) <= p * arb(2) ** BITS <= arb(high) and high - low <= 2
    finally:
        ctx.prec = 53
    assert found.tails[0][0] + found.tails[1][0] <= 1 << BITS <= found.tails[0][1] + found.tails[1][1]
    for j in range(11):
        step = [found.tails[j][side] - found.tails[j + 1][side] for side in (0, 1)]
        assert all(abs(s - found.masses[j][0]) <= 4 for s in step)


def test_floats_for_reading_agree_with_brackets() -> None:
    variance = Fraction(22, 7)
    found = gaussian_brackets(variance, 30, 400)
    assert np.allclose(gaussian_logs(variance, np.arange(30)), [np.log(low / 2**400) for low, _ in found.masses], rtol=1e-12)
    assert np.allclose(gaussian_log_tails(variance, 29), [np.log(low / 2**400) for low, _ in found.tails], rtol=1e-12)
    squares, sizes = gaussian_moments(variance)
    masses = np.array([low / 2**400 for low, _ in found.masses])
    k = np.arange(30)
    assert squares == pytest.approx(2 * (k * k * masses).sum(), rel=1e-12)
    assert sizes == pytest.approx(2 * (k * masses).sum(), rel=1e-12)


def test_noise_narrower_than_a_unit_is_nearly_never_there() -> None:
    found = gaussian_brackets(Fraction(1, 1000), 3, BITS)
    assert found.masses[0][1] <= 1 << BITS and found.masses[1][1] < 2 ** (BITS - 700) + 2
