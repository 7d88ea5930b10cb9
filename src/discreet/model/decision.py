"""Decisions: actions and a payoff u(a, ω). Losses are −u.

`squared-error` −(a−ω)²   `absolute-error` −|a−ω|   `pinball` −max(q(ω−a), (1−q)(a−ω)), optimal at the q-quantile
`match` 1[a=ω]            `table` one row for each action   `expression` a formula in a and omega

The payoff is exact at every rational action. Supermodularity (SY Thm 3: higher actions suit higher ω) is decided
exactly, with the violating quadruple when it fails. Several decision makers are decisions with weights (SY fn 12).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

from discreet.errors import InputError, TooLarge
from discreet.model.actions import Action, Actions, ListedActions, NamedActions, RealActions
from discreet.model.expression import Node, affine_parts, as_fraction, parse
from discreet.numerics.exact import brief, counted
from discreet.numerics.polynomials import has_root

LOSSES = ("squared-error", "absolute-error", "pinball")
KINDS = (*LOSSES, "match", "table", "expression")
MOST_ACTIONS = 2_000_001
MOST_DEGREE = 80
"""Of a payoff on an interval of actions: the signs of such polynomials are decided within a second."""


@dataclass(frozen=True)
class Decision:
    """What a reader of the published value does with it, and how good that turns out to be."""

    kind: str
    actions: Actions
    quantile: Fraction | None = None
    payoff_table: tuple[tuple[Fraction, ...], ...] | None = None
    payoff_columns: tuple[Fraction, ...] | None = None
    expression: str | None = None
    weight: Fraction = Fraction(1)
    name: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(
                "This kind of decision is not known", found=self.kind, allowed=KINDS, remedy="choose one of these"
            )
        if self.weight <= 0:
            raise InputError(
                "The weight of a decision must be positive", found=brief(self.weight), allowed="a number above 0",
                remedy="leave out decisions that do not count",
            )
        if self.kind == "pinball" and not (self.quantile is not None and 0 < self.quantile < 1):
            raise InputError(
                "A pinball decision needs its quantile",
                found="none" if self.quantile is None else brief(self.quantile), allowed="a number between 0 and 1",
                remedy="set decision.quantile, for instance 0.9",
            )
        if self.kind in (*LOSSES, "match") and isinstance(self.actions, NamedActions):
            raise InputError(
                f"{self.kind} compares actions with the statistic, so actions must be numbers", found="labels",
                allowed="numbers, or 'integer'", remedy="give numbers, or a payoff table",
            )
        if self.kind == "table":
            self._check_table()
        if self.kind == "expression":
            self._check_expression()
        if self.kind == "match" and isinstance(self.actions, RealActions):
            raise InputError(
                "match pays for naming the statistic exactly, so actions must be listed", found="actions = 'real'",
                allowed="'integer' or a list of numbers", remedy="list the values that can be named",
            )

    def _check_table(self) -> None:
        table, columns = self.payoff_table, self.payoff_columns
        if isinstance(self.actions, RealActions) or table is None or len(table) != len(self.actions):
            raise InputError(
                "A payoff table needs one row for each action", found=f"{len(table or ())} rows",
                allowed="as many rows as actions, which must be listed", remedy="complete decision.payoff",
            )
        widths = {len(row) for row in table}
        if len(widths) != 1 or (columns is not None and widths != {len(columns)}):
            raise InputError(
                "The rows of the payoff table need one number for each value of the statistic, ascending",
                found=f"rows of {sorted(widths)} numbers",
                allowed=f"{len(columns)} numbers" if columns is not None else "rows of the same length",
                remedy="complete decision.payoff",
            )

    def _check_expression(self) -> None:
        assert self.formula is not None
        if isinstance(self.actions, NamedActions) and self.formula.depends_on("a"):
            raise InputError(
                "The payoff expression computes with a, so actions must be numbers", found="labels",
                allowed="numbers", remedy="give numbers, or a payoff table",
            )
        if isinstance(self.actions, RealActions):
            if affine_parts(self.formula) is None:
                raise InputError(
                    "Real actions need a payoff of the form f(a) + omega*g(a)", found=self.expression,
                    allowed='for instance "-omega/a - 0.1*a"',
                    remedy="list the actions, or give { from, to, step }",
                )
            if self.actions.lower is None or self.actions.upper is None:
                raise InputError(
                    "Real actions of a payoff expression need their range", found='actions = "real"',
                    allowed="actions = { from = 0.1, to = 10 }",
                    remedy="give the smallest and the largest action that makes sense",
                )

            self._check_finite(self.actions.lower, self.actions.upper)

    def _check_finite(self, lower: Fraction, upper: Fraction) -> None:
        """Real actions: the payoff f(a) + ω·g(a) must have no pole in the range."""
        assert self.formula is not None
        for part in affine_parts(self.formula) or ():
            fraction = as_fraction(part)
            if fraction is not None and max(map(len, fraction)) > MOST_DEGREE:
                raise InputError(
                    "The payoff is a polynomial of too high a degree for real actions", found=self.expression,
                    allowed=f"degrees below {MOST_DEGREE}", remedy="list the actions instead",
                )
            if fraction is not None and has_root(fraction[1], lower, upper):
                raise InputError(
                    "The payoff has no finite value at some action of the range", found=self.expression,
                    allowed="a range in which nothing is divided by zero",
                    remedy="start the range above the pole, for instance { from = 0.1, to = 10 }",
                )

    @cached_property
    def formula(self) -> Node | None:
        """The payoff expression as a tree, for decisions of that kind."""
        return parse(self.expression or "") if self.kind == "expression" else None

    @property
    def is_loss(self) -> bool:
        return self.kind in LOSSES

    def payoff(self, action: Action, omega: Fraction) -> Fraction:
        """u(a, ω), exactly."""
        if self.kind == "table":
            assert self.payoff_table is not None and self.payoff_columns is not None
            assert not isinstance(self.actions, RealActions)
            return self.payoff_table[self.actions.position(action)][self._column[omega]]
        if self.kind == "match":
            return Fraction(int(action == omega))
        if self.kind == "expression":
            assert self.formula is not None
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
        assert isinstance(action, Fraction)
        short = omega - action
        if self.kind == "squared-error":
            return -short * short
        if self.kind == "absolute-error":
            return -abs(short)
        assert self.quantile is not None
        return -max(self.quantile * short, (self.quantile - 1) * short)

    @cached_property
    def _column(self) -> dict[Fraction, int]:
        return {omega: j for j, omega in enumerate(self.payoff_columns or ())}

    def with_columns(self, omegas: Sequence[Fraction]) -> Decision:
        """The same decision with its payoff table tied to the ascending values of the statistic."""
        if self.kind != "table":
            return self
        from dataclasses import replace

        return replace(self, payoff_columns=tuple(omegas))


def integer_actions(low: Fraction, high: Fraction) -> ListedActions:
    """The whole numbers from the statistic's smallest to its largest value, rounded outward."""
    count = ceil(high) - floor(low) + 1
    if count > MOST_ACTIONS:
        raise TooLarge(
            "There are too many whole-number actions to list", size=counted(count), fits=f"{MOST_ACTIONS:,}",
            remedy='use actions = "real", or a coarser { from, to, step }',
        )
    return ListedActions(tuple(Fraction(k) for k in range(floor(low), ceil(high) + 1)))
