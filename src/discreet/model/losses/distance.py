"""Losses by distance, ℓ(a, ω) = ρ(ω − a) with a convex ρ that is least at 0.

`squared-error`   ρ(x) = x², best at the mean
`absolute-error`  ρ(x) = |x|, best at the median
`pinball`         ρ(x) = max(q·x, (q − 1)·x), best at the q-quantile; |x| is twice the pinball at ½

All are supermodular (SY section 5: higher actions suit higher ω), so the geometric mechanism is optimal for a count (SY Thm 3).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any, ClassVar

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.actions import Action, Actions, Choices, NamedActions
from discreet.model.losses.loss import Loss, must_be_numbers, names_refused
from discreet.numerics.exact import brief, format_exact

HALF = Fraction(1, 2)
LARGEST_SMALL = 1 << 30
"""Numbers up to this differ by no more than 2^31, and the square of that is below 2^63."""


class DistanceLoss(Loss):
    """ρ(ω − a): what remains when only the distance counts."""

    degree: ClassVar[int] = 1
    """ρ(c·x) = c^degree · ρ(x) for c ≥ 0: how a loss changes with the unit of the statistic."""
    pinballs: ClassVar[int] = 1
    """ρ = pinballs · pinball at `quantile`, for those that are best at a quantile."""

    @abstractmethod
    def of_gap(self, gap: np.ndarray) -> np.ndarray:
        """ρ(gap) in floats."""

    @abstractmethod
    def exactly(self, gap: Fraction) -> Fraction:
        """ρ(gap)."""

    def payoff(self, action: Action, omega: Fraction, actions: Actions) -> Fraction:
        if isinstance(action, str):
            raise names_refused(self)
        return -self.exactly(omega - action)

    def check(self, actions: Actions) -> None:
        must_be_numbers(self, actions)

    def table(self, actions: np.ndarray, omegas: np.ndarray) -> np.ndarray:
        return self.of_gap(omegas[None, :] - actions[:, None])

    def largest_payoff(self, omega: Fraction, actions: Choices) -> Fraction:
        if isinstance(actions, NamedActions):
            raise names_refused(self)
        right = actions.beside(omega)
        near = actions.numbers[max(right - 1, 0) : right + 1] if actions.numbers[right] != omega else (omega,)
        return max(self.payoff(a, omega, actions) for a in near)


@dataclass(frozen=True)
class SquaredLoss(DistanceLoss):
    """(ω − a)²."""

    kind = "squared-error"
    choice = "squared error"
    measure = "squared error"
    units = "units²"
    degree = 2

    def exactly(self, gap: Fraction) -> Fraction:
        return gap * gap

    def payoffs(self, chosen: Sequence[Action], omega: Fraction, actions: Actions) -> tuple[list[int], int]:
        gaps, unit = whole_gaps(chosen, omega)
        return [-gap * gap for gap in gaps], unit * unit

    def payoff_rows(self, chosen: Sequence[Action], omegas: Sequence[Fraction], actions: Actions) -> list[tuple[list[int], int]]:
        known = small_gaps(chosen, omegas)
        if known is None:
            return super().payoff_rows(chosen, omegas, actions)
        gaps, unit = known
        return [(row, unit * unit) for row in (-gaps * gaps).tolist()]

    def of_gap(self, gap: np.ndarray) -> np.ndarray:
        return gap * gap

    def words(self) -> str:
        return "; it is judged by the squared distance between the action and the statistic"


@dataclass(frozen=True)
class AbsoluteLoss(DistanceLoss):
    """|ω − a|."""

    kind = "absolute-error"
    choice = "absolute error"
    measure = "absolute error"
    units = "units"
    pinballs = 2

    @property
    def quantile(self) -> Fraction:
        return HALF

    def exactly(self, gap: Fraction) -> Fraction:
        return abs(gap)

    def payoffs(self, chosen: Sequence[Action], omega: Fraction, actions: Actions) -> tuple[list[int], int]:
        gaps, unit = whole_gaps(chosen, omega)
        return [-abs(gap) for gap in gaps], unit

    def payoff_rows(self, chosen: Sequence[Action], omegas: Sequence[Fraction], actions: Actions) -> list[tuple[list[int], int]]:
        known = small_gaps(chosen, omegas)
        if known is None:
            return super().payoff_rows(chosen, omegas, actions)
        gaps, unit = known
        return [(row, unit) for row in (-np.abs(gaps)).tolist()]

    def of_gap(self, gap: np.ndarray) -> np.ndarray:
        return np.abs(gap)

    def words(self) -> str:
        return "; it is judged by the distance between the action and the statistic"


@dataclass(frozen=True)
class PinballLoss(DistanceLoss):
    """max(q·(ω − a), (1 − q)·(a − ω)): being too low costs q a unit, too high 1 − q."""

    level: Fraction
    kind = "pinball"
    choice = "too few costs more (pinball)"

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise InputError(
                "A pinball decision needs its quantile",
                found=brief(self.level),
                allowed="a number between 0 and 1",
                remedy="set decision.quantile, for instance 0.9",
            )

    @property
    def quantile(self) -> Fraction:
        return self.level

    def exactly(self, gap: Fraction) -> Fraction:
        return max(self.level * gap, (self.level - 1) * gap)

    def of_gap(self, gap: np.ndarray) -> np.ndarray:
        return np.maximum(float(self.level) * gap, -float(1 - self.level) * gap)

    def words(self) -> str:
        q = brief(self.level)
        return f"; being too low costs {q} a unit, too high 1 − {q}"

    def document(self) -> dict[str, Any]:
        return super().document() | {"quantile": format_exact(self.level)}


def whole_gaps(chosen: Sequence[Action], omega: Fraction) -> tuple[list[int], int]:
    """ω − a for each action, as whole numbers over one denominator: fractions take ten times as long."""
    pairs = [a.as_integer_ratio() for a in chosen if isinstance(a, Fraction)]
    assert len(pairs) == len(chosen)
    unit = lcm(omega.denominator, *(bottom for _, bottom in pairs))
    whole = omega.numerator * (unit // omega.denominator)
    return [whole - top * (unit // bottom) for top, bottom in pairs], unit


def small_gaps(chosen: Sequence[Action], omegas: Sequence[Fraction]) -> tuple[np.ndarray, int] | None:
    """ω − a [value, action] over one denominator, where the square of each fits into a whole number of the machine; else None."""
    pairs = [[x.as_integer_ratio() for x in some if isinstance(x, Fraction)] for some in (chosen, omegas)]
    assert len(pairs[0]) == len(chosen)
    unit = 1
    for _, bottom in (*pairs[0], *pairs[1]):
        unit = lcm(unit, bottom)
        if unit > LARGEST_SMALL:
            return None
    wholes = [[top * (unit // bottom) for top, bottom in some] for some in pairs]
    if any(abs(whole) > LARGEST_SMALL for some in wholes for whole in some):
        return None
    a, w = (np.array(some, dtype=np.int64) for some in wholes)
    return w[:, None] - a[None, :], unit
