"""The entry point: finds a command, runs it, and turns whatever happens into an exit code.

A command is one file in `commands/`, named as it is typed. It defines either `command`, a function with
typer's annotations whose docstring is its help, or `group`, a `typer.Typer` with commands of its own. Command
files import heavy packages inside their functions, so that `discreet --help` answers at once.
"""

from __future__ import annotations

import atexit
import importlib
import os
import pkgutil
import sys
import threading
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from discreet import __version__
from discreet.cli import commands, failures
from discreet.errors import InputError, suggest

WAY = (
    "demo", "new", "learn", "design", "frontier", "choose", "allocate", "compare", "noise", "certify", "check", "cell-keys",
    "profile", "convert", "read", "total", "levels", "limits", "commit", "publish", "verify", "ledger", "report", "cite",
    "export", "register", "serve",
)  # fmt: skip
"""The way through the house, in which help lists the commands; others follow in the alphabet's order."""


class Commands(TyperGroup):
    """The folder `commands/` as a group: a file is loaded when its command is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Every command, in the order of the way through the house."""
        place = {name: number for number, name in enumerate(WAY)}
        return sorted(command_names(), key=lambda name: place.get(name, len(WAY)))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load one command; a word that is no command is answered with the nearest one."""
        known = command_names()
        if cmd_name in known:
            return load(cmd_name)
        near = suggest(cmd_name, known)
        raise InputError(
            f"There is no command {cmd_name!r}",
            allowed=known,
            remedy=f"Did you mean: discreet {near}?" if near else "See: discreet --help",
        )


def command_names() -> list[str]:
    """The commands as they are typed, read from the names of the files."""
    return sorted(found.name.replace("_", "-") for found in pkgutil.iter_modules(commands.__path__))


def load(name: str) -> Any:
    """The command of that name, ready for the group."""
    module = importlib.import_module(f"{commands.__name__}.{name.replace('-', '_')}")
    shell = getattr(module, "group", None)
    if shell is None:
        shell = typer.Typer(add_completion=False, rich_markup_mode=None)
        shell.command(name, context_settings=getattr(module, "SETTINGS", None))(module.command)
    loaded = typer.main.get_command(shell)
    loaded.name = name
    return loaded


app = typer.Typer(
    cls=Commands,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def discreet(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error (may hold what you typed).")] = False,
) -> None:
    """Publish statistics that are useful to those who act on them and discreet about the people in them.

    New here? Run: discreet demo
    """


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code; nothing but a debugged error escapes."""
    words, debug = _without_debug(arguments)
    with failures.told(debug=debug) as outcome:
        shell = typer.main.get_command(app)
        result = shell.main(args=words or ["--help"], prog_name="discreet", standalone_mode=False)
        outcome.code = result if isinstance(result, int) else 0
        sys.stdout.flush()
    return outcome.code


def main() -> None:
    """What the shell calls."""
    failures.open_streams()
    code = run(sys.argv[1:])
    failures.quiet_exit()
    if any(thread.daemon for thread in threading.enumerate()):
        # a search that was left behind inside a library would abort the process when Python takes its interpreter away
        atexit._run_exitfuncs()
        os._exit(code)
    raise SystemExit(code)


def _without_debug(arguments: list[str]) -> tuple[list[str], bool]:
    # --debug is understood anywhere before "--", because people add it at the end of the line that failed.
    end = arguments.index("--") if "--" in arguments else len(arguments)
    head = [word for word in arguments[:end] if word != "--debug"]
    return head + arguments[end:], len(head) < end
