"""Lower bounds on loss from multipliers: weak duality, redone in whole numbers without any solver.

For multipliers f ≥ 0 on directed edges i→j, each times q·x_j − x_i ≥ 0 with a rational q ≥ e^ε, every private mechanism
has
  loss ≥ Σ_h min_a [ π_h·ℓ(a, ω_h) − (Gᵀf_a)_h ],   (Gᵀf)_h = q·Σ_{i→h} f − Σ_{h→k} f.
Actions without multipliers count with f = 0. Several decision makers choose together: an action is a tuple and ℓ the
weighted sum of their losses (SY fn 12). Real actions are the business of `chords`.

States outside the witness's box carry no multipliers and count with their least loss, which is what makes truncation
valid for payoffs of any sign. Prior weights are rounded to 2^−B towards the safe side of the regret ℓ − min ℓ ≥ 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import lcm, prod

import numpy as np

from discreet.certify.duality.chords import least_losses, over_pieces
from discreet.certify.duality.pulls import PRIOR_BITS, Looks, Pull, PullStage, columns, contenders, pull_of, rounded_parts
from discreet.errors import Refuted, TooLarge
from discreet.model.actions import ListedActions, NamedActions
from discreet.model.certificate import DualWitness, Recommendation
from discreet.model.decision import Decision
from discreet.model.problem import Problem, believed
from discreet.model.reductions import reduced
from discreet.model.states import state_space
from discreet.model.summary import Clamp, DatabaseSummary, HistogramSummary, check_summary
from discreet.model.together import ask
from discreet.numerics.brackets import rational_above_exp

FACTOR_BITS = 96
MOST_REGRETS = 20_000_000
"""Pairs of a combined action and a value of the statistic beyond which no table of losses is formed."""


def dual_upper_bound(problem: Problem, witness: DualWitness) -> Fraction:
    """A number that no private mechanism's expected payoff exceeds; refutes a witness that does not fit the problem."""
    if witness.reduction is not None:
        problem = reduced(problem, witness.reduction).problem
    if (witness.kind == "dual-with-chord") != problem.real_actions:
        raise Refuted("the witness does not speak about these actions", witness.kind)
    stage = stage_of(problem, witness.box)
    factor = rational_above_exp(problem.epsilon, FACTOR_BITS) if problem.epsilon else Fraction(1)
    pulls = [pull_of(m, stage.edges, witness.scale, factor) for m in witness.multipliers]
    return -least_pulled(problem, stage, pulls)


def least_pulled(problem: Problem, stage: PullStage, pulls: Sequence[Pull]) -> Fraction:
    """The least loss that actions can have at the states when each is pulled by the multipliers, from below."""
    distinct = stage.values
    if problem.real_actions:
        decision = problem.decision
        least = least_losses(decision, distinct)
        gain = over_pieces(decision, problem.omega_range, stage, least, pulls)
    else:
        regrets, least = regrets_of(problem.decisions, distinct)
        gain = over_actions(problem.decisions, stage, regrets, pulls)
    if not any(least.values()):
        return gain
    held = zip(stage.masses, stage.omegas, strict=True)
    return sum((mass * least[omega] for mass, omega in held if least[omega]), Fraction(0)) + gain


def stage_of(problem: Problem, box: Clamp | None) -> PullStage:
    """The finest states, and those of the box among them with their edges."""
    space = problem.finest()
    belief = believed(problem, space)
    summary = HistogramSummary(box) if problem.exchangeable else DatabaseSummary()
    if box is not None and not problem.exchangeable:
        raise Refuted("a box of histograms bounds nothing when the order of respondents matters", "a box")
    check_summary(summary, problem.universe, problem.neighbours)
    inner = state_space(problem.universe, problem.neighbours, summary) if box is not None else space
    outside = next((name for name in inner.labels if name not in space.index), None)
    if outside is not None:
        raise Refuted("the witness's box holds a state that no database has", outside)
    inside = [space.index[name] for name in inner.labels]
    edges = frozenset((a, b) for a, b in inner.edges.tolist())
    return PullStage(belief.weights, belief.omegas, inside, edges)


