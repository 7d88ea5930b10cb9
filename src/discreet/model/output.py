"""Outputs: the values that a mechanism may publish."""

from __future__ import annotations

from discreet.frozen import dataclass
from discreet.model.actions import Action


@dataclass(frozen=True)
class Output:
    """A published value and the action that it recommends (several actions for several decision makers)."""

    label: str
    action: Action | tuple[Action, ...] | None = None
