"""How the time of a design is spent: the clock, every share of time and every guess of speed, in one place.

`seconds` is what whoever asks allows for everything: search, proof and comparison. Guesses of speed decide what is tried, never
what is true.

The clock. Searches ask `now()` and say with `spend(guess)` what a piece of work takes, in guessed seconds. Usually the clock is
that of the machine and guesses are ignored. Inside `counted()` it is the other way round: time is the sum of the guesses, so that
what a search does depends on its work alone, on any machine under any load. Tests use that.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import ceil, floor, sqrt
from typing import Any

import numpy as np

from discreet.design.memory import must_fit
from discreet.errors import InputError
from discreet.numerics.devices import device, device_bytes
from discreet.watch import SILENT, Deadline, Watch

DEFAULT_SECONDS = 60.0
SEARCH_SHARE, PROOF_SHARE = 0.6, 0.9
"""By these shares of the time the search for a mechanism ends, and its proof; the rest is for what people do today."""
SEARCH_SHARE_AT_MOST, AFTER_SEARCHING = 0.85, 12.0
"""A long search takes so much of the whole at most, and leaves so many seconds for proof and comparison: these do not grow."""
GRACE = 3.0
"""Seconds by which any part may overrun before it is given up; what needs no search is proved in that time."""
LAST_PARTS = 4
"""When the whole is late already, a part may overrun by so small a share of that."""
COMPARE_SECONDS = 3.0
"""Baselines have at least so much time of their own."""
AFTER_COMPARING = 0.5
"""Seconds of the whole that are kept for publishing a better baseline and the last proof."""
SECOND_CHANCE = 1.0
"""Seconds beyond its time that a program may take, when everything else took less than the time of a search."""
QUICK_SECONDS = 2.0
"""What weighted sums may take before a program, when the gap asked for is loose."""
FLOOR_SECONDS, FLOOR_SHARE = 2.0, 0.1
"""What weighted sums may take after a program that took all the time and is far from its gap; or this share of the whole."""
FOR_THE_PRICE = 0.5
"""Of the search for a mechanism of a restricted class, what goes into the best of all, which says the price."""
BASELINE_SECONDS = 60.0
"""What publishing and proving a baseline may take that is better than all that was found: a slow machine breaks no promise."""

LATE_SHARE, LATE, STARTING = 0.2, 5.0, 1.5
"""Search, proof, comparison and all that is shown with a design end by so much of the time more, and so many seconds; of these,
what the program takes to start and to write."""

SHORTEST_LIBRARY, LIBRARY_SECONDS = 0.5, 600.0
"""What a program given to a library may take, at least and at most."""
SHORTEST_RUNG = 2.0
"""Seconds below which no program and no quotient bound is begun."""
SHARES = {
    "weights by search": 1 / 20,
    "program on the sum": 0.12,
    "program on a sum and a count": 0.25,
    "noise that follows a count": 0.3,
    "coin bound": 0.92,
    "crowd bound": 0.92,
    "boxes bound": 0.7,
    "set-aside bound": 0.75,
    "urn bound": 0.8,
    "likely histograms": 0.9,
    "quotient bound": 0.15,
    "grouped quotient bound": 0.5,
    "bounds of each maker": 0.8,
}
"""Share of the time left that a rung may take; the search has a share of the whole, and more of it gains little."""
BEFORE_LISTING = {
    "program on the sum": 0.04,
    "program on a sum and a count": 0.06,
    "boxes bound": 0.15,
    "set-aside bound": 0.15,
    "urn bound": 0.2,
}
"""The same the first time, where likely histograms are listed after these."""
SHORTEST_SEARCH = 2.0
LAST_SHARE = 0.7
"""Share of the time left for the last bound: proving it again takes time too."""

SECONDS_PER_PRODUCT, SECONDS_PER_CUBE, SECONDS_PER_CALL = 1.2e-10, 1e-11, 3e-3
"""Of a step of the structured interior point: of actions × states² × width, of states³, and of the step itself."""
WORTH_MOVING, SECONDS_PER_DEVICE_STEP, SECONDS_PER_DEVICE_PRODUCT = 1.0, 0.3, 1.2e-13
"""A step that takes so long here is taken on a GPU where there is one; what it takes there: in any case, and for each product."""
SECONDS_PER_VARIABLE = 1.2e-5
"""Of a step of the interior point on windows."""
SECONDS_PER_ENTRY = 1e-7
"""Of the same under ρ, for each pair of an action and a cut."""
FEWEST_STEPS, USUAL_STEPS = 12, 90
"""Of an interior point, before its kernel is worth anything, and with pricing before it is near the best."""
BYTES_PER_PAIR = 40
"""Memory of an interior point for each pair of states."""
SECONDS_PER_TOTAL, SECONDS_PER_PAIR = 0.01, 1e-5
"""What a program on a small summary takes, about: for each total of a sum, and for each pair of states of a pair."""
SECONDS_PER_COUNTED_ROW, SECONDS_PER_COUNTED_PRODUCT, COUNTED_STEPS = 6e-7, 1.3e-10, 22
"""Of a step of the program of noise that follows counts: of an inequality, and of unknowns × band²; and how many steps it takes."""
SECONDS_PER_STRIP_PAIR = 1.5e-4
"""Of a bound by coins, for each pair of states of its strip."""
SECONDS_PER_DICE_PAIR = 4e-6
"""Of a bound by dice, for each pair of states of a tier and each count;"""
SECONDS_ON_WINDOWS, STATES_POWER, EDGES_POWER = 8.25e-8, 1.4, 0.9
"""where actions have windows, for the states of a tier and the edges between them to these powers."""
SECONDS_PER_BOX, SECONDS_PER_KEPT = 2.6e-6, 2e-3
"""Of a bound by boxes: for the squared states of one, each far type but the first and what a large ε adds; for each state."""
SECONDS_PER_OTHER_BOX, OTHER_POWER = 5e-7, 2.5
"""Of one where actions have no windows, because the loss is no squared error: for its states to this power."""
SECONDS_PER_LIKELY_PAIR = 1.8e-5
"""Of a bound by likely histograms, for the square of these and the larger of ε and one."""
STATES_PER_SECOND = 300
"""Of a quotient bound, so that a thousand first-order steps fit."""
SECONDS_PER_STEP = 5e-8
"""Of one first-order step, for each state and knot."""
SECONDS_PER_BAND_FLOP, SECONDS_PER_BAND_CALL, SECONDS_PER_BAND_ENTRY = 4e-11, 2e-4, 1e-6
"""Of one step of the set-aside bound: of its products, for each block of an action's matrix, and for each entry of P."""
SECONDS_PER_COEFFICIENT, SECONDS_PER_CELL = 1e-6, 5e-6
"""Of the polynomials behind the law of a sum, for each factor beyond the third, and of those behind its joint law with ω."""
SECONDS_PER_DRAW, SECONDS_PER_DRAWN_TOTAL = 1e-5, 2e-9
"""Of drawing from an urn, for each respondent and class: a call, and each total."""
SECONDS_PER_PATH_STATE, SECONDS_PER_PATH_PAIR = 1e-7, 1e-8
"""Of a chain bound with a path for every number of players: for each state of a path, or each pair of states and outputs."""
SECONDS_PER_CONVOLVED_PAIR, SECONDS_PER_PROVED_TOTAL = 1.7e-9, 5.5e-5
"""Of the law of a sum over independent respondents with one law, for each pair of its totals, and of proving what is read of it."""
SECONDS_PER_PROVED_COUNT = 1.2e-4
"""Of the geometric mechanism as the optimum, with its proof, for each likely count."""
SECONDS_PER_READ_CELL, SECONDS_PER_PROVED_REPLY = 5e-7, 1.6e-5
"""Of the best replies to noisy sums, for each total and value of the statistic, and of replies by moments, for each total."""
SECONDS_PER_SCREENED = 3e-3
"""Of a quick estimate of what a pair of tails proves."""
SECONDS_PER_SCORE, SECONDS_PER_LIKELY_TOTAL = 4e-4, 2e-6
"""Of valuing one weighted sum: a call, and each of its likely totals."""
SECONDS_PER_GAUSSIAN_SCORE = 0.02
"""Of the same under discrete Gaussian noise."""
SECONDS_PER_SHOWN_VALUE, SECONDS_PER_EVEN_VALUE = 3.5e-6, 3e-7
"""Of plain noise, made, proved and hashed, for each value that it shows; where all are recommended as they are."""
SECONDS_PER_STAIR_ENTRY = 3.6e-5
"""Of staircase noise with exact means, for each pair of values of the statistic."""

