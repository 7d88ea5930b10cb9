"""The rungs from above: what no private mechanism goes below, by the chain theorem and by averaged inequalities."""

from __future__ import annotations

from discreet.certify.bounds.chain import CHAIN, why_not_chain
from discreet.design.ladder.bounds.averaged import Averages
from discreet.design.ladder.bounds.chain import TailSplit, chain_bound
from discreet.design.ladder.bounds.groupings import fitting, grouped_program, quotient
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.ladder.rung import Found, Height, Rung
from discreet.design.schedule import SHORTEST_RUNG
from discreet.errors import InputError
from discreet.model.certificate import TheoremWitness
from discreet.model.iid_sum import iid_sum
from discreet.model.losses import DistanceLoss, SquaredLoss
from discreet.model.problem import Problem
from discreet.watch import SILENT, Watch


class ChainBound(Rung):
    """The chain at its best split: any number of types and respondents (`certify.bounds.chain`)."""

    name = "chain bound"
    theorem = "chain bound"

    def why_not(self, problem: Problem) -> str | None:
        return why_not_chain(problem)

    def climb(self, height: Height, seconds: float) -> Found | None:
        split, lower = best_split(height.reader, height.watch)
        return Found(lower_bound=lower, witness=chain_witness(height.problem, split))


class Quotient(Rung):
    """Any private mechanism seen through (number of respondents without the reference type, ω) (`certify.bounds.quotient`)."""

    name = "quotient bound"
    theorem = "quotient bound"
    least_seconds = SHORTEST_RUNG

    def why_not(self, problem: Problem) -> str | None:
        reason = why_not_chain(problem)
        if reason is None and not isinstance(problem.decision.loss, SquaredLoss):
            return "the averaged program is solved for squared error"
        return reason

    def climb(self, height: Height, seconds: float) -> Found | None:
        program = self.program(height, seconds)
        if program is None:
            return None
        found = quotient(height.reader, program, height.loss, height.gap, seconds, height.watch)
        return Found(lower_bound=found.lower_bound, witness=found.witness)

    def program(self, height: Height, seconds: float) -> Averages | None:
        """The averaged program that fits the time."""
        return fitting(height.reader, None, seconds)


class GroupedQuotient(Quotient):
    """The same with two groups of types counted apart."""

    name = "grouped quotient bound"

    def why_not(self, problem: Problem) -> str | None:
        reason = super().why_not(problem)
        return "there are not four types to group" if reason is None and len(iid_sum(problem).types) < 4 else reason

    def program(self, height: Height, seconds: float) -> Averages | None:
        return grouped_program(height.reader, height.weights, seconds)


def best_split(reader: Reader, watch: Watch = SILENT) -> tuple[TailSplit, float]:
    """The best split and the loss that no private mechanism goes below, the decision's weight included."""
    decision = reader.problem.decision
    assert isinstance(decision.loss, DistanceLoss)
    found = chain_bound(
        reader.law,
        reader.epsilon,
        decision.loss,
        watch,
    )
    if found.split is None:
        raise InputError("There is nothing to bound", found="one value", allowed="at least two values")
    return found.split, found.lower_bound * float(decision.weight)


def chain_witness(problem: Problem, split: TailSplit) -> TheoremWitness:
    """The types in the tails of a split, by number."""
    law = iid_sum(problem)
    shares = dict(zip(law.types, law.probabilities, strict=True))
    ordered = [t for _, t in sorted(zip(law.values, law.types, strict=True))]
    tails: list[list[int]] = [[], []]
    for tail, types, mass in zip(tails, (ordered, ordered[::-1]), (split.low, split.high), strict=True):
        left = mass
        for t in types:
            if left > 0:
                tail.append(t)
                left -= shares[t]
    low, high = (",".join(map(str, sorted(tail))) for tail in tails)
    return TheoremWitness(CHAIN, (("low", low), ("high", high)))
