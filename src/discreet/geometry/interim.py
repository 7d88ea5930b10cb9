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

from discreet.model.actions import Action, RealActions
from discreet.model.decision import Decision
from discreet.model.exact_replies import exact_payoff, exact_reply, no_closed_form
from discreet.model.replies import real_replies


@dataclass(frozen=True)
class Interim:
    """Decisions about a statistic with the given ascending values."""

    decisions: tuple[Decision, ...]
    omegas: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        for decision in self.decisions:
            if isinstance(decision.actions, RealActions) and not decision.is_loss:
                raise no_closed_form(decision)

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
                action: Action = exact_reply(decision, belief, self.omegas)
                found = exact_payoff(decision, belief, self.omegas, action)
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
                actions = real_replies(decision, beliefs, omegas)
                found = -(beliefs * decision.loss.table(actions, omegas)).sum(axis=1)
            total += float(decision.weight) * found
        return total