SECONDS_PER_PROVED_ENTRY, PROOF_PART = 6e-6, 0.4
"""Of rounding and proving a listed kernel, for each pair of a state and an output, and the share of the time that may go there."""

WORTH_A_PROCESS = 5.0
"""Seconds that pieces of work together take before they are given to processes, which start in one or two."""

_counted: ContextVar[list[float] | None] = ContextVar("counted seconds", default=None)
_hands: ContextVar[int | None] = ContextVar("hands", default=None)


def now() -> float:
    """Seconds on the clock."""
    counted = _counted.get()
    return time.monotonic() if counted is None else counted[0]


def spend(guess: float) -> None:
    """Say that work of so many guessed seconds was done."""
    counted = _counted.get()
    if counted is not None:
        counted[0] += guess


def is_counted() -> bool:
    """Whether time is counted work."""
    return _counted.get() is not None


@contextmanager
def counted() -> Iterator[None]:
    """Within, time is counted work."""
    token = _counted.set([0.0])
    try:
        yield
    finally:
        _counted.reset(token)


def cores() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def hands() -> int:
    """How many processes or threads one search may have at work; counted work is done one after the other."""
    said = _hands.get()
    return 1 if is_counted() else cores() if said is None else said


@contextmanager
def working_with(count: int | None) -> Iterator[None]:
    """Within, a search has at most so many at work; as many as before where nothing is said."""
    if count is not None and count < 1:
        raise InputError("There is nobody to do the work", found=count, allowed="one worker or more", remedy="leave it out")
    token = _hands.set(_hands.get() if count is None else count)
    try:
        yield
    finally:
        _hands.reset(token)


