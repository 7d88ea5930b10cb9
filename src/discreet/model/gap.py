"""The gap: how far what is attained may be from the best possible. One definition for every claim and stopping rule.

`relative_gap` = (attained − limit)/size, where `limit` is proved to be at most any private mechanism's loss, and `size` says
what one unit of loss is worth. Losses everywhere; a payoff is a loss with its sign turned.
"""

from __future__ import annotations

from fractions import Fraction

LEAST_SIZE = Fraction(1, 10**12)


def size(loss: Fraction | float) -> Fraction | float:
    """What differences of loss are compared with: the loss itself, and never zero."""
    if isinstance(loss, Fraction):
        return max(LEAST_SIZE, abs(loss))
    return max(float(LEAST_SIZE), abs(loss))


def relative_gap(loss: Fraction | float, lower_bound: Fraction | float) -> float:
    """Between the loss attained and a lower bound on any private mechanism's: 0 when both are equal."""
    return float((loss - lower_bound) / size(loss))


def reached(loss: float, lower_bound: float, gap: float) -> bool:
    """Whether the gap is at most the one asked for."""
    return bool(loss - lower_bound <= gap * size(loss))
