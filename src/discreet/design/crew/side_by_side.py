"""Independent pieces of work side by side on the cores, in processes of their own.

Each worker is a fresh interpreter running `worker.main`, which reads pickled tasks and answers with pickled results, so
scripts without a main guard and notebooks work too. Workers use one thread each. Cancelling passes on: pieces that have
begun return their best certified result, pieces that have not are left out (None). Where no process can be had, or one is
lost, the others go on; what nobody could do is done here.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, Queue
from typing import Any, TypeVar

from discreet.design.memory import for_workers
from discreet.design.schedule import cores, working_with
from discreet.watch import SILENT, Watch

Task = TypeVar("Task")
Result = TypeVar("Result")

LOOK_EVERY = 0.1
"""Seconds between two looks at whether the work is cancelled."""


class WorkerLostError(RuntimeError):
    """What a worker was asked, or found, cannot be sent or read."""


def side_by_side(
    work: Callable[[Task, Watch], Result],
    tasks: Sequence[Task],
    watch: Watch = SILENT,
    workers: int | None = None,
    name: str = "piece",
    groups: Sequence[int] | None = None,
) -> list[Result | None]:
    """`work(task, watch)` for each task, in the tasks' order; None for tasks that cancelling left out.

    Tasks of one group, which share what one worker remembers, are done by the same, one after the other.
    `work` must be a function of a module, since workers find it by its name. With one worker everything runs here.
    """
    found: list[Result | None] = [None] * len(tasks)
    left, begun = range(len(tasks)), time.monotonic()
    with working_with(workers):
        count = min(workers or cores(), len(tasks))
        if count <= 1:
            _one_after_another(work, tasks, left, found, watch, name, begun)
            return found
    together: dict[int, list[int]] = {}
    for number in left:
        together.setdefault(number if groups is None else groups[number], []).append(number)
    undone = _Crew(work, tasks, found, watch, name, begun).done(list(together.values()), min(count, len(together)))
    with working_with(1):
        _one_after_another(work, tasks, undone, found, watch, name, begun)
    return found


def _one_after_another(
    work: Callable[[Task, Watch], Result],
    tasks: Sequence[Task],
    numbers: Sequence[int],
    found: list[Result | None],
    watch: Watch,
    name: str,
    begun: float,
) -> None:
    """Do the tasks of these numbers here; the others are done."""
    for finished, number in enumerate(numbers, len(tasks) - len(numbers)):
        if watch.cancelled():
            return
        found[number] = work(tasks[number], _Counting(watch, _done(finished, len(tasks), name, begun)))
        watch.report(stage=f"{name} {finished + 1} of {len(tasks)}")


def _done(finished: int, count: int, name: str, begun: float) -> str | None:
    """How much of the whole is done and how long the rest takes if it goes on like this, for whoever hears about one piece."""
    if count <= 1:
        return None
    left = (time.monotonic() - begun) / finished * (count - finished) if finished else 0.0
    words = f", about {left / 60:.0f} min left" if left > 90 else f", about {left:.0f} s left" if finished else ""
    return f"{name}: {finished} of {count} done{words}"


class _Counting:
    """Adds to what a piece reports how much of the whole is done."""

    def __init__(self, inner: Watch, words: str | None) -> None:
        self.inner, self.words = inner, words

    def report(self, **told: Any) -> None:
        """Pass the report on; a message of its own comes first."""
        self.inner.report(**{**told, "message": told.get("message") or self.words})

    def cancelled(self) -> bool:
        """Whether the whole is cancelled."""
        return self.inner.cancelled()


class _Crew:
    """Workers that share one list of tasks; a thread speaks with each, the caller's thread watches."""

    def __init__(
        self,
        work: Callable[[Any, Watch], Any],
        tasks: Sequence[Any],
        found: list[Any],
        watch: Watch,
        name: str,
        begun: float,
    ) -> None:
        self.work, self.tasks, self.found, self.watch, self.name, self.begun = work, tasks, found, watch, name, begun
        self.waiting: Queue[list[int]] = Queue()
        self.told: Queue[tuple[str, Any, Any]] = Queue()
        self.processes: list[subprocess.Popen[bytes]] = []
        self.stopped = threading.Event()
        self.writing = threading.Lock()

    def done(self, groups: list[list[int]], count: int) -> list[int]:
        """Fill in what workers find, and say which tasks none of them could do, once every worker has gone home."""
        for numbers in groups:
            self.waiting.put(numbers)
        undone, failure = set(range(len(self.tasks))), None
        try:
            threads = self._hire(count)
            while any(thread.is_alive() for thread in threads) or not self.told.empty():
                if not self.stopped.is_set() and (self.watch.cancelled() or failure is not None):
                    self._stop()
                try:
                    kind, number, payload = self.told.get(timeout=LOOK_EVERY)
                except Empty:
                    continue
                if kind == "result":
                    self.found[number] = payload
                    undone.discard(number)
                    self.watch.report(stage=f"{self.name} {len(self.tasks) - len(undone)} of {len(self.tasks)}")
                elif kind == "error":
                    failure = failure or payload
                else:
                    done = _done(len(self.tasks) - len(undone), len(self.tasks), self.name, self.begun)
                    self.watch.report(**{**payload, "message": payload.get("message") or done})
        finally:
            self._dismiss()
        if failure is not None:
            raise failure
        return [] if self.stopped.is_set() else sorted(undone)

    def _hire(self, count: int) -> list[threading.Thread]:
        """As many workers as there are, up to so many, and who speaks with each."""
        threads: list[threading.Thread] = []
        try:
            for _ in range(count):
                process = _hired(count)
                self.processes.append(process)
                thread = threading.Thread(target=self._attend, args=(process,), daemon=True)
                thread.start()
                threads.append(thread)
        except (OSError, RuntimeError, MemoryError) as error:
            self._without(f"no process could be had: {error}")
        return threads

    def _without(self, reason: str) -> None:
        """Say that there is one fewer."""
        self.told.put(("event", -1, {"stage": self.name, "message": f"with fewer workers: {reason}"}))

    def _attend(self, process: subprocess.Popen[bytes]) -> None:
        """Hand one task after the other to a worker and pass on what it says; what it leaves is for the others."""
        while not self.stopped.is_set():
            try:
                numbers = self.waiting.get_nowait()
            except Empty:
                return
            for place, number in enumerate(numbers):
                if self.stopped.is_set():
                    return
                try:
                    self._have_done(process, number)
                except Exception as error:  # a pipe that breaks, or something that cannot be sent or read, says so in many ways
                    self.waiting.put(numbers[place + 1 :])
                    if not self.stopped.is_set():
                        self._without(f"one ended early, {_how(process, error)}")
                    return

    def _have_done(self, process: subprocess.Popen[bytes], number: int) -> None:
        """One task, until its result is there."""
        assert process.stdout is not None
        self._say(process, ("task", self.work, self.tasks[number]))
        kind = ""
        while kind not in ("result", "error"):
            kind, payload = pickle.load(process.stdout)
            if isinstance(payload, WorkerLostError):
                raise payload
            self.told.put((kind, number, payload))

    def _stop(self) -> None:
        """Ask for the best results so far; nothing new is begun."""
        self.stopped.set()
        for process in self.processes:
            with suppress(OSError, ValueError):
                self._say(process, ("stop", None, None))

    def _say(self, process: subprocess.Popen[bytes], message: tuple[str, Any, Any]) -> None:
        assert process.stdin is not None
        with self.writing:
            pickle.dump(message, process.stdin)
            process.stdin.flush()

    def _dismiss(self) -> None:
        """End the workers: the closed pipe tells them to go, and whoever stays is ended."""
        for process in self.processes:
            if process.stdin is not None:
                with suppress(OSError):
                    process.stdin.close()
        patience = time.monotonic() + 2.0
        for process in self.processes:
            try:
                process.wait(timeout=max(0.05, patience - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _how(process: subprocess.Popen[bytes], error: Exception) -> str:
    """In words, how a worker was lost."""
    if isinstance(error, EOFError | OSError):
        with suppress(subprocess.TimeoutExpired):
            status = process.wait(timeout=1.0)
            return f"by signal {-status}" if status < 0 else f"with {status}"
    return str(error) if isinstance(error, WorkerLostError) else f"{type(error).__name__}: {error}"


def _hired(count: int) -> subprocess.Popen[bytes]:
    """One of so many workers, that finds its modules where this process does and has its part of the memory."""
    program = f"import sys; sys.path[:] = {sys.path!r}; from discreet.design.crew.worker import main; main()"
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **single, **for_workers(count)},
        start_new_session=True,
    )
