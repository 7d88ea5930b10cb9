"""A payoff by a formula in a and omega, `expression` in files. On an interval of actions it must have the form f(a) + ω·g(a)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.actions import Action, Actions, Choices, ListedActions, NamedActions, RealActions
from discreet.model.expression import Node, affine_parts, as_fraction, parse
from discreet.model.losses.loss import Loss
from discreet.numerics.exact import brief
from discreet.numerics.many_fractions import Fractions, larger
from discreet.numerics.polynomials import has_root

AT_ONCE = 20_000
"""Values of the statistic at which a payoff is computed together."""
MOST_DEGREE = 80
"""Of a payoff on an interval of actions: the signs of such polynomials are decided within a second."""


@dataclass(frozen=True)
class FormulaLoss(Loss):
    """u(a, ω) as text."""

    text: str
    kind = "expression"
    choice = "a formula"

    def __post_init__(self) -> None:
        assert self.formula is not None

    @cached_property
    def formula(self) -> Node:
        """The payoff as a tree."""
        return parse(self.text)

    @cached_property
    def parts(self) -> tuple[Node, Node] | None:
        """(f, g) of f(a) + ω·g(a), where it has that form."""
        return affine_parts(self.formula)

    def check(self, actions: Actions) -> None:
        if isinstance(actions, NamedActions) and self.formula.depends_on("a"):
            raise InputError(
                "The payoff expression computes with a, so actions must be numbers",
                found="labels",
                allowed="numbers",
                remedy="give numbers, or a payoff table",
            )
        if not isinstance(actions, RealActions):
            return
        if self.parts is None:
            raise InputError(
                "Real actions need a payoff of the form f(a) + omega*g(a)",
                found=self.text,
                allowed='for instance "-omega/a - 0.1*a"',
                remedy="list the actions, or give { from, to, step }",
            )
        if actions.lower is None or actions.upper is None:
            raise InputError(
                "Real actions of a payoff expression need their range",
                found='actions = "real"',
                allowed="actions = { from = 0.1, to = 10 }",
                remedy="give the smallest and the largest action that makes sense",
            )
        self._must_be_finite(actions.lower, actions.upper)

    def _must_be_finite(self, lower: Fraction, upper: Fraction) -> None:
        """Real actions: the payoff f(a) + ω·g(a) must have no pole in the range."""
        for part in self.parts or ():
            fraction = as_fraction(part)
            if fraction is not None and max(map(len, fraction)) > MOST_DEGREE:
                raise InputError(
                    "The payoff is a polynomial of too high a degree for real actions",
                    found=self.text,
                    allowed=f"degrees below {MOST_DEGREE}",
                    remedy="list the actions instead",
                )
            if fraction is not None and has_root(fraction[1], lower, upper):
                raise InputError(
                    "The payoff has no finite value at some action of the range",
                    found=self.text,
                    allowed="a range in which nothing is divided by zero",
                    remedy="start the range above the pole, for instance { from = 0.1, to = 10 }",
                )

    def payoff(self, action: Action, omega: Fraction, actions: Actions) -> Fraction:
        try:
            found = self.formula({"a": action, "omega": omega})
        except ZeroDivisionError:
            raise InputError(
                "The payoff divides by zero",
                found=f"a = {action if isinstance(action, str) else brief(action)}, omega = {brief(omega)}",
                allowed="actions at which the payoff is finite",
                remedy="leave this action out, for instance start actions above 0",
            ) from None
        assert isinstance(found, Fraction)
        return found

    def payoffs_along(self, action: Action, omegas: Sequence[Fraction], actions: Actions) -> list[Fraction]:
        if isinstance(action, str):
            return super().payoffs_along(action, omegas, actions)
        alone = ListedActions((action,))
        return self.largest_payoffs(omegas, alone)

    def largest_payoffs(self, omegas: Sequence[Fraction], actions: Choices) -> list[Fraction]:
        if isinstance(actions, NamedActions):
            return super().largest_payoffs(omegas, actions)
        return [best for k in range(0, len(omegas), AT_ONCE) for best in self._largest(omegas[k : k + AT_ONCE], actions)]

    def _largest(self, omegas: Sequence[Fraction], actions: ListedActions) -> list[Fraction]:
        seen = Fractions.of(omegas)
        try:
            best = reduce(larger, (self.formula({"a": a, "omega": seen}) for a in actions.numbers))
        except ZeroDivisionError:
            return super().largest_payoffs(omegas, actions)  # which says where
        return best.each() if isinstance(best, Fractions) else [best] * len(omegas)

    def table(self, actions: np.ndarray, omegas: np.ndarray) -> np.ndarray:
        found = self.formula({"a": actions[:, None], "omega": omegas[None, :]})
        return -np.broadcast_to(found, (len(actions), len(omegas)))

    def words(self) -> str:
        return f" and is paid {self.text}"

    def document(self) -> dict[str, Any]:
        return super().document() | {"payoff": self.text}
