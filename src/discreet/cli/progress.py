"""Progress of long work on standard error: one line that rewrites itself on a terminal, one line per stage else.

`with progress() as watch:` gives long functions a watch that tells the person what is happening and that the
first Ctrl-C stops: the best certified result so far is kept. Standard output stays for the result.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, TextIO

from discreet.model.gap import relative_gap
from discreet.watch import Event, Interruptible, Listening

if TYPE_CHECKING:
    from discreet.model.problem import Problem

QUIET_SECONDS = 0.5
"""Work that ends sooner than this is not worth a line."""
LINE_SECONDS = 5.0
"""Without a terminal that can rewrite its line, a new line comes at most this often."""


class Told(Listening):
    """A watch that writes what it hears, and nothing once it is closed: a search that was left behind may work on in its thread."""

    def __init__(self, stream: TextIO, losses: bool = False) -> None:
        self.stream = stream
        self.losses = losses
        self.rewrites = stream.isatty()
        self.started = time.monotonic()
        self.told = -LINE_SECONDS
        self.width = 0
        self.closed = False
        self.writing = threading.Lock()

    def hear(self, event: Event) -> None:
        """Write one event, if anybody has waited long enough to wonder."""
        with self.writing:
            if not self.closed:
                self._write(event)

    def _write(self, event: Event) -> None:
        elapsed = time.monotonic() - self.started
        if elapsed < QUIET_SECONDS or (not self.rewrites and elapsed - self.told < LINE_SECONDS):
            return
        self.told = elapsed
        words = line(event if event.seconds is not None else replace(event, seconds=elapsed), self.losses)
        if self.rewrites:
            self.stream.write("\r" + words.ljust(self.width))
            self.width = len(words)
        else:
            self.stream.write(words + "\n")
        self.stream.flush()

    def cancelled(self) -> bool:
        """Never by itself: Ctrl-C is heard by the `Interruptible` around it."""
        return False

    def close(self) -> None:
        """Clear the line and write no other, so that the result stands alone."""
        with self.writing:
            self.closed = True
            if self.rewrites and self.width:
                self.stream.write("\r" + " " * self.width + "\r")
                self.stream.flush()


def line(event: Event, losses: bool = False) -> str:
    """An event in words, with the relative gap when both sides are known; payoffs of losses are told as losses."""
    sign, value = (-1, "loss") if losses else (1, "value")
    parts = [event.stage]
    if event.value is not None:
        parts.append(f"{value} {sign * event.value + 0.0:.6g}")
    if event.bound is not None:
        parts.append(f"bound {sign * event.bound + 0.0:.6g}")
    if event.value is not None and event.bound is not None:
        parts.append(f"gap {abs(relative_gap(event.value, event.bound)):.1e}")
    if event.seconds is not None:
        parts.append(f"{event.seconds:.1f} s")
    if event.message:
        parts.append(event.message)
    return "  ".join(parts)


class Stoppable(Interruptible):
    """Says that Ctrl-C was heard, because the best result so far may take a moment to certify."""

    def __init__(self, told: Told) -> None:
        super().__init__(told)
        self.stream = told.stream

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        super()._on_interrupt(number, frame)
        with suppress(RuntimeError, OSError):  # a signal may arrive in the middle of another write
            self.stream.write("\nStopping with the best result so far; Ctrl-C again stops at once.\n")
            self.stream.flush()


@contextmanager
def telling(stream: TextIO | None = None) -> Iterator[Told]:
    """A watch for work that has no best result so far: it tells, and Ctrl-C ends the work as ever."""
    told = Told(sys.stderr if stream is None else stream)
    try:
        yield told
    finally:
        told.close()


@contextmanager
def progress(*problems: Problem, stream: TextIO | None = None) -> Iterator[Interruptible]:
    """A watch for work on these problems: tells on standard error, in losses where all are losses; stops at the first Ctrl-C."""
    losses = bool(problems) and all(decision.is_loss for problem in problems for decision in problem.decisions)
    told = Told(sys.stderr if stream is None else stream, losses)
    try:
        with Stoppable(told) as watch:
            yield watch
    finally:
        told.close()
