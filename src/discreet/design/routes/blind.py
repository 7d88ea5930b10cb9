"""Publishing nothing: one output that recommends the best action for the prior. Every problem has it; no design is worse."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.certify.bounds.full_information import FULL, masses_of_statistic
from discreet.certify.value.laws import law_of
from discreet.certify.value.sums import Sums
from discreet.design.program.listed import label_of
from discreet.design.program.sections import Recommendation
from discreet.design.proposal import Proposal
from discreet.design.routes.route import Asked, Route
from discreet.errors import TooLarge
from discreet.model.actions import Action, NamedActions, RealActions
from discreet.model.certificate import TheoremWitness
from discreet.model.decision import Decision
from discreet.model.kernel import Output, TableKernel
from discreet.model.losses import SquaredLoss
from discreet.model.problem import Problem
from discreet.model.replies import best_replies, decimal
from discreet.model.summary import DatabaseSummary, LinearSummary, Summary
from discreet.model.universe import Universe


class Blind(Route):
    """One output, whatever the data."""

    name = "no information"
    theorem = FULL

    def obstacle(self, problem: Problem) -> str | None:
        return None

    def why(self, problem: Problem) -> str:
        return "nothing else was found in the time"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        return blind_proposal(problem)


def blind_proposal(problem: Problem) -> Proposal:
    """The best constant, as an exact kernel."""
    actions = blind_actions(problem)
    advice: Recommendation = actions[0] if len(actions) == 1 else tuple(actions)
    summary: Summary = DatabaseSummary()
    states: tuple[str, ...] = ()
    if isinstance(problem.universe, Universe):
        summary, states = LinearSummary((0,) * problem.universe.types), ("0",)
    else:
        states = problem.universe.names
    kernel = TableKernel(states, (Output(label_of(advice), advice),), ((1,) * len(states),), 1)
    return Proposal(summary, kernel, TheoremWitness(FULL), "the best action without any publication", "stalled")


def blind_actions(problem: Problem) -> list[Action]:
    """What each decision maker does who sees nothing."""
    if law_of(problem) is not None and all(_wants_the_mean(problem, d) for d in problem.decisions):
        return [decimal(float(_near_the_mean(problem, d)), d.interval) for d in problem.decisions]
    try:
        masses, _ = masses_of_statistic(problem)
    except TooLarge:
        return [_near_the_mean(problem, d) for d in problem.decisions]
    omegas = tuple(sorted(masses))
    joint = np.array([[float(masses[w]) for w in omegas]])
    return [best_replies(d, joint, omegas).actions[0] for d in problem.decisions]


def _wants_the_mean(problem: Problem, decision: Decision) -> bool:
    """Whether the mean of a sum is the best action, which needs no law."""
    universe = problem.universe
    adds_up = isinstance(universe, Universe) and problem.statistic.weights(universe) is not None
    return adds_up and isinstance(decision.loss, SquaredLoss) and isinstance(decision.actions, RealActions)


def _near_the_mean(problem: Problem, decision: Decision) -> Action:
    """An action near the mean of ω, where its law is too large to be formed."""
    universe, law = problem.people, law_of(problem)
    assert law is not None
    values = problem.statistic.weights(universe)
    assert values is not None
    mean = Sums(law, (0,) * universe.types, values, universe.smallest, universe.largest).mean()
    if isinstance(decision.actions, NamedActions):
        return max(decision.actions, key=lambda a: decision.payoff(a, mean))
    if isinstance(decision.actions, RealActions) or decision.is_loss:
        return decision.actions.nearest(Fraction(mean))
    return max(decision.actions, key=lambda a: decision.payoff(a, mean))
