"""`discreet report FILE|DIR`: one printable page about a mechanism or a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, show

if TYPE_CHECKING:
    from rich.console import Console


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE|DIR", help="A mechanism file or a release folder.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="The page; by default beside it.")] = None,
    as_json: Json = False,
) -> None:
    """Write one printable page about a mechanism or a release.

    The problem in words, the design, the proof, how to read a value, the limits, what it is not for, the citation.

    Example: discreet report places.mechanism.json -o report.html
    """
    from discreet.files.atomic import write_atomically

    place = output or (file / "report.html" if file.is_dir() else file.with_suffix(".html"))
    if file.is_dir() and output is None:
        place = file.parent / f"{file.name}.report.html"
    write_atomically(place, text_of(file).encode())
    result: dict[str, Any] = {"report": place}
    show(result, as_json=as_json, person=lambda console: tell(result, console))


def text_of(file: Path) -> str:
    """The page about a mechanism file or a release folder."""
    from discreet import files
    from discreet.present.release_report import release_report
    from discreet.present.report import mechanism_report

    if file.is_dir():
        return release_report(file)
    mechanism = files.read_mechanism(file)
    beside = files.certificate_path(file)
    certificate = files.read_certificate(beside) if beside.exists() else None
    return mechanism_report(mechanism, certificate)


def tell(result: dict[str, Any], console: Console) -> None:
    """Where the page is."""
    console.print(f"Written: {result['report']}", soft_wrap=True)
