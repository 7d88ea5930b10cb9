"""Flows found by pushing: what is missing at a state is sent to its neighbours nearer to where there is room.

Asked is f ≥ 0 with Gᵀf ≤ c (`flows`). A state with c_h < 0 sends −c_h to its neighbours that are nearer to the state with the most
room, in proportion to the room that they have, and each takes q times what it is sent. States are visited from the farthest on, so
one pass ends with nothing missing, or with all of it in one place: then this finds no flow, though there may be one. An action far
from those that are played needs no more: prices fall faster than e^−ε away from what is likely. Few edges carry anything.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from discreet.design.solver.layers import REMEMBERED, distances, edges_of, graph_of, neighbour_lists
from discreet.design.solver.program import Floats, Integers, directed

NOTHING = 1e-300
"""Room of a neighbour that has none: where none has any, all get the same."""


class _Ring(NamedTuple):
    """The states at one distance, and the directed edges from them to those nearer, ordered by tail."""

    states: Integers
    edges: Integers
    first: Integers
    tail: Integers
    head: Integers
    by_head: Integers
    first_by_head: Integers
    heads: Integers


def pushed(surplus: Floats, edges: Integers, factor: float, least: float = 0.0) -> Floats:
    """Flows [action, directed edge] for rows c of `surplus` [action, state] on a connected graph.

    Where no more than `least` is missing it is left; what would take more than floats hold is not sent at all.
    """
    actions, states = surplus.shape
    found = np.zeros((actions, 2 * len(edges)))
    roots = np.argmax(surplus, axis=1)
    for root in sorted(set(roots.tolist())):
        rows = np.flatnonzero(roots == root)
        room, flow = surplus[rows].T.copy(), np.zeros((2 * len(edges), len(rows)))
        with np.errstate(over="ignore", invalid="ignore"):  # what grows by e^ε at every edge may outgrow any number
            for ring in _rings(states, graph_of(edges), root):
                missing = -room[ring.states]
                if missing.max() <= least:
                    continue
                missing[missing <= least] = 0.0
                there = np.maximum(room[ring.head], NOTHING)
                sent = missing[ring.tail] * (there / np.add.reduceat(there, ring.first, axis=0)[ring.tail])
                flow[ring.edges] = sent
                room[ring.states] += missing
                room[ring.heads] -= factor * np.add.reduceat(sent[ring.by_head], ring.first_by_head, axis=0)
        flow[:, ~np.isfinite(flow).all(axis=0)] = 0.0
        found[rows] = flow.T
    return found


@lru_cache(maxsize=4 * REMEMBERED)
def _rings(states: int, graph: bytes, root: int) -> tuple[_Ring, ...]:
    """The states by their distance from the root, the farthest first."""
    edges = edges_of(graph)
    tails, heads = directed(edges)
    far = distances(states, *neighbour_lists(states, edges), root)
    nearer = np.flatnonzero(far[heads] < far[tails])
    nearer = nearer[np.lexsort((tails[nearer], -far[tails[nearer]]))]
    cuts = np.flatnonzero(np.diff(far[tails[nearer]])) + 1
    return tuple(_ring(each, tails[each], heads[each]) for each in np.split(nearer, cuts) if len(each))


def _ring(edges: Integers, tails: Integers, heads: Integers) -> _Ring:
    by_head = np.argsort(heads, kind="stable")
    first, first_by_head = _begins(tails), _begins(heads[by_head])
    tail = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(tails))))
    return _Ring(tails[first], edges, first, tail, heads, by_head, first_by_head, heads[by_head][first_by_head])


def _begins(ordered: Integers) -> Integers:
    """Where each value of an ordered list begins (`numpy.unique` loads masked arrays, which takes longer than all of this)."""
    return np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
