"""Parts of one search, shared out among as many as it may have at work (`schedule.hands`).

Parts take turns: one that begins has its share of the time that is left, by the number of turns until all are done. So a search
comes to the same parts whether they are solved here or by workers, in a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any, TypeVar

from discreet.design.crew.side_by_side import WorkerLostError, side_by_side
from discreet.design.memory import words_of
from discreet.design.schedule import WORTH_A_PROCESS, Until, hands, is_counted, now, spend
from discreet.frozen import dataclass
from discreet.watch import Watch

Part = TypeVar("Part")
Result = TypeVar("Result")

SMALL = (WorkerLostError, MemoryError, RuntimeError, ImportError, OSError)
"""What is said where there is no process, or too little memory in it for work, a thread or a library."""


def hands_for(seconds: float) -> int:
    """How many work at once on parts that take so many seconds: one where that is not worth a process."""
    return hands() if seconds > WORTH_A_PROCESS else 1


def shared_out(
    work: Callable[[Part, Watch], Result],
    parts: Sequence[Part],
    watch: Watch,
    seconds: float,
    name: str,
    *,
    hands: int,
    guess: float = 0.0,
    longer: float = 1.0,
) -> list[Result | None]:
    """`work(part, watch)` for each within the time, by so many at once; None for parts that had no time, the first aside.

    Each is guessed to take so many seconds, and may take so many times its share where the others leave it. Where no process can
    be had, or its part of the memory is too small, all are done here. `work` must be a function of a module.
    """
    ends, count = now() + seconds, len(parts)
    turns = [_Turn(work, part, ends, ceil((count - k) / hands), guess, longer, k == 0) for k, part in enumerate(parts)]
    found: list[Result | None] = [None] * count
    if min(hands, count) > 1 and not is_counted():
        try:
            found = side_by_side(take, turns, watch, hands, name)
        except SMALL as error:
            watch.report(stage=name, message=f"one after the other: {words_of(error)}")
    return [take(turn, watch) if done is None else done for turn, done in zip(turns, found, strict=True)]


@dataclass(frozen=True)
class _Turn:
    """One part, when all must be done, and how many turns there are until then."""

    work: Callable[[Any, Watch], Any]
    part: Any
    ends: float
    turns: int
    guess: float
    longer: float
    first: bool


def take(turn: _Turn, watch: Watch) -> Any:
    """Do one part in its share of the time."""
    left = turn.ends - now()
    if not turn.first and (left <= 0 or watch.cancelled()):
        return None
    done = turn.work(turn.part, Until.after(min(turn.longer / turn.turns, 1.0) * left, watch))
    spend(turn.guess)
    return done
