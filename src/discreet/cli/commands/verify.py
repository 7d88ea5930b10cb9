"""`discreet verify DIR`: check a release from its folder alone, and say what each check is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, beside, show

if TYPE_CHECKING:
    from rich.console import Console


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

    verdict = verified(folder, fingerprint_of(key))
    result: dict[str, Any] = {"release": folder, "holds": verdict.holds, "checks": verdict.checks}
    show(result, as_json=as_json, person=lambda console: tell(result, console))
    if not verdict.holds:
        raise typer.Exit(1)


def tell(result: dict[str, Any], console: Console) -> None:
    """The checks by class."""
    marks = {True: "[green]holds[/green]", False: "[red]FAILS[/red]", None: "[yellow]not shown here[/yellow]"}
    for kind in dict.fromkeys(check.kind for check in result["checks"]):
        console.print(f"[bold]{kind.capitalize()}[/bold]")
        for check in result["checks"]:
            if check.kind == kind:
                beside(console, f"  {marks[check.holds]}: ", check.words)
                if check.found and check.holds is not True:
                    console.print(f"    found: {check.found}", soft_wrap=True, markup=False)
    verdict = (
        "[green]Nothing that can be checked is wrong.[/green]"
        if result["holds"]
        else "[red]This release fails.[/red]"
    )
    console.print(verdict)
