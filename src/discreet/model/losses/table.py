"""A table of payoffs: one row for each action, one column for each value of the statistic, ascending."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.actions import Action, Actions, RealActions
from discreet.model.losses.loss import Loss
from discreet.numerics.exact import format_exact


@dataclass(frozen=True)
class TableLoss(Loss):
    """u(a, ω) = rows[a][ω]; `columns` are the values of ω once they are known."""

    rows: tuple[tuple[Fraction, ...], ...]
    columns: tuple[Fraction, ...] | None = None
    kind = "table"
    choice = "a table of payoffs"

    def __post_init__(self) -> None:
        widths = {len(row) for row in self.rows}
        if len(widths) != 1 or (self.columns is not None and widths != {len(self.columns)}):
            raise InputError(
                "The rows of the payoff table need one number for each value of the statistic, ascending",
                found=f"rows of {sorted(widths)} numbers",
                allowed=f"{len(self.columns)} numbers" if self.columns is not None else "rows of the same length",
                remedy="complete decision.payoff",
            )

    def check(self, actions: Actions) -> None:
        if isinstance(actions, RealActions) or len(self.rows) != len(actions):
            raise InputError(
                "A payoff table needs one row for each action",
                found=f"{len(self.rows)} rows",
                allowed="as many rows as actions, which must be listed",
                remedy="complete decision.payoff",
            )

    def payoff(self, action: Action, omega: Fraction, actions: Actions) -> Fraction:
        assert not isinstance(actions, RealActions)
        return self.rows[actions.position(action)][self._at[omega]]

    @cached_property
    def _at(self) -> dict[Fraction, int]:
        return {omega: j for j, omega in enumerate(self.columns or ())}

    def tied_to(self, omegas: Sequence[Fraction]) -> TableLoss:
        return replace(self, columns=tuple(omegas))

    def words(self) -> str:
        return "; it is judged by a table of payoffs"

    def document(self) -> dict[str, Any]:
        return super().document() | {"payoff": [[format_exact(u) for u in row] for row in self.rows]}
