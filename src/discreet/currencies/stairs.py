"""Staircase noise at any width: outputs that say the same of the states that one respondent can reach become one.

Noise falls by the factor r once every W units: f(x + W) = r·f(x) for x ≥ 0. Let the states that one respondent can reach be
b, …, b + L. Outputs y and y − W, both at or below b, have the same ratios between all of these states, and so have y and y + W
at or above b + L. Merging each such class loses nothing, since a likelihood ratio is all that currencies see:

    n outputs b − k, b − k − W, …   weigh  f(s − b + k)·(1 − r^n)/(1 − r)  at a state s,

and the ends of the range, which hold the tails, stay as they are. That leaves 2W + L + 1 outputs whatever the range; their weights
depend on b, so a state has a copy for every b that it is compared from. An edge and its mirror image in the middle of the range are
the same pair, turned, and one of them is kept. Exact numbers are whole ones over one denominator.

Notation: W → stair, r → ratio, b → base, L → span. Reference: Geng & Viswanath (2014); SY Lemma 1 for geometric noise, W = 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.currencies.channel import Edges, LossChannel
from discreet.errors import InputError, TooLarge
from discreet.model.kernel import ClosedKernel
from discreet.model.mechanism import Mechanism
from discreet.numerics.arrays import Floats

if TYPE_CHECKING:
    from flint import arb

MOST_ENTRIES = 40_000_000
"""Classes × copies of states that are listed."""
BITS = 160
"""Of the balls whose middles are rounded to floats: the floats are as good as correctly rounded."""


def stairs_channel(mechanism: Mechanism, edges: Edges | None = None) -> LossChannel:
    """The channel with every currency of a closed-form mechanism, or of other `edges` between its states, each then a block."""
    kernel = mechanism.kernel
    if not isinstance(kernel, ClosedKernel):
        raise InputError(
            "Only noise that falls by stairs has classes of outputs",
            found=f"kernel {kernel.family!r}",
            allowed="'staircase' or 'geometric'",
            remedy="use the mechanism itself",
        )
    totals = np.asarray(mechanism.places, dtype=np.int64)
    joined = np.sort(totals[mechanism.space.edges if edges is None else edges].reshape(-1, 2), axis=1)
    blocks = joined if edges is not None else _totals(totals, mechanism.space.blocks, kernel.high + 1)
    joined = _without_mirrors(joined, kernel)
    bases = blocks.min(axis=1, initial=kernel.high)[:, None] if len(blocks) else blocks[:, :1]
    present = blocks <= kernel.high
    width = kernel.width
    block_codes = np.where(present, (bases - kernel.low) * width + blocks - kernel.low, -1)
    edge_codes = (joined[:, :1] - kernel.low) * width + joined - kernel.low
    codes = np.unique(np.concatenate([block_codes[present], edge_codes.ravel()]))
    copies = _Copies(kernel, codes // width + kernel.low, codes % width + kernel.low)
    probabilities, logs = copies.floats()
    names = {total: str(total) for total in copies.totals.tolist()}
    return LossChannel(
        tuple(names[total] for total in copies.totals.tolist()),
        tuple(copies.class_labels()),
        probabilities,
        logs,
        np.searchsorted(codes, edge_codes),
        np.where(present, np.searchsorted(codes, np.maximum(block_codes, 0)), -1),
        copies.exact,
        (copies.weight, copies.denominator),
        copies.denominator.bit_length(),
        copies.output_label,
        copies.alike,
    )


@dataclass(frozen=True, eq=False)
class _Copies:
    """States, each with the base that it is compared from; classes of outputs in the order in which they lie."""

    kernel: ClosedKernel
    bases: Edges
    totals: Edges

    def __post_init__(self) -> None:
        if self.classes * max(len(self.totals), 1) > MOST_ENTRIES:
            raise TooLarge(
                "This noise has too many stairs and states to be compared one by one",
                size=f"{self.classes:,} classes of outputs × {len(self.totals):,} states",
                fits=f"{MOST_ENTRIES:,} entries",
                remedy="use a coarser summary or fewer outputs",
            )

    @cached_property
    def span(self) -> int:
        """L: the farthest state from its base."""
        return int((self.totals - self.bases).max(initial=1))

    @property
    def classes(self) -> int:
        return 2 * self.kernel.stair + self.span + 1

    def class_labels(self) -> Iterator[str]:
        """Classes by where they lie: below or above the states, every W units, or between them."""
        stair, span = self.kernel.stair, self.span
        yield str(self.kernel.low)
        yield from (f"base − {k}, every {stair} below" for k in range(stair))
        yield from (f"base + {j}" for j in range(1, span))
        yield from (f"base + {span + k}, every {stair} above" for k in range(stair))
        yield str(self.kernel.high)

    def nearest(self, positions: Edges, bases: Edges) -> Edges:
        """The output of each class that lies nearest to its base; of no meaning for the ends, which hold tails."""
        stair = self.kernel.stair
        return np.where(positions <= stair, bases + 1 - positions, bases + positions - stair)

    def members(self, positions: Edges, bases: Edges) -> Edges:
        """How many outputs strictly within the range each class has."""
        low, high, stair = self.kernel.low, self.kernel.high, self.kernel.stair
        nearest = self.nearest(positions, bases)
        room = np.where(positions <= stair, nearest - low - 1, high - 1 - nearest)
        alone = (stair < positions) & (positions < stair + self.span)
        inside = (low < nearest) & (nearest < high)
        return np.where(inside, np.where(alone, 1, room // stair + 1), 0)

    def falls(self, nearest: Edges, totals: Edges) -> Edges:
        """How many stairs an output lies from a state."""
        return (np.abs(nearest - totals) + self.kernel.stair - self.kernel.plateau) // self.kernel.stair

    def output_label(self, position: int, copy: int) -> str:
        """An output of a class."""
        if position in (0, self.classes - 1):
            return str(self.kernel.high if position else self.kernel.low)
        return str(int(self.nearest(np.array(position), self.bases[copy])))

    def alike(self, positions: Edges, first: Edges, second: Edges) -> Edges:
        """Numbers that are equal only where P/Q is: r to the difference of falls within the range; at the ends each is its own."""
        nearest = self.nearest(positions, self.bases[first])
        apart = self.falls(nearest, self.totals[first]) - self.falls(nearest, self.totals[second])
        ends = (positions == 0) | (positions == self.classes - 1)
        farthest = int(np.abs(apart).max(initial=0))
        return np.where(ends, farthest + 1 + np.arange(len(positions)), apart)

    def floats(self) -> tuple[Floats, Floats]:
        """Probabilities and their logarithms [class, copy], as good as correctly rounded."""
        shape = (self.classes, len(self.totals))
        plain, logs = np.zeros(shape), np.full(shape, -np.inf)
        with _Balls(self.kernel) as balls:
            for position in range(1, self.classes - 1):
                here = np.array(position)
                members = self.members(here, self.bases)
                some = np.flatnonzero(members)
                falls = self.falls(self.nearest(here, self.bases[some]), self.totals[some])
                plain[position, some], logs[position, some] = balls.at(balls.summed, falls, members[some])
            none = np.zeros(len(self.totals), dtype=np.int64)
            plain[0], logs[0] = balls.at(balls.tail, self.totals - self.kernel.low, none)
            plain[-1], logs[-1] = balls.at(balls.tail, self.kernel.high - self.totals, none)
        return plain, logs

    @cached_property
    def _powers(self) -> Callable[[int], tuple[int, int]]:
        p, q = self.kernel.ratio.numerator, self.kernel.ratio.denominator
        return lru_cache(maxsize=None)(lambda n: (p**n, q**n))

    @cached_property
    def _most(self) -> int:
        """The most factors r in any weight."""
        stair = self.kernel.stair
        return (self.kernel.width + 2 * self.span + 4 * stair) // stair + 2

    @cached_property
    def denominator(self) -> int:
        """Of every weight: that of the noise at 0, times q^most, times q − p for r = p/q."""
        ratio = self.kernel.ratio
        return self.kernel.unit.denominator * self._powers(self._most)[1] * (ratio.denominator - ratio.numerator)

    def weight(self, position: int, copy: int) -> int:
        """A probability times the denominator."""
        if position == 0:
            return self._tail(int(self.totals[copy]) - self.kernel.low)
        if position == self.classes - 1:
            return self._tail(self.kernel.high - int(self.totals[copy]))
        return self._column(copy)[position - 1]

    @cached_property
    def _column(self) -> Callable[[int], list[int]]:
        return lru_cache(maxsize=64)(self._weights)

    def _weights(self, copy: int) -> list[int]:
        """Of all classes but the ends."""
        base = self.bases[copy]
        positions = np.arange(1, self.classes - 1)
        falls = self.falls(self.nearest(positions, base), self.totals[copy]).tolist()
        members = self.members(positions, base).tolist()
        return [self._summed(fall, count) if count else 0 for fall, count in zip(falls, members, strict=True)]

    def _summed(self, falls: int, members: int) -> int:
        """c·r^falls·(1 − r^members)/(1 − r), times the denominator."""
        (fall, _), (gone, whole) = self._powers(falls), self._powers(members)
        kept = self._powers(self._most - falls - members)[1]
        return self.kernel.unit.numerator * fall * (whole - gone) * kept * self.kernel.ratio.denominator

    def _tail(self, far: int) -> int:
        """c·r^falls·(left + W·r/(1 − r)), times the denominator; what is not in the other tail where far ≤ 0."""
        if far <= 0:
            return self.denominator - self._tail(1 - far)
        kernel, (p, q) = self.kernel, (self.kernel.ratio.numerator, self.kernel.ratio.denominator)
        falls = (far + kernel.stair - kernel.plateau) // kernel.stair
        left = falls * kernel.stair + kernel.plateau - far
        power, kept = self._powers(falls)[0], self._powers(self._most - falls)[1]
        return kernel.unit.numerator * power * (left * (q - p) + kernel.stair * p) * kept

    def exact(self, position: int, copy: int) -> Fraction:
        return Fraction(self.weight(position, copy), self.denominator)


class _Balls:
    """The same numbers as floats from balls of `BITS` bits, each different one computed once."""

    def __init__(self, kernel: ClosedKernel) -> None:
        self.kernel = kernel
        self.found: dict[tuple[str, int, int], tuple[float, float]] = {}

    def __enter__(self) -> _Balls:
        from flint import arb, ctx, fmpq

        self.before, ctx.prec = ctx.prec, BITS
        self.ratio, self.unit = (arb(fmpq(x.numerator, x.denominator)) for x in (self.kernel.ratio, self.kernel.unit))
        self.power = lru_cache(maxsize=None)(lambda n: self.ratio**n)
        return self

    def __exit__(self, *_: object) -> None:
        from flint import ctx

        ctx.prec = self.before

    def summed(self, falls: int, members: int) -> arb:
        """c·r^falls·(1 − r^members)/(1 − r)."""
        return self.unit * self.power(falls) * (1 - self.power(members)) / (1 - self.ratio)

    def tail(self, far: int, _: int) -> arb:
        """Σ_{i ≥ far} f(i)."""
        if far <= 0:
            return 1 - self.tail(1 - far, 0)
        kernel = self.kernel
        falls = (far + kernel.stair - kernel.plateau) // kernel.stair
        left = falls * kernel.stair + kernel.plateau - far
        return self.unit * self.power(falls) * (left + kernel.stair * self.ratio / (1 - self.ratio))

    def at(self, value: Callable[[int, int], arb], falls: Edges, members: Edges) -> tuple[Floats, Floats]:
        """A value of two whole numbers and its logarithm, entry by entry."""
        reach = int(members.max(initial=0)) + 1
        codes, places = np.unique(falls * reach + members, return_inverse=True)
        found = np.array([self._floats(value, *divmod(code, reach)) for code in codes.tolist()]).reshape(-1, 2)[places]
        return found[:, 0], found[:, 1]

    def _floats(self, value: Callable[[int, int], arb], first: int, second: int) -> tuple[float, float]:
        key = (value.__name__, first, second)
        if key not in self.found:
            ball = value(first, second)
            self.found[key] = (float(ball.mid()), float(ball.log().mid()))
        return self.found[key]


def _totals(totals: Edges, blocks: Edges, none: int) -> Edges:
    """Blocks of states as blocks of totals; `none` where a block has no more members."""
    return np.where(blocks >= 0, totals[np.maximum(blocks, 0)], none)


def _without_mirrors(pairs: Edges, kernel: ClosedKernel) -> Edges:
    """Pairs of totals, one of each two that are each other's mirror images in the middle of the range."""
    first, second = pairs[:, 0] - kernel.low, pairs[:, 1] - kernel.low
    codes = first * kernel.width + second
    mirrored = (kernel.width - 1 - second) * kernel.width + kernel.width - 1 - first
    return pairs[(codes <= mirrored) | ~np.isin(mirrored, codes)]
