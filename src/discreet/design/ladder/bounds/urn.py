"""The urn bound of the ladder: its program for given forms and states, what multipliers prove, and the witness.

Any private mechanism is seen through M_i(s), the mean number of respondents of type i together with an action, at states s =
(count of the reference type, sums beside it). What `certify.bounds.urn` proves of them is a linear program of (states ×
types × actions) (`urn_solver`). Cells are y_i(s) = M_i(s)/E[n_i; s], which sum to one over actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, exp, sqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.certify.bounds.urn import Urn
from discreet.design.ladder.bounds.knots import dense_knots, least_between, rewards
from discreet.design.ladder.bounds.urn_solver import multipliers_of
from discreet.model.certificate import Multipliers, UrnWitness
from discreet.model.problem import Problem
from discreet.numerics.arrays import Flags, Floats, Integers
from discreet.watch import SILENT, Watch

if TYPE_CHECKING:
    from scipy import sparse

Forms = tuple[tuple[int, ...], ...]
"""What every type adds to the sums beside the count."""

KNOTS, MOST_KNOTS = 24, 160
APART = 0.25
"""Nodes are so many roots of loss/e^(ε/2) apart, and where there is time nearer; about MOST_KNOTS of them at most."""
MOST_COUNTS = 400_000
"""Counts of classes that are listed to find the law of the states."""
WIDELY = 10.0
"""At the start nodes are played as if what they miss were spread over so many variances."""
BITS = 60
FAINT = 1e-13


@dataclass(frozen=True, eq=False)
class UrnProgram:
    """Cells (state, type) of positive probability: `masses` are E[n_i; s]/N, `reads` N·(v_i − E ω/N).

    `before` lists the rows of the lemma: (cell of M_i(s), cell of M_r(t), cell of M_i(t) or −1, share of the first of the two).
    `second` is E[(ω − E ω)²] over the listed states, `whole` over all.
    """

    urn: Urn
    reference: int
    weights: Forms
    states: Integers
    cells: Integers
    masses: Floats
    reads: Floats
    before: Integers
    shares: Floats
    second: float
    whole: float

    @property
    def forms(self) -> Integers:
        """What every type adds to a state."""
        own = np.arange(len(self.weights)) == self.reference
        return np.column_stack([own, np.array(self.weights, dtype=np.int64).reshape(len(self.weights), -1)]).astype(np.int64)

    def apart(self) -> Floats:
        """N·w_i − s of every cell and form."""
        return np.asarray(self.urn.respondents * self.forms[self.cells[:, 1]] - self.states[self.cells[:, 0]], dtype=np.float64)


def urn_program(urn: Urn, reference: int, rows: Forms, leave_out: float) -> UrnProgram | None:
    """The program for the likely states of the count of one type, and of sums beside it; None when they are too many to list."""
    types, n = len(urn.values), urn.respondents
    levels = sorted({rows[i] for i in range(types) if i != reference})
    classes = [[reference]] + [[i for i in range(types) if i != reference and rows[i] == level] for level in levels]
    if comb(n + len(classes) - 1, len(classes) - 1) > MOST_COUNTS:
        return None
    c, v = np.array([float(x) for x in urn.contents]), np.array([float(x - urn.centre) for x in urn.values])
    sizes = np.array([c[kinds].sum() for kinds in classes])
    means = np.array([c[kinds] @ v[kinds] for kinds in classes]) / sizes
    spreads = np.array([c[kinds] @ v[kinds] ** 2 for kinds in classes]) / sizes - means**2
    counts = _compositions(n, len(classes))
    masses = np.exp(_logarithms(counts, sizes, urn.grows))
    within = counts * (sizes + urn.grows * counts) / (sizes + urn.grows) * spreads
    squares = masses * ((counts @ means) ** 2 + within.sum(axis=1))
    forms = np.array([rows[kinds[0]] for kinds in classes], dtype=np.int64).reshape(len(classes), -1)
    keys = np.column_stack([counts[:, :1], counts @ forms]).astype(np.int64)
    states, at = np.unique(keys, axis=0, return_inverse=True)
    at = at.ravel()
    likely, second = np.bincount(at, masses), np.bincount(at, squares)
    order = np.argsort(-(likely + second / second.sum()))
    cut = int(np.searchsorted(np.cumsum(second[order]), (1 - leave_out) * second.sum())) + 1
    kept = np.sort(order[:cut])
    class_of = np.empty(types, dtype=np.int64)
    for k, kinds in enumerate(classes):
        class_of[kinds] = k
    held = np.stack([np.bincount(at, masses * counts[:, k])[kept] for k in range(len(classes))], axis=1)
    numbers = held[:, class_of] * (c / sizes[class_of])
    return _program(urn, reference, rows, states[kept], numbers, float(second[kept].sum()), float(second.sum()))


def _compositions(total: int, parts: int) -> Integers:
    """All counts of so many parts that make the total, as rows."""
    if parts == 1:
        return np.array([[total]], dtype=np.int64)
    bars = np.array(list(combinations(range(total + parts - 1), parts - 1)), dtype=np.int64)
    ends = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), total + parts - 1)])
    return np.diff(ends, axis=1) - 1


def _logarithms(counts: Integers, sizes: Floats, grows: int) -> Floats:
    """log π of counts of classes."""
    from scipy.special import gammaln

    n, total = int(counts[0].sum()), float(sizes.sum())
    ways = gammaln(n + 1.0) - gammaln(counts + 1.0).sum(axis=1)
    if not grows:
        return np.asarray(ways + counts @ np.log(sizes / total))
    drawn = (gammaln(sizes + counts) - gammaln(sizes)).sum(axis=1)
    return np.asarray(ways + drawn - gammaln(total + n) + gammaln(total))


def _program(urn: Urn, reference: int, rows: Forms, states: Integers, numbers: Floats, second: float, whole: float) -> UrnProgram:
    live = numbers > 1e-290
    cells = np.argwhere(live)
    number = np.full(numbers.shape, -1, dtype=np.int64)
    number[live] = np.arange(len(cells))
    at = {tuple(state): h for h, state in enumerate(states.tolist())}
    before, shares = [], []
    grows = urn.grows
    for h, state in enumerate(states.tolist()):
        for i, row in enumerate(rows):
            if i == reference or number[h, i] < 0:
                continue
            moved = (state[0] + 1, *(s - a + b for s, a, b in zip(state[1:], row, rows[reference], strict=True)))
            t = at.get(moved)
            if t is None or number[t, reference] < 0:
                continue
            new, old = float(urn.contents[i]) * numbers[t, reference], grows * (state[0] + 1) * numbers[t, i]
            before.append((number[h, i], number[t, reference], number[t, i] if old > 0 else -1))
            shares.append(new / (new + old))
    n, centre = urn.respondents, float(urn.centre)
    reads = n * (np.array([float(v) for v in urn.values]) - centre)
    return UrnProgram(
        urn, reference, rows, states, cells, numbers[live] / n, reads[cells[:, 1]],
        np.array(before, dtype=np.int64).reshape(-1, 3), np.array(shares), second, whole,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class UrnCone:
    """Rows on cells: both sides of every inequality of the lemma, then the equations, each divided by its size."""

    matrix: sparse.csr_array
    at: Integers
    """The cell that a row is about."""
    free: Flags
    sizes: Floats
    """Of the equations [state, form]."""


def cone_of(program: UrnProgram, epsilon: float) -> UrnCone:
    """The rows of a program: q·larger − smaller ≥ 0, and equations."""
    from scipy import sparse

    q, (own, other, same), share = exp(epsilon), program.before.T, program.shares
    count, width = len(own), program.states.shape[1]
    rows, columns, entries = [], [], []
    for side, (mine, theirs) in enumerate(((-1.0, q), (q, -1.0))):
        row = 2 * np.arange(count) + side
        twice = same >= 0
        rows += [row, row, row[twice]]
        columns += [own, other, same[twice]]
        entries += [np.full(count, mine), theirs * share, theirs * (1 - share[twice])]
    pulls = program.apart() * program.masses[:, None]
    sizes = np.zeros(program.states.shape)
    np.add.at(sizes, program.cells[:, 0], np.abs(pulls))
    held = np.zeros(len(program.states))
    np.add.at(held, program.cells[:, 0], program.masses)
    sizes = np.where(sizes > 0, sizes / held[:, None], 1.0)
    for k in range(width):
        rows.append(2 * count + k * len(program.states) + program.cells[:, 0])
        columns.append(np.arange(len(program.cells)))
        entries.append(pulls[:, k] / (sizes[program.cells[:, 0], k] * held[program.cells[:, 0]]))
    total = 2 * count + width * len(program.states)
    spread = sparse.coo_array(
        (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))), shape=(total, len(program.cells))
    )
    largest = np.zeros(len(program.states), dtype=np.int64)
    by_mass = np.argsort(program.masses)
    largest[program.cells[by_mass, 0]] = by_mass
    at = np.concatenate([np.repeat(own, 2), np.tile(largest, width)])
    free = np.arange(total) >= 2 * count
    matrix = sparse.csr_array(spread)
    matrix.eliminate_zeros()
    return UrnCone(matrix, at, free, sizes * held[:, None])


def proved(program: UrnProgram, cone: UrnCone, knots: Floats, multipliers: Floats) -> float:
    """The bound of the theorem in floats, for multipliers [node, row]."""
    f = np.where(cone.free[None, :], multipliers, np.maximum(multipliers, 0.0))
    bracket = program.masses * (knots[:, None] ** 2 - 2 * knots[:, None] * program.reads) - (cone.matrix.T @ f.T).T
    return program.second + float(least_between(np.asarray(bracket), knots, program.masses).sum())


@dataclass(frozen=True, eq=False)
class UrnProved:
    """A lower bound on the loss, the decision's weight included, with its witness."""

    lower_bound: float
    witness: UrnWitness


