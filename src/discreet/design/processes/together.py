"""Designs made at the same time in one process, so that what they solve is solved together (`solver.meeting`).

Each runs in a thread of its own and comes to what it would come to alone. Where one fails, the others are told to stop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any, TypeVar

from discreet.design.solver.meeting import Meeting, Seat
from discreet.design.solver.threads import one_thread
from discreet.watch import Watch

Task = TypeVar("Task")
Result = TypeVar("Result")

LOOK_EVERY = 0.5
"""Seconds between two looks at whether whoever asked wants to stop."""


class _Stopping:
    """A watch that also cancels when one of the others has failed; reports come one at a time."""

    def __init__(self, inner: Watch) -> None:
        self.inner, self.stopped, self.speaking = inner, threading.Event(), threading.Lock()

    def report(self, **told: Any) -> None:
        with self.speaking:
            self.inner.report(**told)

    def cancelled(self) -> bool:
        return self.stopped.is_set() or self.inner.cancelled()


@one_thread()
def together(work: Callable[[Task, Watch], Result], tasks: Sequence[Task], watch: Watch) -> list[Result]:
    """`work(task, watch)` for each task, in the tasks' order; the first failure is raised once all have ended."""
    stopping, meeting = _Stopping(watch), Meeting(len(tasks))
    results: dict[int, Result] = {}
    failures: dict[int, BaseException] = {}

    def attend(number: int, seat: Seat) -> None:
        seat.take()
        try:
            results[number] = work(tasks[number], stopping)
        except BaseException as error:  # raised again where all of this was asked for
            failures[number] = error
            stopping.stopped.set()
        finally:
            seat.leave()

    threads = [
        threading.Thread(target=copy_context().run, args=(attend, number, seat), daemon=True)
        for number, seat in enumerate(meeting.seats)
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(LOOK_EVERY)
    except BaseException:
        stopping.stopped.set()
        raise
    if failures:
        raise failures[min(failures)]
    return [results[number] for number in range(len(tasks))]
