"""Things that show themselves: as text when printed, as HTML in a notebook, as facts for a program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from discreet.present.blocks import html
from discreet.present.terminal import text
from discreet.views.plain import plain
from discreet.views.view import View

T = TypeVar("T")


class Shown(ABC):
    """What has a view."""

    @abstractmethod
    def view(self) -> View:
        """What there is to say, for every shell."""

    @property
    def facts(self) -> dict[str, Any]:
        """The same as plain data: what `--json` prints."""
        found: dict[str, Any] = plain(self.view().facts)
        return found

    def __str__(self) -> str:
        return text(self.view().told)

    def _repr_html_(self) -> str:
        return f"<div class='discreet'>{html(self.view().told)}</div>"


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Shown, Generic[T]):
    """An answer: the typed `result` and its view."""

    result: T
    shown: View

    def view(self) -> View:
        return self.shown

    def __repr__(self) -> str:
        return f"<answer: {type(self.result).__name__}; print it, or take .result or .facts>"
