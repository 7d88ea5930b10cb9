"""Losses: how an action turns out at a value of the statistic. Squared, absolute and pinball error, match, tables, formulas."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.errors import InputError
from discreet.model.losses.distance import AbsoluteLoss, DistanceLoss, PinballLoss, SquaredLoss
from discreet.model.losses.formula import FormulaLoss
from discreet.model.losses.loss import Loss
from discreet.model.losses.match import MatchLoss
from discreet.model.losses.table import TableLoss

LOSSES: dict[str, tuple[str | None, type[Loss]]] = {
    SquaredLoss.kind: (None, SquaredLoss),
    AbsoluteLoss.kind: (None, AbsoluteLoss),
    PinballLoss.kind: ("quantile", PinballLoss),
    MatchLoss.kind: (None, MatchLoss),
    TableLoss.kind: ("payoff", TableLoss),
    FormulaLoss.kind: ("payoff", FormulaLoss),
}
"""By their name in files: the key of their parameter there, if they have one, and their class."""


def loss_of(kind: str, *, quantile: Fraction | None = None, payoff: tuple[tuple[Fraction, ...], ...] | str | None = None) -> Loss:
    """The loss of this name with its parameter, as files state it."""
    if kind not in LOSSES:
        raise InputError("This kind of decision is not known", found=kind, allowed=list(LOSSES), remedy="choose one of these")
    key, form = LOSSES[kind]
    given: dict[str, Any] = {"quantile": quantile, "payoff": payoff}
    for other, parameter in given.items():
        if other != key and parameter is not None:
            kinds = [name for name, (wanted, _) in LOSSES.items() if wanted == other]
            raise InputError(
                f"A decision of kind {kind!r} has no {other!r}",
                found=f"decision.{other}",
                allowed=f"only for kind = {' or '.join(map(repr, kinds))}",
                remedy="remove it",
            )
    make: Callable[..., Loss] = form
    if key is None:
        return make()
    if given[key] is None:
        raise InputError(
            "The problem lacks a key", found=f"no decision.{key}", allowed=f"decision.{key} must be given", remedy="add it"
        )
    if key == "payoff" and isinstance(payoff, str) != (form is FormulaLoss):
        raise InputError(
            "decision.payoff does not fit its kind",
            found=f"kind = {kind!r}",
            allowed="a formula for 'expression', rows of numbers for 'table'",
            remedy="change the kind or the payoff",
        )
    return make(given[key])


__all__ = [
    "LOSSES",
    "AbsoluteLoss",
    "DistanceLoss",
    "FormulaLoss",
    "Loss",
    "MatchLoss",
    "PinballLoss",
    "SquaredLoss",
    "TableLoss",
    "loss_of",
]
