"""Titles of axes with their units, the same in every picture."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet.model.problem import Problem
from discreet.numerics.digits import at_least, at_most

EPSILON = "privacy loss ε (nats)"
LEVELS = {"epsilon": EPSILON, "rho": "privacy loss ρ (zCDP, nats)"}
"""What a frontier runs along, by the key of its number."""


def loss_title(problem: Problem) -> str:
    """What the vertical axis measures, and in what."""
    if not _in_losses(problem):
        return "expected payoff (units of the payoff)"
    titles = {f"expected {d.loss.measure} ({d.loss.units})" for d in problem.decisions}
    return titles.pop() if len(titles) == 1 else "expected loss (units of the loss)"


def statistic_axis(values: Sequence[Fraction]) -> dict[str, Any]:
    """Settings of an axis of the statistic: whole numbers get whole ticks."""
    return {"format": "d", "tickMinStep": 1} if all(Fraction(v).denominator == 1 for v in values) else {}


def shown(problem: Problem, value: float) -> float:
    """An expected payoff as it is drawn: losses upwards for losses, payoffs otherwise."""
    return -value if _in_losses(problem) else value


def attained(problem: Problem, value: Fraction, digits: int = 4) -> str:
    """A payoff that is reached, in words: a loss is at most this, a payoff at least this."""
    return at_most(-value, digits) if _in_losses(problem) else at_least(value, digits)


def limit(problem: Problem, bound: Fraction, digits: int = 6) -> str:
    """A payoff that nobody passes, in words: no loss below this, no payoff above this."""
    return at_least(-bound, digits) if _in_losses(problem) else at_most(bound, digits)


def _in_losses(problem: Problem) -> bool:
    return all(d.is_loss for d in problem.decisions)
