"""Power: the three caps, exact tests including randomised ones, and what ε or sample size a power needs."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from small_worlds import counting

from discreet.errors import InputError
from discreet.interpret import (
    epsilon_needed,
    least_epsilon,
    most_powerful_test,
    neyman_pearson,
    power_bound,
    respondents_needed,
)
from discreet.interpret.power import count_law, geometric_count_power, laplace_shift_power
from discreet.model.priors import IidPrior


def by_linear_program(null: np.ndarray, alternative: np.ndarray, alpha: float) -> float:
    """The greatest power over all randomised tests, by a solver."""
    from scipy.optimize import linprog

    return float(-linprog(-alternative, A_ub=[null], b_ub=[alpha], bounds=[(0, 1)] * len(null), method="highs").fun)


def test_no_randomised_test_is_more_powerful() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        null, alternative = rng.dirichlet(np.full(5, 0.5), size=2)
        alpha = float(rng.uniform(0.01, 0.9))
        found = neyman_pearson(null.tolist(), alternative.tolist(), alpha)
        assert found.power == pytest.approx(by_linear_program(null, alternative, alpha), abs=1e-6)
        assert float(np.dot(found.rejection, null)) == pytest.approx(alpha) == pytest.approx(found.size)


def test_rationals_stay_exact_and_ties_share_one_coin() -> None:
    null = [Fraction(1, 4)] * 4
    alternative = [Fraction(3, 8), Fraction(3, 8), Fraction(1, 8), Fraction(1, 8)]
    found = neyman_pearson(null, alternative, Fraction(1, 10))
    assert found.rejection == (Fraction(1, 5), Fraction(1, 5), 0, 0) and found.randomised
    assert found.power == Fraction(3, 20) and found.size == Fraction(1, 10)
    deterministic = neyman_pearson(null, alternative, Fraction(1, 2))
    assert not deterministic.randomised and deterministic.power == Fraction(3, 4)


def test_outputs_impossible_under_the_null_cost_nothing() -> None:
    found = neyman_pearson([Fraction(1), Fraction(0)], [Fraction(1, 2), Fraction(1, 2)], Fraction(1, 20))
    assert found.power == Fraction(1, 2) + Fraction(1, 40)


def test_deterministic_tests_are_weaker() -> None:
    null, alternative = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]
    found = float(neyman_pearson(null, alternative, 0.1).power)
    best = max(
        sum(a * p for a, p in zip(chosen, alternative, strict=True))
        for chosen in product((0, 1), repeat=3)
        if sum(a * p for a, p in zip(chosen, null, strict=True)) <= 0.1
    )
    assert found == pytest.approx(0.25) and best == 0


@pytest.mark.parametrize(
    ("alpha", "epsilon", "distance", "cap"),
    [
        (0.05, 0.1, 10, "level"),
        (0.05, 0.5, 10, "both"),
        (0.9, 0.1, 1, "complement"),
        (0.7, 0.5, 10, "complement"),
        (0.05, 1.0, np.inf, "one"),
        (0.05, 1.0, 10**9, "one"),
    ],
)
def test_which_cap_decides(alpha: float, epsilon: float, distance: float, cap: str) -> None:
    found = power_bound(alpha, epsilon, distance)
    shift = epsilon * distance
    loose = min(alpha * np.exp(min(shift, 700)), 1 - np.exp(-shift) * (1 - alpha), 1)
    assert found.value < loose if cap == "both" else found.value == pytest.approx(loose)
    assert found.cap == cap and found.vacuous == (cap == "one")


def iterated(alpha: float, epsilon: float, steps: int) -> float:
    """One step's limit applied as often as there are steps."""
    for _ in range(steps):
        alpha = min(np.exp(epsilon) * alpha, 1 - np.exp(-epsilon) * (1 - alpha))
    return alpha


def test_the_limit_is_the_iterate_of_one_step() -> None:
    rng = np.random.default_rng(7)
    for _ in range(300):
        alpha = float(rng.choice([rng.uniform(1e-3, 0.999), 10 ** -rng.uniform(0.1, 8)]))
        epsilon, steps = float(rng.choice([rng.uniform(0, 6), rng.uniform(0, 0.01)])), int(rng.integers(0, 60))
        found = power_bound(alpha, epsilon, steps).bracket
        assert found.lower - 1e-12 <= iterated(alpha, epsilon, steps) <= found.upper + 1e-12
        assert found.width < 1e-14


