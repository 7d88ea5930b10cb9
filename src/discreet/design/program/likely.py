"""Likely histograms one by one, of many: a bound on every mechanism, and a mechanism for every histogram.

*From above.* Any set of histograms with the edges inside it is a relaxation: multipliers that stand there alone prove a bound, and
the histograms left out count with the least loss that they can have (`certify.bounds.dual`). The fewest that hold most of the prior
are fewer than those of a box that holds as much: 1,105 instead of 2,270 of 53,130 for twenty respondents of six types.

*From below.* A histogram that is left out is read as one of these: as few replacements away as can be, and then with nearly the
same statistic. That is no retraction, neighbours may land two steps apart: so the program has an edge wherever neighbours of a box
land, and what it finds is written out for all of the box, on which anybody checks it edge by edge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.design.pace import pace
from discreet.design.program.listed import exact_kernel, first_tolerance, solvable, spared, truncated
from discreet.design.program.real import best_actions, coarse, joined, merged, needed, reaching, real_loss, values_of
from discreet.design.program.sections import Ground, Section
from discreet.design.program.thin_witness import whole_multipliers
from discreet.design.program.windows import alone
from discreet.design.schedule import interior_place, interior_seconds, likely_within, width_of
from discreet.design.solver.cells import solve_cells
from discreet.design.solver.graph_cells import solve_graph_cells
from discreet.design.solver.layers import components
from discreet.design.solver.losses import SquaredError
from discreet.design.solver.program import Program, directed
from discreet.design.solver.repair import repair
from discreet.model.certificate import DualWitness, Multipliers
from discreet.model.kernel import TableKernel
from discreet.model.states import StateSpace, state_space
from discreet.model.summary import Clamp, HistogramSummary
from discreet.watch import SILENT, Watch

FIRST_CELLS, STEPS, CELLS = 24, 34, 50
"""Cells that a program begins with; its steps and cells, about, when it is solved to half a percent."""
FEW, ROUGHLY = 100, 4e-3
"""A bound from more states, to a gap as large as this, has windows for its actions."""
MORE_EDGES = 2.5
"""Times as long as the program of a bound takes that of a mechanism on as many states, which has more edges."""
FAR = 0.6
"""By so much a state weighs more that is as far from the mean as the statistic usually is."""
MOST_TOLD = 4_000
"""States of a program; a witness for more is not made small."""
MOST_WRITTEN = 14_000
"""Histograms of the box for which a mechanism is written out."""
SHARE_OF_JOINING = 0.1
"""Of the gap asked for: what outputs with nearly the same reading may lose by becoming one."""


def fitting(base: Ground, seconds: float) -> np.ndarray:
    """The likeliest states, as many as a program may have that is usually solved in the time."""
    return heaviest(base, _fitting(base, seconds))


def limiting(base: Ground, seconds: float) -> np.ndarray:
    """The same for a bound, where actions may have windows."""
    within = min(likely_within(seconds / pace(), float(base.problem.epsilon)), MOST_TOLD, len(base.space))
    return heaviest(base, max(within, _fitting(base, seconds)))


def _fitting(base: Ground, seconds: float) -> int:
    dimensions = base.space.vectors.shape[1] - 1
    low, high = 1, min(len(base.space), MOST_TOLD)
    while low < high:
        middle = (low + high + 1) // 2
        fits = pace() * STEPS * interior_seconds(CELLS, middle, width_of(middle, dimensions)) <= seconds
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def heaviest(base: Ground, count: int) -> np.ndarray:
    """So many of the likeliest states, ascending, without those that no edges join to the likeliest.

    Those far from the mean weigh a little more, because more is lost there.
    """
    mean = float(base.masses @ base.omegas)
    square = (base.omegas - mean) ** 2
    weight = base.masses * (1 + FAR * square / (float(base.masses @ square) or 1.0))
    found = np.sort(np.argsort(-weight, kind="stable")[:count])
    part = components(len(found), alone(base, found))
    return found[part == part[int(np.argmax(weight[found]))]]


def left_out(base: Ground, inside: np.ndarray) -> float:
    """What these states leave out of the prior."""
    return 1 - float(base.masses[inside].sum())


@dataclass(frozen=True, eq=False)
class Limited:
    """A lower bound on loss, in floats, with its witness."""

    lower_bound: float
    witness: DualWitness


def likely_bound(base: Ground, inside: np.ndarray, gap: float, watch: Watch = SILENT) -> Limited:
    """What no private mechanism loses less than, from the program on these states alone, for real actions.

    Where states are many and no device solves it, cells are laid out once and actions have windows: that takes a third of the time.
    """
    problem, edges = base.problem, alone(base, inside)
    loss = real_loss(problem.decision, base.masses[inside], base.omegas[inside])
    epsilon = float(solvable(problem.epsilon))
    assert isinstance(loss, SquaredError)
    width = width_of(len(inside), base.space.vectors.shape[1] - 1)
    if len(inside) > FEW and gap >= ROUGHLY and interior_place(CELLS, len(inside), width) is np:
        found = solve_graph_cells(loss, edges, epsilon, gap, watch)
    else:
        found = solve_cells(loss, edges, epsilon, gap, watch, FIRST_CELLS)
    nodes, flows = reaching(found, needed(problem))
    spare = spared(gap, found.value, found.bound)
    scale, each = whole_multipliers(edges, len(inside), list(nodes), flows, epsilon, spare, every=True)
    clamp = around(base.space.vectors[inside])
    space = state_space(problem.universe, problem.neighbours, HistogramSummary(clamp))
    at = [space.index[base.space.labels[h]] for h in inside.tolist()]
    moved = tuple(Multipliers(m.action, tuple((at[i], at[j], flow) for i, j, flow in m.flows)) for m in each)
    return Limited(found.bound, DualWitness("dual-with-chord", clamp, scale, moved))


def around(vectors: np.ndarray) -> Clamp:
    """The smallest box that holds all of these histograms."""
    lower, upper = vectors.min(axis=0).tolist(), vectors.max(axis=0).tolist()
    reference = int(np.argmax(vectors.sum(axis=0)))
    return Clamp(tuple(lower), tuple(upper), reference, (lower[reference], upper[reference]))


def nearest(edges: np.ndarray, omegas: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """For each state one that is kept: along the fewest edges, then with the nearest statistic, then the first."""
    at = np.where(kept, np.arange(len(omegas)), -1)
    tails, heads = directed(edges)
    while True:
        met = np.flatnonzero((at[tails] < 0) & (at[heads] >= 0))
        if not len(met):
            return at
        left, image = tails[met], at[heads[met]]
        order = np.lexsort((image, np.abs(omegas[image] - omegas[left]), left))
        chosen, first = np.unique(left[order], return_index=True)
        at[chosen] = image[order][first]


@dataclass(frozen=True, eq=False)
class BoxReading:
    """Every state of a box read as one of few: `section` is the ground seen so, `at` says as which of them each of the box is."""

    section: Section
    box: Section
    at: np.ndarray


def read_as(box: Section, wanted: np.ndarray) -> BoxReading:
    """Those of these ground states that lie in the box, each by itself, and the others as the nearest of them."""
    base, space = box.ground, box.space
    kept = np.isin(box.inside, wanted)
    near = nearest(space.edges, base.omegas[box.inside], kept)
    place = np.cumsum(kept) - 1
    at = place[near]
    edges = np.sort(at[space.edges], axis=1)
    edges = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
    chosen = np.flatnonzero(kept)
    labels = tuple(space.labels[h] for h in chosen.tolist())
    few = StateSpace(labels, space.vectors[chosen], edges, np.zeros((0, 1), dtype=np.int64))
    return BoxReading(Section(base, box.summary, few, at[box.image], box.inside[chosen]), box, at)


def box_of(base: Ground) -> Section | None:
    """The largest box for which a kernel may be written out; None where all of those leave too much out."""
    table = coarse(base)
    for share in (1e-4, 1e-3, 1e-2, 3e-2, 1e-1, 3e-1):
        box = truncated(base, table, first_tolerance(base, table, share))
        if len(box.space) <= MOST_WRITTEN:
            return box
    return None


def likely_kernel(read: BoxReading, gap: float, watch: Watch = SILENT) -> tuple[float, TableKernel]:
    """The best kernel that reads a box through few of its states, as a table on all of it, and its loss in floats."""
    section, problem = read.section, read.section.ground.problem
    base, decision = section.ground, problem.decision
    epsilon = solvable(problem.epsilon)
    masses = np.bincount(section.image, base.masses, len(section.space))
    totals = np.bincount(section.image, base.masses * base.omegas, len(section.space))
    loss = real_loss(decision, masses, totals / np.maximum(masses, np.finfo(float).tiny))
    assert isinstance(loss, SquaredError)
    found = solve_cells(loss, section.space.edges, float(epsilon), gap, watch, FIRST_CELLS)
    kernel = repair(found.kernel, Program(loss.cost(found.actions), section.space.edges, float(epsilon)))
    kernel = joined(kernel, loss, SHARE_OF_JOINING * gap * abs(found.value))
    kernel, actions = merged(kernel, best_actions(section, kernel))
    numbers = np.array([float(a) for a in actions])
    cost = float(decision.weight) * section.upper(decision.loss.table(numbers, values_of(base)))
    value = float((cost * kernel).sum())
    few = exact_kernel(section, kernel, list(actions), cost, epsilon, spared(gap, value, found.bound))
    at = read.at.tolist()
    weights = tuple(tuple(row[state] for state in at) for row in few.weights)
    return value, TableKernel(read.box.space.labels, few.outputs, weights, few.denominator)
