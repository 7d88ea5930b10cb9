"""The option --figure: checked before any long work, drawn after it, told in the result.

A command takes `figure: Draw = None`, calls `drawable(figure)` first and adds `drawn(picture, figure)` to its result.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.present.figure import Figure

Draw = Annotated[
    Path | None, typer.Option("--figure", metavar="FILE", help="Also draw it into a file: .svg, .png, .html or .json.")
]


def drawable(path: Path | None) -> None:
    """Refuse an ending that nothing can be drawn into, and a missing extra."""
    if path is not None:
        from discreet.present.figure import must_be_drawable

        must_be_drawable(path)


def drawn(picture: Figure, path: Path) -> dict[str, Any]:
    """Draw, and say where and what."""
    return {"figure": picture.write(path), "alt": picture.alt}


def tell_drawn(result: dict[str, Any], console: Console) -> None:
    """Where the picture lies, if there is one."""
    if "figure" in result:
        console.print(f"Drawn: {result['figure']}", soft_wrap=True)
