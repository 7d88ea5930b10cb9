"""Programs on small summaries of large problems: the best kernel that reads one weighted sum, or two counts.

Rung 2 reads the likely window of the best weighted sum S = Σ_i w(θ_i). Rung 3 reads a pair: how many respondents have a type of a
near group, and how many of a far one (`quotients.two_groups`). The pair is a weighted sum too, S = n_near + (N+1)·n_far, whose
graph is that of histograms of three merged types; a program on a box of likely counts serves all of them, because clamping counts
is 1-Lipschitz (`model.summary`).

Under squared error only E[ω | S] matters to the program, E[(a − ω)²] = E[(a − E[ω|S])²] + E Var(ω|S), so its states are those of
the summary and no histogram is ever listed. Real actions are solved on a grid, then each output recommends its posterior mean. The
kernel is rounded to whole numbers; its loss is what `certify` proves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import gcd

import numpy as np

from discreet.certify.value.weighted_sums import weighted_sum_payoff
from discreet.design.ladder.binomial import binomial_window
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.ladder.mechanisms.sums import sum_law
from discreet.design.ladder.mechanisms.weights import Weights
from discreet.design.program.listed import NEGLIGIBLE, label_of, solvable
from discreet.design.program.rounding import rounded_weights
from discreet.design.schedule import SECONDS_PER_PAIR, SECONDS_PER_TOTAL
from discreet.design.solver.losses import SquaredError
from discreet.design.solver.pricing import solve_priced
from discreet.design.solver.program import Program
from discreet.design.solver.repair import repair
from discreet.errors import InputError
from discreet.model.actions import ListedActions, RealActions
from discreet.model.kernel import Output, TableKernel
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.states import StateSpace, state_space
from discreet.model.summary import LinearSummary
from discreet.watch import SILENT, Watch

UNLIKELY = 1e-7
"""Probability that a total or a count may have beyond the window on each side."""
MOST_TOTALS = 150
"""Totals beyond which a program hardly improves on noise."""
MOST_COLUMNS = 3_000
"""States that the table of a pair may have."""
GAP = 3e-4
FINE, REACH = 8, 4.0


@dataclass(frozen=True, eq=False)
class Read:
    """An exact table on a weighted sum, with its loss as `certify` proves it."""

    summary: LinearSummary
    kernel: TableKernel
    loss: float


@dataclass(frozen=True, eq=False)
class _Scene:
    """A summary's states, the state of the program that each lands on, and the program's edges, masses and means of ω."""

    summary: LinearSummary
    space: StateSpace
    image: np.ndarray
    edges: np.ndarray
    masses: np.ndarray
    means: np.ndarray


def read_sum(reader: Reader, weights: Weights, seconds: float, watch: Watch = SILENT) -> Read | None:
    """Rung 2: the best kernel on the likely window of a weighted sum; None when it takes too long for `seconds`."""
    unit = reduce(gcd, weights)
    weights = tuple(w // unit for w in weights)
    law = sum_law(reader.probabilities, reader.values, weights, reader.respondents)
    up = np.cumsum(law.masses)
    low = law.first + int(np.searchsorted(up, UNLIKELY))
    high = law.last - int(np.searchsorted(np.cumsum(law.masses[::-1]), UNLIKELY))
    if not low < high <= low + MOST_TOTALS or (high - low) * SECONDS_PER_TOTAL > seconds:
        return None
    summary = LinearSummary(reader.for_every_type(weights), low, high)
    space = state_space(reader.problem.universe, reader.problem.neighbours, summary)
    return _read(reader, _scene(reader, weights, summary, space, np.arange(len(space))), watch)


def read_pair(reader: Reader, groups: list[list[int]], seconds: float, watch: Watch = SILENT) -> Read | None:
    """Rung 3: the best kernel on the counts of a near and a far group of types; None when it takes too long for `seconds`."""
    n = reader.respondents
    if (n + 1) * (n + 2) // 2 > MOST_COLUMNS:
        return None
    near, far = groups
    weights = tuple(1 if t in near else n + 1 if t in far else 0 for t in range(len(reader.law.types)))
    summary = LinearSummary(reader.for_every_type(weights))
    space = state_space(reader.problem.universe, reader.problem.neighbours, summary)
    counts = np.column_stack(np.divmod(space.vectors[:, 0], n + 1))[:, ::-1]
    caps = [_cap(float(sum(reader.probabilities[t] for t in group)), n) for group in (near, far)]
    clamped = np.minimum(counts, caps)
    place = {total: i for i, total in enumerate(space.vectors[:, 0].tolist())}
    landing = np.array([place[total] for total in (clamped @ np.array([1, n + 1])).tolist()])
    inner, image = np.unique(landing, return_inverse=True)
    if len(inner) ** 2 * SECONDS_PER_PAIR > seconds:
        return None
    return _read(reader, _scene(reader, weights, summary, space, image), watch)


def _cap(share: float, respondents: int) -> int:
    """The count that is exceeded with probability at most UNLIKELY."""
    first, masses = binomial_window(respondents, share)
    return min(respondents, first + len(masses) - int(np.searchsorted(np.cumsum(masses[::-1]), UNLIKELY)))


def _scene(
    reader: Reader, weights: Weights, summary: LinearSummary, space: StateSpace, image: np.ndarray
) -> _Scene:
    law = sum_law(reader.probabilities, reader.values, weights, reader.respondents)
    totals = [summary.clip(law.first + i) for i in range(len(law.masses))]
    place = {total: i for i, total in enumerate(space.vectors[:, 0].tolist())}
    held = np.array([i for i, total in enumerate(totals) if total in place])
    at = image[[place[totals[i]] for i in held.tolist()]]
    size = int(image.max()) + 1
    masses = np.bincount(at, law.masses[held], size)
    sums = np.bincount(at, law.masses[held] * law.means[held], size)
    centre = float(sums.sum() / masses.sum())
    means = np.where(masses > 0, sums / np.where(masses > 0, masses, 1.0), centre)
    edges = np.sort(image[space.edges], axis=1)
    edges = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
    return _Scene(summary, space, image, edges, masses, means)


def _grid(scene: _Scene) -> np.ndarray:
    """Actions a `FINE`th of a deviation apart, as far as any posterior mean may lie."""
    centre = float(scene.masses @ scene.means / scene.masses.sum())
    spread = float(np.sqrt(scene.masses @ (scene.means - centre) ** 2 / scene.masses.sum()))
    low, high = max(scene.means.min(), centre - REACH * spread), min(scene.means.max(), centre + REACH * spread)
    return np.linspace(low, high, int(np.ceil((high - low) * FINE / spread)) + 2 if spread > 0 else 2)


def _read(reader: Reader, scene: _Scene, watch: Watch) -> Read | None:
    """Solve, reply, round, and have the loss proved."""
    problem, edges = reader.problem, scene.edges
    if not isinstance(problem.decision.loss, SquaredLoss) or not len(edges):
        return None
    allowed, epsilon = problem.decision.actions, solvable(problem.epsilon)
    assert isinstance(allowed, (RealActions, ListedActions))
    loss = SquaredError(scene.masses, scene.means)
    actions = _grid(scene) if isinstance(allowed, RealActions) else np.array([float(a) for a in allowed.numbers])
    program = Program(loss.cost(actions), edges, float(epsilon))
    kernel = repair(solve_priced(program, GAP, watch).kernel, program)
    kernel = kernel[kernel.max(axis=1) > NEGLIGIBLE]
    joint = kernel * scene.masses
    replies = [reader.allowed(a) for a in ((joint @ scene.means) / joint.sum(axis=1)).tolist()]
    distinct = sorted(set(replies))
    rows = np.stack([kernel[[r == a for r in replies]].sum(axis=0) for a in distinct])
    blind = int(np.argmax(rows @ scene.masses))
    try:
        weights, denominator = rounded_weights(rows / rows.sum(axis=0), edges, epsilon, blind)
    except InputError:
        return None
    columns = scene.image.tolist()
    table = TableKernel(
        scene.space.labels,
        tuple(Output(label_of(a), a) for a in distinct),
        tuple(tuple(row[i] for i in columns) for row in weights),
        denominator,
    )
    payoff = weighted_sum_payoff(Mechanism(problem, scene.summary, table, problem.guarantee))[0]
    return Read(scene.summary, table, float(-payoff))
