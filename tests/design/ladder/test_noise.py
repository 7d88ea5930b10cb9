"""Integer noise: normalised, private at its sensitivity and not beyond, spread as a dense table would."""

import math

import numpy as np
import pytest

from discreet.design.ladder.mechanisms.noise import (
    geometric_noise,
    spread,
    staircase_noise,
    to_outputs,
    unit_variance,
    window_sum,
)
from discreet.errors import InputError
from discreet.mechanisms.staircase import best_plateau_share

NOISES = [
    (noise, epsilon, width)
    for epsilon in (0.3, 1.0, 3.0)
    for width in (1, 2, 5, 9)
    for noise in (
        geometric_noise(epsilon, width),
        *(staircase_noise(epsilon, width, r) for r in range(1, width + 1)),
    )
]


@pytest.mark.parametrize(("noise", "epsilon", "width"), NOISES)
def test_mass_tail_and_variance_agree(noise, epsilon, width):
    j = np.arange(-4000, 4001)
    f = np.exp(noise.log_pmf(j))
    assert f.sum() == pytest.approx(1, abs=1e-12)
    assert (f * j * j).sum() == pytest.approx(noise.variance(), rel=1e-9)
    some = np.arange(-30, 31)
    np.testing.assert_allclose(noise.tail(some), f[::-1].cumsum()[::-1][some + 4000], rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize(("noise", "epsilon", "width"), NOISES)
def test_private_at_its_sensitivity_and_tight(noise, epsilon, width):
    f = noise.log_pmf(np.arange(-300, 301))
    for step in range(1, width + 1):
        assert np.max(np.abs(f[step:] - f[:-step])) <= epsilon * (1 + 1e-12)
    assert np.max(np.abs(f[width:] - f[:-width])) == pytest.approx(epsilon)
    # Near miss: one step more than the sensitivity costs more than epsilon.
    beyond = width + 1
    assert np.max(np.abs(f[beyond:] - f[:-beyond])) > epsilon * (1 + 1e-3)


@pytest.mark.parametrize(("noise", "epsilon", "width"), NOISES)
def test_finite_kernel_is_stochastic_and_private_on_all_states(noise, epsilon, width):
    rows = np.array([to_outputs(np.ones(1), s, noise, 3, 20) for s in range(-5, 30)])
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-12)
    logs = np.log(rows)
    for step in range(1, width + 1):
        assert np.max(np.abs(logs[step:] - logs[:-step])) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize(("noise", "epsilon", "width"), NOISES)
def test_spread_equals_the_dense_product(noise, epsilon, width):
    x = np.random.default_rng(1).random((2, 57))
    at = np.arange(57)
    dense = np.exp(noise.log_pmf(at[:, None] - at[None, :]))
    np.testing.assert_allclose(spread(noise, x), x @ dense.T, rtol=1e-12)


def test_small_masses_keep_relative_accuracy():
    x = np.zeros(400)
    x[0] = 1e-200
    noise = staircase_noise(1.0, 7)
    np.testing.assert_allclose(spread(noise, x), 1e-200 * np.exp(noise.log_pmf(np.arange(400))), rtol=1e-12)


def test_window_sum():
    x = np.arange(1.0, 12.0)
    for length in (1, 2, 3, 11, 20):
        expected = [x[max(0, i - length + 1) : i + 1].sum() for i in range(11)]
        np.testing.assert_allclose(window_sum(x, length), expected)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 5.0])
def test_plateau_of_least_variance(epsilon):
    for width in (1, 3, 10, 40):
        best = min(staircase_noise(epsilon, width, r).variance() for r in range(1, width + 1))
        assert staircase_noise(epsilon, width).variance() == best
    assert staircase_noise(epsilon, 2000).variance() / 2000**2 == pytest.approx(unit_variance(epsilon), rel=1e-4)
    assert 0 < best_plateau_share(epsilon) < 0.5
    assert unit_variance(epsilon) < 2 / epsilon**2  # better than Laplace


def test_zero_epsilon_is_refused():
    with pytest.raises(InputError, match="constant"):
        staircase_noise(0.0, 3)
    assert geometric_noise(math.inf, 3).ratio == 0.0
