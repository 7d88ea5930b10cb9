"""The design program with means: Σ_a a·x[a, h] = ω_h at every state, for a squared error on the whole real line.

    minimise   Σ_a Σ_h π_h (a − ω_h)² x[a, h]   with Σ_a x = 1, Σ_a (a − ω_h)·x = 0, x[a, i] ≤ q·x[a, j] on edges, x ≥ 0.

Multipliers z_a ≥ 0 of edges at the nodes a_1 < … < a_K, linear between them, and ν_h of means, of any sign, bound the loss of every
unbiased mechanism, whatever its outputs are:
    loss ≥ Σ_h min_a [ π_h (a − ω_h)² − ν_h (a − ω_h) − (Gᵀz_a)_h ].
Beyond the ends z goes on with slopes z⁻, z⁺ ≥ 0; a parabola whose derivative points outward there never comes back, so
    2π_h(a_K − ω_h) − ν_h − (Gᵀz⁺)_h ≥ 0   and   2π_h(ω_h − a_1) + ν_h − (Gᵀz⁻)_h ≥ 0
make the minimum over all real numbers one over [a_1, a_K]. In the program these are two more blocks of columns: mass that leaves
the last node to first order. Between nodes the bound loses at most π·width²/4: pieces where it does are halved (`refined`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.design.solver.program import Floats, Integers, directed, pulled

MARGIN = 1e-7
"""How far derivatives at the ends are kept from zero, so that the solver's tolerance does not matter."""
TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class MeansProgram:
    """Masses and values of the statistic by state, and the graph; `factor` is e^ε.

    With `features` φ [feature, state] the means are Σ_h π_h φ_i(h) Σ_a (a − ω_h)·x[a, h] = 0, one equation for each feature
    instead of one for each state, and `biases` are theirs.
    """

    masses: Floats
    omegas: Floats
    edges: Integers
    factor: float
    features: Floats | None = None

    @property
    def arcs(self) -> int:
        return 2 * len(self.edges)


@dataclass(frozen=True, eq=False)
class MeansSolution:
    """A kernel [node, state] and the multipliers of edges at nodes, of edges at either end, and of means.

    `bound` is what the multipliers prove to float rounding (−inf without ends), `dips` [piece] how far it falls in each piece.
    """

    nodes: Floats
    kernel: Floats
    multipliers: Floats
    tails: Floats
    biases: Floats
    value: float
    bound: float
    dips: Floats
    optimal: bool


def solve_means(program: MeansProgram, nodes: Floats, *, ends: bool = True, seconds: float = 600.0) -> MeansSolution:
    """Solve with outputs at these nodes by HiGHS's interior point; without `ends` there is no bound, but the program is smaller."""
    import highspy

    states, count = len(program.masses), len(nodes)
    blocks = count + 2 * ends
    offset = nodes[:, None] - program.omegas
    cost, mean, one = program.masses * offset**2, offset, np.ones((count, states))
    margin = margin_of(program, nodes)
    if ends:
        slopes = 2 * program.masses * np.stack([program.omegas - nodes[0], nodes[-1] - program.omegas]) - margin
        cost, mean = np.vstack([cost, slopes]), np.vstack([mean, -np.ones((1, states)), np.ones((1, states))])
        one = np.vstack([one, np.zeros((2, states))])
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, setting in (
        ("output_flag", False), ("threads", 1), ("solver", "ipm"), ("run_crossover", "off"), ("time_limit", float(seconds)),
        ("primal_feasibility_tolerance", TOLERANCE), ("dual_feasibility_tolerance", TOLERANCE),
        ("ipm_optimality_tolerance", TOLERANCE),
    ):  # fmt: skip
        solver.setOptionValue(option, setting)
    solver.passModel(_model(program, cost, mean, one))
    solver.run()
    optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    found = solver.getSolution()
    kernel = np.array(found.col_value)
    duals = np.array(found.row_dual)
    if not optimal or kernel.size != blocks * states:
        idle = np.zeros((count, program.arcs))
        return MeansSolution(
            nodes, np.zeros((count, states)), idle, idle[:2], np.zeros(states), np.inf, -np.inf, np.zeros(count - 1), False
        )
    kernel = np.maximum(kernel.reshape(blocks, states)[:count], 0.0)
    equations = states if program.features is None else len(program.features)
    biases = duals[states : states + equations]
    flows = np.maximum(duals[states + equations :].reshape(blocks, program.arcs), 0.0)
    tails = flows[count:] if ends else np.zeros((2, program.arcs))
    value = float((program.masses * offset**2 * kernel).sum())
    bound, dips = _bound(program, nodes, flows[:count], tails, biases) if ends else (-np.inf, np.zeros(count - 1))
    return MeansSolution(nodes, kernel, flows[:count], tails, biases, value, bound, dips, True)


