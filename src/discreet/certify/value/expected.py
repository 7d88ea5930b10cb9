"""What a mechanism is worth: the expected payoff of following its recommended actions, from both sides.

value = Σ_h π(h) Σ_s m(s|h) u(a_s, ω_h), over histograms h when order does not matter, else over databases. Exact, except
that with more than `EXACT_STATES` states prior weights are rounded down to 2^−256 and the lost mass bounded: a bracket
far narrower than any claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

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
    """Prior mass of each (state of the mechanism, ω) as whole numbers over `unit`; `lost` bounds what rounding left out."""

    mass: dict[tuple[int, Fraction], int]
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
    mass: dict[tuple[int, Fraction], int] = {}
    for state, omega, weight in zip(states.tolist(), belief.omegas, belief.weights.numerators, strict=True):
        kept = weight * ROUNDED // denominator if rounded else weight
        mass[state, omega] = mass.get((state, omega), 0) + kept
    lost = Fraction(len(space), ROUNDED) if rounded else Fraction(0)
    return JointLaw(mass, ROUNDED if rounded else denominator, lost)


def expected_payoff(mechanism: Mechanism) -> tuple[Fraction, Fraction]:
    """Both sides of the expected payoff of following the recommended actions."""
    actions = [output.action for output in mechanism.outputs]
    law = joint_law(mechanism)
    columns, whole = integer_columns(mechanism)
    by_omega: dict[Fraction, list[tuple[int, int]]] = {}
    for (state, omega), weight in law.mass.items():
        by_omega.setdefault(omega, []).append((state, weight))
    total, extreme = Fraction(0), Fraction(0)
    for omega, held in by_omega.items():
        scaled, scale = weighted_payoffs(mechanism.problem.decisions, actions, omega)
        extreme = max(extreme, Fraction(max(map(abs, scaled)), scale))
        part = sum(weight * sum(w * u for w, u in zip(columns[state], scaled, strict=True)) for state, weight in held)
        total += Fraction(part, scale)
    value = total / (whole * law.unit)
    return value - extreme * law.lost, value + extreme * law.lost


def weighted_payoff(decisions: Sequence[Decision], action: Recommendation | None, omega: Fraction) -> Fraction:
    """Σ_i weight_i u_i(a_i, ω) over the decision makers."""
    payoffs, unit = weighted_payoffs(decisions, [action], omega)
    return Fraction(payoffs[0], unit)


def weighted_payoffs(
    decisions: Sequence[Decision], actions: Sequence[Recommendation | None], omega: Fraction
) -> tuple[list[int], int]:
    """The same for the action of each output, as whole numbers over one denominator."""
    each = [recommended_to(decisions, action) for action in actions]
    total, unit = [0] * len(each), 1
    for place, decision in enumerate(decisions):
        payoffs, own = decision.payoffs([chosen[place] for chosen in each], omega)
        own *= decision.weight.denominator
        common = lcm(unit, own)
        step, before = decision.weight.numerator * (common // own), common // unit
        total, unit = [t * before + step * u for t, u in zip(total, payoffs, strict=True)], common
    return total, unit


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
