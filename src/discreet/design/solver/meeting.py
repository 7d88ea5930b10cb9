"""Where designs that are made at the same time meet to solve their programs in step (`in_step`).

Each design has a seat and runs in a thread of its own. One that needs a program solved waits until nobody is on the way any more:
everybody waits for a program or has left. Then one of those who wait solves all programs of a graph together, and all go on. What a
design gets does not depend on who else was there, so whoever waits in vain for the others loses nothing but their company.

In between one works at a time: threads that take Python from each other after every product pay for it with a tenth of their time.
A turn is a courtesy. It ends when its design asks for a program or leaves, and what comes out does not depend on it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.design.schedule import interior_seconds
from discreet.design.solver.in_step import PathAsked, interior_points
from discreet.design.solver.interior import order_of
from discreet.design.solver.layers import graph_of
from discreet.design.solver.program import Program, Solution
from discreet.design.solver.seats import take_seat
from discreet.watch import SILENT, Watch

LOOK_EVERY = 0.2
"""Seconds after which whoever waits looks again, though nobody called."""
LONGEST_TURN = 5.0
"""Seconds after which nobody waits for a turn any more: what takes so long is not slowed down by others."""
SMALL_STEP = 0.05
"""Guessed seconds of a step up to which company pays: larger programs are arithmetic, not overhead."""
MOST_BYTES = 2 << 20
"""Of the factors of programs that are solved at once: what a core keeps near itself."""


@dataclass(eq=False)
class Seat:
    """One design's place at a meeting."""

    meeting: Meeting
    asked: PathAsked | None = None
    answer: Solution | BaseException | None = None
    gone: bool = False

    def take(self) -> None:
        """Let the designs of this thread, and of those that it starts, be made in company, as soon as it is its turn."""
        take_seat(self)
        with self.meeting.told:
            self.meeting.wait_for_turn(self)

    def heard(self) -> Solution | BaseException | None:
        """What came of the program that was asked for, once that is known."""
        return self.answer

    def leave(self) -> None:
        """Nobody has to wait for this design any more."""
        with self.meeting.told:
            self.gone = True
            self.meeting.end_turn(self)

    def solve(self, program: Program, gap: float, watch: Watch | None) -> Solution:
        """The solution of a connected program, when everybody has come."""
        asked = PathAsked(program, gap, SILENT if watch is None else watch)
        if step_seconds(program) > SMALL_STEP or self.gone or self.asked is not None:
            return interior_points([asked])[0]
        return self.meeting.solve(self, asked)


class Meeting:
    """The seats of designs that are made at the same time."""

    def __init__(self, seats: int) -> None:
        self.told = threading.Condition()
        self.seats = [Seat(self) for _ in range(seats)]
        self.busy = False
        self.turn: Seat | None = None

    def wait_for_turn(self, seat: Seat) -> None:
        """Come back when nobody else works, or after a while: then both do. Called and left with the lock."""
        begun = time.monotonic()
        while self.turn is not None and self.turn is not seat:
            self.told.wait(LOOK_EVERY)
            if time.monotonic() - begun > LONGEST_TURN:
                return
        self.turn = seat

    def end_turn(self, seat: Seat) -> None:
        """Let somebody else work; called and left with the lock."""
        if self.turn is seat:
            self.turn = None
        self.told.notify_all()

    def solve(self, seat: Seat, asked: PathAsked) -> Solution:
        with self.told:
            seat.asked, seat.answer = asked, None
            in_turn = self.turn is seat
            self.end_turn(seat)
            try:
                while (answer := seat.heard()) is None:
                    if self.busy or any(one.asked is None and not one.gone for one in self.seats):
                        self.told.wait(LOOK_EVERY)
                    else:
                        self._solve_all()
            finally:
                seat.asked = None
            if in_turn:
                self.wait_for_turn(seat)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _solve_all(self) -> None:
        """Solve what everybody waits for; called and left with the lock, which is free in between."""
        waiting = [seat for seat in self.seats if seat.asked is not None and seat.answer is None]
        self.busy = True
        self.told.release()
        answers: Sequence[Solution | BaseException] = []
        try:
            answers = solved([seat.asked for seat in waiting if seat.asked is not None])
        except BaseException as error:  # everybody who waits hears of it
            answers = [error] * len(waiting)
            raise
        finally:
            self.told.acquire()
            self.busy = False
            for seat, answer in zip(waiting, answers, strict=False):
                seat.answer = answer
            self.told.notify_all()


def solved(asked: list[PathAsked]) -> list[Solution]:
    """The solutions of programs, those on one graph in step, as many at once as stay near the core."""
    groups: dict[tuple[bytes, bytes], list[int]] = {}
    for number, one in enumerate(asked):
        groups.setdefault((graph_of(one.program.edges), order_of(one.program).order.tobytes()), []).append(number)
    found: dict[int, Solution] = {}
    for numbers in groups.values():
        for few in _near_each_other(numbers, [factor_bytes(asked[k].program) for k in numbers]):
            found |= dict(zip(few, interior_points([asked[k] for k in few]), strict=True))
    return [found[number] for number in range(len(asked))]


def _near_each_other(numbers: list[int], sizes: list[int]) -> list[list[int]]:
    """The numbers in their order, as many together as have room; one that has none is alone."""
    groups: list[list[int]] = []
    room = 0
    for number, size in zip(numbers, sizes, strict=True):
        if not groups or size > room:
            groups.append([])
            room = MOST_BYTES
        groups[-1].append(number)
        room -= size
    return groups


def width_of(program: Program) -> int:
    """The largest block of the order of its states."""
    return int(order_of(program).sizes.max())


def step_seconds(program: Program) -> float:
    """A guess of what a step takes alone."""
    return interior_seconds(program.actions, program.states, width_of(program))


def factor_bytes(program: Program) -> int:
    """What its factors take."""
    return 8 * program.actions * program.states * width_of(program)
