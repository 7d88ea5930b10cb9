"""Totals beside one another: the share of a part in a whole, and the ranks of regions, with what is not known about them.

share   A/(A + B) for independent totals A of the part and B of the rest: P(share ≤ r) = Σ_a P(A = a)·P(B ≥ a(1 − r)/r)
rank    1 + #{j : S_j > S_i}, the largest first and equals sharing the better place. Regions without a common cell are independent,
        so given S_i = x the number of larger ones is a sum of independent events (Poisson-binomial), averaged over x
Where the prior is in doubt, totals depend on one another through its error: both are averaged over errors (`Doubt.scenarios`),
given each of which the totals are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import starmap
from math import lcm

import numpy as np

from discreet.errors import InputError
from discreet.interpret.regions import check_level
from discreet.interpret.totals import Total
from discreet.numerics.arrays import Floats, Integers

MOST_RANKED, MOST_RANKED_IN_DOUBT = 200, 60
"""Regions up to which the whole law of every rank is computed, under one prior and over several; of more only the expected rank."""
HALVINGS = 40


@dataclass(frozen=True)
class RegionShare:
    """Median and interval of the share of a part in a whole."""

    median: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Rank:
    """Expected rank, the interval of ranks, and the probability of being first; None where there are too many regions."""

    expected: float
    best: int | None
    worst: int | None
    first: float | None


def share(part: Total, rest: Total, level: float = 0.9) -> RegionShare:
    """The share of the part in part and rest, whose totals must not be negative; 0 of 0 counts as a share of 0."""
    return share_over([(part, rest)], level)


def share_over(scenarios: Sequence[tuple[Total, Total]], level: float = 0.9) -> RegionShare:
    """The same averaged over equally probable scenarios, in each of which part and rest are independent."""
    tail = (1 - check_level(level)) / 2
    if any(one.value(one.law.least) < 0 for pair in scenarios for one in pair):
        raise InputError(
            "A share is of totals that cannot be negative",
            found="values below 0",
            allowed="values from 0",
            remedy="ask for the difference instead",
        )
    laws = list(starmap(_share_law, scenarios))
    slack = max(part.law.slack + rest.law.slack for part, rest in scenarios)

    def up_to(r: float) -> float:
        return sum(law(r) for law in laws) / len(laws)

    lower = _last(lambda r: up_to(r) + slack <= tail)
    upper = 1 - _last(lambda r: 1 - up_to(1 - r) + slack <= tail)
    return RegionShare(_last(lambda r: up_to(r) < 0.5), lower, upper)


def _share_law(part: Total, rest: Total) -> Callable[[float], float]:
    """P(share ≤ r) as a function of r."""
    a, b = _numbers(part), _numbers(rest)
    upper_tail = np.concatenate([np.cumsum(rest.law.masses[::-1])[::-1], [0.0]])

    def up_to(r: float) -> float:
        if r >= 1:
            return 1.0
        needed = a * (1 - r) / r if r > 0 else np.where(a > 0, np.inf, 0.0)
        return float(part.law.masses @ upper_tail[np.searchsorted(b, needed, side="left")])

    return up_to


def _last(holds: Callable[[float], bool]) -> float:
    """The end of the part of [0, 1] from 0 in which a condition holds, from inside; 0 when it holds nowhere."""
    low, high = 0.0, 1.0
    if not holds(0.0):
        return 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def _numbers(total: Total) -> Floats:
    steps = np.arange(total.law.start, total.law.start + len(total.law))
    return np.asarray(float(total.offset) + float(total.unit) * steps, dtype=np.float64)


def ranks(totals: Sequence[Total], level: float = 0.9) -> list[Rank]:
    """The rank of each total among all; they must share no cell."""
    return ranks_over([totals], level)


def ranks_over(scenarios: Sequence[Sequence[Total]], level: float = 0.9) -> list[Rank]:
    """The same averaged over equally probable scenarios, in each of which the totals are independent."""
    tail = (1 - check_level(level)) / 2
    if len(scenarios[0]) > (MOST_RANKED if len(scenarios) == 1 else MOST_RANKED_IN_DOUBT):
        expected = np.mean([_expected(_scaled(totals)) for totals in scenarios], axis=0)
        return [Rank(float(each), None, None, None) for each in expected]
    found = []
    for law in np.mean([_rank_laws(_scaled(totals)) for totals in scenarios], axis=0):
        best = int(np.searchsorted(np.cumsum(law), tail, side="right"))
        worst = len(law) - 1 - int(np.searchsorted(np.cumsum(law[::-1]), tail, side="right"))
        found.append(Rank(1 + float(law @ np.arange(len(law))), best + 1, max(worst, best) + 1, float(law[0])))
    return found


def _rank_laws(laws: Sequence[tuple[Integers, Floats]]) -> Floats:
    """The probabilities of 0, 1, … larger totals [total, number]."""
    found = np.zeros((len(laws), len(laws)))
    for i, (places, masses) in enumerate(laws):
        larger = [_above(other, places) for j, other in enumerate(laws) if j != i]
        counts = np.zeros((len(laws), len(places)))
        counts[0] = 1.0
        for done, chance in enumerate(larger):
            counts[1 : done + 2] = counts[1 : done + 2] * (1 - chance) + counts[: done + 1] * chance
            counts[0] *= 1 - chance
        law = counts @ masses
        found[i] = law / law.sum()
    return found


def _scaled(totals: Sequence[Total]) -> list[tuple[Integers, Floats]]:
    """Whole numbers in one order for all totals, which may have different offsets, and their masses."""
    shifts = [total.offset / total.unit for total in totals]
    bottom = lcm(*(shift.denominator for shift in shifts))
    return [
        ((np.arange(len(total.law)) + total.law.start) * bottom + int(shift * bottom), total.law.masses)
        for total, shift in zip(totals, shifts, strict=True)
    ]


def _above(other: tuple[Integers, Floats], places: Integers) -> Floats:
    """P(the other total exceeds each of these values)."""
    theirs, masses = other
    tails = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])
    return np.clip(tails[np.searchsorted(theirs, places, side="right")], 0.0, 1.0)


def _expected(laws: Sequence[tuple[Integers, Floats]]) -> list[float]:
    """1 + Σ_j P(S_j > S_i) for each i, from the pooled masses."""
    every = np.concatenate([places for places, _ in laws])
    weights = np.concatenate([masses for _, masses in laws])
    values, which = np.unique(every, return_inverse=True)
    pooled = np.bincount(which.reshape(-1), weights=weights, minlength=len(values))
    above = np.concatenate([np.cumsum(pooled[::-1])[::-1], [0.0]])
    found = []
    for law in laws:
        places, masses = law
        larger = above[np.searchsorted(values, places, side="right")] - _above(law, places)
        found.append(1 + float(masses @ larger))
    return found
