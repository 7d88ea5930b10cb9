"""Proposing bounds under ρ for sizes beyond programs. `certify` proves what they prove.

The chain of order 2 (`certify.bounds.concentrated_chain`) takes the pair of tails of the values that hides most; cuts for players
(`players`) are tighter where they can be solved.
"""

from __future__ import annotations

from discreet.certify.bounds.chain import split_of
from discreet.certify.bounds.concentrated_chain import CONCENTRATED, concentrated_loss, why_not_concentrated_chain
from discreet.certify.optimality import upper_bound
from discreet.design.ladder.bounds.chain import pairs_of_tails
from discreet.model.certificate import TheoremWitness, Witness
from discreet.model.iid_sum import iid_sum
from discreet.model.problem import Problem
from discreet.model.universe import Universe
from discreet.watch import Watch

FEW = 1_000
"""Histograms up to which the program on all of them bounds better."""


def path_witness(problem: Problem, watch: Watch) -> Witness | None:
    """The better of a chain and of cuts for players; None where neither applies."""
    from discreet.design.concentrated.players import players_witness

    chain, universe = concentrated_chain_witness(problem, watch), problem.universe
    if not isinstance(universe, Universe) or universe.histogram_count <= FEW:
        return chain
    players = players_witness(problem, watch)
    if chain is None or players is None:
        return players or chain
    return players if upper_bound(problem, players) < upper_bound(problem, chain) else chain


def concentrated_chain_witness(problem: Problem, watch: Watch) -> TheoremWitness | None:
    """The witness of the best pair of tails tried in the time; None where the theorem does not apply."""
    if why_not_concentrated_chain(problem) is not None:
        return None
    rho, law = problem.rho, iid_sum(problem)
    best, sets = 0.0, None
    for pair in pairs_of_tails(problem, law.types):
        if sets is not None and watch.cancelled():
            break
        bound = float(concentrated_loss(split_of(problem, *pair), law.respondents, rho))
        if bound > best:
            best, sets = bound, pair
    if sets is None:
        return None
    return TheoremWitness(
        CONCENTRATED, tuple((name, ",".join(map(str, sorted(part)))) for name, part in zip(("low", "high"), sets, strict=True))
    )
