"""`discreet demo [DIR]`: every finished stage of the house, run in front of you."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.output import Json, console, show
from discreet.views.view import BREAK, Block, Mood, Sentence, told


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the files are written.")] = Path("discreet-demo"),
    as_json: Json = False,
) -> None:
    """Run every finished stage and show what it did.

    Example: discreet demo build/demo
    """
    from discreet.cli.stages import STAGES, load
    from discreet.present.terminal import draw

    folder.mkdir(parents=True, exist_ok=True)
    done: list[dict[str, Any]] = []
    for number, name in enumerate(STAGES, start=1):
        stage = load(name)
        started = time.perf_counter()
        view = stage.run(folder)
        seconds = round(time.perf_counter() - started, 3)
        done.append({"stage": name, "title": stage.TITLE, **view.facts, "seconds": seconds})
        if not as_json:
            draw((BREAK, Sentence(f"({seconds:.1f} s)", f"{number}. {stage.TITLE}", Mood.STRONG), *view.told), console())
    show(told({"folder": folder, "stages": done}, BREAK, *_next(folder)), as_json=as_json)


def _next(folder: Path) -> Iterator[Block]:
    """What is in the folder, and what to type next."""
    yield Sentence(f"The files are in {folder}. Try next:", whole=True)
    for line in (
        f"discreet read {folder}/places.mechanism.json 5          # what a published 5 means",
        f"discreet design {folder}/places.toml --radius 0.05      # what if the prior is wrong",
        f"discreet verify {folder}/release                        # check the release yourself",
        "discreet new                                             # your own problem",
    ):
        yield Sentence(f"  {line}", whole=True)