def urn_bound(
    problem: Problem, program: UrnProgram, loss: float, seconds: float, watch: Watch = SILENT, apart: float = APART
) -> UrnProved | None:
    """The bound that a program proves within the time, None when that is nothing; `loss` is that of a good mechanism.

    `apart` says how near nodes are (`knots_of`).
    Every cell's cost is lowered at a node by a square, so that the multipliers prove as much between nodes as at them (`knots`).
    """
    weight = float(problem.decision.weight)
    cone = cone_of(program, float(problem.epsilon))
    knots = knots_of(problem, program, loss / weight, apart)
    reach = rewards(knots, [False] * len(knots))
    cost = program.masses * (knots[:, None] ** 2 - reach[:, None] ** 2 - 2 * knots[:, None] * program.reads)
    played = 1.0 / (knots**2 + WIDELY * program.second)

    def worth(multipliers: Floats) -> float:
        return proved(program, cone, knots, multipliers)

    found = multipliers_of(program, cone, np.asarray(cost), played / played.sum(), worth, seconds, watch)
    if found is None:
        return None
    lower = proved(program, cone, knots, found)
    return None if lower <= 0 else UrnProved(weight * lower, _witness(problem, program, cone, knots, weight * found))


def knots_of(problem: Problem, program: UrnProgram, loss: float, apart: float = APART) -> Floats:
    """Nodes measured from E ω: dense where a mechanism of this loss plays, reaching over all values."""
    centre = float(program.urn.centre * program.urn.respondents)
    low, high = (float(end) - centre for end in problem.omega_range)
    spread = sqrt(max(program.whole - loss, 0.05 * program.whole))
    widest = min(APART * sqrt(loss / exp(float(problem.epsilon) / 2)), 5.0 * spread / KNOTS)
    return dense_knots(0.0, spread, low, high, max(widest * apart / APART, 5.0 * spread / MOST_KNOTS))


