"""The ladder of weighted sums (`design.ladder`): any number of types and respondents, with a proved bound on what is lost by it."""

from __future__ import annotations

from discreet.design.ladder.served import why_not_read
from discreet.design.proposal import Proposal
from discreet.design.routes.route import Asked, Route
from discreet.model.certificate import (
    BoxesWitness,
    CoinsWitness,
    CrowdWitness,
    DualWitness,
    QuotientWitness,
    SetAsideWitness,
    SeveralWitness,
    UrnWitness,
)
from discreet.model.problem import Problem
from discreet.model.record import Step


class Ladder(Route):
    """Weighted sums from below, chain and quotient bounds from above."""

    name = "ladder"
    theorem = "chain bound"
    libraries = ("scipy.linalg", "scipy.sparse")

    def obstacle(self, problem: Problem) -> str | None:
        return why_not_read(problem)

    def why(self, problem: Problem) -> str:
        return "weighted sums and their bounds need no list of states"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        from discreet.design.ladder.climb import climb

        return climb(problem, asked.watch, asked.seconds, asked.gap, asked.keep)

    def taken(self, problem: Problem, proposal: Proposal) -> Step:
        named = {QuotientWitness: "quotient bound", SetAsideWitness: "set-aside bound", CoinsWitness: "coin bound"}
        named |= {UrnWitness: "urn bound", BoxesWitness: "boxes bound", CrowdWitness: "crowd bound"}
        named |= {DualWitness: "SY Prop. 5", SeveralWitness: "bounds of each maker"}
        theorem = named.get(type(proposal.witness), self.theorem)
        return Step(self.name, True, theorem, f"{self.why(problem)}; {proposal.words}")
