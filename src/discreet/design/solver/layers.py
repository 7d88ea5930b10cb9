"""An order of the states in which the graph is block tridiagonal.

The breadth-first levels of a connected graph only touch the level before and the level after.  Levels from a
corner of a box of histograms are thin (at most the smaller side in two dimensions), so elimination in this
order costs |states|·width² and never fills outside neighbouring blocks.  What depends on the graph alone is found once.

Reference: level structures as in the Cuthill-McKee ordering.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from discreet.frozen import dataclass
from discreet.numerics.arrays import Floats, Integers

REMEMBERED = 16
"""Graphs whose structure is kept: it is the same for every ε, every prior and every search on one box of histograms."""


def graph_of(edges: Integers) -> bytes:
    """A graph as what it is remembered by."""
    return np.ascontiguousarray(edges, dtype=np.int64).tobytes()


def edges_of(graph: bytes) -> Integers:
    """The edges of a remembered graph, which nobody may change."""
    return np.frombuffer(graph, dtype=np.int64).reshape(-1, 2)


def fixed(array: Integers) -> Integers:
    """What is handed out more than once cannot be written to."""
    array.setflags(write=False)
    return array


@dataclass(frozen=True)
class Layers:
    """States grouped in blocks; block k is adjacent to blocks k−1, k and k+1 only.

    `order[p]` is the state at position p; `starts[k]:starts[k+1]` are the positions of block k.
    """

    order: Integers
    starts: Integers

    @property
    def blocks(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> Integers:
        return np.diff(self.starts)


def neighbour_lists(states: int, edges: Integers) -> tuple[Integers, Integers]:
    """Adjacency in compressed rows: neighbours of h are `targets[offsets[h]:offsets[h + 1]]`."""
    tails = np.concatenate([edges[:, 0], edges[:, 1]])
    heads = np.concatenate([edges[:, 1], edges[:, 0]])
    order = np.argsort(tails, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=states))]).astype(np.int64)
    return offsets, heads[order]


def distances(states: int, offsets: Integers, targets: Integers, root: int) -> Integers:
    """Graph distance from `root`; −1 where there is no path."""
    return distances_from(states, offsets, targets, np.array([root]))[0]


def distances_from(states: int, offsets: Integers, targets: Integers, roots: Integers) -> Integers:
    """Graph distances from each root, axes [root, state]: all searches advance together."""
    far = np.full(len(roots) * states, -1, dtype=np.int64)
    base, front = states * np.arange(len(roots)), np.asarray(roots)
    far[base + front] = 0
    step = 0
    while front.size:
        step += 1
        counts = offsets[front + 1] - offsets[front]
        begins = np.repeat(offsets[front] - np.cumsum(counts) + counts, counts)
        reached = np.repeat(base, counts) + targets[begins + np.arange(len(begins))]
        far[reached[far[reached] < 0]] = step
        base, front = np.divmod(np.flatnonzero(far == step), states)
        base *= states
    return far.reshape(len(roots), states)


def components(states: int, edges: Integers) -> Integers:
    """Number of the connected component of each state, counted in order of first appearance."""
    return _components(states, graph_of(edges))


@lru_cache(maxsize=REMEMBERED)
def _components(states: int, graph: bytes) -> Integers:
    offsets, targets = neighbour_lists(states, edges_of(graph))
    label = np.full(states, -1, dtype=np.int64)
    count = 0
    for h in range(states):
        if label[h] < 0:
            label[distances(states, offsets, targets, h) >= 0] = count
            count += 1
    return fixed(label)


def layered(states: int, edges: Integers, weight: Floats | None = None, tries: int = 12) -> Layers:
    """The thinnest level structure found from a few roots of a connected graph.

    Of its two directions the one that comes last to where most `weight` lies is taken: rounding errors of
    elimination then flow from states of little probability to states of much, where they do no harm.
    """
    if states == 1:
        return Layers(np.zeros(1, dtype=np.int64), np.array([0, 1]))
    far = _thinnest(states, graph_of(edges), tries)
    if weight is not None and float(np.sum(weight * far)) < 0.5 * far.max() * float(np.sum(weight)):
        far = far.max() - far
    order = np.argsort(far, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(far))]).astype(np.int64)
    return merged(Layers(order, starts))


@lru_cache(maxsize=REMEMBERED)
def _thinnest(states: int, graph: bytes, tries: int) -> Integers:
    """The level of each state in the structure with the least work."""
    offsets, targets = neighbour_lists(states, edges_of(graph))
    degree = np.diff(offsets)
    roots: list[int] = []
    best: tuple[float, Integers] | None = None
    candidates = list(np.argsort(degree, kind="stable")[:tries])
    while candidates and len(roots) < tries:
        root = int(candidates.pop(0))
        if root in roots:
            continue
        roots.append(root)
        far = distances(states, offsets, targets, root)
        width = np.bincount(far).astype(float)
        work = float(np.sum(width**3))
        if best is None or work < best[0]:
            best = (work, far)
        end = np.flatnonzero(far == far.max())
        candidates.insert(0, int(end[np.argmin(degree[end])]))
    assert best is not None
    return fixed(best[1])


def merged(layers: Layers, smallest: int = 14) -> Layers:
    """Join thin neighbouring blocks, so that each step has enough work to be worth its overhead."""
    starts = [0]
    for end in layers.starts[1:]:
        if end - starts[-1] >= smallest or end == layers.starts[-1]:
            starts.append(int(end))
    return Layers(layers.order, np.array(starts, dtype=np.int64))
