"""`discreet serve [FOLDER]`: the workbench in the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show
from discreet.views.view import Sentence, told


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Releases and ledgers are found here; what is made is kept in its workbench/.")
    ] = Path(),
    host: Annotated[str, typer.Option(help="The address to listen on; any but a loopback one needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes any free one.")] = 8710,
    token: Annotated[str | None, typer.Option(help="The token that users need; made when the address is not loopback.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Designs that are worked on at the same time.")] = 2,
    waiting: Annotated[int, typer.Option(min=1, max=1000, help="Designs that may wait.")] = 20,
    seconds: Annotated[float, typer.Option(min=1, help="The longest search that may be asked for.")] = 120.0,
    memory: Annotated[int, typer.Option(min=256, help="Memory of one worker process, in MiB.")] = 4096,
    ledger: Annotated[list[str] | None, typer.Option(help="A ledger in a database (postgresql://…), shown to be read.")] = None,
    browser: Annotated[bool, typer.Option("--open", help="Open the address in this machine's browser.")] = False,
    as_json: Json = False,
) -> None:
    """Open the workbench: design by looking, in the browser.

    Describe a problem, watch the design, see loss, privacy, reading and wrong priors together, and leave with a mechanism, a
    certificate and a report. Nothing leaves this machine and no microdata is opened. Ctrl-C ends it; what was made is kept.

    Example: discreet serve --open
    """
    from discreet.web.desk import Limits
    from discreet.web.serving import entrance, serve

    limits = Limits(workers=workers, waiting=waiting, seconds=seconds, memory=memory << 20)
    door = entrance(host, port, token, limits)

    def ready(address: str) -> None:
        facts = {"address": address, "folder": folder, "token": door.token is not None}
        words = [Sentence(f"The workbench is open at {address}", whole=True), Sentence("Ctrl-C ends it.")]
        if door.token is not None:
            words.append(Sentence("Whoever has this address may use it; put TLS before it where others can listen.", "Mind:"))
        show(told(facts, *words), as_json=as_json)
        sys.stdout.flush()
        if browser:
            typer.launch(address)

    serve(folder, door, limits, ready, ledger or ())
