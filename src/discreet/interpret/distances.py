"""Distances that the limits need: between states, and between whole databases behind states.

Two honest readings of d(x, x′) for a mechanism that sees only a summary:
`states`     steps between states in the summary's graph. The mechanism is ε-Lipschitz in it, so every bound
             holds, and it is never larger: the tighter choice, and the default.
`databases`  the largest Hamming distance between databases with these histograms, N − max(0, max_t(h_t + h′_t
             − N)): what BG's examples use. (Two databases match in as few places as pigeonholes allow.)

d* (from one x*) and d** (between two sets) are suprema over supports: BG Thms 6, 8, 11. Infinity marks
unconnected states.
"""

from __future__ import annotations

import numpy as np

from discreet.errors import InputError, TooLarge
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.states import StateSpace
from discreet.model.summary import HistogramSummary
from discreet.numerics.arrays import Flags, Floats

MOST_PAIRS = 25_000_000


def state_distances(space: StateSpace) -> Floats:
    """Steps between all states [state, state]; infinite between components."""
    if len(space) ** 2 > MOST_PAIRS:
        raise TooLarge(
            "There are too many pairs of states",
            size=f"{len(space):,} states",
            fits=f"{int(MOST_PAIRS**0.5):,} states",
            remedy="use a coarser summary, or the closed-form bounds",
        )
    rows = np.stack([space.distances(i) for i in range(len(space))]).astype(np.float64)
    rows[rows < 0] = np.inf
    return rows


def database_distances(mechanism: Mechanism) -> Floats:
    """The largest distance between databases behind two states, for histograms under replace-one neighbours."""
    problem = mechanism.problem
    unclamped = isinstance(mechanism.summary, HistogramSummary) and mechanism.summary.clamp is None
    if not isinstance(problem.neighbours, ReplaceOne) or not unclamped:
        raise InputError(
            "Distances between whole databases are known for histograms under replace-one neighbours",
            found=f"summary {mechanism.summary.kind!r}, {problem.neighbours.name}",
            allowed="an unclamped histogram",
            remedy="use the distances of states",
        )
    return farthest_databases(np.asarray(mechanism.space.vectors), problem.people.respondents)


def farthest_databases(histograms: np.ndarray, respondents: int) -> Floats:
    """N − max(0, max_t (h_t + h′_t − N)) for all pairs of histograms; 0 when both hold a single type."""
    pairs = histograms[:, None, :] + histograms[None, :, :]
    forced = np.maximum(pairs.max(axis=2) - respondents, 0)
    return (respondents - forced).astype(np.float64)


def d_star(distances: Floats, support: Flags) -> Floats:
    """d*(x*) = sup over the support of d(x, x*), for every x* in the support; NaN outside."""
    inside = np.flatnonzero(support)
    found = np.full(len(support), np.nan)
    found[inside] = distances[np.ix_(inside, inside)].max(axis=1, initial=0.0)
    return found


def d_star_star(distances: Floats, first: Flags, second: Flags) -> float:
    """d** = sup of d(x, x′) over x in the first support and x′ in the second."""
    return float(distances[np.ix_(np.flatnonzero(first), np.flatnonzero(second))].max(initial=0.0))
