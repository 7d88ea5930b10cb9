"""What the interior point behind the urn bound needs to know of its cells: the ties of every state, and smooth prices.

Ties. The equations of a state join its own cells only, so what they leave free has a basis for each state (`Ties.free`), and
multipliers of the equations follow from what is left of the prices (`Ties.multipliers`).

Prices. What a mechanism loses at a state changes slowly from state to state. Prices of normalisation are therefore polynomials in
the mean counts of classes given the state, for each type: any prices are valid, and once the other multipliers are known the best
ones of every cell are a minimum over actions. They prove 99.8 % of what free prices do at twenty respondents.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from discreet.numerics.arrays import Floats, Integers

if TYPE_CHECKING:
    from scipy import sparse

    from discreet.design.ladder.bounds.urn import UrnCone, UrnProgram

FEW_CELLS = 150
"""So few have a price each."""
MOST_DEGREE, MOST_COLUMNS = 8, 35
"""Of polynomials, for each type."""
SAME = 1e-5
"""Columns of prices that differ by less from those before them are left out."""
TIED = 1e-9


@dataclass(frozen=True, eq=False)
class Ties:
    """`free` [cell, unknown] spans what the equations allow, states one after the other; `ends` are the last unknowns of states."""

    free: sparse.csr_array
    multipliers: sparse.csr_array
    ends: Integers


def ties_of(program: UrnProgram, cone: UrnCone) -> Ties:
    """By the singular vectors of every state's equations."""
    from scipy import sparse

    states, width = program.states.shape
    starts = np.searchsorted(program.cells[:, 0], np.arange(states + 1))
    entries = cone.matrix[np.flatnonzero(cone.free)].tocoo()
    dense = np.zeros((len(program.cells), width))
    dense[entries.col, entries.row // states] = entries.data
    free, tied, ends = [], [], [0]
    for s in range(states):
        left, sizes, right = np.linalg.svd(dense[starts[s] : starts[s + 1]].T)
        rank = int((sizes > TIED).sum())
        free.append(right[rank:].T)
        tied.append((left[:, :rank] / sizes[:rank]) @ right[:rank])
        ends.append(ends[-1] + len(right) - rank)
    # multipliers stand by form, then by state
    order = (np.arange(width)[None, :] * states + np.arange(states)[:, None]).ravel()
    rows = sparse.csr_array(sparse.block_diag(tied))
    back = np.empty(len(order), dtype=np.int64)
    back[order] = np.arange(len(order))
    return Ties(sparse.csr_array(sparse.block_diag(free)), sparse.csr_array(rows[back]), np.array(ends[1:], dtype=np.int64))


def prices_of(program: UrnProgram, ties: Ties) -> Floats:
    """Columns [unknown, price] of independent prices, of one size where the prior is."""
    from scipy import linalg

    masses = program.masses
    held: Floats = np.bincount(program.cells[:, 0], masses, minlength=len(program.states)).astype(np.float64)
    cells = len(program.cells)
    smooth = np.eye(cells) if cells <= FEW_CELLS else _smooth(program, held)
    root = np.sqrt(np.repeat(held, np.diff(np.concatenate([[0], ties.ends]))))
    columns = np.asarray(ties.free.T @ (masses[:, None] * smooth)) / root[:, None]
    sizes = np.linalg.norm(columns, axis=0)
    columns = columns[:, sizes > 0] / sizes[sizes > 0]
    basis, triangle, _ = linalg.qr(columns, mode="economic", pivoting=True, check_finite=False)
    kept = int((np.abs(np.diag(triangle)) > SAME).sum())
    return np.ascontiguousarray(root[:, None] * basis[:, :kept])


def _smooth(program: UrnProgram, held: Floats) -> Floats:
    """[cell, column]: for each type polynomials in what a state lets expect of the reference's count and those of the classes."""
    means = np.zeros((len(program.states), len(program.weights)))
    means[program.cells[:, 0], program.cells[:, 1]] = program.masses
    means /= held[:, None]
    others = [i for i in range(len(program.weights)) if i != program.reference]
    classes = [[i for i in others if program.weights[i] == row] for row in sorted({program.weights[i] for i in others})[1:]]
    numbers = np.array([means[:, kinds].sum(axis=1) for kinds in ([program.reference], *classes)])
    weights = held / held.sum()
    apart = numbers - (numbers @ weights)[:, None]
    spread = np.sqrt(apart**2 @ weights)
    # bent, so that rare states far out do not rule a column
    bent = np.arctan(apart[spread > 0] / (2 * spread[spread > 0, None]))
    degree = next(d for d in range(MOST_DEGREE, 0, -1) if d <= 2 or comb(len(bent) + d, d) <= MOST_COLUMNS)
    powers = [np.ones(len(held))]
    for k in range(1, degree + 1):
        powers += [bent[list(chosen)].prod(axis=0) for chosen in combinations_with_replacement(range(len(bent)), k)]
    along = np.array(powers).T
    state, kind = program.cells.T
    found = np.zeros((len(state), len(program.weights), along.shape[1]))
    found[np.arange(len(state)), kind] = along[state]
    return found.reshape(len(state), -1)
