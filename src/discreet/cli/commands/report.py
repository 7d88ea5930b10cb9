"""`discreet report FILE|DIR`: one printable page about a mechanism or a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.keeping import writable, written
from discreet.cli.output import Json, show
from discreet.cli.progress import progress

if TYPE_CHECKING:
    pass


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE|DIR", help="A mechanism or family file, or a release folder.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="The page; by default beside it.")] = None,
    frontier: Annotated[bool, typer.Option(help="Compute and draw what accuracy costs around this ε (takes a while).")] = True,
    both: Annotated[
        bool | None,
        typer.Option("--both/--alone", help="Pure ε and ρ beside each other in that picture. Default: for a promise of ρ."),
    ] = None,
    label: Annotated[bool, typer.Option("--label", help="A one-page label with the questions of NIST SP 800-226 instead.")] = False,
    as_json: Json = False,
) -> None:
    """Write one printable page about a mechanism or a release.

    The problem in words, the design, the proof, the frontier, how to read a value, the limits, what it is not for, the citation.

    Example: discreet report places.mechanism.json -o report.html
    """
    from discreet.files.atomic import write_atomically

    writable(output)
    place = output or (file / "report.html" if file.is_dir() else file.with_suffix(".html"))
    if file.is_dir() and output is None:
        place = file.parent / f"{file.name}.{'label' if label else 'report'}.html"
    if label:
        place = place if output is not None or file.is_dir() else file.with_suffix(".label.html")
        write_label(file, place, as_json)
        return
    text = text_of(file, frontier, both)
    write_atomically(place, text.encode())
    show(written(report=place), as_json=as_json)


def write_label(file: Path, place: Path, as_json: bool) -> None:
    """The label of a mechanism file or a release folder, and its answers."""
    from discreet import files
    from discreet.files.atomic import write_atomically
    from discreet.present.label import mechanism_label, release_label
    from discreet.views.questions import answers_view

    if file.is_dir():
        text, answers = release_label(file)
    else:
        beside = files.certificate_path(file)
        certificate = files.read_certificate(beside) if beside.exists() else None
        text, answers = mechanism_label(files.read_mechanism(file), certificate)
    write_atomically(place, text.encode())
    show(answers_view(place, answers), as_json=as_json)


def text_of(file: Path, frontier: bool, both: bool | None = None) -> str:
    """The page about a mechanism file or a release folder, with what accuracy costs when that is asked for."""
    from discreet import files
    from discreet.files.artefact import read_artefact
    from discreet.files.record import record_beside
    from discreet.model.family import Family
    from discreet.present.accuracy import accuracy_section
    from discreet.present.release_report import family_report, middle_member, release_report, typical_mechanism
    from discreet.present.report import mechanism_report

    held = None if file.is_dir() else read_artefact(file)[0]
    family = held if isinstance(held, Family) else None
    mechanism = (
        typical_mechanism(file) if file.is_dir() else files.read_mechanism(file) if family is None else middle_member(family)
    )
    with progress(mechanism.problem) as watch:
        extra = [accuracy_section(mechanism.problem, watch, both=both)] if frontier else []
    if file.is_dir():
        return release_report(file, extra=extra)
    if family is not None:
        return family_report(family, extra=extra)
    beside = files.certificate_path(file)
    certificate = files.read_certificate(beside) if beside.exists() else None
    record = record_beside(file, files.mechanism_hash(mechanism))
    return mechanism_report(mechanism, certificate, record=record, extra=extra)
