"""The derived state graph equals the one read off every pair of neighbouring databases, for every summary.

Executes DR Def. 1.1.3.
"""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from random_worlds import (
    brute_graph,
    histogram,
    label,
    listed_world,
    neighbouring_pairs,
    random_world,
)

from discreet.errors import InputError, TooLarge
from discreet.model.neighbours import AddRemoveOne, GivenGraph, ReplaceOne
from discreet.model.states import locate, state_space
from discreet.model.summary import Clamp, DatabaseSummary, HistogramSummary, LinearSummary
from discreet.model.universe import ListedUniverse, Universe

TWO = (Fraction(0), Fraction(1))


@pytest.mark.parametrize("seed", range(400))
def test_states_and_edges_are_those_of_all_databases(seed: int) -> None:
    universe, neighbours, summary = random_world(random.Random(seed))
    space = state_space(universe, neighbours, summary)
    states, edges = brute_graph(universe, neighbours, summary)
    assert len(space.labels) == len(set(space.labels)) and set(space.labels) == states
    found = [frozenset((space.labels[a], space.labels[b])) for a, b in space.edges.tolist()]
    assert len(found) == len(set(found)) and set(found) == edges
    assert (space.edges[:, 0] < space.edges[:, 1]).all()
    assert sorted(map(tuple, space.edges.tolist())) == list(map(tuple, space.edges.tolist()))


@pytest.mark.parametrize("seed", range(200))
def test_blocks_are_what_one_respondent_can_reach(seed: int) -> None:
    """Every block of brute force lies in a listed block, and every listed block is one of brute force."""
    universe, neighbours, summary = random_world(random.Random(1000 + seed))
    space = state_space(universe, neighbours, summary)
    presence = isinstance(neighbours, AddRemoveOne)
    brute: set[frozenset[str]] = set()
    sizes = range(universe.smallest, universe.largest) if presence else [universe.largest - 1]
    from itertools import product

    for others in (rest for n in sizes for rest in product(range(universe.types), repeat=n)):
        for place in range(len(others) + 1):
            joined = [(*others[:place], t, *others[place:]) for t in range(universe.types)]
            members = [label(summary, d, universe) for d in joined]
            brute.add(frozenset([*members, label(summary, others, universe)] if presence else members))
    listed = {frozenset(space.labels[i] for i in block if i >= 0) for block in space.blocks.tolist()}
    worthwhile = {block for block in brute if len(block) > 1}
    assert listed <= worthwhile
    assert all(any(block <= other for other in listed) for block in worthwhile)


@pytest.mark.parametrize("seed", range(60))
def test_every_database_is_located_at_its_state(seed: int) -> None:
    universe, neighbours, summary = random_world(random.Random(2000 + seed))
    space = state_space(universe, neighbours, summary)
    databases = list(universe.databases())
    if isinstance(summary, DatabaseSummary):
        rows = np.array(databases)
    else:
        rows = np.array([histogram(d, universe.types) for d in databases])
    found = [space.labels[i] for i in locate(space, summary, rows)]
    assert found == [label(summary, d, universe) for d in databases]


@pytest.mark.parametrize("seed", range(40))
def test_a_given_graph_is_taken_as_it_is(seed: int) -> None:
    listed, graph = listed_world(random.Random(seed))
    space = state_space(listed, graph, DatabaseSummary())
    assert space.labels == listed.names
    found = {frozenset((space.labels[a], space.labels[b])) for a, b in space.edges.tolist()}
    assert found == {frozenset(edge) for edge in graph.edges}
    for name in listed.names:
        steps = space.distances(space.index[name]).tolist()
        assert steps == [graph.reach(name).get(other, -1) for other in listed.names]
    assert graph.components(listed) == int(space.component.max()) + 1


@pytest.mark.parametrize("seed", range(60))
def test_distances_in_histograms_are_those_of_the_formula(seed: int) -> None:
    rng = random.Random(seed)
    universe, neighbours, _ = random_world(rng)
    space = state_space(universe, neighbours, HistogramSummary())
    start = rng.randrange(len(space))
    rows = space.vectors.tolist()
    assert space.distances(start).tolist() == [neighbours.distance(rows[start], row) for row in rows]
    assert space.diameter == neighbours.diameter(universe)
    assert int(space.component.max()) + 1 == neighbours.components(universe)


