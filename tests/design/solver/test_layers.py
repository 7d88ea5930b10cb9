"""Searches from many roots advance together and find what each finds alone."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.design.solver.layers import distances, distances_from, neighbour_lists


@pytest.mark.parametrize("seed", range(20))
def test_distances_from_many_roots_are_those_from_each(seed: int) -> None:
    """Graphs with several components, isolated states and roots that are named twice."""
    draw = np.random.default_rng(seed)
    states = int(draw.integers(1, 30))
    edges = draw.integers(0, states, (int(draw.integers(0, 40)), 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    lists = neighbour_lists(states, edges)
    roots = draw.integers(0, states, 7)
    beside = np.full((states, states), np.inf)
    beside[edges[:, 0], edges[:, 1]] = beside[edges[:, 1], edges[:, 0]] = 1
    np.fill_diagonal(beside, 0)
    for k in range(states):
        beside = np.minimum(beside, beside[:, k, None] + beside[None, k])
    expected = np.where(np.isinf(beside), -1, beside)[roots]
    assert np.array_equal(distances_from(states, *lists, roots), expected)
    assert np.array_equal(distances(states, *lists, int(roots[0])), expected[0])
