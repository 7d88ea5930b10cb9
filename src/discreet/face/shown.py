"""Things that show themselves: as text when printed, as HTML in a notebook, as facts for a program, as a frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from discreet.engines.frames import frame_of
from discreet.errors import InputError
from discreet.face.columns import Columns
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

    def columns(self) -> Columns:
        """What can be made a frame, by column."""
        raise InputError(
            "This is no table",
            found=repr(self),
            allowed="a mechanism, a family, a release, answers with several rows",
            remedy="take .facts, or .result",
        )

    def table(self, kind: str = "pandas") -> Any:
        """The same as a pandas or Polars frame or an Arrow table (`kind`: pandas, polars, arrow)."""
        return frame_of(self.columns(), kind)

    def __str__(self) -> str:
        return text(self.view().told)

    def _repr_html_(self) -> str:
        return f"<div class='discreet'>{html(self.view().told)}</div>"


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Shown, Generic[T]):
    """An answer: the typed `result`, its view, and how it becomes columns if it is a table."""

    result: T
    shown: View
    tabled: Callable[[T], Columns] | None = None

    def view(self) -> View:
        return self.shown

    def columns(self) -> Columns:
        return super().columns() if self.tabled is None else self.tabled(self.result)

    def __repr__(self) -> str:
        return f"<answer: {type(self.result).__name__}; print it, or take .result or .facts>"