def test_respondents_without_a_range_cannot_be_added() -> None:
    with pytest.raises(InputError, match="a range is needed"):
        state_space(Universe.of(3, TWO), AddRemoveOne(), HistogramSummary())
    with pytest.raises(InputError, match="must be one number"):
        state_space(Universe(TWO, 1, 3), ReplaceOne(), HistogramSummary())
    with pytest.raises(InputError, match="not listed one by one"):
        state_space(Universe(TWO, 1, 3), AddRemoveOne(), DatabaseSummary())
    with pytest.raises(InputError, match="not listed"):
        state_space(ListedUniverse(("a", "b")), GivenGraph((("a", "c"),)), DatabaseSummary())
    with pytest.raises(InputError, match="to itself"):
        GivenGraph((("a", "a"),))
    with pytest.raises(InputError, match="twice"):
        GivenGraph((("a", "b"), ("b", "a")))


@pytest.mark.parametrize("respondents", [0, -1])
def test_a_universe_needs_respondents(respondents: int) -> None:
    with pytest.raises(InputError):
        Universe.of(respondents, TWO)


def test_one_respondent_is_enough() -> None:
    space = state_space(Universe.of(1, TWO), ReplaceOne(), LinearSummary((0, 1)))
    assert space.labels == ("0", "1") and space.edges.tolist() == [[0, 1]]


@pytest.mark.parametrize("summary", [HistogramSummary(), LinearSummary((0, 1)), DatabaseSummary()])
def test_a_billion_respondents_are_valid_but_not_listed(summary: object) -> None:
    universe = Universe.of(10**9, TWO)
    with pytest.raises(TooLarge, match="Would fit"):
        state_space(universe, ReplaceOne(), summary)  # type: ignore[arg-type]


def test_a_billion_respondents_can_be_clamped_and_clipped() -> None:
    universe = Universe.of(10**9, TWO)
    clamped = state_space(universe, ReplaceOne(), HistogramSummary(Clamp((0, 0), (0, 3), 0)))
    assert clamped.labels[-1] == "999999997,3" and len(clamped.edges) == 3


@pytest.mark.parametrize("caps", [(10**30, 10**30), (2, 10**30)])
def test_caps_beyond_every_count_change_nothing(caps: tuple[int, int]) -> None:
    free = state_space(Universe.of(4, TWO), ReplaceOne(), HistogramSummary())
    capped = state_space(Universe.of(4, TWO), ReplaceOne(), HistogramSummary(Clamp((0, 0), caps, 0)))
    assert free.labels == capped.labels and (free.edges == capped.edges).all()
    any_size = state_space(Universe(TWO, 1, 4), AddRemoveOne(), HistogramSummary())
    wide = state_space(Universe(TWO, 1, 4), AddRemoveOne(), HistogramSummary(Clamp((0, 0), (10**30,) * 2, None)))
    assert any_size.labels == wide.labels and (any_size.edges == wide.edges).all()


def test_totals_beyond_64_bits_are_refused_in_words() -> None:
    with pytest.raises(TooLarge, match=r"2\^62|too many totals"):
        state_space(Universe.of(3, TWO), ReplaceOne(), LinearSummary((0, 1), 10**30, None))
    with pytest.raises(TooLarge):
        state_space(Universe.of(3, TWO), ReplaceOne(), LinearSummary((0, 10**30)))


def test_pairs_of_neighbours_are_complete() -> None:
    """The brute force itself: N·T·(T+1)^N/2 replacements."""
    universe = Universe.of(3, tuple(map(Fraction, range(3))))
    assert len(list(neighbouring_pairs(universe, ReplaceOne()))) == 3 * 2 * 3**3 // 2


@pytest.mark.parametrize(("smallest", "largest"), [(3, 3), (0, 2)])
def test_a_database_has_one_histogram_alone_and_among_others(smallest: int, largest: int) -> None:
    """One by one and all at once, as the tests count them; −1 is nobody."""
    universe = Universe((Fraction(0), Fraction(1), Fraction(5)), smallest, largest)
    databases = list(universe.databases())
    padded = np.array([[*database, *[-1] * (largest - len(database))] for database in databases])
    wanted = [histogram(database, universe.types) for database in databases]
    assert [universe.histogram_of(database) for database in databases] == wanted
    assert [tuple(row) for row in universe.histograms_of(padded).tolist()] == wanted


def test_a_space_that_is_asked_for_again_cannot_have_been_changed() -> None:
    """Design and checker may share one space: whoever would write into it fails."""
    universe = Universe.of(3, TWO)
    space = state_space(universe, ReplaceOne(), HistogramSummary())
    assert state_space(universe, ReplaceOne(), HistogramSummary()) is space
    for array in (space.vectors, space.edges, space.blocks):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
