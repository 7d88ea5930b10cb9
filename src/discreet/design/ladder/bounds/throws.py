"""Which dice may be thrown, and how many states their counts have.

The first die lies between the likeliest type and the farthest ones, and nearly everybody who has one of these holds it. Beside it
a few respondents throw a small one, between the likeliest type and one or two of those between.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, reduce
from math import floor, lgamma, log, prod, sqrt

import numpy as np

from discreet.certify.bounds.chain import binomial_below
from discreet.certify.bounds.coins import MOST_BITS, bits_of, chance_of, ends_of
from discreet.certify.bounds.counts import MOST_COUNTS, MOST_STATES, moves_of
from discreet.design.ladder.bounds.coins import MOST_HOLDERS
from discreet.design.ladder.bounds.far import apart, farthest
from discreet.design.ladder.bounds.likeliest import likely
from discreet.design.solver.program import Floats
from discreet.model.actions import RealActions
from discreet.model.certificate import TypeDie
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.losses import SquaredLoss
from discreet.model.problem import Problem

TAIL = 5e-5
"""What a window of counts leaves out at each end."""
HOLDERS, FEWEST_ALONE = {1: 8, 2: 12, 3: 15}, 5
"""Respondents who hold a small die, by how many of them throw it, in the mean, and not fewer."""
SURELY = 0.97
"""Enough of them with this probability at least."""
MOST_TOSSED = 6
"""Counts, of which some are of coins: all types that can are tossed where there are no more."""
HALFWAY = Fraction(9, 20)
"""Where the types between lie that are best tossed by one alone, as a share of the farthest step."""
THIRD, FIFTH = Fraction(3, 10), Fraction(1, 5)
"""Where else they may lie."""
FEWER_FACES, MORE_FACES = 2, 3
"""So many far types less, and more, are looked at."""
Small = tuple[tuple[int, ...], int]
"""The types between of a small die, and how many throw it."""


def dice_of(problem: Problem) -> list[tuple[TypeDie, ...]]:
    """A die between the likeliest type and those farthest from it on one side, and small ones beside it; fewest states first.

    How many types are far follows from what is hidden of their number, beside noise for their step; a few more may be better.
    """
    law, (base, beyond, far) = iid_sum(problem), farthest(problem)
    if not far:
        return []
    found = []
    for faces in (beyond[: far + more] for more in range(max(-FEWER_FACES, 1 - far), MORE_FACES + 1)):
        inner = [t for t in beyond if t not in faces and law.respondents * 2 * law.probabilities[t] >= FEWEST_ALONE]
        for small in _between(law, base, beyond[0], inner, MOST_TOSSED - len(faces), in_windows(problem)):
            dice = _dice(law, base, faces, small)
            if dice is not None and 1 < states_of(dice) <= MOST_STATES and max(map(bits_of, dice)) <= MOST_BITS:
                found.append(dice)
    return sorted(dict.fromkeys(found), key=states_of)


def _between(law: IidSum, base: int, farthest: int, inner: list[int], most: int, tried: bool) -> list[tuple[Small, ...]]:
    """What may be thrown beside the die of far types: nothing, coins of one, two or as many types as can be, and where dice are
    `tried` coins that several toss and dice with two types."""

    def nearest(part: Fraction) -> list[int]:
        return sorted(inner, key=lambda t: (abs(apart(law, base, t) - part * apart(law, base, farthest)), apart(law, base, t)))

    halfway = nearest(HALFWAY)
    several = sorted({min(each, len(inner)) for each in (0, 1, 2, most) if each >= 0})
    found: list[tuple[Small, ...]] = [tuple(((t,), 1) for t in halfway[:each]) for each in several]
    if tried and inner:
        for t in dict.fromkeys(nearest(part)[0] for part in (HALFWAY, THIRD, FIFTH)):
            found += [(((t,), thrown),) for thrown in HOLDERS]
        for first in dict.fromkeys(nearest(part)[0] for part in (THIRD, FIFTH)):
            further = [t for t in halfway if apart(law, base, t) > apart(law, base, first)]
            found += [(((first, further[0]), thrown),) for thrown in HOLDERS if thrown < 3 and further]
    return list(dict.fromkeys(found))


def in_windows(problem: Problem) -> bool:
    """Whether actions have windows where states are many: then dice are tried."""
    return isinstance(problem.decision.loss, SquaredLoss) and isinstance(problem.decision.actions, RealActions)


def states_of(dice: tuple[TypeDie, ...]) -> int:
    """How many states there are in the windows."""
    return prod(last - first + 1 for die in dice for first, last in die.counts)


def varying(law: IidSum, die: TypeDie) -> float:
    """The standard deviation of the number of holders, in parts of the mean."""
    return sqrt(float(1 - die.share) / (law.respondents * float(die.share)))


def _dice(law: IidSum, base: int, faces: list[int], small: tuple[Small, ...]) -> tuple[TypeDie, ...] | None:
    """With the mean number of throws."""
    p, types = law.probabilities, law.types
    others, beside = [], Fraction(0)
    for between, thrown in small:
        share = min(Fraction(HOLDERS[thrown], law.respondents * (len(between) + 1)), *(p[t] for t in between))
        shares, windows = (share,) * (len(between) + 1), ((0, thrown),) * len(between)
        if law.respondents * sum(shares) < thrown:
            return None
        others.append(TypeDie((types[base], *(types[t] for t in between)), shares, thrown, windows))
        beside += share
    main = (p[base] - beside, *(p[t] for t in faces))
    counts = len(faces) + sum(len(die.counts) for die in others)
    if main[0] <= 0 or not 1 <= len(faces) <= counts <= MOST_COUNTS:
        return None
    if sum(1 - float(chance_of(law.respondents, die)) for die in others) > 1 - SURELY:
        return None
    number = min(floor(law.respondents * sum(main, Fraction(0))), MOST_HOLDERS)
    blank = TypeDie((types[base], *(types[t] for t in faces)), main, 0, ((0, 0),) * len(faces))
    die = thrown_so_often(blank, number, MOST_STATES // states_of(tuple(others)))
    return None if die is None else (die, *others)


def thrown_so_often(die: TypeDie, number: int, most: int = MOST_STATES) -> TypeDie | None:
    """The die thrown so often, with windows of likely counts that come to so many states; None where nothing is left."""
    if number < 1:
        return None
    laws = [binomial_below(number, share / die.share) for share in die.shares[1:]]
    windows = [_window(first, masses) for first, masses in laws]
    while prod(last - first + 1 for first, last in windows) > most:
        open_ = [k for k, (first, last) in enumerate(windows) if last > first]
        if not open_:
            return None
        k = min(open_, key=lambda k: float(laws[k][1][windows[k][1] - laws[k][0]]))  # the top count that is least likely
        windows[k] = windows[k][0], windows[k][1] - 1
    return replace(die, number=number, counts=tuple(windows))


def _window(first: int, masses: Floats) -> tuple[int, int]:
    """The likely counts of a law that begins at the first."""
    below = np.cumsum(masses)
    low = int(np.searchsorted(below, TAIL))
    return first + low, first + min(max(low, int(np.searchsorted(below, 1 - TAIL))), len(masses) - 1)


def likely_states(dice: tuple[TypeDie, ...], left_out: float) -> int:
    """About how many states of the windows are solved for."""
    return likely_graph(dice, left_out)[0]


@lru_cache(maxsize=2_000)
def likely_graph(dice: tuple[TypeDie, ...], left_out: float) -> tuple[int, int]:
    """About how many states of the windows are solved for, and edges between them."""
    logs: Floats = reduce(_together, map(_logs, dice))
    kept = np.zeros(logs.size, dtype=bool)
    kept[likely(np.exp(logs - logs.max()).ravel(), left_out)] = True
    states = np.broadcast_to(kept.reshape(logs.shape), logs.shape)
    edges = 0
    for move in moves_of(ends_of(dice)):
        here = tuple(slice(max(-d, 0), size - max(d, 0)) for d, size in zip(move, states.shape, strict=True))
        there = tuple(slice(max(d, 0), size - max(-d, 0)) for d, size in zip(move, states.shape, strict=True))
        edges += int((states[here] & states[there]).sum())
    return int(states.sum()), edges // 2


def _together(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.add.outer(one, other))


def _logs(die: TypeDie) -> Floats:
    """Logarithms of the probabilities of the counts in its windows, but for one number that they have in common."""
    logs, others = np.zeros(()), np.zeros((), dtype=np.int64)
    for (first, last), share in zip(die.counts, die.shares[1:], strict=True):
        odds = log(share / die.shares[0])
        logs = np.add.outer(logs, np.array([x * odds - lgamma(x + 1) for x in range(first, last + 1)]))
        others = np.add.outer(others, np.arange(first, last + 1))
    left = np.array([lgamma(k + 1) for k in range(die.number + 1)] + [np.inf])
    return np.asarray(logs - left[np.maximum(die.number - others, -1)])  # more than all cannot be: the last one
