"""What a mechanism is worth: the expected payoff of following its recommended actions, from both sides.

value = Σ_h π(h) Σ_s m(s|h) u(a_s, ω_h), over histograms h when order does not matter, else over databases. Exact, except
that with more than `EXACT_STATES` states prior weights are rounded down to 2^−256 and the lost mass bounded: a bracket
far narrower than any claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from operator import mul

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.actions import Action
from discreet.model.decision import Decision
from discreet.model.mechanism import Mechanism
from discreet.model.problem import believed

EXACT_STATES = 5_000
ROUNDED = 1 << 256

Recommendation = Action | tuple[Action, ...]


@dataclass(frozen=True)
class JointLaw:
    """For each value of ω the prior mass of the states of the mechanism that go with it, as whole numbers over `unit`.

    `lost` bounds what rounding left out.
    """

    omegas: tuple[Fraction, ...]
    mass: list[dict[int, int]]
    unit: int
    lost: Fraction


def joint_law(mechanism: Mechanism) -> JointLaw:
    """How likely each state of the mechanism is together with each value of the statistic."""
    problem = mechanism.problem
    space = problem.finest()
    belief = believed(problem, space)
    vectors = np.asarray(space.vectors)
    if mechanism.summary.ordered:
        if problem.exchangeable:
            raise InputError(
                "A mechanism on whole databases is valued by a prior on databases",
                found="an exchangeable prior",
                allowed="the summary 'histogram'",
                remedy="symmetrise the mechanism first",
            )
        states = np.arange(len(space))
    else:
        if not problem.exchangeable:
            vectors = problem.people.histograms_of(vectors)
        states = mechanism.states_of(vectors)
    rounded = len(space) > EXACT_STATES
    denominator = belief.weights.denominator
    mass: list[dict[int, int]] = [{} for _ in belief.values]
    for state, column, weight in zip(states.tolist(), belief.column, belief.weights.numerators, strict=True):
        kept = weight * ROUNDED // denominator if rounded else weight
        held = mass[column]
        held[state] = held.get(state, 0) + kept
    lost = Fraction(len(space), ROUNDED) if rounded else Fraction(0)
    return JointLaw(belief.values, mass, ROUNDED if rounded else denominator, lost)


def expected_payoff(mechanism: Mechanism) -> tuple[Fraction, Fraction]:
    """Both sides of the expected payoff of following the recommended actions."""
    actions = [output.action for output in mechanism.outputs]
    law = joint_law(mechanism)
    columns, whole = integer_columns(mechanism)
    extreme = Fraction(0)
    totals: dict[int, int] = {}
    for (scaled, scale), held in zip(weighted_payoffs(mechanism.problem.decisions, actions, law.omegas), law.mass, strict=True):
        if law.lost:
            extreme = max(extreme, Fraction(max(map(abs, scaled)), scale))
        part = sum(weight * sum(map(mul, columns[state], scaled)) for state, weight in held.items())
        totals[scale] = totals.get(scale, 0) + part
    value = sum((Fraction(total, scale) for scale, total in totals.items()), Fraction(0)) / (whole * law.unit)
    return value - extreme * law.lost, value + extreme * law.lost


def weighted_payoff(decisions: Sequence[Decision], action: Recommendation | None, omega: Fraction) -> Fraction:
    """Σ_i weight_i u_i(a_i, ω) over the decision makers."""
    ((payoffs, unit),) = weighted_payoffs(decisions, [action], [omega])
    return Fraction(payoffs[0], unit)


def weighted_payoffs(
    decisions: Sequence[Decision], actions: Sequence[Recommendation | None], omegas: Sequence[Fraction]
) -> list[tuple[list[int], int]]:
    """The same for the action of each output at each value of ω, as whole numbers over one denominator."""
    each = [recommended_to(decisions, action) for action in actions]
    found: list[tuple[list[int], int]] = [([0] * len(each), 1) for _ in omegas]
    for place, decision in enumerate(decisions):
        rows = decision.payoff_rows([chosen[place] for chosen in each], omegas)
        for k, (payoffs, own) in enumerate(rows):
            total, unit = found[k]
            own *= decision.weight.denominator
            common = lcm(unit, own)
            step, before = decision.weight.numerator * (common // own), common // unit
            found[k] = [t * before + step * u for t, u in zip(total, payoffs, strict=True)], common
    return found


def recommended_to(decisions: Sequence[Decision], action: Recommendation | None) -> tuple[Action, ...]:
    """The action of one output for each decision maker; refuses outputs that recommend none, or not one to each."""
    if action is None:
        raise InputError(
            "The mechanism recommends no action for some output",
            found="an output without action",
            allowed="an action for each output",
            remedy="add the recommended actions",
        )
    each = action if isinstance(action, tuple) else (action,)
    if len(each) != len(decisions):
        raise InputError(
            "An output needs one action for each decision maker",
            found=f"{len(each)} actions",
            allowed=f"{len(decisions)}",
            remedy="complete the recommended actions",
        )
    return each


def integer_columns(mechanism: Mechanism) -> tuple[list[list[int]], int]:
    """Each state's probabilities as whole numbers [state][output] over one denominator."""
    rows, denominator = mechanism.integer_table()
    return [list(column) for column in zip(*rows, strict=True)], denominator
