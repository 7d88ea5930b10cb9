"""BG Thm 6: p(t|θ) lies in p_{x*}(t)·exp(±ε d*) for every x* of supp(x|t, θ), so between L(t) = sup and U(t) = inf.

Executed on random finite universes; Examples 3 and 4 with their reference numbers; the tightness construction of
section 7. Near misses: halving ε breaks the bounds; leaving the sign of Ex. 3's printed density uncorrected would make
its bounds grow in |t| (erratum 14); a support that a model does not have breaks them too.

Executes BG App. A: the support of the data given a value.
"""

from __future__ import annotations

import numpy as np
import pytest
from bg_worlds import holds, world

from discreet.errors import InputError
from discreet.interpret import binary_sum_laplace, density_bounds, randomised_response_bounds
from discreet.interpret.bounds import binary_sum_masses, support_of
from discreet.interpret.distances import d_star


@pytest.mark.parametrize("seed", range(40))
def test_every_model_stays_within_the_bounds(seed: int) -> None:
    w = world(seed)
    for theta in w.model:
        bounds = density_bounds(w.law, w.distances, w.epsilon, theta > 0)
        private = w.law @ theta
        assert (private >= bounds.lower * (1 - 1e-12)).all() and (private <= bounds.upper * (1 + 1e-12)).all()
        assert bounds.interval().contains(private.tolist())
        for t in range(len(w.law)):
            support = support_of(w.law, t, theta > 0)
            reach = d_star(w.distances, support)
            for x in np.flatnonzero(support):
                factor = np.exp(w.epsilon * reach[x])
                assert w.law[t, x] / factor <= private[t] * (1 + 1e-12)
                assert private[t] <= w.law[t, x] * factor * (1 + 1e-12)


def test_a_smaller_epsilon_would_be_left() -> None:
    left = 0
    for seed in range(40):
        w = world(seed)
        for theta in w.model:
            if (theta > 0).sum() > 1:
                left += not holds(w, 0.05 * w.epsilon, theta > 0, theta)
    assert left > 20


def test_the_support_matters() -> None:
    # A model on one state has exactly its probabilities; claimed for the whole universe the bounds are wider.
    w = world(3)
    point = np.arange(w.law.shape[1]) == 0
    exact = density_bounds(w.law, w.distances, w.epsilon, point)
    assert np.allclose(exact.lower, w.law[:, 0]) and np.allclose(exact.upper, w.law[:, 0])
    assert not exact.interval().contains((w.law @ w.model[0]).tolist())


def geometric(n: int, epsilon: float) -> np.ndarray:
    """Densities of Laplace noise around 0..n on a grid of published values, [t, state]."""
    t = np.linspace(-30, n + 30, 601)
    return epsilon / 2 * np.exp(-epsilon * np.abs(t[:, None] - np.arange(n + 1)))


def test_the_bound_is_attained_in_the_limit() -> None:
    # Section 7: P_θ concentrates on (0, …, 0), x* = (1, …, 1), t ≤ 0.
    n, epsilon = 6, 0.4
    law = geometric(n, epsilon)
    distances = np.abs(np.subtract.outer(np.arange(n + 1), np.arange(n + 1))).astype(float)
    t = 0
    for weight in (0.9, 0.999, 0.999999):
        theta = np.zeros(n + 1)
        theta[0], theta[n] = weight, 1 - weight
        ratio = float(law[t] @ theta) / (law[t, n] * np.exp(epsilon * n))
        assert weight <= ratio <= 1
    bounds = density_bounds(law, distances, epsilon)
    assert bounds.upper[t] == pytest.approx(law[t, n] * np.exp(epsilon * n))


@pytest.mark.parametrize(
    ("epsilon", "t", "lower", "upper"),
    [
        (0.1, 5, 0.0183939720586, 0.0824360635350),
        (0.1, 0, 0.0183939720586, 0.05),
        (0.25, 5, 0.0102606248280, 0.436292869683),
        (0.25, 0, 0.0102606248280, 0.125),
    ],
)
def test_example_3(epsilon: float, t: int, lower: float, upper: float) -> None:
    found = binary_sum_laplace(float(t), 10, epsilon)
    assert [float(x) for x in found] == pytest.approx([lower, upper], rel=1e-11)


