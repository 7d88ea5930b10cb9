"""The gap: how far what is attained may be from the best possible. One definition for every claim and stopping rule.

    relative_gap = (attained − limit) / max(|attained|, |limit|),        0 when both are equal,

`limit` proved to be at most any private mechanism's loss. It is free of units: whoever measures losses in others finds the same
gap, for losses of 1e-30 as of 1e30. For losses, which are not negative, it is the share of the attained loss that may be
saved; it is never above 1 there, and never above 2. Losses everywhere; a payoff is a loss with its sign turned.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.numerics.digits import number_at_most

Number = Fraction | float


def size(loss: Number, lower_bound: Number = 0) -> Number:
    """What differences of loss are compared with."""
    one, two = _unsigned(loss), _unsigned(lower_bound)
    return one if one >= two else two


def _unsigned(number: Number) -> Number:
    return -number if number < 0 else number


def relative_gap(loss: Number, lower_bound: Number) -> float:
    """Between the loss attained and a lower bound on any private mechanism's: 0 when both are equal, never below the exact one."""
    if loss == lower_bound:
        return 0.0
    gap = (loss - lower_bound) / size(loss, lower_bound)
    return number_at_most(gap) if isinstance(gap, Fraction) else float(gap)


def reached(loss: float, lower_bound: float, gap: float) -> bool:
    """Whether the gap is at most the one asked for."""
    return bool(loss - lower_bound <= gap * size(loss, lower_bound))
