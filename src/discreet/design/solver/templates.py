"""How the windows of neighbouring actions are laid out, so that `elimination` factors them as a batch.

On a lattice of two counts neighbouring windows have one shape, shifted, and one template is laid out block by block along one count
(`shifted`). On any other graph a template is all states that windows next to each other have, in the levels of their graph
(`joined`): as many windows share it as are not much smaller than it. Places of a template that an action does not have stay empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.design.solver.elimination import Pattern
from discreet.design.solver.layers import Layers, components, layered
from discreet.design.solver.program import Integers

if TYPE_CHECKING:
    from discreet.design.solver.windows import TwoCounts, Windows

TOGETHER = 32
"""Neighbouring actions on one template."""
MOST_GROUPED, WIDER = 8, 1.1
"""Actions whose inverses are made at once: so many, and with at most so many times the states that the first of them has."""
LARGER, SMALL = 1.3, 60
"""A joint template has at most so many times the states of its largest window, or of a window that is small anyway."""


@dataclass(frozen=True)
class Group:
    """Neighbouring actions `first:last` of a chunk, whose windows are nearly the same: the states from `low` on are theirs."""

    first: int
    last: int
    low: int
    spans: Integers
    """Where in each block of the template they have variables, [block, (first, last)];"""
    ranks: Integers
    """which of all places in these spans each of the states has."""


@dataclass(frozen=True)
class Chunk:
    """Variables `begin:end` of neighbouring actions on one template: where they and their edges stand in its batch."""

    pattern: Pattern
    actions: int
    begin: int
    end: int
    slots: Integers
    edge_begin: int
    edge_end: int
    edge_slots: Integers
    template_edges: Integers
    groups: list[Group]


def _spans(block: Integers, row: Integers, blocks: int) -> tuple[Integers, Integers]:
    """The rows of each block from the first to the last of these, and the place of each one among all of them."""
    spans = np.zeros((blocks, 2), dtype=np.int64)
    spans[:, 0] = np.iinfo(np.int64).max
    np.minimum.at(spans[:, 0], block, row)
    np.maximum.at(spans[:, 1], block, row + 1)
    spans[:, 0] = np.minimum(spans[:, 0], spans[:, 1])
    sizes = spans[:, 1] - spans[:, 0]
    return spans, (np.cumsum(sizes) - sizes)[block] + row - spans[block, 0]


def _groups(windows: Windows, first: int, last: int, shifts: Integers, block: Integers, row: Integers, blocks: int) -> list[Group]:
    """Actions `first:last` of a chunk that have nearly the same states, at the same places: with the same shift of the template."""
    low, high, starts = windows.low[first:last], windows.high[first:last], windows.starts[first : last + 1]
    groups, begin = [], 0
    for end in range(1, len(low) + 1):
        full = end == len(low) or end - begin == MOST_GROUPED or shifts[end] != shifts[begin]
        if full or high[end] - low[begin] > WIDER * (high[begin] - low[begin]):
            inside = slice(int(starts[begin] - starts[0]), int(starts[end] - starts[0]))
            _, one = np.unique(windows.state[starts[begin] : starts[end]], return_index=True)
            groups.append(Group(begin, end, int(low[begin]), *_spans(block[inside][one], row[inside][one], blocks)))
            begin = end
    return groups


def shifted(windows: Windows, lattice: TwoCounts, edge_starts: Integers) -> list[Chunk]:
    """Windows of one shape; the edges of each action begin at these."""
    along = lattice.along
    across = 1 - along
    slope = lattice.weights[across] / lattice.weights[along]
    bottom = np.floor(-slope * lattice.counts[:, across] + 1e-9).astype(np.int64)
    height = lattice.counts[:, along] - bottom
    chunks = []
    for first in range(0, len(windows.centres), TOGETHER):
        last = min(first + TOGETHER, len(windows.centres))
        a, b = int(windows.starts[first]), int(windows.starts[last])
        states, local = windows.state[a:b], windows.action[a:b] - first
        least = np.full(last - first, np.iinfo(np.int64).max)
        np.minimum.at(least, local, height[states])
        row = height[states] - least[local]
        _, block = np.unique(lattice.counts[states, across], return_inverse=True)
        spans, place = _spans(block, row, int(block.max()) + 1)
        row, sizes = row - spans[block, 0], spans[:, 1] - spans[:, 0]
        size, blocks = int(sizes.sum()), len(sizes)
        c, d = int(edge_starts[first]), int(edge_starts[last])
        ends = np.sort(place[windows.edges[c:d] - a], axis=1)
        codes, edge = np.unique(ends[:, 0] * size + ends[:, 1], return_inverse=True)
        template = np.stack(np.divmod(codes, size), axis=1)
        layers = Layers(np.arange(size), np.concatenate([[0], np.cumsum(sizes)]))
        slots = local * size + place
        edge_slots = local[windows.edges[c:d, 0] - a] * len(codes) + edge
        groups = _groups(windows, first, last, least, block, row, blocks)
        pattern = Pattern(layers, template)
        chunks.append(Chunk(pattern, last - first, a, b, slots, c, d, edge_slots, template, groups))
    return chunks


def joined(windows: Windows, edge_starts: Integers) -> list[Chunk]:
    """Windows of a graph, neighbours on all states that they have together; the edges of each action begin at these."""
    one, two = windows.lattice.edges.T
    chunks, last = [], 0
    while last < len(windows.centres):
        first, last = last, _how_far(windows, last)
        low, high = int(windows.low[first]), int(windows.high[last - 1])
        inside = np.flatnonzero((one >= low) & (two < high))
        order, starts = _in_levels(high - low, windows.lattice.edges[inside] - low)
        place = np.empty(high - low, dtype=np.int64)
        place[order] = np.arange(high - low)
        template = np.sort(place[windows.lattice.edges[inside] - low], axis=1)
        a, b = int(windows.starts[first]), int(windows.starts[last])
        c, d = int(edge_starts[first]), int(edge_starts[last])
        local, here = windows.action[a:b] - first, place[windows.state[a:b] - low]
        block = np.searchsorted(starts, here, side="right") - 1
        same = np.zeros(last - first, dtype=np.int64)
        groups = _groups(windows, first, last, same, block, here - starts[block], len(starts) - 1)
        edge_slots = local[windows.edges[c:d, 0] - a] * len(inside) + np.searchsorted(inside, windows.number[c:d])
        pattern = Pattern(Layers(np.arange(high - low), starts), template)
        slots = local * (high - low) + here
        chunks.append(Chunk(pattern, last - first, a, b, slots, c, d, edge_slots, template, groups))
    return chunks


def _how_far(windows: Windows, first: int) -> int:
    """The end of the windows that share a template with the first."""
    sizes, last = windows.high - windows.low, first + 1
    while last < min(first + TOGETHER, len(sizes)):
        largest = max(int(sizes[first : last + 1].max()), SMALL)
        if windows.high[last] - windows.low[first] > LARGER * largest:
            break
        last += 1
    return last


def _in_levels(states: int, edges: Integers) -> tuple[Integers, Integers]:
    """An order of the states of any graph in block-tridiagonal blocks, ascending within each, and where these begin."""
    label = components(states, edges)
    heads = np.unique(label, return_index=True)[1][1:]
    layers = layered(states, np.concatenate([edges, np.column_stack([np.zeros_like(heads), heads])]))
    block = np.repeat(np.arange(layers.blocks), layers.sizes)
    return layers.order[np.lexsort((layers.order, block))], layers.starts
