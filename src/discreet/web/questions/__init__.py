"""What can be asked: each kind is a function in a worker that makes a view, pictures and files.

`answer(kind, …)` calls it and returns what the server keeps: the view's facts as JSON, its blocks as data, and Vega-Lite pictures.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError, InputError
from discreet.views.plain import plain
from discreet.views.view import Bars, Block, Fact, Grid, Heading, Mood, Sentence, View
from discreet.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.present.figure import Figure

KINDS = {
    "check": "problem",
    "learned": "problem",
    "design": "design",
    "family": "design",
    "report": "mechanism",
    "reading": "mechanism",
    "guarantees": "mechanism",
    "regret": "mechanism",
    "frontier": "frontier",
    "points": "frontier",
    "release": "releases",
    "table": "releases",
    "cell": "releases",
    "total": "releases",
    "ledger": "releases",
    "picture": "gallery",
}
"""Kinds of questions and the module that answers each."""

BLOCKS: dict[str, type[Block]] = {kind.__name__: kind for kind in (Sentence, Fact, Grid, Bars, Heading)}


@dataclass(frozen=True)
class Reply:
    """A view with its pictures, and what only a page needs."""

    view: View
    figures: tuple[Figure, ...] = ()
    extra: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Setting:
    """Where a question is answered: its folder (None when it is not kept), the shelf, and who watches."""

    folder: Path | None
    home: Path
    watch: Watch

    @property
    def kept(self) -> Path:
        """The folder of a question that is kept."""
        assert self.folder is not None
        return self.folder


def answer(kind: str, arguments: Mapping[str, Any], folder: Path | None, home: Path, watch: Watch) -> Any:
    """Answer one question; what is kept is written into its folder, else returned."""
    from discreet.web.keeping import write_json

    if kind not in KINDS:
        raise InputError("This cannot be asked", found=kind, allowed=sorted(KINDS), remedy="update the workbench")
    module = importlib.import_module(f"{__name__}.{KINDS[kind]}")
    function: Callable[..., Reply] = getattr(module, kind)
    found = function(Setting(folder, home, watch), **arguments)
    document = as_document(found)
    if folder is None:
        return document
    write_json(folder / "answer.json", document)
    return None


def as_document(found: Reply) -> dict[str, Any]:
    """A reply in terms of JSON."""
    return {
        "facts": plain(found.view.facts),
        "told": told_document(found.view),
        "holds": found.view.holds,
        "figures": [{"title": f.title, "alt": f.alt, "specification": plain(f.specification)} for f in found.figures],
        "extra": plain(dict(found.extra or {})),
    }


def told_document(view: View) -> list[dict[str, Any]]:
    """The blocks of a view in terms of JSON."""
    return [{"block": type(block).__name__, **asdict(block)} for block in view.told]


def blocks_of(told: Sequence[Mapping[str, Any]]) -> tuple[Block, ...]:
    """The blocks that a document holds."""
    found = []
    for item in told:
        kind: Any = BLOCKS[item["block"]]
        found.append(kind(**{name: Mood(item[name]) if name == "mood" else item[name] for name in item if name != "block"}))
    return tuple(found)


def drawn(*makers: Callable[[], Figure]) -> tuple[Figure, ...]:
    """The pictures that can be drawn; one that is too large is left out, its words are in the view."""
    found = []
    for make in makers:
        try:
            found.append(make())
        except DiscreetError:
            continue
    return tuple(found)
