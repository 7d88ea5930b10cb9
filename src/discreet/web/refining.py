"""Refining: while somebody looks at a frontier its points are solved, one at a time, wherever the loss is least known.

    L(ε) lies between the bound of the next point above and the loss of the next point below,

so between two neighbouring points as much is unknown as the loss of the left one exceeds the bound of the right one. The next point
halves the widest such step, unless a reader stands at a level that is not solved: then it is that one. Refining has a worker of its
own that gives way to all others, each problem asks for one point at a time, and it ends by itself after so many points as one
problem gets.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from discreet.errors import TooLarge
from discreet.web.bench import Bench
from discreet.web.desk import Job
from discreet.web.keeping import ANSWERED, must_be_name, read_json

FINE = 0.02
"""A frontier is fine enough when every step is at most this share of the whole fall."""
SECONDS = 60.0
"""The longest search for one point."""
FIRST = (Fraction(1), Fraction(1, 2), Fraction(2), Fraction(1, 4), Fraction(3, 2), Fraction(3), Fraction(1, 8))
"""Where a frontier begins, as multiples of the problem's own level."""

PAIRED = (Fraction(1), Fraction(1, 2), Fraction(2))
"""Where the other promise is solved as well, as multiples of the problem's own level."""

Point = Mapping[str, Any]


def kind_of(toml: str) -> str:
    """Whether a problem promises ρ, or ε like most; whether it promises anything sensible is for the reader of problems."""
    try:
        privacy = tomllib.loads(toml).get("privacy", {})
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return "epsilon"
    return "rho" if isinstance(privacy, dict) and "rho" in privacy else "epsilon"


def next_level(points: Sequence[Point], wanted: Fraction | None, most: int) -> Fraction | None:
    """The level to solve next, None when the frontier is fine enough. Points ascend; the problem's own is among them."""
    solved = [Fraction(point["level"]) for point in points]
    if wanted is not None and wanted not in solved:
        return wanted
    if len(points) >= most:
        return None
    own = next(Fraction(point["level"]) for point in points if point["own"])
    missing = next((own * share for share in FIRST if own * share not in solved), None)
    if missing is not None:
        return missing
    losses, bounds = _known(points)
    steps = [(losses[k] - bounds[k + 1], k) for k in range(len(points) - 1)]
    widest, place = max(steps)
    if widest <= FINE * (losses[0] - bounds[-1]):
        return None
    return (solved[place] + solved[place + 1]) / 2


def _known(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    """Losses and bounds after each point has borrowed: losses from below, bounds from above."""
    losses: list[float] = []
    bounds: list[float] = []
    for point in points:
        losses.append(min([point["loss"], *losses[-1:]]))
    for point in reversed(points):
        bounds.append(max([point["lower_bound"], *bounds[-1:]]))
    return losses, bounds[::-1]


class Refining:
    """The frontiers that somebody looked at, each with the task that asks for its next point."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.wanted: dict[tuple[str, str], Fraction] = {}
        self.tasks: dict[tuple[str, str], asyncio.Task[None]] = {}
        self.stopped: dict[tuple[str, str], Job] = {}
        self.alone: dict[str, str] = {}
        """Problems that nothing can be designed for under the other promise, with the reason."""
        self.changed = asyncio.Event()
        self._known: dict[tuple[str, str], tuple[list[str], list[Point]]] = {}

    def points(self, problem: str, kind: str) -> list[Point]:
        """What is solved of a problem's frontier in ε or ρ, ascending."""
        folder = self.bench.shelf.home / "points" / must_be_name(problem) / kind
        names = sorted(place.name for place in folder.glob("*.json"))
        if self._known.get((problem, kind), ([],))[0] != names:
            found = [point for name in names if (point := read_json(folder / name))]
            self._known[problem, kind] = names, sorted(found, key=lambda point: Fraction(point["level"]))
        return self._known.get((problem, kind), (names, []))[1]

    def paired(self, problem: str) -> list[str]:
        """The levels of the problem's own promise at which the other one is solved as well, ascending."""
        folder = self.bench.shelf.home / "points" / must_be_name(problem) / "beside"
        return sorted((str(read_json(place)["level"]) for place in folder.glob("*.json")), key=Fraction)

    def active(self, problem: str, kind: str) -> bool:
        """Whether more points are on their way."""
        return (problem, kind) in self.tasks

    def look(self, problem: str, kind: str, level: Fraction | None = None) -> None:
        """Somebody looks here: go on refining, unless it was stopped or has failed."""
        if level is not None:
            self.wanted[problem, kind] = level
        busy = (problem, kind) in self.tasks or (problem, kind) in self.stopped
        if not busy and self._next(problem, kind) is not None:
            self.tasks[problem, kind] = asyncio.create_task(self._refine(problem, kind))

    def again(self, problem: str, kind: str) -> None:
        """Go on, even after a stop or a failure."""
        self.stopped.pop((problem, kind), None)
        self.look(problem, kind)

    async def _refine(self, problem: str, kind: str) -> None:
        try:
            while (asked := self._next(problem, kind)) is not None:
                before = len(self.points(problem, kind))
                job = self._ask(problem, kind, asked)
                await self.bench.desk.ended(job)
                if asked.get("beside") and job.state == "failed":
                    self.alone[problem] = job.words
                elif job.state != "done" or not (asked.get("beside") or len(self.points(problem, kind)) > before):
                    self.stopped[problem, kind] = job
                    return
                self._tell()
        except TooLarge:
            return  # too much waits already; the next look tries again
        finally:
            del self.tasks[problem, kind]
            self._tell()

    def _next(self, problem: str, kind: str) -> dict[str, Any] | None:
        """What to ask for: no named level means the problem's own, which comes first; None when all is fine enough."""
        points, most = self.points(problem, kind), self.bench.desk.limits.points
        own = next((Fraction(point["level"]) for point in points if point["own"]), None)
        if own is None:
            return {"levels": []}
        wanted, paired = self.wanted.get((problem, kind)), self.paired(problem)
        level = next_level(points, wanted, most)
        here = level is not None and level == wanted
        begun = {own * share for share in FIRST} <= {Fraction(point["level"]) for point in points}
        if begun and not here and problem not in self.alone:
            missing = next((str(own * share) for share in PAIRED if str(own * share) not in paired), None)
            if missing is not None:
                return {"levels": [missing], "beside": True}
        return None if level is None else {"levels": [str(level)]}

    def _ask(self, problem: str, kind: str, asked: Mapping[str, Any]) -> Job:
        desk = self.bench.desk
        seconds = min(SECONDS, desk.limits.seconds)
        toml = self.bench.shelf.problem(problem)
        arguments = {"toml": toml, "problem": problem, "kind": kind, "seconds": seconds, **asked}
        whole = 2 * seconds if asked.get("beside") else seconds  # what stands beside a level are two points
        job = desk.ask("points", arguments, lane="background", seconds=whole)
        retried = job.finished and job.state not in ANSWERED and (problem, kind) not in self.stopped
        return desk.ask("points", arguments, lane="background", seconds=whole, again=True) if retried else job

    def _tell(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()