def margin_of(program: MeansProgram, nodes: Floats) -> float:
    """The margin at the ends: so small that mass leaving both ends together still costs something, and the program is bounded."""
    far = _farthest(len(program.masses), program.edges)
    width = float(nodes[-1] - nodes[0])
    heavy = float(program.masses.max())
    return min(MARGIN, 0.05 * heavy * width * program.factor ** -float(far) / len(program.masses))


def has_ends(program: MeansProgram, nodes: Floats) -> bool:
    """Whether derivatives at the ends can be kept apart from zero in floats, without which nothing is bounded."""
    return margin_of(program, nodes) >= 5 * TOLERANCE


def refined(found: MeansSolution, allowed: float) -> Floats:
    """The nodes, with one more in the middle of every piece where the bound falls by more than is allowed."""
    at = np.flatnonzero(found.dips > allowed)
    return np.unique(np.concatenate([found.nodes, (found.nodes[at] + found.nodes[at + 1]) / 2]))


def _farthest(states: int, edges: Integers) -> int:
    """Steps from the first state to the farthest from it, which is at least half of the longest way."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import shortest_path

    ones = np.ones(len(edges))
    graph = csr_matrix((ones, (edges[:, 0], edges[:, 1])), shape=(states, states))
    steps = shortest_path(graph, directed=False, unweighted=True, indices=0)
    return int(steps[np.isfinite(steps)].max(initial=0.0))


def _bound(program: MeansProgram, nodes: Floats, flows: Floats, tails: Floats, biases: Floats) -> tuple[float, Floats]:
    """The bound of these multipliers in floats, and how far below its nodes each piece takes some state."""
    masses, omegas, count = program.masses, program.omegas, len(program.masses)
    offset = nodes[:, None] - omegas
    line = pulled(flows, program.edges, program.factor, count) + biases * offset
    outward = pulled(tails, program.edges, program.factor, count)
    up = 2 * masses * (nodes[-1] - omegas) - biases - outward[1]
    down = 2 * masses * (omegas - nodes[0]) + biases - outward[0]
    if min(up.min(), down.min()) < 0:
        return -np.inf, np.zeros(len(nodes) - 1)
    at_nodes = masses * offset**2 - line
    least = at_nodes.min(axis=0)
    a, b = nodes[:-1, None], nodes[1:, None]
    slope = (line[1:] - line[:-1]) / (b - a)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        turn = np.where(masses > 0, omegas + slope / (2 * masses), a)
    turn = np.clip(np.nan_to_num(turn, nan=0.0), a, b)
    inside = masses * (turn - omegas) ** 2 - line[:-1] - slope * (turn - a)
    dips = np.maximum(least - inside, 0.0)
    return float(np.minimum(least, inside.min(axis=0)).sum()), dips.max(axis=1)


def _model(program: MeansProgram, cost: Floats, mean: Floats, one: Floats) -> Any:
    """Rows: Σ x = 1 and Σ (a − ω)·x = 0 for each state, then for each block one row per directed edge."""
    import highspy
    from scipy.sparse import csr_matrix

    blocks, states = cost.shape
    tail, head = directed(program.edges)
    arcs = len(tail)
    every = np.arange(blocks)[:, None]
    weights = None if program.features is None else program.features * program.masses
    equal = states + (states if weights is None else len(weights))
    row = (equal + every * arcs + np.arange(arcs)).ravel()
    each, index = np.tile(np.arange(states), blocks), np.arange(blocks * states)
    if weights is None:
        means = [(states + each, index, mean.ravel())]
    else:
        means = [(np.full(len(index), states + i), index, (mean * w).ravel()) for i, w in enumerate(weights)]
    rows = np.concatenate([row, row, each, *(part[0] for part in means)])
    ends = [(every * states + at).ravel() for at in (head, tail)]
    columns = np.concatenate([*ends, index, *(part[1] for part in means)])
    edges = [np.full(len(row), program.factor), np.full(len(row), -1.0)]
    entries = np.concatenate([*edges, one.ravel(), *(part[2] for part in means)])
    matrix = csr_matrix((entries, (rows, columns)), shape=(equal + blocks * arcs, blocks * states))
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = blocks * states, matrix.shape[0]
    model.col_cost_ = cost.ravel()
    model.col_lower_ = np.zeros(blocks * states)
    model.col_upper_ = np.full(blocks * states, highspy.kHighsInf)
    model.row_lower_ = np.concatenate([np.ones(states), np.zeros(equal - states + blocks * arcs)])
    model.row_upper_ = np.concatenate([np.ones(states), np.zeros(equal - states), np.full(blocks * arcs, highspy.kHighsInf)])
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_ = matrix.indptr, matrix.indices
    model.a_matrix_.value_ = matrix.data
    return model
