"""The option --figure: checked before any long work, drawn after it, told in the view.

A command takes `figure: Draw = None`, calls `drawable(figure)` first and adds `drawn(picture, figure)` to its view.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.views.view import Sentence, View, told

if TYPE_CHECKING:
    from discreet.present.figure import Figure

Draw = Annotated[
    Path | None, typer.Option("--figure", metavar="FILE", help="Also draw it into a file: .svg, .png, .html or .json.")
]


def drawable(path: Path | None) -> None:
    """Refuse an ending that nothing can be drawn into, a place that cannot be written to, and a missing extra."""
    if path is not None:
        from discreet.files.atomic import must_be_writable
        from discreet.present.figure import must_be_drawable

        must_be_writable(must_be_drawable(path))


def drawn(picture: Figure, path: Path) -> View:
    """Draw, and say where and what."""
    return told({"figure": picture.write(path), "alt": picture.alt}, Sentence(f"Drawn: {path}", whole=True))
