"""Respondents of some types are unknown, all others are told: a lower bound under ε from problems of fewer respondents and types.

Respondents are independent with one law p over types, ω = Σ_i v(θ_i), neighbours replace one, and the loss is one of a − ω. The
witness names a set D of types, and for each of several numbers M a witness for the problem of M respondents with the law of those
in D, p_t/p_D, with the same values and ε and real actions.

Theorem. With H ~ Bin(N, p_D), p_D = Σ_{t∈D} p_t, and L_M the least loss of the problem of M respondents,

    loss ≥ E[ max{ L_M : M ≤ H } ],     where the largest of none is 0.

Proof. Let everybody learn who has a type in D, the types of all who have not, and of those who have the types of H − M, for any
M ≤ H of one's choice. The least loss can only fall. What is left are M respondents, independent of what is told, each of type t
with probability p_t/p_D. Who replaces one of them in their problem replaces one in the whole, so what a mechanism says given what
is told keeps the promise in their problem; ω is their sum and a known number, by which an action may be moved: it stays real, and
listed actions only restrict. So given H the loss is at least L_M, and losses are not negative.  ∎  [ours]

Why fewer types. A bound by sums over the others (`set_aside`), or by the count and the sum of a group (`quotient`), is weak where
types near the likeliest one are lumped: how many have each is hardly known, and what a sum leaves open a mechanism of the program
may follow all at once. Of the far types the count and the sum are nearly everything. So the near ones are told, and a few hundred
states stand for all histograms of the far ones; dice (`coins`), which list these histograms, have room for four or five of them.

All problems together may ask for eight times the work that the check of one allows, and an eighth more for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.certify.bounds.chain import why_not_chain
from discreet.certify.bounds.coins import chance_at_least, in_tiers
from discreet.certify.bounds.quotient import quotient_upper_bound
from discreet.certify.bounds.set_aside import set_aside_upper_bound
from discreet.errors import Refuted, TooLarge
from discreet.model.actions import RealActions
from discreet.model.certificate import QuotientWitness, ToldWitness
from discreet.model.decision import Decision
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.statistic import SumStatistic
from discreet.model.together import together
from discreet.model.universe import Universe
from discreet.numerics.exact import brief

MOST_NUMBERS = 17


def told_upper_bound(problem: Problem, witness: ToldWitness) -> Fraction:
    """What no ε-private mechanism's expected payoff exceeds; refutes a witness that does not fit the problem."""
    reason = why_not_chain(problem)
    if reason is not None:
        raise Refuted("a condition of the bound for respondents of some types does not hold", reason)
    law = iid_sum(problem)
    if not set(witness.types) <= set(law.types):
        raise Refuted("the witness names a type that no respondent has", f"types {', '.join(map(brief, witness.types))}")
    if max(witness.numbers) > law.respondents:
        raise Refuted("the witness has more respondents than there are", f"{brief(max(witness.numbers))} of {law.respondents}")
    if len(witness.numbers) > MOST_NUMBERS:
        raise TooLarge("This witness", size=f"{len(witness.numbers):,} numbers", fits=f"{MOST_NUMBERS}", remedy="use fewer")
    share, losses = share_of(law, witness.types), []
    with together(len(witness.each), "bounds for respondents of some types"):
        for number, inner in zip(witness.numbers, witness.each, strict=True):
            smaller = among(problem, witness.types, number)
            bound = quotient_upper_bound if isinstance(inner, QuotientWitness) else set_aside_upper_bound
            losses.append((number, chance_at_least(law.respondents, share, number), -bound(smaller, inner)))  # type: ignore[arg-type]
    return -max(in_tiers(losses), Fraction(0))


def among(problem: Problem, types: Sequence[int], number: int) -> Problem:
    """The problem of so many respondents who have one of these types, with real actions; other types have no probability."""
    law, asked = iid_sum(problem), problem.decision
    share, of = share_of(law, types), dict(zip(law.types, law.probabilities, strict=True))
    chances = tuple(of[t] / share if t in types else Fraction(0) for t in range(len(law.all_values)))
    decision = Decision(asked.loss, RealActions(), asked.weight)
    universe = Universe(law.all_values, number, number)
    return Problem(universe, ReplaceOne(), IidPrior(chances), SumStatistic(), (decision,), problem.promise, problem.unit)


def share_of(law: IidSum, types: Sequence[int]) -> Fraction:
    """How many of all respondents have one of these types, in the mean."""
    return sum((p for t, p in zip(law.types, law.probabilities, strict=True) if t in types), Fraction(0))
