"""Parts of one search, shared out among as many as it may have at work (`schedule.hands`).

Parts take turns: one that begins has its share of the time that is left, by the number of turns until all are done. So a search
comes to the same parts whether they are solved here or by workers, in a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from types import NoneType
from typing import Any, TypeVar

from discreet.design.crew.side_by_side import side_by_side
from discreet.design.memory import words_of
from discreet.design.schedule import WORTH_A_PROCESS, Until, hands, is_counted, now, spend
from discreet.frozen import dataclass
from discreet.watch import Watch

Part = TypeVar("Part")
Result = TypeVar("Result")

SMALL = (MemoryError, RuntimeError, ImportError, OSError)
"""What is said where there is too little memory in a process for work, a thread or a library."""


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

    Each is guessed to take so many seconds, and may take so many times its share where the others leave it. What no process could
    do, or what did not fit in its part of the memory, is done here. `work` must be a function of a module.
    """
    ends, count = now() + seconds, len(parts)
    turns = [_Turn(work, part, ends, ceil((count - k) / hands), guess, longer, k == 0) for k, part in enumerate(parts)]
    found: list[Result | _TooSmall | None] = [None] * count
    if min(hands, count) > 1 and not is_counted():
        found = side_by_side(_take_there, turns, watch, hands, name)
    reasons = {done.words: None for done in found if isinstance(done, _TooSmall)}
    if reasons:
        watch.report(stage=name, message=f"one after the other: {'; '.join(reasons)}")
    undone = (_TooSmall, NoneType)
    return [take(turn, watch) if isinstance(done, undone) else done for turn, done in zip(turns, found, strict=True)]


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


@dataclass(frozen=True)
class _TooSmall:
    """A process had too little memory for this part."""

    words: str


def _take_there(turn: _Turn, watch: Watch) -> Any:
    """Do one part in a process of its own."""
    try:
        return take(turn, watch)
    except SMALL as error:
        return _TooSmall(words_of(error))


def take(turn: _Turn, watch: Watch) -> Any:
    """Do one part in its share of the time."""
    left = turn.ends - now()
    if not turn.first and (left <= 0 or watch.cancelled()):
        return None
    done = turn.work(turn.part, Until.after(min(turn.longer / turn.turns, 1.0) * left, watch))
    spend(turn.guess)
    return done
