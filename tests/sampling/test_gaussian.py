"""Exact discrete Gaussian noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from laws import FALSE_ALARM, p_value

from discreet.errors import InputError, TooLarge
from discreet.numerics.brackets import exp_bracket
from discreet.sampling import DiscreteGaussianSampler
from discreet.sampling.coins import joined


def law(variance: Fraction, reach: int) -> list[float]:
    """Probabilities of −reach..reach."""
    weights = [math.exp(-y * y / (2 * float(variance))) for y in range(-reach, reach + 1)]
    return [w / sum(weights) for w in weights]


@pytest.mark.parametrize("variance", [Fraction(1, 5), Fraction(1), Fraction(22, 7), Fraction(100)])
def test_draws_are_discrete_gaussian_and_not_with_sigma_off_by_two_percent(variance: Fraction) -> None:
    """False-alarm probability 1e-7 for each of four tests; the near-miss is missed with probability 3e-13 at most."""
    drawn = DiscreteGaussianSampler(variance).draw(400_000)
    reach = int(np.abs(drawn).max()) + 20
    assert p_value(drawn + reach, law(variance, reach)) > FALSE_ALARM
    assert p_value(drawn + reach, law(variance * Fraction(26, 25), reach)) < FALSE_ALARM


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(1), Fraction(17, 2), Fraction(2500)])
def test_the_table_of_acceptances_brackets_the_exponential(variance: Fraction) -> None:
    sampler = DiscreteGaussianSampler(variance)
    lower, upper = sampler._table
    t = sampler.scale
    assert (t - 1) ** 2 <= variance < t * t
    for size in {0, 1, 2, t, 3 * t, 10 * t, lower.shape[1] - 1}:
        gap = size - variance / t
        low, high = exp_bracket(-gap * gap / (2 * variance), 200)
        assert joined(lower[:, size]) <= high * 2**128
        assert joined(upper[:, size]) + 1 >= low * 2**128
        assert joined(upper[:, size]) + 1 - joined(lower[:, size]) <= 2


def test_proposal_times_acceptance_is_the_gaussian() -> None:
    """e^(−|y|/t)·exp(−(|y|−σ²/t)²/2σ²) = e^(−y²/2σ²)·constant: compared as exponents, exactly."""
    variance, t = Fraction(22, 7), 2
    exponents = [-Fraction(y, t) - (y - variance / t) ** 2 / (2 * variance) + Fraction(y * y) / (2 * variance) for y in range(50)]
    assert len(set(exponents)) == 1


def test_a_size_beyond_the_table_is_decided_by_its_own_bracket() -> None:
    sampler = DiscreteGaussianSampler(Fraction(1, 2))
    far = np.array([sampler._table[0].shape[1] + 5, 0])
    from discreet.sampling.testing import Scripted

    # Prefix 0 for both: U = 0 is below every probability, so more words decide; the next word is 0 then large.
    taken = sampler._accepted(far, Scripted([0, 0, 0, 0, *[2**63] * 200]))
    assert taken.tolist() == [False, True]


def test_hostile_parameters_are_refused() -> None:
    with pytest.raises(InputError):
        DiscreteGaussianSampler(Fraction(0))
    with pytest.raises(TooLarge):
        DiscreteGaussianSampler(Fraction(10**9))
    assert len(DiscreteGaussianSampler(Fraction(1)).draw(0)) == 0
