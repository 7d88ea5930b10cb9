"""`discreet verify DIR`: check a release from its folder alone, and say what each check is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show
from discreet.views.view import told


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.")],
    key: Annotated[
        str | None,
        typer.Option(metavar="FINGERPRINT", help="The publisher's key fingerprint, known from elsewhere."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Verify a release from its folder alone.

    Says what is enforced, what is attested, what would be detected, and what nobody can verify.

    Example: discreet verify release-2026
    """
    from discreet.publish.verification import fingerprint_of, verified
    from discreet.views.verification import verification_view

    show(told({"release": folder}) + verification_view(verified(folder, fingerprint_of(key))), as_json=as_json)
