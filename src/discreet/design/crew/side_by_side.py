"""Independent pieces of work side by side on the cores, in processes of their own.

Each worker is a fresh interpreter running `worker.main`, which reads pickled tasks and answers with pickled results, so
scripts without a main guard and notebooks work too. Workers use one thread each. Cancelling passes on: pieces that have
begun return their best certified result, pieces that have not are left out (None).
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
    """A worker that could not be had, or ended before its work did."""


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
    with working_with(workers):
        count = min(workers or cores(), len(tasks))
        if count <= 1:
            return _one_after_another(work, tasks, watch, name)
    together: dict[int, list[int]] = {}
    for number in range(len(tasks)):
        together.setdefault(number if groups is None else groups[number], []).append(number)
    return _Crew(work, tasks, watch, name, list(together.values())).done(min(count, len(together)))


def _one_after_another(
    work: Callable[[Task, Watch], Result], tasks: Sequence[Task], watch: Watch, name: str
) -> list[Result | None]:
    found: list[Result | None] = []
    begun = time.monotonic()
    for number, task in enumerate(tasks, 1):
        if watch.cancelled():
            found.append(None)
            continue
        found.append(work(task, _Counting(watch, _done(number - 1, len(tasks), name, begun))))
        watch.report(stage=f"{name} {number} of {len(tasks)}")
    return found


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
        self, work: Callable[[Any, Watch], Any], tasks: Sequence[Any], watch: Watch, name: str, groups: list[list[int]]
    ) -> None:
        self.work, self.tasks, self.watch, self.name = work, tasks, watch, name
        self.waiting: Queue[list[int]] = Queue()
        for numbers in groups:
            self.waiting.put(numbers)
        self.told: Queue[tuple[str, Any, Any]] = Queue()
        self.processes: list[subprocess.Popen[bytes]] = []
        self.stopped = threading.Event()
        self.writing = threading.Lock()

    def done(self, count: int) -> list[Any]:
        """The results, once every worker has gone home."""
        threads = self._hire(count)
        found: list[Any] = [None] * len(self.tasks)
        finished, failure, begun = 0, None, time.monotonic()
        try:
            while any(thread.is_alive() for thread in threads) or not self.told.empty():
                if not self.stopped.is_set() and (self.watch.cancelled() or failure is not None):
                    self._stop()
                try:
                    kind, number, payload = self.told.get(timeout=LOOK_EVERY)
                except Empty:
                    continue
                if kind == "result":
                    found[number] = payload
                    finished += 1
                    self.watch.report(stage=f"{self.name} {finished} of {len(self.tasks)}")
                elif kind == "error":
                    failure = failure or payload
                else:
                    payload["message"] = payload.get("message") or _done(finished, len(self.tasks), self.name, begun)
                    self.watch.report(**payload)
        finally:
            self._dismiss()
        if failure is not None:
            raise failure
        return found

    def _hire(self, count: int) -> list[threading.Thread]:
        """So many workers and who speaks with each, or none."""
        try:
            for _ in range(count):
                self.processes.append(_hired(count))
            threads = [threading.Thread(target=self._attend, args=(p,), daemon=True) for p in self.processes]
            for thread in threads:
                thread.start()
        except (OSError, RuntimeError, MemoryError) as error:
            self.stopped.set()
            self._dismiss()
            raise WorkerLostError(f"no process could be had: {error}") from error
        return threads

    def _attend(self, process: subprocess.Popen[bytes]) -> None:
        """Hand one task after the other to a worker and pass on what it says."""
        try:
            while not self.stopped.is_set():
                try:
                    numbers = self.waiting.get_nowait()
                except Empty:
                    return
                for number in numbers:
                    if not self.stopped.is_set():
                        self._have_done(process, number)
        except Exception as error:  # a pipe that breaks, or something that cannot be sent or read, says so in many ways
            if not self.stopped.is_set():
                self.told.put(("error", -1, WorkerLostError(f"a worker ended early: {type(error).__name__}: {error}")))

    def _have_done(self, process: subprocess.Popen[bytes], number: int) -> None:
        """One task, until its result is there."""
        assert process.stdout is not None
        self._say(process, ("task", self.work, self.tasks[number]))
        kind = ""
        while kind not in ("result", "error"):
            kind, payload = pickle.load(process.stdout)
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
