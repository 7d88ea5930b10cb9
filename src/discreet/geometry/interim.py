"""Interim payoffs: what a decision maker with a given belief about ω can expect, v(μ) = max_a E_μ u(a, ω).

v is convex in μ. Several decision makers add up their weighted values (SY fn 12). Listed actions are compared
exactly; with real actions squared error is met by the mean (v = −variance) and the absolute and pinball losses by a
quantile, clipped to the range. Real actions of other payoffs have no closed form and are refused here.
References: SY section 2 and eq. (6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.errors import InputError
from discreet.model.actions import Action, RealActions
from discreet.model.decision import Decision


@dataclass(frozen=True)
class Interim:
    """Decisions about a statistic with the given ascending values."""

    decisions: tuple[Decision, ...]
    omegas: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        for decision in self.decisions:
            if isinstance(decision.actions, RealActions) and not decision.is_loss:
                raise InputError(
                    "The best real action of this payoff has no closed form", found=decision.expression,
                    allowed="squared, absolute or pinball loss, or listed actions",
                    remedy="list the actions, for instance { from = 0.1, to = 10, step = 0.01 }",
                )

    @cached_property
    def tables(self) -> tuple[tuple[tuple[Fraction, ...], ...] | None, ...]:
        """u [action][ω] of each decision with listed actions, None for real actions."""
        return tuple(
            None
            if isinstance(d.actions, RealActions)
            else tuple(tuple(d.payoff(a, omega) for omega in self.omegas) for a in d.actions)
            for d in self.decisions
        )

    def value(self, belief: Sequence[Fraction]) -> Fraction:
        """v(μ), exactly."""
        return self.best(belief)[0]

    def best(self, belief: Sequence[Fraction]) -> tuple[Fraction, tuple[Action, ...]]:
        """v(μ) and the best action of each decision maker, exactly."""
        total, chosen = Fraction(0), []
        for decision, table in zip(self.decisions, self.tables, strict=True):
            if table is None:
                action: Action = _best_real(decision, belief, self.omegas)
                payoffs = [decision.payoff(action, omega) for omega in self.omegas]
                found = sum((p * u for p, u in zip(belief, payoffs, strict=True)), Fraction(0))
            else:
                assert not isinstance(decision.actions, RealActions)
                values = [sum((p * u for p, u in zip(belief, row, strict=True)), Fraction(0)) for row in table]
                at = max(range(len(values)), key=values.__getitem__)
                found, action = values[at], list(decision.actions)[at]
            total += decision.weight * found
            chosen.append(action)
        return total, tuple(chosen)

    def values(self, beliefs: np.ndarray) -> np.ndarray:
        """v of each row of floating-point beliefs [belief, ω]: proposals only."""
        omegas = np.array([float(omega) for omega in self.omegas])
        total = np.zeros(len(beliefs))
        for decision, table in zip(self.decisions, self.tables, strict=True):
            if table is not None:
                payoffs = np.array([[float(u) for u in row] for row in table])
                found = (beliefs @ payoffs.T).max(axis=1)
            else:
                actions = _best_real_floats(decision, beliefs, omegas)
                gaps = omegas - actions[:, None]
                found = (beliefs * _loss_floats(decision, gaps)).sum(axis=1)
            total += float(decision.weight) * found
        return total


def _best_real(decision: Decision, belief: Sequence[Fraction], omegas: Sequence[Fraction]) -> Fraction:
    """The mean or the quantile, clipped: the loss is convex in the action, so clipping stays best."""
    if decision.kind == "squared-error":
        found = sum((p * omega for p, omega in zip(belief, omegas, strict=True)), Fraction(0))
    else:
        wanted, reached = decision.quantile or Fraction(1, 2), Fraction(0)
        found = omegas[-1]
        for p, omega in zip(belief, omegas, strict=True):
            reached += p
            if reached >= wanted:
                found = omega
                break
    actions = decision.actions
    assert isinstance(actions, RealActions)
    if actions.lower is not None:
        found = max(found, actions.lower)
    return found if actions.upper is None else min(found, actions.upper)


def _best_real_floats(decision: Decision, beliefs: np.ndarray, omegas: np.ndarray) -> np.ndarray:
    if decision.kind == "squared-error":
        found = beliefs @ omegas
    else:
        wanted = float(decision.quantile or Fraction(1, 2))
        found = omegas[np.minimum((beliefs.cumsum(axis=1) < wanted).sum(axis=1), len(omegas) - 1)]
    actions = decision.actions
    assert isinstance(actions, RealActions)
    low = -np.inf if actions.lower is None else float(actions.lower)
    high = np.inf if actions.upper is None else float(actions.upper)
    clipped: np.ndarray = np.clip(found, low, high)
    return clipped


def _loss_floats(decision: Decision, gaps: np.ndarray) -> np.ndarray:
    if decision.kind == "squared-error":
        return -gaps * gaps
    if decision.kind == "absolute-error":
        return -np.abs(gaps)
    assert decision.quantile is not None
    q = float(decision.quantile)
    return -np.maximum(q * gaps, (q - 1) * gaps)
