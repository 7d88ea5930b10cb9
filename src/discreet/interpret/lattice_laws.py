"""The law of a sum of independent whole numbers, by convolution, with a bound on everything that rounding and cutting changed.

A law holds masses p̂ of consecutive whole numbers and an `error` e with Σ_k |p̂_k − p_k| ≤ e over all whole numbers, those that were
cut off included, so that every probability read off it is off by at most e. For a convolution

    ‖p̂∗q̂ − p∗q‖₁ ≤ e_p·(1 + e_q) + e_q,   plus the rounding of the convolution itself:
    directly       every mass is a sum of m ≤ min(len) products of non-negative numbers: relatively at most (m + 2)·2^−53
    by transforms  at most (13·log₂ n + 4)·2^−53·‖p̂‖₂·‖q̂‖₂ in each of n masses (Percival 2003 for transforms whose roots of unity
                   are correct to the last bit; four times that is allowed here, since libraries use other radices)

and what is cut at the ends is added to e. Tails are cut at `CUT`, so lengths follow the spread, not the range.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count as numbered
from math import log2

import numpy as np

from discreet.errors import TooLarge
from discreet.numerics.arrays import Floats

HALF_STEP = 2.0**-53
OUTWARD = 1 + 1e-9
"""What a computed bound is multiplied with, far more than rounding can have taken from it."""
CUT = 1e-15
SHORT = 48
"""Laws of this many masses are not cut."""
LONGEST_DIRECT = 384
"""Beyond this many masses of the shorter law, transforms are quicker."""
MOST_MASSES = 1 << 25


@dataclass(frozen=True, eq=False, slots=True)
class LatticeLaw:
    """Masses of start, start + 1, …; every true value lies between `least` and `most`."""

    start: int
    masses: Floats
    error: float
    least: int
    most: int

    def __len__(self) -> int:
        return len(self.masses)

    def at_most(self, value: int) -> tuple[float, float]:
        """A bracket of P(S ≤ value)."""
        if value < self.least:
            return 0.0, 0.0
        if value >= self.most:
            return 1.0, 1.0
        end = min(max(value - self.start + 1, 0), len(self.masses))
        inside = float(self.masses[:end].sum())
        slack = self.slack
        return max(inside - slack, 0.0), min(inside + slack, 1.0)

    @property
    def slack(self) -> float:
        """What a sum of masses may be off by: the law's error and the rounding of the sum."""
        return (self.error + len(self.masses) * HALF_STEP) * OUTWARD

    def interval(self, tail: float) -> tuple[int, int]:
        """The narrowest interval that surely leaves out at most `tail` on each side."""
        spare = tail - self.slack
        below = int(np.searchsorted(np.cumsum(self.masses), spare, side="right"))
        above = int(np.searchsorted(np.cumsum(self.masses[::-1]), spare, side="right"))
        low = self.start + below if spare > 0 else self.least
        high = self.start + len(self.masses) - 1 - above if spare > 0 else self.most
        return max(min(low, high), self.least), min(max(low, high), self.most)

    def holds(self, low: int, high: int) -> float:
        """A number that P(low ≤ S ≤ high) is surely at least."""
        if low <= self.least and high >= self.most:
            return 1.0
        first, last = max(low - self.start, 0), max(high - self.start + 1, 0)
        return max(float(self.masses[first:last].sum()) - self.slack, 0.0)

    def mirrored(self) -> LatticeLaw:
        """The law of −S."""
        last = self.start + len(self.masses) - 1
        return LatticeLaw(-last, self.masses[::-1], self.error, -self.most, -self.least)


def certain(value: int) -> LatticeLaw:
    """The law of a number that is known."""
    return LatticeLaw(value, np.ones(1), 0.0, value, value)


def convolved(first: LatticeLaw, second: LatticeLaw) -> LatticeLaw:
    """The law of the sum of two independent numbers, cut at its ends."""
    a, b = first.masses, second.masses
    length, short = len(a) + len(b) - 1, min(len(a), len(b))
    if length > MOST_MASSES:
        raise TooLarge(
            "The total can take too many values",
            size=f"{length:,} values",
            fits=f"{MOST_MASSES:,} values",
            remedy="add up fewer cells, or use values with a larger common step",
        )
    if short <= LONGEST_DIRECT:
        masses = np.convolve(a, b)
        rounding = (short + 2) * HALF_STEP * (1 + first.error) * (1 + second.error)
    else:
        size = 1 << (length - 1).bit_length()
        masses = np.fft.irfft(np.fft.rfft(a, size) * np.fft.rfft(b, size), size)[:length]
        np.maximum(masses, 0.0, out=masses)
        each = 4 * (13 * log2(size) + 4) * HALF_STEP * float(np.sqrt((a @ a) * (b @ b)))
        rounding = size * each
    error = (first.error * (1 + second.error) + second.error + rounding) * OUTWARD
    return cut(LatticeLaw(first.start + second.start, masses, error, first.least + second.least, first.most + second.most))


def cut(law: LatticeLaw) -> LatticeLaw:
    """The law without tails below `CUT`, which are added to its error."""
    masses = law.masses
    if len(masses) <= SHORT:
        return law
    first = int(np.searchsorted(np.cumsum(masses), CUT))
    last = len(masses) - int(np.searchsorted(np.cumsum(masses[::-1]), CUT))
    if last <= first or (first == 0 and last == len(masses)):
        return law
    lost = (float(masses[:first].sum()) + float(masses[last:].sum())) * OUTWARD
    return LatticeLaw(law.start + first, masses[first:last], law.error + lost, law.least, law.most)


def repeated(law: LatticeLaw, times: int) -> LatticeLaw:
    """The law of a sum of so many independent numbers of one law."""
    found: LatticeLaw | None = None
    power, left = law, times
    while left:
        if left & 1:
            found = power if found is None else convolved(found, power)
        left >>= 1
        if left:
            power = convolved(power, power)
    return certain(0) if found is None else found


def sum_law(parts: Iterable[tuple[LatticeLaw, int]]) -> LatticeLaw:
    """The law of a sum of independent numbers: each law with how often it occurs. The shortest are added first."""
    order = numbered()
    heap = [(len(law), next(order), law) for law in (repeated(law, times) for law, times in parts if times)]
    if not heap:
        return certain(0)
    heapq.heapify(heap)
    while len(heap) > 1:
        _, _, a = heapq.heappop(heap)
        _, _, b = heapq.heappop(heap)
        found = convolved(a, b)
        heapq.heappush(heap, (len(found), next(order), found))
    return heap[0][2]


def law_of(steps: Sequence[int], probabilities: Floats, error: float) -> LatticeLaw:
    """A law from its ascending values and their probabilities, which are off by at most `error` in all."""
    places = np.asarray(steps, dtype=np.int64)
    length = int(places[-1] - places[0]) + 1
    if length > MOST_MASSES:
        raise TooLarge(
            "A cell's statistic can take too many values",
            size=f"{length:,} values",
            fits=f"{MOST_MASSES:,} values",
            remedy="use values with a larger common step",
        )
    masses = np.zeros(length)
    masses[places - places[0]] = probabilities
    return cut(LatticeLaw(int(places[0]), masses, error, int(places[0]), int(places[-1])))