@pytest.mark.parametrize(("alpha", "epsilon", "steps"), [(0.05, 1, 3), (0.01, 2, 4), (0.2, 0.5, 6), (0.05, 8, 1)])
def test_a_count_with_geometric_noise_attains_the_limit(alpha: float, epsilon: float, steps: int) -> None:
    # The two ends of a path of counts: truncated geometric noise there has exactly this power, so nothing smaller is true.
    from discreet.mechanisms import TruncatedGeometric

    kernel = TruncatedGeometric(Fraction(epsilon).limit_denominator(1000), 0, steps)
    outputs = np.arange(steps + 1)
    null, alternative = kernel.pmf(outputs, 0).tolist(), kernel.pmf(outputs, steps).tolist()
    assert power_bound(alpha, epsilon, steps).value == pytest.approx(neyman_pearson(null, alternative, alpha).power, rel=1e-9)


def test_the_limits_of_the_review() -> None:
    assert power_bound(0.05, 1, 3).value == pytest.approx(0.7680347, abs=1e-6)  # not 0.953
    assert least_epsilon(0.05, 0.8, 3) == pytest.approx(1.0643588, abs=1e-6)  # not 0.924
    loose = power_bound(0.05, 1, 2.5)
    assert loose.value == pytest.approx(min(0.05 * np.exp(2.5), 1 - np.exp(-2.5) * 0.95))


def test_without_budget_power_is_the_level() -> None:
    assert power_bound(0.05, 0.0, 100).value == pytest.approx(0.05)
    assert geometric_count_power(10, 0.0, 0.1, 0.9, 0.05) == pytest.approx(0.05)


def test_the_exact_power_of_a_mechanism_stays_below_the_bound() -> None:
    null, alternative = (
        IidPrior((Fraction(9, 10), Fraction(1, 10))),
        IidPrior((Fraction(1, 2), Fraction(1, 2))),
    )
    for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(2)):
        found = most_powerful_test(counting(5, epsilon=epsilon), null, alternative, 0.05)
        assert 0.05 < found.power <= power_bound(0.05, float(epsilon), 5).value + 1e-12
    assert geometric_count_power(5, 2.0, 0.1, 0.5, 0.05) == pytest.approx(float(found.power), abs=1e-9)


def test_the_law_of_a_published_count_is_a_law() -> None:
    law = count_law(30, 0.7, 0.2)
    assert law.sum() == pytest.approx(1) and (law >= 0).all()


def test_the_least_epsilon_inverts_the_bound() -> None:
    for alpha, power, distance in ((0.05, 0.3, 3), (0.05, 0.9, 3), (0.2, 0.99, 1)):
        epsilon = least_epsilon(alpha, power, distance)
        assert power_bound(alpha, epsilon, distance).value == pytest.approx(power)
        assert power_bound(alpha, epsilon, distance).value < Fraction(str(power))
        assert power_bound(alpha, float(np.nextafter(epsilon, 9)), distance).value >= Fraction(str(power))
    assert least_epsilon(0.05, 0.05, 7) == 0.0


def test_the_epsilon_and_the_sample_size_that_a_power_needs() -> None:
    epsilon = epsilon_needed(lambda e: geometric_count_power(80, e, 0.1, 0.25, 0.05), 0.8)
    assert geometric_count_power(80, epsilon, 0.1, 0.25, 0.05) >= 0.8 - 1e-9
    assert geometric_count_power(80, 0.98 * epsilon, 0.1, 0.25, 0.05) < 0.8
    n = respondents_needed(lambda k: geometric_count_power(k, 0.5, 0.1, 0.25, 0.05), 0.8)
    assert geometric_count_power(n, 0.5, 0.1, 0.25, 0.05) >= 0.8 > geometric_count_power(n - 1, 0.5, 0.1, 0.25, 0.05)


def test_needs_that_cannot_be_met_are_told() -> None:
    with pytest.raises(InputError, match="No number of respondents"):
        respondents_needed(lambda n: geometric_count_power(n, 0.0, 0.1, 0.9, 0.05), 0.8, most=64)
    with pytest.raises(InputError, match="No ε in range"):
        epsilon_needed(lambda e: geometric_count_power(2, e, 0.4, 0.6, 0.05), 0.9)
    with pytest.raises(InputError, match="positive and finite"):
        least_epsilon(0.05, 0.8, 0)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, float("nan")])
def test_levels_that_are_none_are_refused(alpha: float) -> None:
    with pytest.raises(InputError):
        power_bound(alpha, 1.0, 1)
    with pytest.raises(InputError):
        neyman_pearson([0.5, 0.5], [0.1, 0.9], alpha)
    with pytest.raises(InputError):
        laplace_shift_power(0.05, 0.0, 3)
    with pytest.raises(InputError):
        power_bound(0.05, float("inf"), 3)
