"""Programs on small summaries of large problems: the best kernel that reads one weighted sum, or two at once (`pairs`).

Rung 2 reads the likely window of the best weighted sum S = Σ_i w(θ_i).

Under squared error only E[ω | S] matters to the program, E[(a − ω)²] = E[(a − E[ω|S])²] + E Var(ω|S), so its states are those of
the summary and no histogram is ever listed; real actions are solved on a grid, then each output recommends its posterior mean.
Other decisions, of one or several decision makers, go through the joint law of (S, ω): a state costs Σ_ω P(ω, S)·ℓ(a, ω). Where
actions are real, or their combinations too many, those that some likely output would recommend are tried, and each output of the
kernel then recommends what is best after it. The kernel is rounded to whole numbers; its loss is what `certify` proves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd, inf, prod
from typing import Any

import numpy as np

from discreet.design.ladder.mechanisms.population import Weights
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.program.listed import NEGLIGIBLE, label_of, solvable, spared
from discreet.design.program.rounding import enough_bits, rounded_weights
from discreet.design.program.sections import Recommendation, losses, recommendations
from discreet.design.schedule import SECONDS_PER_TOTAL
from discreet.design.solver.losses import SquaredError
from discreet.design.solver.pricing import solve_priced
from discreet.design.solver.program import Program
from discreet.design.solver.repair import repair
from discreet.errors import InputError, TooLarge
from discreet.model.actions import RealActions
from discreet.model.kernel import Output, TableKernel
from discreet.model.problem import Problem
from discreet.model.states import StateSpace, state_space
from discreet.model.summary import LinearSummary
from discreet.watch import SILENT, Watch

UNLIKELY = 1e-7
"""Probability that a total or a count may have beyond the window on each side."""
MOST_TOTALS = 150
"""Totals beyond which a program hardly improves on noise."""
MOST_ACTIONS = 400
"""Actions of decisions other than one squared error."""
GAP = 3e-4
VAIN = 1.05
"""A program whose bound says that it loses so many times what is held is not solved to its end."""
FINE, REACH = 8, 4.0
PLACES, WIDTHS = 60, (0.5, 1.0, 2.0, 0.1)
"""Where outputs may stand, and how wide they are in steps of the statistic over ε."""


@dataclass(frozen=True, eq=False)
class Read:
    """An exact table on a weighted sum, with its loss as `certify` proves it."""

    summary: LinearSummary
    kernel: TableKernel
    loss: float


@dataclass(frozen=True, eq=False)
class SummaryScene:
    """A summary's states, the state of the program that each lands on, and the program's edges."""

    weights: Weights
    summary: LinearSummary
    space: StateSpace
    image: np.ndarray
    edges: np.ndarray
    finest: float = inf
    """How far apart real actions are at most; a `FINE`th of the deviation of ω may be too far."""

    @property
    def size(self) -> int:
        return int(self.image.max()) + 1

    def landing(self, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """For totals first, first + 1, …: the places of those that exist, and the states of the program that they land on."""
        totals = [self.summary.clip(first + i) for i in range(count)]
        place = {total: i for i, total in enumerate(self.space.vectors[:, 0].tolist())}
        held = np.array([i for i, total in enumerate(totals) if total in place])
        return held, self.image[[place[totals[i]] for i in held.tolist()]]


def read_sum(reader: Reader, weights: Weights, seconds: float, watch: Watch = SILENT) -> Read | None:
    """Rung 2: the best kernel on the likely window of a weighted sum; None when it takes too long for `seconds`."""
    unit = reduce(gcd, weights)
    weights = tuple(w // unit for w in weights)
    law = reader.population.law(weights)
    up = np.cumsum(law.masses)
    low = law.first + int(np.searchsorted(up, UNLIKELY))
    high = law.last - int(np.searchsorted(np.cumsum(law.masses[::-1]), UNLIKELY))
    if not low < high <= low + MOST_TOTALS or (high - low) * SECONDS_PER_TOTAL > seconds:
        return None
    summary = LinearSummary(reader.for_every_type(weights), low, high)
    space = state_space(reader.problem.universe, reader.problem.neighbours, summary)
    return read(reader, scene_of(weights, summary, space, np.arange(len(space))), watch)


def scene_of(weights: Weights, summary: LinearSummary, space: StateSpace, image: np.ndarray) -> SummaryScene:
    edges = np.sort(image[space.edges], axis=1)
    edges = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
    return SummaryScene(weights, summary, space, image, edges)


class _Hopeful:
    """Cancels when the bound of a program says that it loses more than something; reports go to `inner`."""

    def __init__(self, most: float, inner: Watch) -> None:
        self.most, self.inner, self.hopeless = most, inner, False

    def report(self, **told: Any) -> None:
        """Look at the bound and pass the report on."""
        bound = told.get("bound")
        self.hopeless = self.hopeless or (bound is not None and bound > self.most)
        self.inner.report(**told)

    def cancelled(self) -> bool:
        """Whether it is in vain, or the time is up."""
        return self.hopeless or self.inner.cancelled()


def read(reader: Reader, scene: SummaryScene, watch: Watch, held: float = inf) -> Read | None:
    """Solve, reply, round, and have the loss proved; None as soon as it is seen to be more than what is held."""
    if not len(scene.edges):
        return None
    try:
        cost, replied, masses, untold = _squared(reader, scene) if reader.squared else _any(reader, scene)
    except TooLarge:
        return None
    epsilon = solvable(reader.problem.epsilon)
    program = Program(cost, scene.edges, float(epsilon))
    hopeful = _Hopeful(VAIN * held / float(reader.problem.decisions[0].weight) - untold, watch)
    if hopeful.most <= 0:
        return None
    solved = solve_priced(program, GAP, hopeful)
    if hopeful.hopeless:
        return None
    kernel = repair(solved.kernel, program)
    kernel = kernel[kernel.max(axis=1) > NEGLIGIBLE]
    replies = replied(kernel)
    distinct = sorted(set(replies), key=lambda a: (isinstance(a, str), a))
    rows = np.stack([kernel[[r == a for r in replies]].sum(axis=0) for a in distinct])
    blind = int(np.argmax(rows @ masses))
    regrets = np.tile(np.ptp(cost, axis=0), (len(rows), 1))  # replies are not those of the grid: no worse than its worst
    bits = enough_bits(regrets, blind, epsilon, spared(GAP, solved.value, solved.bound))
    try:
        weights, denominator = rounded_weights(rows / rows.sum(axis=0), scene.edges, epsilon, blind, bits)
    except InputError:
        return None
    columns = scene.image.tolist()
    table = TableKernel(
        scene.space.labels,
        tuple(Output(label_of(a), a) for a in distinct),
        tuple(tuple(row[i] for i in columns) for row in weights),
        denominator,
    )
    return Read(scene.summary, table, reader.proved_loss(scene.summary, table))


Replied = Callable[[np.ndarray], list[Recommendation]]


def _squared(reader: Reader, scene: SummaryScene) -> tuple[np.ndarray, Replied, np.ndarray, float]:
    """Costs [action, state] of one squared error, the reply to each output of a kernel, the masses of the states, E Var(ω|S)."""
    law = reader.population.law(scene.weights)
    held, at = scene.landing(law.first, len(law.masses))
    masses = np.bincount(at, law.masses[held], scene.size).astype(np.float64)
    sums = np.bincount(at, law.masses[held] * law.means[held], scene.size).astype(np.float64)
    centre = float(sums.sum() / masses.sum())
    means = np.where(masses > 0, sums / np.where(masses > 0, masses, 1.0), centre)
    decision = reader.problem.decision
    actions = _grid(masses, means, scene.finest) if isinstance(decision.actions, RealActions) else decision.listed.floats

    def replied(kernel: np.ndarray) -> list[Recommendation]:
        joint = kernel * masses
        return [reader.allowed(a) for a in ((joint @ means) / joint.sum(axis=1)).tolist()]

    untold = reader.population.spread() ** 2 - float(masses @ (means - centre) ** 2)
    return SquaredError(masses, means).cost(actions), replied, masses, untold


def _any(reader: Reader, scene: SummaryScene) -> tuple[np.ndarray, Replied, np.ndarray, float]:
    """The same for any decisions, through the joint law of S and ω; costs are whole losses, or payoffs of either sign."""
    joint = reader.population.joint(scene.weights)
    held, at = scene.landing(joint.first, joint.masses.shape[1])
    table = np.zeros((len(joint.omegas), scene.size))
    np.add.at(table.T, at, joint.masses[:, held].T)

    def replied(kernel: np.ndarray) -> list[Recommendation]:
        return reader.replies(kernel @ table.T, joint.omegas)[0]

    actions = _every_action(reader.problem) or _worth_playing(reader, table, joint.omegas, replied)
    return losses(reader.problem, actions, joint.omegas) @ table, replied, table.sum(axis=0), -inf


def _every_action(problem: Problem) -> list[Recommendation]:
    """All actions, or their combinations, where they are listed and few."""
    listed = [d.actions for d in problem.decisions if not isinstance(d.actions, RealActions)]
    few = len(listed) == len(problem.decisions) and prod(map(len, listed)) <= MOST_ACTIONS
    return recommendations(problem) if few else []


def _worth_playing(reader: Reader, table: np.ndarray, omegas: Sequence[Fraction], replied: Replied) -> list[Recommendation]:
    """What is best after outputs that tell ω more or less exactly: states weighed by how far from a place their mean of ω lies.

    Outputs of any mechanism blur the states; along a sum those that are worth having are of this kind, about as wide as noise that
    keeps the promise. Under absolute and pinball errors the likely values of ω come first.
    """
    values = np.array([float(w) for w in omegas])
    masses = table.sum(axis=0)
    means = values @ table / np.where(masses > 0, masses, 1.0)
    reach, spread = float(np.ptp(reader.values)) / max(reader.epsilon, 1e-9), reader.population.spread()
    centre = float(masses @ means / masses.sum())
    places = np.linspace(max(means.min(), centre - REACH * spread), min(means.max(), centre + REACH * spread), PLACES)
    found: dict[Recommendation, None] = {}
    decisions = reader.problem.decisions
    if len(decisions) == 1 and decisions[0].loss.quantile is not None:
        likely = values[(values >= places[0]) & (values <= places[-1])]
        apart = -(-len(likely) // (MOST_ACTIONS // 2)) or 1
        found.update(dict.fromkeys(reader.allowed(a) for a in likely[::apart].tolist()))
    for width in WIDTHS:
        away = np.abs(means[None, :] - places[:, None]) / max(min(width * reach, spread), 1e-300)
        found.update(dict.fromkeys(replied(np.exp(np.maximum(away.min(axis=1, keepdims=True) - away, -600.0)))))
    return list(found)[:MOST_ACTIONS]


def _grid(masses: np.ndarray, means: np.ndarray, finest: float) -> np.ndarray:
    """Actions a `FINE`th of a deviation apart or closer, as far as any posterior mean may lie."""
    centre = float(masses @ means / masses.sum())
    spread = float(np.sqrt(masses @ (means - centre) ** 2 / masses.sum()))
    low, high = max(means.min(), centre - REACH * spread), min(means.max(), centre + REACH * spread)
    return np.linspace(low, high, int(np.ceil((high - low) / min(spread / FINE, finest))) + 2 if spread > 0 else 2)
