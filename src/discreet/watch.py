"""Watching long work: events that say how far it has come, and a way to ask it to stop.

A long function takes a `watch`. It reports an `Event` whenever it knows more (stage, value, bound, seconds)
and asks `cancelled()` at points where it could stop; when told so it returns the best certified result so
far. Events are plain frozen data, so they cross process boundaries. For a payoff, value ≤ bound always.
"""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, Protocol

__all__ = ["SILENT", "Deadline", "Event", "Interruptible", "Listening", "Silent", "Watch"]


@dataclass(frozen=True)
class Event:
    """One report: the stage of the work, the best value so far, what bounds it, and the seconds it took."""

    stage: str
    value: float | None = None
    bound: float | None = None
    seconds: float | None = None
    message: str | None = None


class Watch(Protocol):
    """What long work needs from whoever waits for it."""

    def report(
        self,
        *,
        stage: str,
        value: float | None = None,
        bound: float | None = None,
        seconds: float | None = None,
        message: str | None = None,
    ) -> None:
        """Take note of how far the work has come."""
        ...

    def cancelled(self) -> bool:
        """Whether the work should stop and return the best certified result so far."""
        ...


class Listening:
    """A watch that hears each report as one `Event`."""

    def report(
        self,
        *,
        stage: str,
        value: float | None = None,
        bound: float | None = None,
        seconds: float | None = None,
        message: str | None = None,
    ) -> None:
        """Hear it."""
        self.hear(Event(stage, value, bound, seconds, message))

    def hear(self, event: Event) -> None:
        """What is done with an event."""


@dataclass(frozen=True)
class Silent(Listening):
    """Hears nothing and never cancels: the default of every long function."""

    def cancelled(self) -> bool:
        """Never."""
        return False


SILENT = Silent()


class Deadline:
    """Cancels once `seconds` have passed since it was made, or when `inner` does; reports go to `inner`."""

    def __init__(self, seconds: float, inner: Watch = SILENT) -> None:
        self.ends = time.monotonic() + seconds
        self.inner = inner

    def report(self, **told: Any) -> None:
        """Pass the report on."""
        self.inner.report(**told)

    def cancelled(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self.ends or self.inner.cancelled()


class Interruptible:
    """Within its `with` block the first Ctrl-C asks the work to stop; the second raises `KeyboardInterrupt`.

    Outside the main thread, where Python delivers no signals, it is just `inner`.
    """

    def __init__(self, inner: Watch = SILENT) -> None:
        self.inner = inner
        self.interrupted = False
        self._previous: Any = None
        self._installed = False

    def __enter__(self) -> Interruptible:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._on_interrupt)
            self._installed = True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, self._previous)
            self._installed = False

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True

    def report(self, **told: Any) -> None:
        """Pass the report on."""
        self.inner.report(**told)

    def cancelled(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self.interrupted or self.inner.cancelled()
