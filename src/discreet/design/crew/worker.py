"""A worker of `side_by_side`: reads pickled tasks from standard input, writes pickled answers to standard output.

Messages in: ("task", function, argument), ("stop", None, None); a closed pipe ends the worker.
Messages out: ("event", report), ("result", value), ("error", exception).
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Callable
from queue import Queue
from typing import Any, BinaryIO

from discreet.design.crew.side_by_side import WorkerLostError
from discreet.design.memory import as_a_worker
from discreet.design.schedule import working_with
from discreet.watch import Watch


class Remote:
    """The watch of a worker: reports travel to the parent, cancelling arrives from there."""

    def __init__(self, channel: BinaryIO, stopped: threading.Event) -> None:
        self.channel, self.stopped = channel, stopped

    def report(self, **told: Any) -> None:
        """Send the report on."""
        send(self.channel, "event", told)

    def cancelled(self) -> bool:
        """Whether the parent asked to stop, or is gone."""
        return self.stopped.is_set()


def send(channel: BinaryIO, kind: str, payload: Any) -> None:
    pickle.dump((kind, payload), channel)
    channel.flush()


def serve(source: BinaryIO, channel: BinaryIO, ended: Callable[[], None] = lambda: None) -> None:
    """Do tasks until the pipe closes; `ended` is called then, in the middle of a task if there is one."""
    stopped = threading.Event()
    tasks: Queue[tuple[Any, Any] | None] = Queue()
    threading.Thread(target=_listen, args=(source, tasks, stopped, ended), daemon=True).start()
    watch = Remote(channel, stopped)
    while (task := tasks.get()) is not None:
        work, argument = task
        try:
            answer = ("result", work(argument, watch))
        except Exception as error:  # whatever it is, the parent raises it
            answer = ("error", error)
        try:
            send(channel, *answer)
        except BrokenPipeError:
            return
        except (pickle.PicklingError, TypeError, AttributeError):
            send(channel, "error", WorkerLostError(f"its {answer[0]} cannot be sent: {type(answer[1]).__name__}"))


def _listen(source: BinaryIO, tasks: Queue[tuple[Any, Any] | None], stopped: threading.Event, ended: Callable[[], None]) -> None:
    """Hear new tasks and the call to stop while the work goes on."""
    try:
        while True:
            kind, work, argument = pickle.load(source)
            if kind == "stop":
                stopped.set()
            else:
                tasks.put((work, argument))
    except (EOFError, OSError):
        # whoever asked is gone, or wants nothing more: there is nobody left to work for
        stopped.set()
        tasks.put(None)
        ended()
    except Exception as error:  # what was asked cannot be found or held here, nor can anything that follows be read
        stopped.set()
        tasks.put((_not_understood, f"{type(error).__name__}: {error}"))
        tasks.put(None)


def _not_understood(words: str, _: Watch) -> None:
    raise WorkerLostError(f"it cannot do what it was asked: {words}")


def main() -> None:
    """Keep the pipe for answers alone: whatever a library prints goes to standard error, or nowhere where that is closed."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    spoken = os.open(os.devnull, os.O_WRONLY) if sys.stderr is None else sys.stderr.fileno()
    os.dup2(spoken, sys.stdout.fileno())
    as_a_worker()
    with working_with(1):
        serve(sys.stdin.buffer, answers, ended=lambda: os._exit(0))


if __name__ == "__main__":
    main()
