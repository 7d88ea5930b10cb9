"""Cuts for some respondents of a few types, the others known: a lower bound under ρ (zCDP) for any number of respondents and types.

Respondents are independent with one law p over types, ω = Σ_i v(θ_i), neighbours replace one, and the loss is one of a − ω. The
witness names kinds: disjoint sets of types of positive probability, of one value each. Who has one of these types is a player.

Theorem. Let P be the probability of all kinds, M ~ Bin(N, P) and, for m players, L(m) the least loss of a ρ-zCDP mechanism for m
independent respondents whose values are those of the kinds, with their probabilities over P, and real actions. For every
M_1 < M_2 < … the loss is at least Σ_i P(M_i ≤ M < M_{i+1})·L(M_i).

Proof. Let everybody learn who plays, the types of all others and which type of each kind every player would have; and of M
players, M_i ≤ M < M_{i+1}, the kinds of M − M_i drawn by lot (where M < M_1, everything). The least loss can only fall. The kinds
of the M_i that are left are independent with their law given the kinds, changing one replaces one respondent, and ω is their sum
plus what is known, by which an action may be moved. Listed actions, and bounds on them, only restrict mechanisms.  ∎  [ours]

L(m) is bounded by cuts (`renyi`) between histograms of the players in a box, along moves of `step` = k players from one kind to
another: k replacements keep k²ρ (Bun & Steinke 2016, Prop. 27). For k > 1 that lets everybody learn the counts modulo k, and
leaves fewer states; while k²ρ is small hardly anything is lost. Histograms outside the box count with no loss.

ω is counted from "all have the least kind's value", in units of the span of the kinds' values. Chances of M are lowered
(`chain.binomial_below`), and masses of histograms are rounded down: they multiply losses ≥ 0.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import lcm, perm

from discreet.certify.bounds.chain import binomial_below
from discreet.certify.bounds.concentrated_chain import why_not_under_rho
from discreet.certify.bounds.renyi import cut_lower_bound
from discreet.certify.duality.pulls import PRIOR_BITS, PullStage
from discreet.errors import Refuted, TooLarge
from discreet.model.actions import RealActions
from discreet.model.certificate import PlayersWitness
from discreet.model.decision import Decision
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.statistic import SumStatistic
from discreet.model.summary import Clamp, HistogramSummary, check_summary
from discreet.model.together import ask
from discreet.model.universe import Universe, boxed_histograms
from discreet.numerics.roundings import drift

MOST_STATES = 5_000
MOST_WORK = 10**8
"""Players times states of a part, times the bits of the chances' denominator."""


def players_upper_bound(problem: Problem, witness: PlayersWitness) -> Fraction:
    """What no ρ-zCDP mechanism's expected payoff exceeds; refutes a witness that does not fit the problem."""
    reason = why_not_under_rho(problem)
    if reason is not None:
        raise Refuted("a condition of the bound by players does not hold", reason)
    law = iid_sum(problem)
    share = sum(chances_of(law, witness.kinds), Fraction(0))
    counts = [part.players for part in witness.parts]
    if any(a >= b for a, b in pairwise([*counts, law.respondents + 1])):
        raise Refuted("the numbers of players must ascend, up to all respondents", counts)
    fewest, masses = binomial_below(law.respondents, share)
    total = Fraction(0)
    for part, following in zip(witness.parts, [*counts[1:], law.respondents + 1], strict=True):
        few = among_players(problem, witness.kinds, part.players)
        assert part.cuts.box is not None
        stage = players_stage(few, part.cuts.box, part.step)
        loss = cut_lower_bound(few, part.cuts, stage, problem.rho * part.step**2)
        held = masses[max(part.players - fewest, 0) : max(following - fewest, 0)]
        total += max(loss, Fraction(0)) * Fraction(float(held.sum()) * (1 - drift(len(masses) + 8)))
    return -total


