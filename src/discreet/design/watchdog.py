"""Work that ends in time, whatever it calls.

Searches ask their watch whether to stop, but a call into a library asks nobody: LAPACK can iterate for ever on numbers that are not
finite. So the work runs in a thread of its own while the caller waits as long as it is allowed; then the caller goes on without it.
An exception is raised in the thread that is left behind, which ends it as soon as it is back in Python.

Work that is left behind need not be lost: on its way it hands to a `Keep` what makes a result of the best that it knows.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from math import inf
from typing import TypeVar

from discreet.design.memory import held
from discreet.design.schedule import TimeIsUpError, is_counted, time_left
from discreet.errors import TooLarge
from discreet.watch import Watch

KEPT = 2
"""Of what work knew on its way, so much is kept: the last, and what is tried if that fails."""

Result = TypeVar("Result")
Keep = Callable[[Callable[[], Result]], None]
"""Takes what makes a result of the best that is known so far, each time in the place of what it was given before."""


def forget(_: Callable[[], Result]) -> None:
    """Keeps nothing: for work that somebody waits for as long as it takes."""


class _LeftBehindError(BaseException):
    """Raised in a thread that nobody waits for any more."""


def in_time(work: Callable[[], Result], seconds: float) -> Result:
    """What the work returns or raises, if that happens within the time; where time is counted or endless, it is just done."""
    if is_counted() or seconds == inf:
        return work()
    if seconds <= 0:
        raise TimeIsUpError("the time was up before it began")
    answer: list[Result] = []
    failure: list[BaseException] = []
    done = threading.Event()

    def attempt() -> None:
        try:
            answer.append(work())
        except _LeftBehindError:
            pass
        except MemoryError as error:  # without its traceback, which would hold all that did not fit
            failure.append(MemoryError(str(error)))
        except BaseException as error:  # the caller raises it
            failure.append(error)
        finally:
            done.set()

    thread = _begun(lambda: threading.Thread(target=copy_context().run, args=(attempt,), daemon=True))
    try:
        ended = done.wait(seconds)
    except BaseException:
        _leave_behind(thread)
        raise
    if not ended:
        _leave_behind(thread)
        raise TimeIsUpError(f"the work did not end within {seconds:.0f} s")
    if failure:
        raise failure[0]
    return answer[0]


def _begun(thread: Callable[[], threading.Thread]) -> threading.Thread:
    """A thread that runs; where there is no room for its stack, a little more than is allowed, or none."""
    for _ in range(2):
        made = thread()
        try:
            made.start()
        except RuntimeError:
            held()
        else:
            return made
    raise MemoryError("there was no memory left to begin with")


def in_time_or_so_far(work: Callable[[Keep[Result]], Result], seconds: float, more: Callable[[], float]) -> Result:
    """What the work returns, or what it kept on its way, made into a result in `more` seconds; raises where it kept nothing."""
    kept: deque[Callable[[], Result]] = deque(maxlen=KEPT)
    try:
        return in_time(lambda: work(kept.append), seconds)
    except (TimeIsUpError, MemoryError, TooLarge):
        while kept:
            held()  # the machine may have refused all that is left
            with suppress(TimeIsUpError, MemoryError, TooLarge):
                return in_time(kept.pop(), more())
        raise


def while_time_lasts(work: Callable[[], Result], watch: Watch) -> Result:
    """The same until a watch ends."""
    return in_time(work, time_left(watch))


def _leave_behind(thread: threading.Thread) -> None:
    """End the thread at its next line of Python."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_LeftBehindError))