def threads_at_once(threads: int) -> int:
    """How many of so many threads work at the same time here."""
    return min(threads, hands())


def interior_seconds(actions: int, states: int, width: int) -> float:
    """A guess of one step of the structured interior point; `width` is the largest block of its order of the states."""
    if interior_place(actions, states, width) is not np:
        products = float(states) ** 2 * (actions * width + states / 6)
        return SECONDS_PER_DEVICE_STEP + SECONDS_PER_DEVICE_PRODUCT * products
    return _interior_seconds_here(actions, states, width)


def _interior_seconds_here(actions: int, states: int, width: int) -> float:
    return SECONDS_PER_CALL + float(states) ** 2 * (SECONDS_PER_PRODUCT * actions * width + SECONDS_PER_CUBE * states)


def box_seconds(states: int, far: int, epsilon: float, squared: bool = True) -> float:
    """A guess of what the multipliers of one box take, of the counts of so many far types."""
    if not squared:
        return SECONDS_PER_OTHER_BOX * states**OTHER_POWER
    return states * (SECONDS_PER_KEPT + SECONDS_PER_BOX * (far - 1) * max(1.0, epsilon / 2) * states)


def states_within(seconds: float, far: int, epsilon: float, squared: bool = True) -> int:
    """The states of a box whose multipliers are found in so many seconds."""
    if not squared:
        return floor((max(seconds, 0.0) / SECONDS_PER_OTHER_BOX) ** (1 / OTHER_POWER))
    twice = 2 * SECONDS_PER_BOX * (far - 1) * max(1.0, epsilon / 2)
    return floor((sqrt(SECONDS_PER_KEPT**2 + 2 * twice * max(seconds, 0.0)) - SECONDS_PER_KEPT) / twice)


def likely_within(seconds: float, epsilon: float) -> int:
    """The likely histograms whose multipliers are found in so many seconds."""
    return floor(sqrt(max(seconds, 0.0) / (SECONDS_PER_LIKELY_PAIR * max(1.0, epsilon))))


def windowed_seconds(variables: int) -> float:
    """A guess of one step of the interior point on windows."""
    return SECONDS_PER_CALL + SECONDS_PER_VARIABLE * variables


def interior_place(actions: int, states: int, width: int) -> Any:
    """Where an interior point of this size is solved: factors of every action, two block rows and the price system must fit."""
    return place_for(_interior_seconds_here(actions, states, width), 8.0 * states * (5 * actions * width + 4 * states))


def pricing_seconds(states: int, width: int) -> float:
    """A guess of one step of pricing an action here."""
    return SECONDS_PER_PRODUCT * 4.0 * states * width**2


def pricing_bytes(states: int, width: int, edges: int) -> int:
    """A guess of what pricing an action keeps at once."""
    return 8 * (6 * states * width + 60 * edges)


def place_for(seconds: float, size: float) -> Any:
    """Where work is done that takes so many seconds here and so many bytes: the module of its arrays, NumPy or that of a GPU."""
    if is_counted() or seconds < WORTH_MOVING or device() is None:
        return np
    return device() if size < device_bytes() else np