def chances_of(law: IidSum, kinds: tuple[tuple[int, ...], ...]) -> list[Fraction]:
    """The probability of each kind; refutes kinds that are none."""
    listed = [t for kind in kinds for t in kind]
    if len(set(listed)) != len(listed) or not set(listed) <= set(law.types) or len(kinds) < 2 or not all(kinds):
        raise Refuted("the kinds must be two or more disjoint sets of types of positive probability", [list(k) for k in kinds])
    values = [{law.all_values[t] for t in kind} for kind in kinds]
    if any(len(some) > 1 for some in values) or len(set.union(*values)) == 1:
        raise Refuted("types of one kind must have the same value, and not all kinds", [list(k) for k in kinds])
    of = dict(zip(law.types, law.probabilities, strict=True))
    return [sum((of[t] for t in kind), Fraction(0)) for kind in kinds]


def among_players(problem: Problem, kinds: tuple[tuple[int, ...], ...], players: int) -> Problem:
    """The problem that is left when so many play: values from the least in units of their span, real actions."""
    law, decision = iid_sum(problem), problem.decision
    chances = chances_of(law, kinds)
    values = [law.all_values[kind[0]] for kind in kinds]
    least, span, share = min(values), max(values) - min(values), sum(chances, Fraction(0))
    freely = Decision(decision.loss, RealActions(), weight=decision.weight * span**decision.distance.degree)
    return replace(
        problem,
        universe=Universe.of(players, tuple((v - least) / span for v in values)),
        prior=IidPrior(tuple(p / share for p in chances)),
        statistic=SumStatistic(),
        decisions=(freely,),
        notes=(),
    )


def players_stage(problem: Problem, box: Clamp, step: int) -> PullStage:
    """The histograms of a box with their probabilities, rounded down, and the moves of `step` players between them."""
    law = iid_sum(problem)
    check_summary(HistogramSummary(box), problem.people, problem.neighbours)
    players, reference = law.respondents, box.reference
    bottom = lcm(*(p.denominator for p in law.probabilities))
    if reference is None or box.rest is not None:
        raise Refuted("the box of a bound by players has a kind that takes the rest, whatever it is", str(box))
    room = 1
    for low, high in ((box.lower[j], box.upper[j]) for j in box.clipped):
        room *= min(high, players) - low + 1
    if room > MOST_STATES or room * players * bottom.bit_length() > MOST_WORK:
        raise TooLarge(
            "The histograms of this witness are too many, or of too many players",
            size=f"{room:,} histograms of {players:,} players",
            fits=f"{MOST_STATES:,} histograms",
            remedy="use another witness",
        )
    ask(room * players * bottom.bit_length(), MOST_WORK)
    states = [tuple(row) for row in boxed_histograms(players, box.lower, box.upper, reference).tolist()]
    chances = [int(p * bottom) for p in law.probabilities]
    masses = [_mass_below(state, reference, chances, bottom) for state in states]
    omegas = tuple(sum((n * v for n, v in zip(state, law.values, strict=True)), Fraction(0)) for state in states)
    at = {state: h for h, state in enumerate(states)}
    edges = set()
    for state, h in at.items():
        for i in range(len(state)):
            for j in range(len(state)):
                moved = list(state)
                moved[i] -= step
                moved[j] += step
                other = at.get(tuple(moved))
                if other is not None and h < other:
                    edges.add((h, other))
    return PullStage(masses, omegas, list(range(len(states))), frozenset(edges))


def _mass_below(state: tuple[int, ...], reference: int, chances: list[int], bottom: int) -> Fraction:
    """N!/Πn_j! · Πp_j^n_j from below, over 2^PRIOR_BITS."""
    players = sum(state)
    ways, weight = perm(players, players - state[reference]), 1
    for j, (n, chance) in enumerate(zip(state, chances, strict=True)):
        weight *= chance**n
        if j != reference:
            ways //= perm(n)
    return Fraction((ways * weight << PRIOR_BITS) // bottom**players, 1 << PRIOR_BITS)
