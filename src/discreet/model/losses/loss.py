"""What every loss answers, whatever its kind.

A loss is how an action a turns out at a value ω of the statistic; payoffs are losses with their sign turned, u(a, ω) = −ℓ(a, ω).
It is exact at every rational action, and in floats for arrays of numbers. Which actions it can judge it says itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any, ClassVar

import numpy as np

from discreet.errors import InputError
from discreet.model.actions import Action, Actions, Choices, NamedActions


class Loss(ABC):
    """How actions are judged; a frozen dataclass of its parameters."""

    kind: ClassVar[str]
    """Its name in files."""
    choice: ClassVar[str]
    """What a person chooses who chooses it, in a word or two."""
    measure: ClassVar[str] = "loss"
    """What its expectation is an expectation of."""
    units: ClassVar[str] = "units of the loss"

    @property
    def quantile(self) -> Fraction | None:
        """q where the best action is a q-quantile of ω, else None."""
        return None

    @abstractmethod
    def check(self, actions: Actions) -> None:
        """Refuse actions that it cannot judge."""

    @abstractmethod
    def payoff(self, action: Action, omega: Fraction, actions: Actions) -> Fraction:
        """u(a, ω) = −ℓ(a, ω), exactly, for one of the actions."""

    def payoffs(self, chosen: Sequence[Action], omega: Fraction, actions: Actions) -> tuple[list[int], int]:
        """u(a, ω) of some of the actions, exactly, as whole numbers over one denominator."""
        found = [self.payoff(action, omega, actions) for action in chosen]
        unit = lcm(*(u.denominator for u in found))
        return [u.numerator * (unit // u.denominator) for u in found], unit

    def payoff_rows(self, chosen: Sequence[Action], omegas: Sequence[Fraction], actions: Actions) -> list[tuple[list[int], int]]:
        """The same at each of several values."""
        return [self.payoffs(chosen, omega, actions) for omega in omegas]

    def payoffs_along(self, action: Action, omegas: Sequence[Fraction], actions: Actions) -> list[Fraction]:
        """u(a, ω) of one action at each of several values, exactly."""
        return [self.payoff(action, omega, actions) for omega in omegas]

    def largest_payoff(self, omega: Fraction, actions: Choices) -> Fraction:
        """max_a u(a, ω) over listed actions."""
        return max(self.payoff(a, omega, actions) for a in actions)

    def largest_payoffs(self, omegas: Sequence[Fraction], actions: Choices) -> list[Fraction]:
        """The same at each of several values."""
        return [self.largest_payoff(omega, actions) for omega in omegas]

    @abstractmethod
    def words(self) -> str:
        """How actions are judged, as the end of a sentence about who chooses one."""

    def table(self, actions: np.ndarray, omegas: np.ndarray) -> np.ndarray:
        """ℓ [action, ω] of numbers, in floats."""
        raise InputError(
            "This loss has no formula in numbers",
            found=self.kind,
            allowed="squared, absolute or pinball error, or an expression",
            remedy="compare its payoffs one by one",
        )

    def tied_to(self, omegas: Sequence[Fraction]) -> Loss:
        """The same loss for a statistic with these ascending values."""
        return self

    def document(self) -> dict[str, Any]:
        """Its kind and parameters as they stand in files, numbers as exact text."""
        return {"kind": self.kind}


def must_be_numbers(loss: Loss, actions: Actions) -> None:
    """Refuse names where actions are compared with the statistic."""
    if isinstance(actions, NamedActions):
        raise names_refused(loss)


def names_refused(loss: Loss) -> InputError:
    return InputError(
        f"{loss.kind} compares actions with the statistic, so actions must be numbers",
        found="labels",
        allowed="numbers, or 'integer'",
        remedy="give numbers, or a payoff table",
    )
