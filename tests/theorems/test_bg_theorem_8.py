"""BG Thm 8: any level-α test of θ0 against θ1 has power at most α·e^(ε d**); also 1 − e^(−ε d**)(1−α) and 1.

`power_bound` is the sharp limit for d** steps, never above these. Executed with the exact most powerful test on random
finite universes. Tightness (section 7, erratum 17): for two
databases whose Laplace-noised counts are n apart the bound is attained iff α e^(nε) ≤ 1/2. Near misses: a smaller
distance breaks the bound, and beyond the threshold the paper's formula overstates the power. An attacker is BG fn 3.
"""

from __future__ import annotations

import numpy as np
import pytest
from bg_worlds import world
from scipy.optimize import brentq

from discreet.interpret import d_star_star, neyman_pearson, power_bound
from discreet.interpret.power import laplace_shift_power


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.5, 0.9])
def test_no_test_exceeds_the_bound(seed: int, alpha: float) -> None:
    w = world(seed)
    null, alternative = w.model[0], w.model[1]
    reach = d_star_star(w.distances, null > 0, alternative > 0)
    found = neyman_pearson((w.law @ null).tolist(), (w.law @ alternative).tolist(), alpha)
    limit = power_bound(alpha, w.epsilon, reach).value
    assert found.power <= limit * (1 + 1e-12)
    assert limit <= min(alpha * np.exp(w.epsilon * reach), 1 - np.exp(-w.epsilon * reach) * (1 - alpha)) * (1 + 1e-12)


def test_a_smaller_distance_would_be_exceeded() -> None:
    exceeded = 0
    for seed in range(60):
        w = world(seed)
        null, alternative = w.model[0], w.model[1]
        found = neyman_pearson((w.law @ null).tolist(), (w.law @ alternative).tolist(), 0.05)
        reach = d_star_star(w.distances, null > 0, alternative > 0)
        exceeded += found.power > power_bound(0.05, w.epsilon, 0.05 * reach).value
    assert exceeded > 20


def by_inversion(alpha: float, epsilon: float, n: float) -> float:
    """Power of rejecting above t0, with t0 solved from the level: Laplace(0) against Laplace(n), scale 1/ε."""

    def tail(t: float) -> float:
        return 0.5 * np.exp(-epsilon * t) if t >= 0 else 1 - 0.5 * np.exp(epsilon * t)

    t0 = brentq(lambda t: tail(t) - alpha, -500 / epsilon, 500 / epsilon, xtol=1e-13)
    return float(tail(t0 - n))


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("epsilon", [0.05, 0.2, 0.25, 1.0])
def test_the_exact_power_against_a_shifted_count(alpha: float, epsilon: float) -> None:
    found = laplace_shift_power(alpha, epsilon, 10)
    assert found == pytest.approx(by_inversion(alpha, epsilon, 10), rel=1e-9)
    assert found <= power_bound(alpha, epsilon, 10).value * (1 + 1e-12)
    tight = alpha * np.exp(10 * epsilon) <= 0.5
    assert (found == pytest.approx(alpha * np.exp(10 * epsilon), rel=1e-12)) == tight


def test_reference_numbers() -> None:
    assert np.log(0.5 / 0.05) / 10 == pytest.approx(0.230258509299, rel=1e-11)
    assert laplace_shift_power(0.05, 0.1, 10) == pytest.approx(0.135914091423, rel=1e-11)
    assert laplace_shift_power(0.05, 0.2, 10) == pytest.approx(0.369452804947, rel=1e-11)
    assert laplace_shift_power(0.05, 0.25, 10) == pytest.approx(0.589575006881, rel=1e-11)
    assert 0.05 * np.exp(2.5) == pytest.approx(0.609124698035, rel=1e-11)
    assert laplace_shift_power(0.05, 0.25, 10) < power_bound(0.05, 0.25, 10).value < 0.5918
    # Near miss: beyond its threshold the formula of Thm 8 is not the power.
    assert laplace_shift_power(0.05, 0.25, 10) < 0.609124698035 - 0.01


def test_the_second_cap_is_attained_too() -> None:
    # For α ≥ 1/2 the threshold lies below both counts, and the complement's odds are exactly e^(nε).
    for alpha in (0.5, 0.7, 0.95):
        assert laplace_shift_power(alpha, 0.3, 4) == pytest.approx(power_bound(alpha, 0.3, 4).value, rel=1e-12)
        assert power_bound(alpha, 0.3, 4).cap == "complement"


def test_an_attacker_is_a_special_case() -> None:
    # fn 3: point masses on neighbours, others fixed: d** = 1, the bound of Wasserman and Zhou.
    w = world(5, hold_back=False)
    x, y = next(zip(*np.nonzero(w.distances == 1), strict=True))
    found = neyman_pearson(w.law[:, x].tolist(), w.law[:, y].tolist(), 0.05)
    assert found.power <= 0.05 * np.exp(w.epsilon) * (1 + 1e-12)
