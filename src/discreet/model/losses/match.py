"""Naming the statistic: `match` pays 1 for the action that equals ω and 0 for every other."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.actions import Action, Actions, Choices, RealActions
from discreet.model.losses.loss import Loss, must_be_numbers


@dataclass(frozen=True)
class MatchLoss(Loss):
    """u(a, ω) = 1[a = ω]."""

    kind = "match"
    choice = "right or wrong"

    def check(self, actions: Actions) -> None:
        must_be_numbers(self, actions)
        if isinstance(actions, RealActions):
            raise InputError(
                "match pays for naming the statistic exactly, so actions must be listed",
                found="actions = 'real'",
                allowed="'integer' or a list of numbers",
                remedy="list the values that can be named",
            )

    def payoff(self, action: Action, omega: Fraction, actions: Actions) -> Fraction:
        return Fraction(int(action == omega))

    def largest_payoff(self, omega: Fraction, actions: Choices) -> Fraction:
        return Fraction(int(omega in actions))

    def words(self) -> str:
        return "; it is judged by whether the statistic was named exactly"
