"""Decisions: actions and the loss by which they are judged (`losses`); the payoff is u(a, ω) = −ℓ(a, ω).

The payoff is exact at every rational action. Several decision makers are decisions with weights (SY fn 12).

Unbiased values can be added up. `unbiased = "everywhere"` asks for E[a | h] = ω(h) at every state h (by completeness the same as
being unbiased under every iid prior); `"nearby"` for E[a − ω] = 0 and Cov(a − ω, n_t) = 0 for each type t, so that a
slightly wrong prior moves totals in second order only. Either is asked beside a squared error on all real numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from discreet.errors import InputError, TooLarge
from discreet.frozen import dataclass
from discreet.model.actions import Action, Actions, Choices, ListedActions, NamedActions, RealActions
from discreet.model.losses import LOSSES, DistanceLoss, FormulaLoss, Loss, SquaredLoss
from discreet.numerics.exact import brief, counted

MOST_ACTIONS = 2_000_001
UNBIASED = ("everywhere", "nearby")


@dataclass(frozen=True)
class Decision:
    """What a reader of the published value does with it, and how good that turns out to be."""

    loss: Loss
    actions: Actions
    weight: Fraction = Fraction(1)
    name: str = ""
    unbiased: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Loss):
            raise InputError(
                "A decision is judged by a loss",
                found=repr(self.loss),
                allowed="SquaredLoss() and others of model.losses",
                remedy=f"write loss_of(kind), with one of the kinds {', '.join(LOSSES)}",
            )
        if self.weight <= 0:
            raise InputError(
                "The weight of a decision must be positive",
                found=brief(self.weight),
                allowed="a number above 0",
                remedy="leave out decisions that do not count",
            )
        self.loss.check(self.actions)
        if self.unbiased is not None:
            self._check_unbiased()

    def _check_unbiased(self) -> None:
        if self.unbiased not in UNBIASED:
            raise InputError(
                "A value is unbiased in one of two ways",
                found=repr(self.unbiased),
                allowed=UNBIASED,
                remedy="choose one, or leave decision.unbiased out",
            )
        free = isinstance(self.actions, RealActions) and self.actions.lower is None
        if not isinstance(self.loss, SquaredLoss) or not free:
            raise InputError(
                "Unbiased values are real numbers of any sign, judged by their squared error",
                found=f"decision.kind = {self.loss.kind!r}" if free else "actions that are not all real numbers",
                allowed='kind = "squared-error" with actions = "real"',
                remedy="change these, or leave decision.unbiased out",
            )

    @property
    def is_loss(self) -> bool:
        """Whether it is judged by distance, ρ(ω − a) with a convex ρ: squared, absolute or pinball error."""
        return isinstance(self.loss, DistanceLoss)

    @property
    def is_straight(self) -> bool:
        """Whether every action pays f + ω·g: then the ends of ω show the extremes, and who gains by a higher action."""
        return isinstance(self.loss, FormulaLoss) and self.loss.parts is not None

    @property
    def distance(self) -> DistanceLoss:
        """The loss, for those who serve squared, absolute and pinball errors and have refused others."""
        if not isinstance(self.loss, DistanceLoss):
            raise self._refused("squared-error, absolute-error or pinball")
        return self.loss

    @property
    def formula(self) -> FormulaLoss:
        """The loss, for those who serve payoffs by a formula and have refused others."""
        if not isinstance(self.loss, FormulaLoss):
            raise self._refused("an expression")
        return self.loss

    @property
    def interval(self) -> RealActions:
        """The actions, for those who serve real numbers and have refused lists."""
        if not isinstance(self.actions, RealActions):
            raise self._refused("real actions")
        return self.actions

    @property
    def listed(self) -> ListedActions:
        """The actions, for those who serve lists of numbers and have refused others."""
        if not isinstance(self.actions, ListedActions):
            raise self._refused("a list of numbers")
        return self.actions

    @property
    def choices(self) -> Choices:
        """The actions, for those who go through all of them and have refused intervals."""
        return self.actions if isinstance(self.actions, NamedActions) else self.listed

    def _refused(self, allowed: str) -> InputError:
        return InputError(
            "This serves decisions of another kind",
            found=f"{self.loss.kind} with {type(self.actions).__name__}",
            allowed=allowed,
            remedy="change [decision]",
        )

    def payoff(self, action: Action, omega: Fraction) -> Fraction:
        """u(a, ω), exactly."""
        return self.loss.payoff(action, omega, self.actions)

    def payoffs(self, chosen: Sequence[Action], omega: Fraction) -> tuple[list[int], int]:
        """u(a, ω) of each of these actions, exactly, as whole numbers over one denominator."""
        return self.loss.payoffs(chosen, omega, self.actions)

    def payoff_rows(self, chosen: Sequence[Action], omegas: Sequence[Fraction]) -> list[tuple[list[int], int]]:
        """The same at each of several values."""
        return self.loss.payoff_rows(chosen, omegas, self.actions)

    def payoffs_along(self, action: Action, omegas: Sequence[Fraction]) -> list[Fraction]:
        """u(a, ω) of one action at each of several values, exactly."""
        return self.loss.payoffs_along(action, omegas, self.actions)

    def tied_to(self, omegas: Sequence[Fraction]) -> Decision:
        """The same decision for a statistic with these ascending values."""
        return replace(self, loss=self.loss.tied_to(omegas))


def integer_actions(low: Fraction, high: Fraction) -> ListedActions:
    """The whole numbers from the statistic's smallest to its largest value, rounded outward."""
    count = ceil(high) - floor(low) + 1
    if count > MOST_ACTIONS:
        raise TooLarge(
            "There are too many whole-number actions to list",
            size=counted(count),
            fits=f"{MOST_ACTIONS:,}",
            remedy='use actions = "real", or a coarser { from, to, step }',
        )
    return ListedActions(tuple(Fraction(k) for k in range(floor(low), ceil(high) + 1)))
