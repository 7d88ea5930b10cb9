"""The best oblivious mechanism: the program over the statistic's values alone (SY Prop. 3, eq. (7)).

Reading only ω is a restriction, so its bound says nothing about other mechanisms; the difference to the best is its price.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from discreet.design.program.listed import exact_kernel, first_tolerance, solvable
from discreet.design.program.real import real_loss
from discreet.design.program.sections import (
    Ground,
    Recommendation,
    Section,
    ground,
    losses,
    recommendations,
    summed,
)
from discreet.design.proposal import Proposal
from discreet.design.routes.concentrated import by_law
from discreet.design.routes.program import too_many
from discreet.design.routes.route import Asked, Route
from discreet.design.solver.continuum import first_actions
from discreet.design.solver.polish import polish
from discreet.design.solver.pricing import solve_priced
from discreet.design.solver.program import Program
from discreet.design.solver.repair import repair
from discreet.errors import InputError, TooLarge
from discreet.frozen import dataclass
from discreet.model.iid_sum import iid_sum
from discreet.model.lattice import statistic_lattice
from discreet.model.neighbours import ReplaceOne
from discreet.model.problem import Problem
from discreet.model.promises import ConcentratedPromise, PurePromise
from discreet.model.replies import decimal
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.watch import SILENT, Watch

MOST_VALUES = 1_000
CLIPPED = 0.01
"""The share of the gap that clipping the statistic may lose at either end."""


class Oblivious(Route):
    """The best mechanism that reads only the statistic; taken when whoever asks wants no other."""

    name = "oblivious program"
    theorem = "SY Prop. 3"

    serves = (PurePromise, ConcentratedPromise)

    def obstacle(self, problem: Problem) -> str | None:
        if not isinstance(problem.universe, Universe) or problem.statistic.weights(problem.universe) is None:
            return "the statistic is not a sum, mean or count"
        if isinstance(problem.promise, ConcentratedPromise) and _of_any_size(problem):
            return None
        return too_many(problem)

    def why(self, problem: Problem) -> str:
        return "asked for: the mechanism reads only the statistic"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        if isinstance(problem.promise, ConcentratedPromise):
            return _under_rho(problem, asked.gap, asked.watch)
        return oblivious_proposal(ground(problem), asked.gap, asked.watch)


@dataclass(frozen=True, eq=False)
class ObliviousKernel:
    """A kernel [action, value of the statistic] in floats, with its loss."""

    section: Section
    kernel: np.ndarray
    actions: list[Recommendation]
    loss: float


def lattice_summary(problem: Problem) -> LinearSummary:
    """The statistic as a linear summary in whole numbers (values scaled and shifted)."""
    found = statistic_lattice(problem)
    if found is None:
        raise InputError(
            "A mechanism that reads only the statistic needs one that adds up",
            found=problem.statistic.kind,
            allowed="sums, means and counts",
            remedy="leave out the restriction",
        )
    return found.summary


def _clipped(base: Ground, summary: LinearSummary, gap: float) -> LinearSummary:
    """The statistic clipped to where it matters: what lies beyond may lose less than a hundredth of the gap, whatever is played."""
    problem = base.problem
    if not problem.exchangeable or not isinstance(problem.neighbours, ReplaceOne):
        return summary
    table = losses(problem, recommendations(problem), base.exact_omegas)
    spare = CLIPPED * first_tolerance(base, table, gap)
    totals = np.asarray(base.space.vectors) @ np.array(summary.weights)
    worst = base.masses * (table.max(axis=0) - table.min(axis=0))[base.column]
    order = np.argsort(totals, kind="stable")
    below, above = np.cumsum(worst[order]), np.cumsum(worst[order[::-1]])
    low = totals[order[np.searchsorted(below, spare, side="right") % len(order)]]
    high = totals[order[::-1][np.searchsorted(above, spare, side="right") % len(order)]]
    return replace(summary, low=int(low), high=int(high)) if low < high else summary


def best_oblivious(base: Ground, gap: float, watch: Watch = SILENT) -> ObliviousKernel:
    """Solve the program on the statistic's values."""
    problem = base.problem
    summary = lattice_summary(problem)
    section = summed(base, summary if problem.real_actions else _clipped(base, summary, gap))
    if len(section.space) > MOST_VALUES:
        raise TooLarge(
            "The statistic has too many values for its best mechanism",
            size=f"{len(section.space):,}",
            fits=f"{MOST_VALUES:,}",
            remedy="compare with geometric and staircase noise",
        )
    epsilon = float(solvable(problem.epsilon))
    edges = section.space.edges
    if problem.real_actions:
        masses = np.bincount(section.image, base.masses, len(section.space))
        omegas = np.zeros(len(section.space))
        omegas[section.image] = base.omegas
        loss = real_loss(problem.decision, masses, omegas)
        # only the mechanism is wanted here, so the bound between actions, which takes longest, is left out
        actions_found, found = polish(loss, edges, epsilon, first_actions(loss, edges, epsilon), gap, watch)
        kernel = repair(found.kernel, Program(loss.cost(actions_found), edges, epsilon))
        actions: list[Recommendation] = [decimal(a, problem.decision.actions) for a in actions_found.tolist()]  # type: ignore[arg-type]
        return ObliviousKernel(section, kernel, actions, found.value)
    listed = recommendations(problem)
    program = Program(section.upper(losses(problem, listed, base.exact_omegas)), edges, epsilon)
    solved = solve_priced(program, gap, watch)
    return ObliviousKernel(section, repair(solved.kernel, program), listed, solved.value)


def oblivious_proposal(base: Ground, gap: float, watch: Watch = SILENT) -> Proposal:
    """The best oblivious mechanism as an exact kernel."""
    found = best_oblivious(base, gap, watch)
    problem = base.problem
    if problem.real_actions:
        numbers = np.array([float(a) for a in found.actions if isinstance(a, Fraction)])
        table = problem.decision.loss.table(numbers, np.array([float(w) for w in base.exact_omegas]))
    else:
        table = losses(problem, found.actions, base.exact_omegas)
    kernel = exact_kernel(found.section, found.kernel, found.actions, found.section.upper(table), solvable(problem.epsilon))
    return Proposal(found.section.summary, kernel, None, "oblivious program", "optimal")


def _under_rho(problem: Problem, gap: float, watch: Watch) -> Proposal:
    """The table on the likely values of the statistic; discrete Gaussian noise on it where these are too many, or it loses less."""
    from discreet.design.concentrated.gaussian_sums import LawScorer, ListedScorer
    from discreet.design.concentrated.tables import best_table, loss_of, of_weights

    scorer = LawScorer(problem) if _of_any_size(problem) else ListedScorer(ground(problem))
    weights = lattice_summary(problem).weights
    noisy, scene = scorer.read(weights), of_weights(scorer, weights)
    kernel = best_table(scene, gap, watch)
    if kernel is None or loss_of(scene, kernel) >= noisy.loss:
        return Proposal(noisy.summary, noisy.kernel, None, "discrete Gaussian noise on the statistic", "optimal")
    return Proposal(scene.summary, kernel, None, "oblivious program", "optimal")


def _of_any_size(problem: Problem) -> bool:
    """Whether the law of the statistic says everything, so that no states need be listed: every type must be able to occur."""
    low, high = problem.omega_range
    return by_law(problem) and low < high and len(iid_sum(problem).types) == problem.people.types
