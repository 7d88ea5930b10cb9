"""Noise that follows counts, the best for a flat law of the sum: a linear program on tables of whole numbers.

    minimise Σ_i P(i)·Σ_z ℓ(z)·f_i(z),     f_i(z) ≤ e^ε·f_i′(z − d) both ways for every (i, i′, d) of neighbours

with ℓ(z) the loss of publishing z too much, and all tables one staircase beyond R (`model.counted_kernel`). Unknowns are measured
against e^(−ε|z|/W), so that rare noise is as exact as likely noise. An interior point (`counted_solver`) proposes for an ε smaller
by 10^-6 of it; what rounding breaks of an inequality is raised (f_i(z) at least f_i′(z − d)/e^ε, again and again), sums are brought
back to one, and weights rounded to whole numbers over 2^B. The checker then decides; where it finds the promise broken, more of ε
is given up, and at last the proposal.

Notation as in `model.counted_kernel`. [ours]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, exp, frexp

import numpy as np

from discreet.design.ladder.mechanisms.counted_solver import Inequalities, solved
from discreet.model.count_tables import CountTables
from discreet.model.kernel import CountedKernel
from discreet.numerics.arrays import Floats, Integers
from discreet.numerics.brackets import rational_above_exp

Pair = tuple[int, int, int]
"""(i, i′, d)."""
SLACKS = (1e-6, 1e-5, 1e-4)
"""Parts of ε that are given up to the tolerances of the solver."""
RATIO_BITS, SPARE_BITS = 64, 70
FALLS = 14.0
"""How many times the noise falls by e before tables end."""
START = 0.6
"""Of ε: the noise that the solver starts from."""
MOST_RAISED = 10_000


@dataclass(frozen=True, eq=False)
class CountedNoise:
    """A program for the tables of `counts` whose neighbours are `pairs`; chances [table], loss(z) for whole numbers z.

    `grain`, an odd number, says how many whole numbers in a row have the same probability.
    """

    epsilon: Fraction
    step: int
    counts: CountTables
    pairs: tuple[Pair, ...]
    chances: Floats
    loss: Callable[[np.ndarray], np.ndarray]
    grain: int = 1

    @property
    def reach(self) -> int:
        """R."""
        return (self.grain * self.blocks - 1) // 2

    @property
    def blocks(self) -> int:
        """How many unknowns a table has."""
        return 2 * ceil(FALLS * self.step / (float(self.epsilon) * self.grain)) + 1

    @property
    def columns(self) -> int:
        return len(self.counts) * self.blocks + 1

    @property
    def rows(self) -> int:
        """About how many inequalities there are."""
        return 2 * len(self._shifts) * self.blocks

    @property
    def _shifts(self) -> set[Pair]:
        """The pairs, moved by blocks."""
        return {(i, k, d // self.grain + more) for i, k, d in self.pairs for more in (0, d % self.grain > 0)}

    @property
    def band(self) -> int:
        """About how many unknowns in a row are joined by inequalities."""
        return (max((abs(d) for _, _, d in self._shifts), default=0) + 1) * len(self.counts)

    def kernel(
        self, low: int, high: int, stride: int, radix: int, proved: Callable[[CountedKernel], bool], go_on: Callable[[], bool]
    ) -> CountedKernel | None:
        """The best tables that were found, as whole numbers which `proved` accepts; None when there are none."""
        for slack in SLACKS:
            found = self._tables(float(self.epsilon) * (1 - slack), go_on)
            if found is None:
                return None
            tables, tail = self._raised(*found, float(self.epsilon) * (1 - slack / 2))
            kernel = self._rounded(tables, tail, (low, high, self.step, stride), radix)
            if proved(kernel):
                return kernel
        return None

    def _cells(self, count: int, z: Integers) -> Integers:
        """The unknown of each number within R + W: those beyond R are one."""
        return np.where(np.abs(z) <= self.reach, count * self.blocks + (z + self.reach) // self.grain, self.columns - 1)

    @cached_property
    def met(self) -> tuple[Integers, Integers]:
        """The two unknowns of every comparison, each once."""
        edge, found = self.reach + self.step, []
        for here, there, moved in self.pairs:
            z = np.arange(max(-edge, moved - edge), min(edge, moved + edge) + 1)
            z = z[(np.abs(z) <= self.reach) | (np.abs(z - moved) <= self.reach)]
            found.append(np.unique(self._cells(here, z) * self.columns + self._cells(there, z - moved)))
        left, right = np.divmod(np.unique(np.concatenate(found)), self.columns)
        return left[left != right], right[left != right]

    @property
    def _far(self) -> Integers:
        """How much noise each block of a table is, without its sign."""
        return self.grain * np.abs(np.arange(self.blocks) - self.blocks // 2)

    def _scales(self) -> Floats:
        """What each unknown is measured in."""
        every = np.append(np.tile(self._far, len(self.counts)), self.reach + 1)
        return np.exp(-float(self.epsilon) / self.step * every)

    def _tables(self, epsilon: float, go_on: Callable[[], bool]) -> tuple[Floats, float] | None:
        """Tables [table, z] and the height of the first stair beyond them, as the solver leaves them; None when it broke down."""
        scales, factor, (left, right) = self._scales(), exp(epsilon), self.met
        small, large = np.concatenate([left, right]), np.concatenate([right, left])
        rows = Inequalities(small, large, factor * scales[large] / scales[small], self.columns)
        each = np.zeros((len(self.counts), self.columns))
        for count in range(len(self.counts)):
            here = slice(count * self.blocks, (count + 1) * self.blocks)
            each[count, here] = self.grain * scales[here]
        mass, lost = self._tail()
        each[:, -1] = mass * scales[-1]
        losses = self.loss(np.arange(-self.reach, self.reach + 1)).reshape(self.blocks, self.grain).sum(axis=1)
        cost = np.append((self.chances[:, None] * losses[None, :]).ravel(), lost) * scales
        by_noise = np.arange(self.columns - 1).reshape(len(self.counts), self.blocks).T.ravel()
        try:
            found = solved(cost, rows, each, by_noise, self._inside(each), go_on)
        except np.linalg.LinAlgError:
            return None
        heights = found * scales
        return heights[:-1].reshape(len(self.counts), self.blocks), float(heights[-1])

    def _inside(self, each: Floats) -> Floats:
        """Geometric noise of a smaller ε in every table, in the units of the unknowns."""
        far = np.append(np.tile(self._far, len(self.counts)), self.reach + self.step / 3)
        found = np.exp(-START * float(self.epsilon) / self.step * far) / self._scales()
        return np.asarray(found / (each @ found)[0])

    def _tail(self) -> tuple[float, float]:
        """What both tails hold and lose, for a first stair of height one."""
        ratio = exp(-float(self.epsilon))
        count = ceil(60 / float(self.epsilon)) + 1
        far = np.arange(self.reach + 1, self.reach + 1 + self.step * count)
        chances = ratio ** ((far - self.reach - 1) // self.step)
        return 2 * self.step / (1 - ratio), float(chances @ (self.loss(far) + self.loss(-far)))

    def _raised(self, tables: Floats, tail: float, epsilon: float) -> tuple[Floats, float]:
        """The least tables above these that keep every inequality, written out number by number."""
        flat, factor = np.append(tables.ravel(), tail), exp(-epsilon)
        left, right = self.met
        for _ in range(MOST_RAISED):
            before = flat.copy()
            np.maximum.at(flat, left, factor * before[right])
            np.maximum.at(flat, right, factor * before[left])
            if np.array_equal(flat, before):
                break
        return np.repeat(flat[:-1].reshape(tables.shape), self.grain, axis=1), float(flat[-1])

    def _rounded(self, tables: Floats, tail: float, range_: tuple[int, int, int, int], radix: int) -> CountedKernel:
        ratio = rational_above_exp(-self.epsilon, RATIO_BITS)
        held = tail * self.step / float(1 - ratio)
        whole = float((tables.sum(axis=1) + 2 * held).max())
        bits = SPARE_BITS - frexp(float(min(tables.min(), tail)) / whole)[1]
        ends = int(Fraction(held / whole) * (1 << bits))
        rows = []
        for row in tables:
            share = (1 - 2 * Fraction(held / whole)) / sum(map(Fraction, row.tolist()), Fraction(0)) * (1 << bits)
            weights = [int(Fraction(x) * share) for x in row.tolist()]
            weights[int(np.argmax(row))] += (1 << bits) - 2 * ends - sum(weights)
            rows.append(tuple(weights))
        kernel = CountedKernel(*range_, ratio, ends, tuple(rows), 1 << bits)
        shape = self.counts.shape
        return kernel if isinstance(shape, int) else replace(kernel, radix=radix, tables=shape)


def of_pairs(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Every pair once, told from the lower table on, and a table beside itself moved one way only."""
    told = {(i, k, d) if i < k else (k, i, -d) for i, k, d in pairs}
    return tuple(sorted({(i, k, abs(d) if i == k else d) for i, k, d in told if i != k or d}))
