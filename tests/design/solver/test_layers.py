"""Searches from many roots advance together and find what each finds alone."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.design.solver.layers import components, distances, distances_from, layered, neighbour_lists
from discreet.design.solver.repair import neighbours


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


def test_what_is_remembered_of_a_graph_is_its_own_and_cannot_be_changed() -> None:
    """Two graphs of as many states and edges, asked for in turn; and nobody writes into what others will get."""
    path = np.array([[0, 1], [1, 2], [2, 3]])
    apart = np.array([[0, 1], [0, 1], [2, 3]])
    for _ in range(2):
        assert components(4, path).tolist() == [0, 0, 0, 0]
        assert components(4, apart).tolist() == [0, 0, 1, 1]
    for heavy in (0, 3, 0):
        assert layered(4, path, np.eye(4)[heavy]).order[-1] == heavy
    with pytest.raises(ValueError, match="read-only"):
        components(4, path)[0] = 7
    named = [{int(beside[h]) for beside in neighbours(path, 4)} - {h} for h in range(4)]
    assert named == [{1}, {0, 2}, {1, 3}, {2}]
