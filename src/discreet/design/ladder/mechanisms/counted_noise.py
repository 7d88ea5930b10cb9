"""Noise that follows a count, the best for a flat law of the sum: a linear program on tables of whole numbers.

    minimise Σ_j P(j)·Σ_z ℓ(z)·f_i(z),  i = min(j, J),     f_i(z) ≤ e^ε·f_i′(z − d) both ways for every (i, i′, d) of neighbours

with ℓ(z) the loss of publishing z too much, and all tables one staircase beyond R (`model.counted_kernel`). Unknowns are measured
against e^(−ε|z|/W), so that rare noise is as exact as likely noise. HiGHS proposes for an ε smaller by 10^-6 of it; what breaks an
inequality is raised (f_i(z) at least f_i′(z − d)/e^ε, again and again), sums are brought back to one, and weights rounded to whole
numbers over 2^B. The checker then decides; where it finds the promise broken, more of ε is given up, and at last the proposal.

Notation as in `model.counted_kernel`. [ours]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, exp, frexp
from typing import Any

import numpy as np

from discreet.model.kernel import CountedKernel
from discreet.numerics.arrays import Floats, Integers
from discreet.numerics.brackets import rational_above_exp

Pair = tuple[int, int, int]
"""(i, i′, d)."""
SLACKS = (1e-6, 1e-5, 1e-4)
"""Parts of ε that are given up to the tolerances of the solver."""
RATIO_BITS, SPARE_BITS = 64, 70
FALLS = 12.0
"""How many times the noise falls by e before tables end."""
MOST_RAISED = 10_000


@dataclass(frozen=True, eq=False)
class CountedNoise:
    """A program for tables of counts 0..`most` whose neighbours are `pairs`; chances [count], loss(z) for whole numbers z.

    `grain`, an odd number, says how many whole numbers in a row have the same probability.
    """

    epsilon: Fraction
    step: int
    most: int
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
        return (self.most + 1) * self.blocks + 1

    @property
    def rows(self) -> int:
        """About how many inequalities there are."""
        shifts = {(i, k, d // self.grain + more) for i, k, d in self.pairs for more in (0, d % self.grain > 0)}
        return 2 * len(shifts) * self.blocks

    def kernel(
        self, low: int, high: int, stride: int, proved: Callable[[CountedKernel], bool], seconds: float
    ) -> CountedKernel | None:
        """The best tables that were found, as whole numbers which `proved` accepts; None when there are none."""
        for slack in SLACKS:
            found = self._tables(float(self.epsilon) * (1 - slack), seconds)
            if found is None:
                return None
            tables, tail = self._raised(*found, float(self.epsilon) * (1 - slack / 2))
            kernel = self._rounded(tables, tail, low, high, stride)
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

    def _scales(self) -> Floats:
        """What each unknown is measured in."""
        far = self.grain * np.abs(np.arange(self.blocks) - self.blocks // 2)
        every = np.concatenate([np.tile(far, self.most + 1), [self.reach + 1]])
        return np.exp(-float(self.epsilon) / self.step * every)

    def _tables(self, epsilon: float, seconds: float) -> tuple[Floats, float] | None:
        """Tables [count, z] and the height of the first stair beyond them, as the solver leaves them."""
        import scipy.sparse as sparse

        scales, factor, (left, right) = self._scales(), exp(epsilon), self.met
        small, large = np.concatenate([left, right]), np.concatenate([right, left])
        numbers = np.arange(len(small))
        entries = np.concatenate([np.ones(len(small)), -factor * scales[large] / scales[small]])
        matrix = sparse.csr_matrix((entries, (np.tile(numbers, 2), np.concatenate([small, large]))), (len(small), self.columns))
        matrix.sum_duplicates()
        each = np.zeros((self.most + 1, self.columns))
        for count in range(self.most + 1):
            here = slice(count * self.blocks, (count + 1) * self.blocks)
            each[count, here] = self.grain * scales[here]
        mass, lost = self._tail()
        each[:, -1] = mass * scales[-1]
        losses = self.loss(np.arange(-self.reach, self.reach + 1)).reshape(self.blocks, self.grain).sum(axis=1)
        cost = (self.chances[:, None] * losses[None, :]).ravel()
        found = _solved(
            np.append(cost, lost) * scales, sparse.vstack([sparse.csr_matrix(each), matrix]).tocsr(), self.most + 1, seconds
        )
        if found is None:
            return None
        heights = np.maximum(found, 0.0) * scales
        return heights[:-1].reshape(self.most + 1, self.blocks), float(heights[-1])

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

    def _rounded(self, tables: Floats, tail: float, low: int, high: int, stride: int) -> CountedKernel:
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
        return CountedKernel(low, high, self.step, stride, ratio, ends, tuple(rows), 1 << bits)


def _solved(cost: Floats, matrix: Any, equations: int, seconds: float) -> Floats | None:
    """min cost·x with the first rows equal to one and the others at most nought, x ≥ 0; None when the solver finds nothing."""
    import highspy

    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("solver", "ipm"),
        ("run_crossover", "off"),
        ("time_limit", seconds),
    ):
        solver.setOptionValue(option, value)
    for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance", "ipm_optimality_tolerance"):
        solver.setOptionValue(option, 1e-9)
    rows, columns = matrix.shape
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = columns, rows
    model.col_cost_ = cost / (float(np.abs(cost).max()) or 1.0)
    model.col_lower_, model.col_upper_ = np.zeros(columns), np.full(columns, highspy.kHighsInf)
    ones = np.arange(rows) < equations
    model.row_lower_, model.row_upper_ = np.where(ones, 1.0, -highspy.kHighsInf), np.where(ones, 1.0, 0.0)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
    solver.passModel(model)
    solver.run()
    found = np.array(solver.getSolution().col_value)
    return found if len(found) == columns and bool(np.isfinite(found).all()) and float(found.max()) > 0 else None


def of_pairs(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Every pair once, a table beside itself moved one way only."""
    return tuple(sorted({(i, k, abs(d)) if i == k else (i, k, d) for i, k, d in pairs if i != k or d}))
