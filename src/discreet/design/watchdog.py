"""Work that ends in time, whatever it calls.

Searches ask their watch whether to stop, but a call into a library asks nobody: LAPACK can iterate for ever on numbers that are not
finite. So the work runs in a thread of its own while the caller waits as long as it is allowed; then the caller goes on without it.
An exception is raised in the thread that is left behind, which ends it as soon as it is back in Python.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextvars import copy_context
from math import inf
from typing import TypeVar

from discreet.design.schedule import TimeIsUpError, is_counted, time_left
from discreet.watch import Watch

Result = TypeVar("Result")


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
        except BaseException as error:  # the caller raises it
            failure.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=copy_context().run, args=(attempt,), daemon=True)
    thread.start()
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


def while_time_lasts(work: Callable[[], Result], watch: Watch) -> Result:
    """The same until a watch ends."""
    return in_time(work, time_left(watch))


def _leave_behind(thread: threading.Thread) -> None:
    """End the thread at its next line of Python."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_LeftBehindError))
