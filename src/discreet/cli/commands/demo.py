"""`discreet demo [DIR]`: every finished stage of the house, run in front of you."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.output import Json, console, show


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the files are written.")] = Path(
        "discreet-demo"
    ),
    as_json: Json = False,
) -> None:
    """Run every finished stage and show what it did.

    Example: discreet demo build/demo
    """
    from discreet.cli.stages import STAGES, load

    folder.mkdir(parents=True, exist_ok=True)
    done: list[dict[str, Any]] = []
    for number, name in enumerate(STAGES, start=1):
        stage = load(name)
        started = time.perf_counter()
        result = {"stage": name, "title": stage.TITLE, **stage.run(folder)}
        result["seconds"] = round(time.perf_counter() - started, 3)
        done.append(result)
        if not as_json:
            screen = console()
            screen.print(f"\n[bold]{number}. {stage.TITLE}[/bold]  ({result['seconds']:.1f} s)")
            stage.tell(result, screen)
    show({"folder": folder, "stages": done}, as_json=as_json, person=lambda screen: tell_next(folder, screen))


def tell_next(folder: Path, screen: Any) -> None:
    """What is in the folder, and what to type next."""
    screen.print(f"\nThe files are in {folder}. Try next:", soft_wrap=True)
    for line in (
        f"discreet read {folder}/places.mechanism.json 5          # what a published 5 means",
        f"discreet design {folder}/places.toml --radius 0.05      # what if the prior is wrong",
        f"discreet verify {folder}/release                        # check the release yourself",
        "discreet new                                             # your own problem",
    ):
        screen.print(f"  {line}", soft_wrap=True)
