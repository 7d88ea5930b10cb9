"""The desk: questions wait in lanes, workers answer them, pages listen.

A lane has so many workers and so many places to wait. `quick` questions (a reading, a check of a form) never wait behind `long`
ones (a design), and `background` ones (a point of a frontier that somebody looks at) give way to both. A worker that takes longer
than its time, or more memory than it may, is ended and replaced; the question fails in words. What was asked is on disk before it
waits, so that a server that starts again can say what was lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, TooLarge
from discreet.web.keeping import ANSWERED, FINISHED, Shelf, read_json, write_json

LONGEST_LINE = 64 << 20
MOST_EVENTS = 600
GIVING_WAY = 10
"""How nice the workers in the background are."""
LOST = "The server ended while this was waiting or being worked on."
KILLED = "This took longer than its time and was ended."


@dataclass(frozen=True)
class Limits:
    """What one server lets its users take."""

    workers: int = 2
    waiting: int = 20
    seconds: float = 120.0
    grace: float = 60.0
    quick_seconds: float = 60.0
    memory: int = 4 << 30
    body: int = 1 << 20
    kept: int = 20_000
    """Answers that may lie on the shelf; old ones are for people to clear away."""
    points: int = 24
    """Points of a frontier that are solved without being asked for."""
    patience: float = 8.0
    """Seconds that a page waits for a quick answer before it shows itself without."""


@dataclass(eq=False)
class Job:
    """One question on its way."""

    name: str
    kind: str
    arguments: Mapping[str, Any]
    folder: Path | None
    seconds: float
    state: str = "queued"
    words: str = ""
    refused: bool = False
    result: Any = None
    events: list[dict[str, Any]] = field(default_factory=list)
    stopping: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in FINISHED

    def tell(self, **changes: Any) -> None:
        """Change, and wake whoever listens."""
        for name, value in changes.items():
            setattr(self, name, value)
        self.changed.set()
        self.changed = asyncio.Event()

    def save(self) -> None:
        """Write the state beside the question."""
        if self.folder is not None:
            document = {"state": self.state, "words": self.words, "refused": self.refused, "events": self.events}
            write_json(self.folder / "state.json", document)


class Desk:
    """Lanes of workers over a shelf."""

    def __init__(self, shelf: Shelf, limits: Limits) -> None:
        self.shelf = shelf
        self.limits = limits
        self.jobs: dict[str, Job] = {}
        self.lost: list[str] = []
        self.lanes = {
            "long": Lane(self, limits.workers, limits.waiting),
            "quick": Lane(self, 1, 4 * limits.waiting),
            "background": Lane(self, 1, limits.waiting, background=True),
        }

    def recover(self) -> None:
        """Say of everything that an earlier server left unfinished that it is lost."""
        for folder in self.shelf.unfinished():
            old = read_json(folder / "state.json")
            write_json(folder / "state.json", {**old, "state": "lost", "words": LOST})
            self.lost.append(folder.name)

    async def start(self) -> None:
        """Begin to answer."""
        self.recover()
        for lane in self.lanes.values():
            lane.start()

    async def close(self) -> None:
        """End every worker; what they were doing is lost, and said to be."""
        for lane in self.lanes.values():
            await lane.close()
        for job in self.jobs.values():
            if not job.finished:
                job.tell(state="lost", words=LOST)
                job.save()

    def ask(self, kind: str, arguments: Mapping[str, Any], *, lane: str, seconds: float | None = None, again: bool = False) -> Job:
        """The job of a question that is kept: a new one, or the one that is on its way or done already."""
        name, folder = self.shelf.folder(kind, arguments)
        job = self.jobs.get(name) or self._earlier(name)
        if job is not None and (not job.finished or job.state in ANSWERED or not again):
            return job
        self.lanes[lane].must_have_room()
        if not folder.exists() and sum(1 for _ in self.shelf.answers.iterdir()) >= self.limits.kept:
            raise TooLarge(
                "the shelf of this workbench is full",
                size="one more answer",
                fits=f"{self.limits.kept:,} answers",
                remedy=f"clear away old folders in {self.shelf.answers.name}/",
            )
        folder.mkdir(mode=0o700, exist_ok=True)
        write_json(folder / "question.json", {"kind": kind, "arguments": dict(arguments)})
        job = Job(name, kind, arguments, folder, self.limits.quick_seconds if seconds is None else seconds)
        self.jobs[name] = job
        job.save()
        self.lanes[lane].put(job)
        return job

    async def reply(self, kind: str, arguments: Mapping[str, Any]) -> Any:
        """The answer to a quick question that is not kept."""
        self.lanes["quick"].must_have_room()
        job = Job("", kind, arguments, None, self.limits.quick_seconds)
        self.lanes["quick"].put(job)
        await self.ended(job)
        if job.state != "done":
            raise Failed(job.words, job.refused)
        return job.result

    def job(self, name: str) -> Job:
        """The job of this name, whether it is known to this server or only to the disk."""
        found = self.jobs.get(name) or self._earlier(name)
        if found is None:
            self.shelf.found(name)
            kind, arguments = self.shelf.question(name)
            return Job(name, kind, arguments, self.shelf.found(name), 0.0, state="lost", words=LOST)
        return found

    def _earlier(self, name: str) -> Job | None:
        folder = self.shelf.answers / name
        state = read_json(folder / "state.json")
        if not state:
            return None
        kind, arguments = self.shelf.question(name)
        job = Job(name, kind, arguments, folder, 0.0, state=str(state["state"]), words=str(state.get("words", "")))
        job.events, job.refused = list(state.get("events", [])), bool(state.get("refused"))
        if job.finished:
            self.jobs[name] = job
        return job

    def stop(self, job: Job) -> None:
        """Ask for the best certified result so far; what still waits is given up."""
        if job.finished or job.stopping:
            return
        job.stopping = True
        for lane in self.lanes.values():
            lane.stop(job)
        job.tell()

    async def ended(self, job: Job, seconds: float | None = None) -> bool:
        """Wait until a job is finished, or for so long; whether it is."""
        until = None if seconds is None else time.monotonic() + seconds
        while not job.finished:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return False
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(job.changed.wait(), left)
        return True

    async def events(self, job: Job, first: int = 0) -> AsyncIterator[tuple[int, dict[str, Any]]]:
        """Everything that happens to a job, from event number `first` on, until it is finished."""
        place = first
        while True:
            changed = job.changed
            while place < len(job.events):
                yield place, job.events[place]
                place += 1
            if job.finished:
                return
            await changed.wait()


class Failed(DiscreetError):
    """A question that was not answered: refused in words, or failed."""

    def __init__(self, words: str, refused: bool) -> None:
        self.refused = refused
        super().__init__(words)


class Lane:
    """A queue with its workers."""

    def __init__(self, desk: Desk, workers: int, room: int, *, background: bool = False) -> None:
        self.desk, self.workers, self.room, self.background = desk, workers, room, background
        self.waiting: deque[Job] = deque()
        self.arrived = asyncio.Condition()
        self.tasks: list[asyncio.Task[None]] = []
        self.doing: dict[int, tuple[Job, asyncio.subprocess.Process]] = {}

    def must_have_room(self) -> None:
        """Refuse more than may wait."""
        if len(self.waiting) >= self.room:
            raise TooLarge(
                "the queue of this workbench is full",
                size=f"{len(self.waiting) + 1} questions",
                fits=f"{self.room} waiting questions",
                remedy="wait for one to end, or stop one",
            )

    def put(self, job: Job) -> None:
        """Let a job wait for a worker."""
        self.waiting.append(job)
        self._wake = asyncio.ensure_future(self._notify())

    async def _notify(self) -> None:
        async with self.arrived:
            self.arrived.notify()

    def stop(self, job: Job) -> None:
        """Stop a job here, whether it waits or is being worked on."""
        if job in self.waiting:
            self.waiting.remove(job)
            job.tell(state="failed", words="This was stopped before it began.", refused=True)
            job.save()
        for doing, process in self.doing.values():
            if doing is job and process.stdin is not None:
                process.stdin.write(b'{"stop": true}\n')

    def start(self) -> None:
        """Let the workers begin."""
        self.tasks = [asyncio.create_task(self._work(place)) for place in range(self.workers)]

    async def close(self) -> None:
        """End the workers; told again until they have, since a wait that ends just when it is cancelled can forget that it was."""
        pending = set(self.tasks)
        while pending:
            for task in pending:
                task.cancel()
            _, pending = await asyncio.wait(pending, timeout=1)

    async def _work(self, place: int) -> None:
        process: asyncio.subprocess.Process | None = None
        try:
            while True:
                if process is None and not self.background:  # warm before anybody asks; who works in the background can wait
                    process = await self._begin()
                async with self.arrived:
                    await self.arrived.wait_for(lambda: bool(self.waiting))
                    job = self.waiting.popleft()
                process = process or await self._begin()
                if not await self._answer(place, job, process):
                    await _end(process)
                    process = None
        finally:
            if process is not None:
                await _end(process)

    async def _begin(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "discreet.web.worker",
            str(self.desk.limits.memory),
            str(GIVING_WAY if self.background else 0),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LONGEST_LINE,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )

    async def _answer(self, place: int, job: Job, process: asyncio.subprocess.Process) -> bool:
        """Work on one job; whether its worker can be given another."""
        assert process.stdin is not None
        asked = {"kind": job.kind, "arguments": dict(job.arguments), "folder": None if job.folder is None else str(job.folder),
                 "home": str(self.desk.shelf.home)}  # fmt: skip
        job.tell(state="running")
        job.save()
        self.doing[place] = (job, process)
        try:
            process.stdin.write((json.dumps({"do": asked}) + "\n").encode())
            if job.stopping:
                process.stdin.write(b'{"stop": true}\n')
            whole = await asyncio.wait_for(self._listen(job, process), job.seconds + self.desk.limits.grace)
        except TimeoutError:
            job.tell(state="failed", words=KILLED, refused=True)
            whole = False
        except (ConnectionError, ValueError):
            whole = False
        finally:
            del self.doing[place]
        if not job.finished:
            job.tell(state="failed", words="The worker ended unexpectedly; it may have needed more memory than it may take.")
        job.save()
        return whole

    async def _listen(self, job: Job, process: asyncio.subprocess.Process) -> bool:
        assert process.stdout is not None
        async for line in process.stdout:
            message = json.loads(line)
            if "event" in message:
                if len(job.events) < MOST_EVENTS:
                    job.events.append(message["event"])
                    job.tell()
            elif "done" in message:
                state = "stopped" if job.stopping else "done"
                job.tell(state=state, result=message["done"])
                return True
            elif "failed" in message:
                job.tell(state="failed", words=message["failed"], refused=bool(message["refused"]))
                return True
        return False


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()
