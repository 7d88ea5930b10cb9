"""Supermodularity: do higher actions suit higher values of the statistic?

u is supermodular when u(a′,ω′) + u(a,ω) ≥ u(a′,ω) + u(a,ω′) for all a < a′ and ω < ω′. For listed actions
neighbouring pairs suffice (increments add up). A loss ρ(ω−a) with ρ convex always is. For real actions and
u = f(a) + ω·g(a) it holds iff g never falls, decided by the sign of g′ as a polynomial fraction with a Sturm sequence.
Reference: SY section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InputError
from discreet.model.actions import Action, RealActions
from discreet.model.decision import Decision
from discreet.model.expression import Node, as_fraction, derivative
from discreet.numerics.polynomials import multiply, somewhere_negative


@dataclass(frozen=True)
class Quadruple:
    """a < a′ and ω < ω′ with u(a′,ω′) + u(a,ω) − u(a′,ω) − u(a,ω′) = excess < 0."""

    action: Action
    higher_action: Action
    omega: Fraction
    higher_omega: Fraction
    excess: Fraction


def supermodular_violation(decision: Decision, omegas: Sequence[Fraction]) -> Quadruple | None:
    """None when the payoff is supermodular on the ascending `omegas`, else a quadruple that shows it is not."""
    if decision.is_loss or len(omegas) < 2:
        return None
    if isinstance(decision.actions, RealActions):
        return _real_violation(decision, omegas)
    if decision.is_straight:
        omegas = (omegas[0], omegas[-1])
    previous: list[Fraction] | None = None
    before: Action | None = None
    for action in decision.actions:
        row = [decision.payoff(action, omega) for omega in omegas]
        if previous is not None and before is not None:
            for j in range(len(omegas) - 1):
                excess = row[j + 1] + previous[j] - row[j] - previous[j + 1]
                if excess < 0:
                    return Quadruple(before, action, omegas[j], omegas[j + 1], excess)
        previous, before = row, action
    return None


def _real_violation(decision: Decision, omegas: Sequence[Fraction]) -> Quadruple | None:
    (lower, upper), parts = decision.interval.ends, decision.formula.parts
    assert parts is not None
    slope = derivative(parts[1], "a")
    fraction = None if slope is None else as_fraction(slope)
    if fraction is None:
        raise InputError(
            "Whether this payoff is supermodular cannot be decided for real actions",
            found=decision.formula.text,
            allowed="payoffs made of + - * / and powers",
            remedy="list the actions instead",
        )
    top, bottom = fraction
    falls = somewhere_negative(multiply(top, bottom), lower, upper)
    if falls is None:
        return None
    pair = _falling_pair(parts[1], falls, lower, upper)
    omega, higher = omegas[0], omegas[-1]
    low, high = pair
    excess = (higher - omega) * (parts[1]({"a": high}) - parts[1]({"a": low}))
    return Quadruple(low, high, omega, higher, excess)


def _falling_pair(g: Node, around: Fraction, lower: Fraction, upper: Fraction) -> tuple[Fraction, Fraction]:
    """Two actions close to a point where g′ < 0, so close that g falls between them."""
    width = (upper - lower) / 2
    while True:
        low, high = max(lower, around - width), min(upper, around + width)
        if low < high and g({"a": high}) < g({"a": low}):
            return low, high
        width /= 2