def renyi_seconds(actions: int, states: int, cuts: int, multipliers: int) -> float:
    """A guess of one step of the interior point under ρ: inverses, gradients of cuts, and what is left for their multipliers."""
    left = multipliers + states
    products = 2.0 * actions * float(states) ** 3 + 10.0 * actions * (2.0 * cuts + states) * left + 0.5 * float(left) ** 3
    return SECONDS_PER_CALL + SECONDS_PER_PRODUCT * products + SECONDS_PER_ENTRY * actions * cuts


class TimeIsUpError(Exception):
    """There is not enough time for a piece of work; nothing of it is left."""


class TooDearError(TimeIsUpError):
    """A piece of work was not begun: it would not end in the time that it has now."""


def is_affordable(actions: int, states: int, dimensions: int, watch: Watch | None, pace: float = 1.0) -> bool:
    """Whether a program would usually be solved in time, and in memory; `pace` is what programs take against what is guessed."""
    try:
        must_be_affordable(actions, states, dimensions, watch, pace * USUAL_STEPS)
    except (TimeIsUpError, MemoryError):
        return False
    return True


def must_be_affordable(actions: int, states: int, dimensions: int, watch: Watch | None, steps: float = FEWEST_STEPS) -> None:
    """Refuse a program of which not even the first steps would end in time, or which would not fit in memory."""
    width = width_of(states, dimensions)
    step = interior_seconds(actions, states, width)
    if steps * step > time_left(watch):
        raise TooDearError(f"each step of its program takes about {step:.2g} s")
    if interior_place(actions, states, width) is np:
        must_fit(BYTES_PER_PAIR * states**2, f"a program of {states:,} states")


def width_of(states: int, dimensions: int) -> int:
    """A guess of the largest block of a program's order of the states."""
    return ceil(states ** (1 - 1 / max(dimensions, 1)))


def program_seconds(actions: int, states: int, dimensions: int) -> float:
    """A guess of what a program usually takes."""
    return USUAL_STEPS * interior_seconds(actions, states, width_of(states, dimensions))


def search_seconds(seconds: float) -> float:
    """When the search for a mechanism ends that may take so many seconds in all."""
    return max(SEARCH_SHARE * seconds, min(SEARCH_SHARE_AT_MOST * seconds, seconds - AFTER_SEARCHING))


class Until:
    """Cancels at a time on the clock, or when `inner` does; reports go to `inner`."""

    def __init__(self, ends: float, inner: Watch = SILENT) -> None:
        self.ends, self.inner = ends, inner

    @classmethod
    def after(cls, seconds: float, inner: Watch = SILENT) -> Until:
        """The end of so many seconds from now."""
        return cls(now() + seconds, inner)

    @property
    def left(self) -> float:
        return self.ends - now()

    def report(self, **told: Any) -> None:
        """Pass the report on."""
        self.inner.report(**told)

    def cancelled(self) -> bool:
        """Whether the time is up."""
        return now() >= self.ends or self.inner.cancelled()


def until_all_is_shown(seconds: float, inner: Watch = SILENT) -> Until:
    """The end of everything that is done for a design which may take so many seconds."""
    return Until.after((1 + LATE_SHARE) * seconds + LATE - STARTING, inner)


def time_left(watch: Watch | None) -> float:
    """The seconds until this watch, or one that it listens to, cancels; infinite when none has an end."""
    least = float("inf")
    while watch is not None:
        if isinstance(watch, Until):
            least = min(least, watch.left)
        elif isinstance(watch, Deadline):
            least = min(least, watch.ends - time.monotonic())
        watch = getattr(watch, "inner", None)
    return least


def library_seconds(watch: Watch | None) -> float:
    """What a library with a clock of its own may take: what is left, and as long as it needs where time is counted work."""
    return LIBRARY_SECONDS if is_counted() else min(max(time_left(watch), SHORTEST_LIBRARY), LIBRARY_SECONDS)


class LadderTime:
    """The time of one climb."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.ends, self.before_listing = seconds, now() + seconds, False

    @property
    def left(self) -> float:
        return self.ends - now()

    def share(self, rung: str, last: bool) -> float:
        """What one rung may take now, the last one most of what is left."""
        if last:
            return LAST_SHARE * self.left
        if rung == "weights by search":
            return min(self.left, max(SHORTEST_SEARCH, SHARES[rung] * self.seconds))
        shares = SHARES | BEFORE_LISTING if self.before_listing else SHARES
        return shares[rung] * self.left
