"""Truncation: the clamp is a retraction, and its two bounds enclose the untruncated optimum for any payoff.

Seeds are fixed: no false alarms.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet.design.solver.box import Box, choose_box, histogram_edges, simplex_condition
from discreet.design.solver.program import Program
from discreet.design.solver.solve import solve
from discreet.design.solver.truncation import (
    binomial_marginals,
    multinomial,
    regret_marginals,
    truncate,
    truncate_iid,
)
from discreet.errors import InputError


def whole(size: int, types: int) -> Box:
    return Box(size, 0, (0,) * types, (size,) * types)


def distance(one: np.ndarray, two: np.ndarray) -> int:
    return int(np.abs(one - two).sum()) // 2


@pytest.mark.parametrize("seed", range(30))
def test_clamping_never_stretches_a_step(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, types = int(rng.integers(2, 9)), int(rng.integers(2, 5))
    histograms = whole(size, types).states()
    lower = [0, *rng.integers(0, 2, types - 1).tolist()]
    upper = [size, *(int(rng.integers(low, size + 1)) for low in lower[1:])]
    legal = simplex_condition(size, tuple(lower[1:]), tuple(upper[1:]))
    clipped = np.clip(histograms, lower, upper)[:, 1:].sum(axis=1)
    assert legal == bool(clipped.max() <= size), "the condition is exact"
    if not legal:
        with pytest.raises(InputError):
            Box(size, 0, tuple(lower), tuple(upper))
        return
    box = Box(size, 0, tuple(lower), tuple(upper))
    image = box.clamp(histograms)
    assert np.array_equal(box.clamp(image), image)
    assert {tuple(h) for h in image.tolist()} == {tuple(h) for h in box.states().tolist()}
    for i, j in histogram_edges(histograms):
        assert distance(histograms[i], histograms[j]) == 1
        assert distance(image[i], image[j]) <= 1


def test_edges_are_exactly_the_unit_moves() -> None:
    histograms = Box(6, 1, (0, 0, 0), (3, 6, 4)).states()
    edges = {tuple(edge) for edge in histogram_edges(histograms).tolist()}
    expected = {
        (i, j) for i, j in itertools.combinations(range(len(histograms)), 2)
        if distance(histograms[i], histograms[j]) == 1
    }
    assert edges == expected


@pytest.mark.parametrize("seed", range(25))
def test_bounds_enclose_the_optimum_for_payoffs_of_any_sign(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, types = int(rng.integers(3, 7)), int(rng.integers(2, 4))
    histograms = whole(size, types).states()
    prior = rng.dirichlet(np.full(len(histograms), 0.5))
    loss = rng.normal(size=(int(rng.integers(2, 5)), len(histograms))) * 5 + rng.normal() * 20
    epsilon = float(rng.choice([0.1, 1.0, 3.0]))
    full = solve(Program(prior * loss, histogram_edges(histograms), epsilon), gap=1e-8)
    upper = (size, *(int(rng.integers(1, size + 1)) for _ in range(types - 1)))
    cut = truncate(histograms, prior, loss, Box(size, 0, (0,) * types, upper))
    found = solve(cut.program(epsilon), gap=1e-8)
    allowance = 1e-7 * np.abs(prior * loss).sum()
    assert cut.lower_bound(found.bound) <= full.value + allowance
    assert cut.loss(found.kernel) >= full.bound - allowance
    # The near miss: dropping raw losses instead of regret proves nonsense as soon as losses are positive.
    if cut.lower_constant > 1e-3:
        assert found.bound < cut.lower_bound(found.bound)


def test_a_box_that_drops_nothing_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    histograms = whole(4, 3).states()
    prior, loss = rng.dirichlet(np.ones(len(histograms))), rng.normal(size=(3, len(histograms)))
    cut = truncate(histograms, prior, loss, whole(4, 3))
    assert cut.lower_constant == 0.0
    assert np.allclose(cut.lower_cost, cut.upper_cost)
    assert np.allclose(cut.lower_cost, prior * loss)


def test_multinomial_sums_to_one_and_takes_zeros() -> None:
    histograms = whole(7, 3).states()
    for probabilities in ([0.2, 0.5, 0.3], [0.7, 0.3, 0.0]):
        mass = multinomial(histograms, np.array(probabilities))
        assert mass.sum() == pytest.approx(1.0, abs=1e-13)
    assert binomial_marginals(9, np.array([0.2, 0.8])).sum(axis=1) == pytest.approx([1, 1], abs=1e-13)


def test_independent_respondents_without_the_full_list() -> None:
    size, probabilities = 60, np.array([0.89, 0.09, 0.02])
    actions = np.arange(0, 30)

    def loss(histograms: np.ndarray) -> np.ndarray:
        return (actions[:, None] - histograms @ np.array([0, 1, 2])) ** 2.0

    histograms = whole(size, 3).states()
    prior = multinomial(histograms, probabilities)
    box = choose_box(regret_marginals(histograms, prior, loss(histograms)), 1e-6)
    assert box.reference == 0 and len(box.states()) < 400
    listed = truncate(histograms, prior, loss(histograms), box)
    sparse = truncate_iid(size, probabilities, loss, box, (0.0, 120.0**2))
    assert np.allclose(listed.lower_cost, sparse.lower_cost, rtol=1e-11, atol=1e-300)
    assert np.allclose(listed.upper_cost, sparse.upper_cost, rtol=1e-9, atol=1e-13)
    assert listed.lower_constant == pytest.approx(sparse.lower_constant, abs=1e-13)
    assert 0 <= sparse.upper_constant < 1e-12


def test_choose_box_spends_no_more_than_allowed() -> None:
    marginals = binomial_marginals(400, np.array([0.8, 0.15, 0.05]))
    for tolerance in (1e-3, 1e-6, 1e-12):
        box = choose_box(marginals, tolerance)
        lost = sum(
            marginals[j, :box.lower[j]].sum() + marginals[j, box.upper[j] + 1:].sum() for j in (1, 2)
        )
        assert 0 < lost <= tolerance
        assert box.lower[1] > 0, "far from zero the box does not start at zero"
