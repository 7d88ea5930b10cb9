"""The best mechanism under one prior on given states: quickly, and with a proof of how good it is.

A robust design (minimax) asks the same question under one mixture of priors after another. Most answers only point the way
to the next mixture, and few must be proved. With listed actions every answer is proved as it comes. With real actions a
quick answer plays the actions of the answers before it, each moved to its posterior optimum: its bound holds for those
actions alone. Proving it for every real number (solver.continuum) takes most of the time of a design.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from discreet.design.program.real import best_actions, needed, reaching, real_loss
from discreet.design.program.sections import Recommendation, Section
from discreet.design.solver.continuum import Continuum, better, first_actions, prove, thinned
from discreet.design.solver.layers import components
from discreet.design.solver.losses import RealLoss, SquaredError
from discreet.design.solver.polish import polish
from discreet.design.solver.pricing import solve_priced
from discreet.design.solver.program import Floats, Integers, Program
from discreet.design.solver.real import solve_real
from discreet.design.solver.repair import repair
from discreet.design.solver.solve import solve
from discreet.model.problem import Problem
from discreet.watch import Watch

ATTEMPTS = 8
NEAR = 1e-3
"""Actions closer than this share of their range are as good as the same at first; half of it in each further attempt."""
FIRST = 64
"""An answer begins with at most so many actions."""


@dataclass(frozen=True, eq=False)
class LineReply:
    """A private kernel [output, state] with an action for each output, and a lower bound on the loss of any other.

    `proof` holds the actions and their multipliers that prove the bound; without one it holds for the played actions alone.
    """

    kernel: Floats
    actions: list[Recommendation]
    bound: float
    level: float
    proof: tuple[list[Recommendation], Floats] | None


class Answers(Protocol):
    """Answers for one section after another, which differ in their masses only."""

    def quick(self, section: Section, level: float) -> LineReply:
        """A mechanism within about a relative gap of the best, and where the best may be."""
        ...

    def proved(self, section: Section, level: float) -> LineReply:
        """A mechanism proved within a relative gap of the best."""
        ...


class ListedAnswers:
    """Answers with listed actions; `table` holds their losses [action, ω]."""

    def __init__(self, actions: list[Recommendation], table: Floats, epsilon: float, watch: Watch) -> None:
        self.actions, self.table, self.epsilon, self.watch = actions, table, epsilon, watch

    def quick(self, section: Section, level: float) -> LineReply:
        """Quick is proved."""
        return self.proved(section, level)

    def proved(self, section: Section, level: float) -> LineReply:
        """The linear program, priced."""
        lower, rest = section.lower(self.table)
        program = Program(lower, section.space.edges, self.epsilon)
        found = solve_priced(program, level, self.watch)
        kernel = repair(found.kernel, program)
        return LineReply(kernel, self.actions, found.bound + rest, level, (self.actions, found.multipliers))


class RealAnswers:
    """Answers with real actions, which begin with the actions of the answer before."""

    def __init__(self, problem: Problem, known: Sequence[Recommendation], epsilon: float, watch: Watch) -> None:
        self.problem, self.epsilon, self.watch = problem, epsilon, watch
        self.played = np.array(sorted({float(a) for a in known if isinstance(a, Fraction)}))

    def quick(self, section: Section, level: float) -> LineReply:
        """A program on the actions known so far, moved to their posterior optima."""
        loss, edges = self._loss(section), section.space.edges
        if not self._moves(loss, edges):
            return self.proved(section, level)
        self.played, found = polish(loss, edges, self.epsilon, self._start(loss, edges), level, self.watch)
        kernel, actions = self._replies(section, found.kernel, self.played)
        return LineReply(kernel, actions, found.bound, level, None)

    def proved(self, section: Section, level: float) -> LineReply:
        """The continuum solver's proof, begun with the actions known so far; they are joined by those it asks for."""
        loss, edges = self._loss(section), section.space.edges
        found = (
            self._proved(loss, edges, level)
            if self._moves(loss, edges)
            else solve_real(loss, edges, self.epsilon, level, self.watch)
        )
        kernel, actions = self._replies(section, found.kernel, found.actions)
        nodes, flows = reaching(found, needed(self.problem))
        return LineReply(kernel, actions, found.bound, level, (list(nodes), flows))

    def _proved(self, loss: RealLoss, edges: Integers, level: float) -> Continuum:
        actions, upper = polish(loss, edges, self.epsilon, self._start(loss, edges), 0.2 * level, self.watch)
        best: Continuum | None = None
        for attempt in range(ATTEMPTS):
            nodes, flows, bound, wanted = prove(loss, edges, self.epsilon, actions, upper, self.watch, level)
            found = Continuum(actions, upper.kernel, nodes, flows, upper.value, bound, upper.seconds, upper.status)
            best = found if best is None else better(best, found)
            self.watch.report(stage="real actions", value=best.value, bound=best.bound)
            if best.relative_gap <= level or self.watch.cancelled() or not len(wanted):
                break
            # those that nobody plays are kept: they teach the prices
            actions = thinned(np.concatenate([actions, wanted]), NEAR * (loss.high - loss.low) / 2**attempt)
            upper = solve(Program(loss.cost(actions), edges, self.epsilon), 0.2 * level, self.watch)
        assert best is not None
        self.played = best.actions
        return best

    def _loss(self, section: Section) -> RealLoss:
        base = section.ground
        return real_loss(self.problem.decision, base.masses[section.inside], base.omegas[section.inside])

    def _moves(self, loss: RealLoss, edges: Integers) -> bool:
        """Whether actions move between nodes on a connected graph; kinked losses and other graphs have their own ways."""
        if not isinstance(loss, SquaredError) or self.epsilon == 0.0 or loss.high == loss.low:
            return False
        return int(components(len(loss.prior), edges).max()) == 0

    def _start(self, loss: RealLoss, edges: Integers) -> Floats:
        if len(self.played) < 2:
            return first_actions(loss, edges, self.epsilon)
        held = np.clip(self.played, loss.low, loss.high)
        return thinned(held, (held.max() - held.min()) / FIRST)

    def _replies(self, section: Section, kernel: Floats, actions: Floats) -> tuple[Floats, list[Recommendation]]:
        """The kernel made private to the last digit, each output with its best reply on the whole universe."""
        loss = self._loss(section)
        repaired = repair(kernel, Program(loss.cost(actions), section.space.edges, self.epsilon))
        return repaired, list(best_actions(section, repaired))
