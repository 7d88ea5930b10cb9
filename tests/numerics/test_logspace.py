"""Log-space sums and multinomials against exact integers and a high-precision oracle."""

import math
import warnings

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.numerics import logspace

LOGS = st.lists(st.floats(-2000, 2000) | st.just(-math.inf), min_size=1, max_size=30)


@given(LOGS)
def test_log_sum_exp_is_the_logarithm_of_the_sum(logs: list[float]) -> None:
    with mpmath.workprec(8000):
        total = mpmath.fsum(mpmath.exp(mpmath.mpf(log)) for log in logs if log > -math.inf)
        expected = float(mpmath.log(total)) if total else -math.inf
    assert logspace.log_sum_exp(logs) == pytest.approx(expected, rel=1e-14, abs=1e-13)


def test_zeros_and_empty_sums_make_no_nan_and_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert logspace.log_sum_exp([-np.inf, -np.inf]) == -np.inf
        assert logspace.log_sum_exp([]) == -np.inf
        assert np.array_equal(logspace.log_sum_exp(np.zeros((3, 0)), axis=1), np.full(3, -np.inf))
        assert logspace.log_sum_exp([np.inf, 0.0]) == np.inf
        assert logspace.log1mexp(0.0) == -np.inf
        assert logspace.log1mexp(-np.inf) == 0.0


def test_axes() -> None:
    logs = np.log(np.arange(1.0, 13.0).reshape(3, 4))
    assert np.allclose(logspace.log_sum_exp(logs, axis=0), np.log([15, 18, 21, 24]))
    assert np.allclose(logspace.log_sum_exp(logs, axis=1), np.log([10, 26, 42]))


@given(st.floats(-700, -1e-300))
def test_log1mexp_keeps_its_digits_at_both_ends(x: float) -> None:
    with mpmath.workprec(2200):
        expected = float(mpmath.log(1 - mpmath.exp(mpmath.mpf(x))))
    assert float(logspace.log1mexp(x)) == pytest.approx(expected, rel=4e-15)


def test_factorials_and_gammas() -> None:
    n = np.arange(400)
    expected = [math.log(math.factorial(k)) for k in range(400)]
    assert np.allclose(logspace.log_factorial(n), expected, rtol=1e-15, atol=2e-15)
    assert np.allclose(logspace.log_gamma(n + 1.0), expected, rtol=1e-15, atol=1e-15)
    assert float(logspace.log_gamma(0.5)) == pytest.approx(0.5 * math.log(math.pi))
    assert logspace.log_gamma(np.full((2, 3), 2.5)).shape == (2, 3)


@pytest.mark.parametrize("n", [10, 15, 16, 17, 10**3, 10**6, 10**9])
@pytest.mark.parametrize("p", [0.5, 0.11, 1e-6])
@pytest.mark.parametrize("offset", [-3, 0, 5])
def test_pmf_keeps_its_digits_at_any_size(n: int, p: float, offset: int) -> None:
    k = min(n, max(0, round(n * p + offset * math.sqrt(n * p * (1 - p)))))
    with mpmath.workprec(300):
        chance = mpmath.mpf(p)
        expected = float(
            mpmath.loggamma(n + 1)
            - mpmath.loggamma(k + 1)
            - mpmath.loggamma(n - k + 1)
            + k * mpmath.log(chance)
            + (n - k) * mpmath.log(1 - chance)
        )
    found = float(logspace.log_multinomial_pmf([k, n - k], [p, 1 - p]))
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    # Near-miss: one respondent more in the coefficient is noticed at every size.
    assert found != pytest.approx(expected + math.log1p(1 / n), rel=1e-12, abs=1e-12)


def test_pmf_sums_to_one_and_knows_impossible_counts() -> None:
    n = 60
    counts = np.array([[a, b, n - a - b] for a in range(n + 1) for b in range(n + 1 - a)])
    logs = logspace.log_multinomial_pmf(counts, [0.89, 0.09, 0.02])
    assert float(logspace.log_sum_exp(logs)) == pytest.approx(0, abs=1e-13)
    with_zero = logspace.log_multinomial_pmf([[2, 0], [1, 1], [0, 0]], [1.0, 0.0])
    assert with_zero[0] == pytest.approx(0, abs=1e-15)
    assert with_zero[1] == -np.inf
    assert with_zero[2] == 0
