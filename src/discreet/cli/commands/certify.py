"""`discreet certify FILE [CERTIFICATE]`: the checker's verdict on every claim of a file, printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show
from discreet.cli.progress import progress
from discreet.views.view import View, told


def command(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE|DIR", help="A mechanism, family or robust file, told by its format, or a release folder."),
    ],
    certificate: Annotated[
        Path | None,
        typer.Argument(metavar="CERTIFICATE", help="A mechanism's certificate; by default the file beside it, if any."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Prove every claim of a file again, or show what refutes it.

    Privacy is decided in integers, for every output at every pair of adjacent states; value and bound are computed again
    from the certificate's witness. What the file states without a proof is named. Ends with 1 when a claim is false.

    Example: discreet certify places.mechanism.json
    """
    show(checked(file, certificate), as_json=as_json)


def checked(file: Path, certificate: Path | None = None) -> View:
    """The verdict on a file, and which files it is about."""
    from discreet import files
    from discreet.certify import verdict
    from discreet.views.verdict import verdict_view

    if file.is_dir():
        from discreet.publish.folder import mechanism_in

        file = mechanism_in(file)
    with progress() as watch:
        found = verdict.of_file(file, certificate, watch)
    about: dict[str, Path] = {}
    if isinstance(found, verdict.FamilyVerdict):
        about["family"] = file
    elif isinstance(found, verdict.RobustVerdict):
        about["robust"] = file
    else:
        about["mechanism"] = file
        beside = files.certificate_path(file) if certificate is None else certificate
        if certificate is not None or beside.exists():
            about["certificate"] = beside
    return told(about) + verdict_view(found)
