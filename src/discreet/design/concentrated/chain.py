"""Proposing the chain bound under ρ: the pair of tails of the values that hides most. `certify` proves what it proves.

It takes moments at any size; cuts for players (`players`) are tighter where they can be solved.
"""

from __future__ import annotations

from discreet.certify.bounds.chain import LINEAR_WORK, split_of
from discreet.certify.bounds.concentrated_chain import CONCENTRATED, concentrated_loss, why_not_concentrated_chain
from discreet.design.ladder.bounds.chain import pairs_of_tails
from discreet.design.schedule import SECONDS_PER_PATH_STATE, spend
from discreet.model.certificate import TheoremWitness
from discreet.model.iid_sum import iid_sum
from discreet.model.problem import Problem
from discreet.watch import Watch


def concentrated_chain_witness(problem: Problem, watch: Watch) -> TheoremWitness | None:
    """The witness of the best pair of tails tried in the time; None where the theorem does not apply."""
    if why_not_concentrated_chain(problem) is not None:
        return None
    rho, law = problem.rho, iid_sum(problem)
    best, sets = 0.0, None
    for pair in pairs_of_tails(problem, law.types):
        if sets is not None and watch.cancelled():
            break
        spend(SECONDS_PER_PATH_STATE * LINEAR_WORK / 10)
        bound = float(concentrated_loss(split_of(problem, *pair), law.respondents, rho))
        if bound > best:
            best, sets = bound, pair
    if sets is None:
        return None
    return TheoremWitness(
        CONCENTRATED, tuple((name, ",".join(map(str, sorted(part)))) for name, part in zip(("low", "high"), sets, strict=True))
    )
