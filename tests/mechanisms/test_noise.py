"""Laws that every noise distribution obeys: mass one, moments, distribution function, privacy and a near-miss of it.

Executes SY fn 5.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.staircase import DiscreteStaircase, Staircase

ONE = Fraction(1)
EPSILONS = [Fraction(1, 10), ONE, Fraction(5, 2)]

DISCRETE = [
    *(Geometric(epsilon, sensitivity) for epsilon in EPSILONS for sensitivity in (1, 3)),
    *(DiscreteStaircase(epsilon, 5, width) for epsilon in EPSILONS for width in (1, 2, 5)),
    *(DiscreteGaussian(sigma) for sigma in (Fraction(1, 3), ONE, Fraction(20))),
]
CONTINUOUS = [
    *(Laplace(epsilon, Fraction(3, 2)) for epsilon in EPSILONS),
    *(Staircase(epsilon, Fraction(2), gamma) for epsilon in EPSILONS for gamma in (Fraction(1, 4), ONE)),
    Gaussian(Fraction(7, 3)),
]
PURE_DISCRETE = [noise for noise in DISCRETE if not isinstance(noise, DiscreteGaussian)]
PURE_CONTINUOUS = [noise for noise in CONTINUOUS if not isinstance(noise, Gaussian)]


@pytest.mark.parametrize("noise", DISCRETE, ids=str)
def test_discrete_noise_sums_up(noise: Geometric | DiscreteStaircase | DiscreteGaussian) -> None:
    k = np.arange(-4000, 4001)
    p = noise.pmf(k)
    assert math.fsum(p) == pytest.approx(1, abs=1e-13)
    assert math.fsum(p * k * k) == pytest.approx(noise.variance(), rel=1e-11)
    assert math.fsum(p * abs(k)) == pytest.approx(noise.mean_absolute(), rel=1e-11)
    assert np.allclose(noise.cdf(k), np.cumsum(p), atol=1e-12)
    assert np.allclose(np.log(p[p > 1e-300]), noise.log_pmf(k)[p > 1e-300], atol=1e-10)
    assert noise.cdf(0.5) == noise.cdf(0)
    assert noise.cdf(-0.5) == noise.cdf(-1)


@pytest.mark.parametrize("noise", CONTINUOUS, ids=str)
def test_continuous_noise_integrates(noise: Laplace | Staircase | Gaussian) -> None:
    """Midpoint rule between the points where the density jumps or bends, which all lie on this grid's lines."""
    edges = np.linspace(-800, 800, 800_001)
    x, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    p = noise.pdf(x) * width
    assert math.fsum(p) == pytest.approx(1, abs=1e-6)
    assert math.fsum(p * x * x) == pytest.approx(noise.variance(), rel=1e-5)
    assert math.fsum(p * abs(x)) == pytest.approx(noise.mean_absolute(), rel=1e-6)
    assert np.allclose(noise.cdf(edges[1:]), np.cumsum(p), atol=1e-6)


@pytest.mark.parametrize("noise", PURE_DISCRETE, ids=str)
def test_discrete_noise_is_private_and_no_more_than_it_says(noise: Geometric | DiscreteStaircase) -> None:
    k, epsilon = np.arange(-200, 201), float(noise.epsilon)
    for shift in range(1, noise.sensitivity + 1):
        assert np.max(np.abs(noise.log_pmf(k) - noise.log_pmf(k - shift))) <= epsilon * (1 + 1e-12)
    assert np.max(np.abs(noise.log_pmf(k) - noise.log_pmf(k - noise.sensitivity))) >= epsilon * (1 - 1e-12)
    # Near-miss: one more than the sensitivity breaks the promise.
    beyond = noise.log_pmf(k) - noise.log_pmf(k - noise.sensitivity - 1)
    assert np.max(np.abs(beyond)) > epsilon * 1.01


@pytest.mark.parametrize("noise", PURE_CONTINUOUS, ids=str)
def test_continuous_noise_is_private_and_no_more_than_it_says(noise: Laplace | Staircase) -> None:
    x, epsilon, reach = np.linspace(-30, 30, 6001) + 1e-4, float(noise.epsilon), float(noise.sensitivity)
    for part in (0.1, 0.5, 0.999, 1.0):
        assert np.max(np.abs(noise.log_pdf(x) - noise.log_pdf(x - part * reach))) <= epsilon * (1 + 1e-9)
    assert np.max(np.abs(noise.log_pdf(x) - noise.log_pdf(x - reach))) >= epsilon * (1 - 1e-9)
    assert np.max(np.abs(noise.log_pdf(x) - noise.log_pdf(x - 1.3 * reach))) > epsilon * 1.01


def test_quantiles_undo_the_distribution_function() -> None:
    noise = Laplace(ONE, Fraction(6))
    p = np.array([1e-12, 0.1, 0.5, 0.9, 1 - 1e-12])
    assert np.allclose(noise.cdf(noise.quantile(p)), p, rtol=1e-9)
    assert noise.quantile(0.5) == 0
    assert math.sqrt(noise.variance()) == pytest.approx(8.48528137424)


def test_discrete_laplace_is_the_geometric() -> None:
    """A staircase one unit wide of sensitivity one is the geometric mechanism."""
    k = np.arange(-60, 61)
    assert np.allclose(DiscreteStaircase(ONE, 1, 1).log_pmf(k), Geometric(ONE).log_pmf(k), rtol=1e-13)


def test_extreme_epsilons_neither_overflow_nor_lose_everything() -> None:
    for epsilon in (Fraction(1, 10**9), Fraction(10**4)):
        for noise in (Geometric(epsilon), Laplace(epsilon), DiscreteStaircase(epsilon, 3, 2)):
            assert math.isfinite(noise.variance()) and math.isfinite(noise.mean_absolute())
            assert noise.variance() >= 0
    assert Geometric(Fraction(1, 10**9)).variance() == pytest.approx(2e18, rel=1e-9)
