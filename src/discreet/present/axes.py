"""Titles of axes with their units, the same in every picture."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet.model.problem import Problem

EPSILON = "privacy loss ε (nats)"


def loss_title(problem: Problem) -> str:
    """What the vertical axis measures, and in what."""
    if not all(d.is_loss for d in problem.decisions):
        return "expected payoff (units of the payoff)"
    titles = {f"expected {d.loss.measure} ({d.loss.units})" for d in problem.decisions}
    return titles.pop() if len(titles) == 1 else "expected loss (units of the loss)"


def statistic_axis(values: Sequence[Fraction]) -> dict[str, Any]:
    """Settings of an axis of the statistic: whole numbers get whole ticks."""
    return {"format": "d", "tickMinStep": 1} if all(Fraction(v).denominator == 1 for v in values) else {}


def shown(problem: Problem, value: float) -> float:
    """An expected payoff as it is drawn: losses upwards for losses, payoffs otherwise."""
    return -value if all(d.is_loss for d in problem.decisions) else value