def _witness(problem: Problem, program: UrnProgram, cone: UrnCone, knots: Floats, multipliers: Floats) -> UrnWitness:
    """Multipliers as whole numbers, of the inequalities in the units of the lemma."""
    urn, count, width = program.urn, len(program.shares), program.states.shape[1]
    middle = urn.centre * urn.respondents
    nodes = [Fraction(float(k)) + middle for k in knots]
    low, high = problem.omega_range
    nodes[0], nodes[-1] = min(nodes[0], low), max(nodes[-1], high)
    own = program.before[:, 0]
    here = program.cells[own]
    content = float(urn.contents[program.reference]) + urn.grows * program.states[here[:, 0], 0]
    factors = np.repeat(1.0 / (content * program.masses[own] * urn.respondents), 2)
    f = np.maximum(np.nan_to_num(multipliers[:, : 2 * count]), 0.0)
    f[f <= FAINT * float(problem.decision.weight) * np.repeat(program.masses[own], 2) * float(np.ptp(knots)) ** 2] = 0.0
    tied = -multipliers[:, 2 * count :] / (cone.sizes.T.ravel() * urn.respondents)
    scaled = np.concatenate([f * factors, tied], axis=1)
    bits = BITS - int(np.ceil(np.log2(max(float(np.abs(scaled).max(initial=0.0)), 1e-300))))
    whole = np.trunc(np.ldexp(scaled, max(bits, 0)))
    whole = whole.astype(np.int64) if bits >= 0 else np.frompyfunc(int, 1, 1)(whole)
    states = np.concatenate([np.repeat(here[:, 0], 2), np.tile(np.arange(len(program.states)), width)])
    places = np.concatenate(
        [width + 2 * np.repeat(here[:, 1], 2) + np.tile([0, 1], count), np.repeat(np.arange(width), len(program.states))]
    )
    each = []
    for node, row in zip(nodes, whole, strict=True):
        used = np.flatnonzero(row)
        each.append(Multipliers(node, tuple(zip(states[used].tolist(), places[used].tolist(), row[used].tolist(), strict=True))))
    rows = tuple(tuple(state) for state in program.states.tolist())
    return UrnWitness(program.reference, program.weights, rows, 1 << max(bits, 0), tuple(each))
