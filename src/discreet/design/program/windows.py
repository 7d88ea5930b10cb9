"""Windows: likely states one by one, all others by their statistic alone.

An unbiased mechanism may clamp nothing: two states with different statistics must not be one. States with the same statistic may,
so a mechanism that tells likely states apart and reads only the statistic of the others is a restriction of the program over all
states, with as many states as the window and the statistic have (`windowed`). Written out for all states (`written_out`) it is an
ordinary table, which anyone checks without knowing about windows. The graph of the classes is the image of the graph of all states,
so privacy carries over edge by edge.

The window alone, without anything outside it, is a relaxation (`alone`): what no unbiased mechanism for it undercuts bounds all.
"""

from __future__ import annotations

import numpy as np

from discreet.design.program.sections import Ground, Section
from discreet.model.kernel import TableKernel
from discreet.model.states import StateSpace

MOST_WRITTEN = 3_000
"""Histograms up to which a kernel that reads less is written out for all."""


def likeliest(base: Ground, outside: float) -> np.ndarray:
    """The fewest states that leave out at most so much of the prior, ascending."""
    order = np.argsort(-base.masses, kind="stable")
    left = 1 - np.cumsum(base.masses[order])
    count = int(np.searchsorted(-left, -outside)) + 1
    return np.sort(order[:count])


def windowed(base: Ground, inside: np.ndarray) -> Section:
    """The states inside as they are, and one state for each value that the statistic has outside."""
    window = np.zeros(len(base.space), dtype=bool)
    window[inside] = True
    values, which = np.unique(base.column[~window], return_inverse=True)
    image = np.zeros(len(base.space), dtype=np.int64)
    image[inside] = np.arange(len(inside))
    image[~window] = len(inside) + which.reshape(-1)
    edges = np.sort(image[base.space.edges], axis=1)
    edges = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
    labels = (*(base.space.labels[h] for h in inside.tolist()), *(f"other {base.exact_omegas[v]}" for v in values.tolist()))
    space = StateSpace(labels, np.arange(len(labels))[:, None], edges, np.zeros((0, 1), dtype=np.int64))
    return Section(base, base.summary, space, image, np.concatenate([inside, np.full(len(values), -1)]))


def written_out(section: Section, kernel: TableKernel) -> TableKernel:
    """The same kernel as a table on all states."""
    at = section.image.tolist()
    weights = tuple(tuple(row[state] for state in at) for row in kernel.weights)
    return TableKernel(section.ground.space.labels, kernel.outputs, weights, kernel.denominator)


def alone(base: Ground, inside: np.ndarray) -> np.ndarray:
    """The edges between states inside, as places in the window."""
    place = np.full(len(base.space), -1, dtype=np.int64)
    place[inside] = np.arange(len(inside))
    edges = place[base.space.edges]
    return np.asarray(edges[(edges >= 0).all(axis=1)])