def combined_actions(decisions: Sequence[Decision]) -> list[Recommendation]:
    """Every action of a single decision maker, or every tuple of several decision makers' actions."""
    lists = [list(decision.choices) for decision in decisions]
    return list(lists[0]) if len(lists) == 1 else list(product(*lists))


Regrets = dict[Fraction, tuple[list[int], int]]
"""For each value of the statistic, numbers for each action as whole ones over one denominator."""


def regrets_of(decisions: Sequence[Decision], omegas: Sequence[Fraction]) -> tuple[Regrets, dict[Fraction, Fraction]]:
    """ℓ(a, ω) − min ℓ of every combined action, and min ℓ, for each value of the statistic."""
    count = prod(len(d.actions) for d in decisions if isinstance(d.actions, (ListedActions, NamedActions)))
    if count * len(omegas) > MOST_REGRETS:
        raise TooLarge(
            "There are too many combinations of actions and values of the statistic to check a bound",
            size=f"{count * len(omegas):,}",
            fits=f"{MOST_REGRETS:,}",
            remedy="list fewer actions",
        )
    ask(count * len(omegas), MOST_REGRETS)
    lists = [list(d.choices) for d in decisions]
    rows = [decision.payoff_rows(actions, omegas) for decision, actions in zip(decisions, lists, strict=True)]
    regrets: Regrets = {}
    least: dict[Fraction, Fraction] = {}
    for k, omega in enumerate(omegas):
        total, unit, floor = [0], 1, Fraction(0)
        for decision, table in zip(decisions, rows, strict=True):
            payoffs, each = table[k]
            best, weight = max(payoffs), decision.weight
            if best:
                floor -= weight * Fraction(best, each)
            each *= weight.denominator
            common = lcm(unit, each)
            step, before = weight.numerator * (common // each), common // unit
            over = [step * (best - payoff) for payoff in payoffs]
            total, unit = [t * before + x for t in total for x in over], common
        regrets[omega], least[omega] = (total, unit), floor
    return regrets, least


def over_actions(
    decisions: Sequence[Decision], stage: PullStage, regrets: Regrets, pulls: Sequence[Pull], looks: Looks | None = None
) -> Fraction:
    """Σ over box states of min_a [π·regret − Gᵀf]; a state of no multipliers contributes zero."""
    actions = combined_actions(decisions)
    by_action = {pull.action: pull for pull in pulls}
    if len(by_action) != len(pulls) or not by_action.keys() <= set(actions):
        raise Refuted("the witness repeats an action or names one that the problem does not have", "actions")
    looks = looks or Looks()
    looks.begin(len(actions), len(stage.inside))
    each_action = [by_action.get(action, Pull(action, {})) for action in actions]
    tables = [pull.at for pull in each_action]
    (parts,) = {pull.unit for pull in pulls} or {1}
    masses = [rounded_parts(stage.masses[state]) for state in stage.inside]
    held = [regrets[stage.omegas[state]] for state in stage.inside]
    rough = {id(row): np.array([r / unit for r in row]) for row, unit in {id(row): (row, unit) for row, unit in held}.values()}
    totals: dict[int, Fraction | int] = {}
    for h, ((row, unit), pulled) in enumerate(zip(held, columns(each_action, len(masses)), strict=True)):
        weighted = rough[id(row)] * (masses[h] / (1 << PRIOR_BITS))
        size = float((weighted + np.abs(pulled)).max())
        looks.closely(len(near := contenders(weighted - pulled, size)), cost=1)
        # in parts of 2^−B·unit·parts everything is whole
        mass, each = masses[h] * parts, unit << PRIOR_BITS
        least = min(mass * row[i] - each * tables[i].get(h, 0) for i in near)
        totals[unit] = totals.get(unit, 0) + least
    return sum((Fraction(total) / ((unit << PRIOR_BITS) * parts) for unit, total in totals.items()), Fraction(0))
