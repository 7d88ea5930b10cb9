"""Best replies to a belief about the statistic, in exact numbers: a*(μ) = argmax_a Σ_ω μ(ω)·u(a, ω).

Losses are convex in the action: the best real action is the mean (squared error) or a quantile (absolute error, pinball), moved
into the range; the best listed number stands beside it. Other listed actions are compared one by one. Ties go to the smaller
(earlier) action. For many beliefs at once, in floats, see `replies`. Reference: SY eq. (1).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction

from discreet.errors import InputError
from discreet.model.actions import Action, ListedActions, RealActions
from discreet.model.decision import Decision


def exact_reply(decision: Decision, belief: Sequence[Fraction], omegas: Sequence[Fraction]) -> Action:
    """The best action under a belief over the ascending values of the statistic."""
    if isinstance(decision.actions, RealActions):
        if not decision.is_loss:
            raise no_closed_form(decision)
        return decision.actions.nearest(_target(decision, belief, omegas))
    listed: Sequence[Action] = list(decision.actions)
    if decision.is_loss and isinstance(decision.actions, ListedActions):
        numbers = decision.actions.numbers
        place = bisect_left(numbers, _target(decision, belief, omegas))
        listed = numbers[max(place - 1, 0) : place + 1]
    return max(listed, key=lambda action: exact_payoff(decision, belief, omegas, action))


def exact_payoff(decision: Decision, belief: Sequence[Fraction], omegas: Sequence[Fraction], action: Action) -> Fraction:
    """Σ_ω μ(ω)·u(a, ω)."""
    return sum((p * decision.payoff(action, w) for p, w in zip(belief, omegas, strict=True) if p), Fraction(0))


def no_closed_form(decision: Decision) -> InputError:
    """What to say about real actions of a payoff expression."""
    return InputError(
        "The best real action of this payoff has no closed form",
        found=" ".join(map(str, decision.loss.document().values())),
        allowed="squared, absolute or pinball loss, or listed actions",
        remedy="list the actions, for instance { from = 0.1, to = 10, step = 0.01 }",
    )


def _target(decision: Decision, belief: Sequence[Fraction], omegas: Sequence[Fraction]) -> Fraction:
    """The best of all real numbers for a loss by distance."""
    total = sum(belief, Fraction(0))
    if decision.loss.quantile is None:
        return sum((p * omega for p, omega in zip(belief, omegas, strict=True)), Fraction(0)) / total
    wanted, reached = decision.loss.quantile * total, Fraction(0)
    for p, omega in zip(belief, omegas, strict=True):
        reached += p
        if reached >= wanted:
            return omega
    return omegas[-1]
