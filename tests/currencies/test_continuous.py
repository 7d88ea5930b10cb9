"""Continuous families against numerical integration, against fine finite mechanisms and against dp-accounting."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.currencies import continuous
from discreet.currencies.channel import LossChannel, channel_from_rows
from discreet.currencies.divergences import relative_entropy, renyi
from discreet.currencies.information import mutual_information
from discreet.currencies.profiles import profile
from discreet.currencies.zcdp import rho

F = Fraction


def binned_laplace(epsilon: float, bins: int = 3000) -> LossChannel:
    """Laplace noise on 0 and 1, read in fine bins: a post-processing that loses almost nothing."""
    edges = np.concatenate([[-np.inf], np.linspace(-8 / epsilon, 1 + 8 / epsilon, bins), [np.inf]])

    def mass(centre: float) -> list[float]:
        z = epsilon * (edges - centre)
        cdf = np.where(z < 0, 0.5 * np.exp(np.minimum(z, 0)), 1 - 0.5 * np.exp(-np.maximum(z, 0)))
        return np.diff(cdf).tolist()

    return channel_from_rows([mass(0.0), mass(1.0)])


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_laplace_is_the_limit_of_its_bins(epsilon: float) -> None:
    channel, rate = binned_laplace(epsilon), F(epsilon)
    seen = profile(channel)
    for at in (0.0, epsilon / 2):
        closed = continuous.laplace_delta(rate, F(at)).upper
        assert seen.deltas([at])[0] <= closed + 1e-9 and seen.deltas([at])[0] == pytest.approx(closed, abs=1e-4)
    assert continuous.laplace_delta(rate, rate).upper == 0.0
    for order in (F(3, 2), F(4)):
        assert renyi(channel, order).upper == pytest.approx(continuous.laplace_renyi(rate, order).upper, rel=1e-4)
    entropy = continuous.laplace_entropy(rate).upper
    assert relative_entropy(channel).upper == pytest.approx(entropy, rel=1e-4)
    assert rho(channel).upper == pytest.approx(entropy, rel=1e-4)
    assert mutual_information(channel).bracket.upper == pytest.approx(continuous.laplace_information(rate).upper, rel=1e-4)


@pytest.mark.parametrize("alpha", ["0.01", "0.2", "0.4", "0.5", "0.8"])
def test_the_laplace_tradeoff_is_dual_to_its_delta(alpha: str) -> None:
    """f(α) = max over ε of 1 − δ(ε) − e^ε α, ε of both signs, by symmetry of the pair."""
    rate = 1.0
    grid = np.linspace(-rate, rate, 20_001)
    deltas = np.where(grid >= 0, 1 - np.exp((np.abs(grid) - rate) / 2), 0.0)
    deltas = np.where(grid < 0, 1 - np.exp(grid) * (1 - (1 - np.exp((np.abs(grid) - rate) / 2))), deltas)
    best = float((1 - deltas - np.exp(grid) * float(alpha)).max())
    assert continuous.laplace_tradeoff(F(1), F(alpha)).middle == pytest.approx(max(best, 0.0), abs=1e-7)


@pytest.mark.parametrize("mu", ["0.3", "1", "3"])
def test_gaussian_inverse_and_integral(mu: str) -> None:
    m = F(mu)
    for delta in ("0.01", "1e-8"):
        epsilon = continuous.gaussian_epsilon(m, F(delta))
        assert epsilon.width <= 1e-13 * (1 + epsilon.upper)
        assert continuous.gaussian_delta(m, F(epsilon.upper)).upper <= float(delta) * (1 + 1e-12)
    z = np.linspace(-12, 12, 200_001)
    loss = float(m) ** 2 / 2 + float(m) * z
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    integral = float(np.trapezoid(density * (math.log(2) - np.logaddexp(0, -loss)), z))
    found = continuous.gaussian_information(m)
    assert found.middle == pytest.approx(integral, abs=1e-10) and found.width <= 1e-14
    assert continuous.gaussian_tradeoff(m, 0.5) == pytest.approx(0.5 * math.erfc(float(m) / math.sqrt(2)), rel=1e-12)
    assert continuous.gaussian_epsilon(m, F(0)).upper == math.inf
    assert continuous.gaussian_epsilon(m, F(99, 100)).upper == 0.0


def test_small_scales() -> None:
    assert continuous.laplace_entropy(F(1, 10**9)).middle == pytest.approx(5e-19, rel=1e-8)
    assert continuous.gaussian_delta(F(0), F(1)).upper == 0.0
    assert continuous.laplace_information(F(1, 1000)).middle == pytest.approx(1.25e-7, rel=1e-3)


def test_dp_accounting_agrees_on_gaussian_noise() -> None:
    from dp_accounting.pld import privacy_loss_distribution

    theirs = privacy_loss_distribution.from_gaussian_mechanism(2.0, value_discretization_interval=1e-4)
    for level in (0.0, 0.5, 1.5):
        ours = continuous.gaussian_delta(F(1, 2), F(level))
        stated = theirs.get_delta_for_epsilon(level)
        assert ours.lower - 1e-12 <= stated <= ours.upper + 1e-4
