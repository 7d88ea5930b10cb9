"""`discreet cite FILE`: which results a design or mechanism rests on, and how to cite them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A mechanism file.")], as_json: Json = False
) -> None:
    """Say how to cite a mechanism and the results it rests on.

    Example: discreet cite places.mechanism.json
    """
    from discreet import files
    from discreet.views.citation import citation_view

    show(citation_view(files.read_mechanism(file)), as_json=as_json)
