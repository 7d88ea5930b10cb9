"""`discreet cite FILE`: which results a design or mechanism rests on, and how to cite them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.output import Json, show

if TYPE_CHECKING:
    from discreet.views.subject import Subject


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE|DIR", help="A mechanism or family file, or a release folder.")],
    size: Annotated[int | None, typer.Option("--size", help="For a family or a release: the size of the cells.")] = None,
    as_json: Json = False,
) -> None:
    """Say how to cite a mechanism and the results it rests on.

    Example: discreet cite places.mechanism.json
    """
    from discreet.views.citation import citation_view
    from discreet.views.subject import subject_of, subjects_of

    held = subjects_of(file)
    together = size is None and len(held) > 1 and rest_on_the_same(held)
    read = held[0].mechanism if together or len(held) == 1 else subject_of(file, size).mechanism
    show(citation_view(read, family=family_named(file) if together else None), as_json=as_json)


def family_named(place: Path) -> str:
    """The hash of the file that holds all members."""
    from discreet.files.atomic import read_bytes
    from discreet.files.canonical import document_hash, parse_json
    from discreet.publish.folder import mechanism_in

    held = mechanism_in(place) if place.is_dir() else place
    return document_hash(parse_json(read_bytes(held, held.name), held.name))


def rest_on_the_same(held: Sequence[Subject]) -> bool:
    """Whether all members cite the same results, so that any of them speaks for all."""
    return len({one.mechanism.provenance.get("theorem", "") for one in held}) == 1