def test_example_3_masses_and_the_printed_half() -> None:
    assert binary_sum_masses(10, 0.1) == pytest.approx((0.547296361774, 1.64872127070), rel=1e-11)
    grid = np.linspace(-400, 410, 810_001)
    lower, upper = binary_sum_laplace(grid, 10, 0.1)
    assert np.trapezoid(lower, grid) == pytest.approx(0.547296361774, rel=1e-6)
    assert np.trapezoid(upper, grid) == pytest.approx(1.64872127070, rel=1e-6)
    # Erratum 15: "more than 0.4" is the figure's ε = 0.25, not 0.5.
    assert float(binary_sum_laplace(5.0, 10, 0.25)[1]) == pytest.approx(0.436292869683, rel=1e-11)
    assert float(binary_sum_laplace(5.0, 10, 0.5)[1]) == pytest.approx(3.05, abs=0.005)


def test_example_3_is_theorem_6_on_all_bit_strings() -> None:
    n, epsilon = 4, 0.3
    strings = np.array([[(i >> k) & 1 for k in range(n)] for i in range(2**n)])
    hamming = (strings[:, None, :] != strings[None, :, :]).sum(axis=2).astype(float)
    t = np.linspace(-3, n + 3, 41)
    law = epsilon / 2 * np.exp(-epsilon * np.abs(t[:, None] - strings.sum(axis=1)))
    found = density_bounds(law, hamming, epsilon)
    lower, upper = binary_sum_laplace(t, n, epsilon)
    assert np.allclose(found.lower, lower) and np.allclose(found.upper, upper)
    # Erratum 14: without its minus sign the density would grow without limit.
    printed = epsilon / 2 * np.exp(epsilon * np.abs(t[:, None] - strings.sum(axis=1)))
    assert not (density_bounds(printed, hamming, epsilon).upper <= upper).any()
    # The distance of sums is smaller than that of strings: the tighter, equally valid reading.
    sums = np.abs(np.subtract.outer(strings.sum(axis=1), strings.sum(axis=1))).astype(float)
    tighter = density_bounds(law, sums, epsilon)
    assert (tighter.lower >= lower * (1 - 1e-12)).all() and (tighter.lower > 1.1 * lower).any()


@pytest.mark.parametrize(
    ("length", "lower", "upper"),
    [(1, 0.268941421370, 0.731058578630), (10, 1.97959778025e-6, 0.0436035427941)],
)
def test_example_4(length: int, lower: float, upper: float) -> None:
    found = randomised_response_bounds(length, 1.0)
    assert [float(x) for x in found] == pytest.approx([lower, upper], rel=1e-11)


def test_example_4_is_theorem_6_on_all_bit_strings() -> None:
    n, epsilon = 3, 1.0
    strings = np.array([[(i >> k) & 1 for k in range(n)] for i in range(2**n)])
    hamming = (strings[:, None, :] != strings[None, :, :]).sum(axis=2).astype(float)
    keep = np.exp(epsilon) / (1 + np.exp(epsilon))
    law = keep ** (n - hamming) * (1 - keep) ** hamming
    found = density_bounds(law, hamming, epsilon)
    lower, upper = randomised_response_bounds(n, epsilon)
    assert np.allclose(found.lower, lower) and np.allclose(found.upper, upper)


def test_misuse_is_refused() -> None:
    w = world(0)
    with pytest.raises(InputError, match="holds no state"):
        density_bounds(w.law, w.distances, w.epsilon, np.zeros(w.law.shape[1], dtype=bool))
    with pytest.raises(InputError, match="out of range"):
        density_bounds(w.law, w.distances, -1.0)
    with pytest.raises(InputError, match="nothing needs a bound"):
        binary_sum_laplace(0.0, 10, 0.0)
