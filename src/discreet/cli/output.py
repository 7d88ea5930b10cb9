"""What a command prints: one JSON object for a program, or something a person wants to look at.

A command makes a view and calls `show(view, as_json=…)`. Colours and widths follow the terminal; without one the text is plain.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.errors import legible
from discreet.views.plain import json_text
from discreet.views.view import View

if TYPE_CHECKING:
    from rich.console import Console

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
"""The option every command takes: `as_json: Json = False`."""


def show(result: View | Mapping[str, Any], *, as_json: bool, person: Callable[[Console], None] | None = None) -> None:
    """Print a view as one JSON object or block by block; of a bare mapping `person` draws what a person sees."""
    if as_json:
        sys.stdout.write(json_text(result.facts if isinstance(result, View) else result) + "\n")
    elif isinstance(result, View):
        from discreet.present.terminal import draw

        draw(result.told, console())
    elif person is not None:
        person(console())
    if isinstance(result, View) and not result.holds:
        raise typer.Exit(1)


def console() -> Console:
    """A console on standard output: colours only on a terminal, paths and numbers never repainted."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=False)


def harmless(value: Any) -> Any:
    """The same with every text of it shown as text: neither markup nor control characters in it mean anything.

    For what a command draws by itself; views are drawn that way anyhow.
    """
    if isinstance(value, (str, Path)):
        from rich.markup import escape

        return escape(legible(str(value)))
    if isinstance(value, Mapping):
        return {key: harmless(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(harmless, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: harmless(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
        return dataclasses.replace(value, **fields)
    return value


def beside(console: Console, lead: str, words: str) -> None:
    """A short lead and the words beside it, which wrap under themselves."""
    from rich.table import Table

    grid = Table.grid()
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(lead, words)
    console.print(grid)
