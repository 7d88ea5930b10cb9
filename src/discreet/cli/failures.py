"""From an error to plain words on standard error and an exit code.

| what happened | exit code |
|---|---|
| success | 0 |
| a claim was refuted, or the budget does not allow it | 1 |
| the question could not be asked: bad input, too large, a missing extra, a missing file | 2 |
| a defect of discreet itself | 70 |
| interrupted with Ctrl-C | 130 |
| the reader of our output went away | 141 |

A traceback is shown only with `--debug`. The words of an unforeseen error are not shown without it either:
they come from libraries, and may repeat data.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import current_thread, main_thread
from types import FrameType

import typer

from discreet.errors import DiscreetError, legible, stopped

DEFECT = 70
INTERRUPTED = 130
BROKEN_PIPE = 141


@dataclass
class Ending:
    """The exit code of a command line, filled in while it runs; whether Ctrl-C was heard, and whether it is too late for one."""

    code: int = 0
    interrupted: bool = False
    over: bool = False


@contextmanager
def told(*, debug: bool = False) -> Iterator[Ending]:
    """Run the block; say in plain words what went wrong, and keep the exit code in the outcome."""
    outcome = Ending()
    with _listening(outcome):
        try:
            try:
                yield outcome
            finally:
                outcome.over = True
            if outcome.code == INTERRUPTED:
                _say("Interrupted.")
        except typer.Exit as ended:
            outcome.code = ended.exit_code
        except (KeyboardInterrupt, typer.Abort):
            _say("Interrupted.")
            outcome.code = INTERRUPTED
        except BrokenPipeError:
            outcome.code = BROKEN_PIPE
        except SystemExit as ended:
            # The parser ends the process itself after completion scripts and after a broken pipe.
            broken = isinstance(ended.__context__, BrokenPipeError)
            outcome.code = BROKEN_PIPE if broken else int(ended.code or 0)
        except Exception as error:
            if debug:
                traceback.print_exc(file=sys.stderr)
            # libraries turn Ctrl-C into errors of their own
            words, outcome.code = ("Interrupted.", INTERRUPTED) if outcome.interrupted else explain(error)
            _say(words)


@contextmanager
def _listening(outcome: Ending) -> Iterator[None]:
    """Remember a Ctrl-C whatever becomes of its exception, and let none disturb the last words.

    Where somebody else listens, or in a thread, nothing is changed.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler or current_thread() is not main_thread():
        yield
        return

    def heard(number: int, frame: FrameType | None) -> None:
        if not outcome.over:
            outcome.interrupted = True
            signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def explain(error: Exception) -> tuple[str, int]:
    """Words and exit code for an error."""
    if isinstance(error, DiscreetError):
        return str(error), error.exit_code
    if isinstance(error, usage_error()):
        return _usage(error), 2
    if isinstance(error, OSError):
        return _file_trouble(error), 2
    if isinstance(error, MemoryError):
        told = stopped(f" Found: {error}") if str(error) else ""
        return f"There is not enough memory for this.{told} Ask for less: fewer states, outputs or cells.", 2
    return (
        f"This is a defect of discreet itself ({type(error).__name__}), not of what you asked. "
        "Run the same line with --debug to see where, and please report it.",
        DEFECT,
    )


def open_streams() -> None:
    """Let streams that whoever started this has closed lead nowhere; the next file would otherwise be opened in their place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            with suppress(OSError):
                nowhere = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
                setattr(sys, name, os.fdopen(nowhere, "w" if number else "r", encoding="utf-8", closefd=False))


def quiet_exit() -> None:
    """Let the interpreter end without complaining about a reader that went away, and deaf to Ctrl-C: all is done and told."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (BrokenPipeError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    if current_thread() is main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def usage_error() -> type[Exception]:
    """The class of every complaint of the command-line parser (`typer.BadParameter` derives from it)."""
    return next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "UsageError")


def _usage(error: Exception) -> str:
    words = str(getattr(error, "format_message", lambda: error)()).strip()
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "discreet"
    return f"{words.rstrip('.')}. Try: {where} --help"


def _file_trouble(error: OSError) -> str:
    name = error.filename if error.filename is not None else "a file"
    reasons: dict[type[OSError], str] = {
        FileNotFoundError: f"There is no file {name}. Check the spelling and the folder you are in.",
        PermissionError: f"Reading or writing {name} is not permitted. Check who owns it.",
        IsADirectoryError: f"{name} is a folder where a file is needed. Name a file in it.",
        NotADirectoryError: f"{name} is a file where a folder is needed. Name a folder.",
    }
    for kind, words in reasons.items():
        if isinstance(error, kind):
            return words
    return f"The operating system refused {name}: {error.strerror or type(error).__name__}."


def _say(words: str) -> None:
    with suppress(BrokenPipeError, ValueError):
        print(f"discreet: {legible(words)}", file=sys.stderr, flush=True)  # noqa: T201
