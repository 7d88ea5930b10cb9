"""Noise that follows a count, or several: on a sum s, the noise of the table of how many respondents have a counted type.

The summary is one weighted sum T = s + M·j, with weights v_t, or v_t + M of a counted type. The stride M is above every s: T tells
both. Where several classes are counted, T = s + M·(c_1·K^(m−1) + … + c_(m−1)·K + c_m), the radix K above every count. Output y at
T has probability f_i(y − s), i the table of the counts (`count_tables`), tails gathered at the ends low and high, which is
post-processing:

    f_i(z) = w_i(z)/2^B  for |z| ≤ R,        f_i(z) = (1 − r)·t/(W·2^B) · r^⌊(|z| − R − 1)/W⌋  beyond,       Σ_z w_i(z) + 2t = 2^B

Beyond R all tables are one staircase of width W that holds t of 2^B on either side. So neighbours, whose sums are at most W apart,
differ by one stair of it at most, and finitely many comparisons prove the rest (`certify.edges.counted`).

Notation: M → stride, K → radix, R → reach, W → step, r → ratio, t → tail, w_i(z) → weights[i][z + R]. [ours]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import lcm

import numpy as np

from discreet.errors import InputError, TooLarge
from discreet.frozen import dataclass
from discreet.model.actions import Action
from discreet.model.count_tables import CountTables, Shape
from discreet.model.noise_kernel import MOST_TABLE, MOST_TOTAL, NoiseKernel, Recommended, kept
from discreet.model.priors.weights import log_ratio
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.exact import brief, format_exact, format_integer

MOST_AT_ONCE = 4_000_000
"""Probabilities that are held at once."""


@dataclass(frozen=True)
class CountedKernel(NoiseKernel):
    """Weights [table][noise] over `denominator`, a power of two; every row and twice `tail` sum to it.

    `tables` says which there are for each count of the first class; empty where one class is counted, and then radix is 1.
    """

    low: int
    high: int
    step: int
    stride: int
    ratio: Fraction
    tail: int
    weights: tuple[tuple[int, ...], ...]
    denominator: int
    actions: Recommended | None = None
    radix: int = 1
    tables: tuple[Shape, ...] = ()
    family = "counted"
    most_step = 2**30

    def __post_init__(self) -> None:
        self._check_range()
        if not 0 < self.ratio < 1 or self.stride < 1:
            raise InputError(
                "The ratio of a counted kernel lies between 0 and 1, and its stride is a whole number from 1",
                found=f"ratio {brief(self.ratio)}, stride {brief(self.stride)}",
                allowed="0 < ratio < 1, stride >= 1",
                remedy="correct the kernel",
            )
        if self.denominator <= 0 or self.denominator & (self.denominator - 1):
            raise InputError(
                "The denominator of a kernel must be a power of two",
                found=brief(self.denominator),
                allowed="2^B",
                remedy="write the weights over a power of two",
            )
        widths = {len(row) for row in self.weights}
        if len(widths) != 1 or not all(width % 2 for width in widths):
            raise InputError(
                "A counted kernel has one table or more, all as far to one side as to the other",
                found=f"{len(self.weights)} tables of {sorted(widths)} weights",
                allowed="one table or more, of the same odd number of weights",
                remedy="complete the weights",
            )
        told = sum(self.counts.ways[-1][1])
        if (self.radix > 1) != bool(self.tables) or self.radix < 1 or told != len(self.weights):
            raise InputError(
                "A kernel of several counts has a radix, and says how many of its tables belong to which counts",
                found=f"radix {brief(self.radix)}, {brief(told)} tables told, {len(self.weights)} given",
                allowed="radix 1 and none told, or a radix from 2 and all of them",
                remedy="complete the kernel",
            )
        compared = len(self.weights) * (2 * self.reach + 4 * self.step + 1)
        if compared > MOST_TABLE:
            raise TooLarge(
                "The tables of this kernel and two stairs beyond them cannot be held at once",
                size=f"{brief(compared)} probabilities",
                fits=f"{MOST_TABLE:,} probabilities",
                remedy="use fewer tables or a smaller step",
            )
        for count, row in enumerate(self.weights):
            if min(row) < 0 or self.tail < 1 or sum(row) + 2 * self.tail != self.denominator:
                raise InputError(
                    f"The weights of table {count} and both tails are no distribution",
                    found=f"a difference of {brief(sum(row) + 2 * self.tail - self.denominator)} to the denominator",
                    allowed="weights from 0, a tail from 1, a difference of 0",
                    remedy="every table's probabilities must sum to one",
                )

    @cached_property
    def counts(self) -> CountTables:
        """Which table belongs to which counts."""
        return CountTables(self.tables or len(self.weights))

    @property
    def most(self) -> int:
        """The last table; of one count, from this count on the noise is the same."""
        return len(self.weights) - 1

    @property
    def reach(self) -> int:
        """R: how far tables go."""
        return len(self.weights[0]) // 2

    @property
    def state_count(self) -> int:
        return (self.most + 1) * self.stride

    @property
    def first_place(self) -> int:
        return 0

    def must_be_drawable(self) -> None:
        """Refuse also a range in which noise from end to end wraps around: stairs reach up to twice as far before they are held."""
        super().must_be_drawable()
        furthest = 2 * (self.high - self.low) + self.reach + self.step
        if furthest >= MOST_TOTAL:
            raise TooLarge(
                "Noise over the range of this kernel does not fit into 64 bits",
                size=brief(furthest),
                fits="below 2^62",
                remedy="use a narrower range",
            )

    def with_actions(self, actions: Sequence[Action | tuple[Action, ...]]) -> CountedKernel:
        return replace(self, actions=kept(actions))

    def parameters(self) -> dict[str, object]:
        several = {"radix": self.radix, "tables": _listed(self.tables)} if self.tables else {}
        return {
            "stride": self.stride,
            **several,
            "ratio": format_exact(self.ratio),
            "tail": format_integer(self.tail),
            "weights": [[format_integer(w) for w in row] for row in self.weights],
            "denominator": format_integer(self.denominator),
        }

    def plain(self, summary: LinearSummary, universe: Universe) -> LinearSummary:
        """The sum s alone; refuses weights that do not tell both s and the counts of counted types."""
        values = tuple(w % self.stride for w in summary.weights)
        told = universe.largest * max(values) < self.stride and (self.radix == 1 or universe.largest < self.radix)
        marked = all(w // self.stride in self._classes for w in summary.weights)
        if not told or not marked or summary.low is not None or summary.high is not None:
            raise InputError(
                "A counted kernel reads a sum and counts from one total: weights are values, or values and the stride",
                found=f"weights {list(summary.weights)}, stride {self.stride}, clipped to {summary.low}..{summary.high}",
                allowed="values from 0 whose sum stays below the stride, plus the stride for counted types, or for all classes but "
                "the last the stride times a power of the radix, which is above every count; no clip",
                remedy="raise the stride above the largest sum, and the radix above the number of respondents",
            )
        # a place s + M·i beyond 64 bits would wrap around, and another table would be drawn from than was proved
        largest = max(universe.largest * max(summary.weights), self.state_count, *self._classes)
        if largest >= MOST_TOTAL:
            raise TooLarge(
                "The totals of this kernel, or its tables by the stride, do not fit into 64 bits",
                size=brief(largest),
                fits="below 2^62",
                remedy="use fewer respondents, fewer tables or a smaller stride",
            )
        return LinearSummary(values)

    @cached_property
    def _classes(self) -> dict[int, int]:
        """The class of each number of strides in a weight, from 1; 0 of types that are not counted."""
        last = self.counts.classes
        return {0: 0} | {self.radix ** (last - c): c for c in range(last, 0, -1)}

    def marks(self, weights: Sequence[int]) -> list[int]:
        """The class for which each type counts, from 1, or 0."""
        return [self._classes[w // self.stride] for w in weights]

    def places(self, vectors: np.ndarray) -> np.ndarray:
        """The place of each state."""
        return self.capped(np.asarray(vectors[:, 0], dtype=np.int64))

    def capped(self, totals: np.ndarray) -> np.ndarray:
        """What is read of each total: its table and its sum, as one number s + M·i below `state_count`."""
        left, sums = np.divmod(totals, self.stride)
        counts = []
        for c in range(self.counts.classes - 1, -1, -1):
            count, left = np.divmod(left, self.radix**c)
            counts.append(count)
        return np.asarray(self.counts.at(counts) * self.stride + sums)

    def read(self, place: int) -> tuple[int, int]:
        """(i, s) of a place."""
        return divmod(place, self.stride)

    def noise(self, count: int, z: int) -> Fraction:
        """f_i(z)."""
        if abs(z) <= self.reach:
            return Fraction(self.weights[count][z + self.reach], self.denominator)
        return self.stair * self.ratio ** ((abs(z) - self.reach - 1) // self.step)

    @property
    def stair(self) -> Fraction:
        """The probability of each number of the first stair beyond the tables."""
        return (1 - self.ratio) * self.tail / (self.step * self.denominator)

    def above(self, count: int, z: int) -> Fraction:
        """Σ_{y ≥ z} f_i(y)."""
        if z <= self.reach:
            inner = sum(self.weights[count][max(z + self.reach, 0) :], self.tail)
            return Fraction(inner, self.denominator) + (self._beyond(-self.reach - z) if z < -self.reach else 0)
        return Fraction(self.tail, self.denominator) - self._beyond(z - 1 - self.reach)

    def _beyond(self, n: int) -> Fraction:
        """The probability of the first n numbers beyond the tables, on one side."""
        stairs, left = divmod(n, self.step)
        whole = Fraction(self.tail, self.denominator) * (1 - self.ratio**stairs)
        return whole + left * self.stair * self.ratio**stairs

    def mass(self, output: int, place: int) -> Fraction:
        """P(output | place)."""
        count, value = self.read(place)
        if not (self.low <= output <= self.high and self.low <= value <= self.high and 0 <= count <= self.most):
            raise self._outside(f"output {output}, place {place}")
        if output == self.low:
            return 1 - self.above(count, self.low - value + 1)
        return self.above(count, self.high - value) if output == self.high else self.noise(count, output - value)

    def _outside(self, found: str) -> InputError:
        return InputError(
            "This kernel has no such state or output",
            found=found,
            allowed=f"{self.low}..{self.high}, and sums among these with tables 0..{self.most}",
            remedy="stay in the kernel's range",
        )

    def probability(self, output: int, place: int) -> Fraction:
        """P(output | place), the output by its position."""
        return self.mass(self.low + output, place)

    def whole_rows(self, places: Sequence[int]) -> tuple[list[list[int]], int]:
        """Probabilities [output][state] as whole numbers over one denominator."""
        self._must_fit(len(places))
        rows = [[self.mass(k, place) for place in places] for k in range(self.low, self.high + 1)]
        whole = lcm(*(p.denominator for row in rows for p in row))
        return [[p.numerator * (whole // p.denominator) for p in row] for row in rows], whole

    def log_masses(self, outputs: np.ndarray, states: np.ndarray) -> np.ndarray:
        """log P(output | place) [output, place] for some outputs, whole numbers in low..high, and places."""
        counts, sums = np.divmod(np.asarray(states, dtype=np.int64), self.stride)
        if ((counts < 0) | (counts > self.most) | (sums < self.low) | (sums > self.high)).any():
            raise self._outside("a place whose table or sum the kernel does not have")
        span = max(self.high - self.low, self.reach + 1)
        distances = np.arange(-span, span + 1)
        logs = np.stack([self._logs(count, distances) for count in range(self.most + 1)])
        table = logs[counts[None, :], outputs[:, None] - sums[None, :] + span]
        for end, sign, far in ((outputs == self.low, -1, sums - self.low), (outputs == self.high, 1, self.high - sums)):
            if end.any():
                table[end] = np.stack([self._log_tails(count, sign, far) for count in range(self.most + 1)])[
                    counts, range(len(far))
                ]
        return table

    def after(self, moments: np.ndarray, first: int) -> np.ndarray:
        """Σ_T moment(T)·P(output | T) [moment, output], of moments at the totals from `first`; totals of equal noise are joined.

        Totals that nobody has, of sums outside the range, hold rounding errors at most and are left out.
        """
        places, at = np.unique(self.capped(np.arange(first, first + moments.shape[1])), return_inverse=True)
        joined = np.stack([np.bincount(at, row) for row in moments])
        sums = places % self.stride
        held = np.flatnonzero((np.abs(joined).max(axis=0) > 0) & (self.low <= sums) & (sums <= self.high))
        found, size = np.zeros((len(moments), self.width)), max(MOST_AT_ONCE // self.width, 1)
        for start in range(0, len(held), size):
            here = held[start : start + size]
            found += joined[:, here] @ np.exp(self.log_masses(np.arange(self.low, self.high + 1), places[here])).T
        return found

    def _logs(self, count: int, distances: np.ndarray) -> np.ndarray:
        """log f_i at each distance."""
        fall = log_ratio(self.ratio.numerator, self.ratio.denominator)
        stairs = np.maximum(np.abs(distances) - self.reach - 1, 0) // self.step
        found = log_ratio(self.stair.numerator, self.stair.denominator) + stairs * fall
        inner = np.abs(distances) <= self.reach
        found[inner] = [log_ratio(w, self.denominator) for w in self.weights[count]]
        return np.asarray(found)

    def _log_tails(self, count: int, sign: int, far: np.ndarray) -> np.ndarray:
        """log P(sign·noise ≥ far) of table i; far ≥ 0."""
        row = self.weights[count][::sign]
        within = [log_ratio(kept, self.denominator) for kept in accumulate(reversed(row[self.reach :]), initial=self.tail)]
        ahead = np.maximum(far - self.reach - 1, 0)
        stairs, passed = np.divmod(ahead, self.step)
        beyond = float(self.step * self.ratio / (1 - self.ratio))
        logs = log_ratio(self.stair.numerator, self.stair.denominator) + np.log(self.step - passed + beyond)
        logs = logs + stairs * log_ratio(self.ratio.numerator, self.ratio.denominator)
        return np.where(far > self.reach, logs, np.array(within[::-1])[np.clip(far, 0, self.reach)])


def _listed(shapes: tuple[Shape, ...]) -> list[object]:
    return [shape if isinstance(shape, int) else _listed(shape) for shape in shapes]
