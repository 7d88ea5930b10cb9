"""The staircase: best steps against a search, closed-form kernels against sums, tables against exact comparison."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.staircase import DiscreteStaircase, Staircase, best_plateau, best_plateau_share
from discreet.mechanisms.tables import path_edges
from discreet.numerics.brackets import compare_ratio_exp

ONE = Fraction(1)


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "3", "10"])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_best_fraction_is_best(epsilon: str, loss: str) -> None:
    best = best_plateau_share(epsilon, loss)

    def cost(gamma: Fraction) -> float:
        noise = Staircase(Fraction(epsilon), ONE, gamma)
        return noise.variance() if loss == "squared" else noise.mean_absolute()

    others = [cost(Fraction(k, 1000)) for k in range(1, 1001)]
    assert cost(best) <= min(others) * (1 + 1e-12)
    # Near-miss: a fraction 10 % off is worse.
    assert cost(best * Fraction(9, 10)) > cost(best) and cost(best * Fraction(11, 10)) > cost(best)


def test_least_variance_is_what_the_paper_prints() -> None:
    """Geng & Viswanath: V* = Δ² (2^(−2/3) b^(2/3) (1 + b)^(2/3) + b)/(1 − b)², b = e^(−ε)."""
    for epsilon in (0.3, 1.0, 4.0):
        b = math.exp(-epsilon)
        printed = (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / (1 - b) ** 2
        found = Staircase(Fraction(epsilon), Fraction(3), best_plateau_share(epsilon)).variance()
        assert found == pytest.approx(9 * printed, rel=1e-12)


def test_staircase_beats_laplace_and_geometric() -> None:
    for epsilon in (Fraction(1, 2), ONE, Fraction(4)):
        staircase = Staircase(epsilon, ONE, best_plateau_share(epsilon))
        assert staircase.variance() < Laplace(epsilon).variance()
        discrete = DiscreteStaircase(epsilon, 5, best_plateau(epsilon, 5))
        assert discrete.variance() < Geometric(epsilon, 5).variance()


@pytest.mark.parametrize("sensitivity", [1, 2, 3, 7, 60])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_best_width_is_best(sensitivity: int, epsilon: str, loss: str) -> None:
    def cost(width: int) -> float:
        noise = DiscreteStaircase(Fraction(epsilon), sensitivity, width)
        return noise.variance() if loss == "squared" else noise.mean_absolute()

    best = best_plateau(epsilon, sensitivity, loss)
    assert cost(best) <= min(cost(width) for width in range(1, sensitivity + 1)) * (1 + 1e-13)


def test_best_width_is_found_quickly_for_wide_ranges() -> None:
    width = best_plateau("1", 10**6)
    assert width / 10**6 == pytest.approx(float(best_plateau_share("1")), abs=1e-3)


@pytest.mark.parametrize(("sensitivity", "width"), [(1, 1), (3, 1), (3, 2), (4, 4)])
def test_kernels_follow_the_noise(sensitivity: int, width: int) -> None:
    low, high = -2, 9
    noise = DiscreteStaircase(ONE, sensitivity, width)
    kernel, table = noise.kernel(low, high), noise.table(low, high)
    for state in range(low, high + 1):
        below, above = noise.cdf(low - state), 1 - noise.cdf(high - 1 - state)
        expected = [below, *noise.pmf(np.arange(low + 1, high) - state), above]
        closed = [float(kernel.mass(output, state)) for output in range(low, high + 1)]
        written = [row[state - low] / table.denominator for row in table.weights]
        assert np.allclose(closed, expected, rtol=1e-12)
        assert np.allclose(written, expected, rtol=1e-10)
    for first, second in path_edges(low, high, sensitivity):
        for row in table.weights:
            assert compare_ratio_exp(row[first], row[second], ONE) <= 0
            assert compare_ratio_exp(row[second], row[first], ONE) <= 0
    # Near-miss: states further apart than the sensitivity are told apart by more than e.
    beyond = [row for row in table.weights if compare_ratio_exp(row[0], row[sensitivity + 1], ONE) > 0]
    assert beyond


def test_refusals() -> None:
    for build in (
        lambda: Staircase(ONE, ONE, Fraction(0)),
        lambda: Staircase(ONE, ONE, Fraction(11, 10)),
        lambda: Staircase(ONE, Fraction(0), ONE),
        lambda: DiscreteStaircase(ONE, 3, 4),
        lambda: DiscreteStaircase(ONE, 3, 0),
        lambda: best_plateau(1, 3, "quartic"),
        lambda: best_plateau_share(0),
    ):
        with pytest.raises(InputError):
            build()
