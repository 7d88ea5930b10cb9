"""A route to a smaller problem with the same optimum: solve that one and read the original's databases through it.

The reductions with their theorems are `model.reductions`; the certificate names the one that was used, and `certify` checks its
conditions again.
"""

from __future__ import annotations

from dataclasses import replace

from discreet.certify.bounds import FULL
from discreet.design.proposal import Proposal
from discreet.design.routes.route import Asked, Route
from discreet.errors import Refuted
from discreet.model.certificate import DualWitness, RenyiWitness, TheoremWitness, Witness
from discreet.model.kernel import TableKernel
from discreet.model.problem import Problem
from discreet.model.record import Step
from discreet.model.reductions import Reduced, reduced


class Reducing(Route):
    """Another route, taken for the reduced problem."""

    def __init__(self, reduction: str, inner: Route) -> None:
        self.reduction, self.inner = reduction, inner
        self.name, self.theorem, self.serves = f"{reduction}, then {inner.name}", inner.theorem, inner.serves

    def obstacle(self, problem: Problem) -> str | None:
        try:
            smaller = reduced(problem, self.reduction)
        except Refuted as refuted:
            return str(refuted)
        return self.inner.why_not(smaller.problem)

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        smaller = reduced(problem, self.reduction)
        found = self.inner.propose(smaller.problem, asked)
        kernel = smaller.counted(found.kernel, found.summary) if isinstance(found.kernel, TableKernel) else found.kernel
        witness = None if found.witness is None else _named(found.witness, smaller)
        return replace(found, summary=smaller.carried(found.summary), kernel=kernel, witness=witness)

    def taken(self, problem: Problem, proposal: Proposal) -> Step:
        smaller = reduced(problem, self.reduction)
        step = self.inner.taken(smaller.problem, proposal)
        return Step(self.name, True, step.theorem, f"{smaller.theorem}; {step.reason}")


def _named(witness: Witness, smaller: Reduced) -> Witness:
    """The witness, saying which reduction it speaks about."""
    if isinstance(witness, (DualWitness, RenyiWitness)):
        return replace(witness, reduction=smaller.name)
    assert isinstance(witness, TheoremWitness)
    if witness.theorem == FULL:  # says the same of the problem itself
        return witness
    return replace(witness, parameters=(*witness.parameters, ("reduction", smaller.name)))
