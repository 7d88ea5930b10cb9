"""The program of noise that follows counts by an interior point whose matrices are bands.

    minimise c·x,     x_l ≤ e^ε·x_r and x_r ≤ e^ε·x_l for every comparison (l, r),     E x = 1

Comparisons join unknowns whose noise differs by one step at most. So with unknowns in the order of their noise, all tables of a
number together, the Newton matrix Gᵀ(Y/S)G is a band as wide as one step of all tables; only the height of the stairs beyond the
tables meets both ends. That one and the prices of E are eliminated by their columns.

The start is strictly inside (geometric noise of a smaller ε in every table), and so is every point after it: what is found keeps
every inequality, however early the time ends. Predictor and corrector as Mehrotra's; then products that would stray far from their
target on a longer step are brought back, as Gondzio does, because factors take ten times as long as a direction (note 50). [ours]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.design.solver.banded import BandedCholesky, Strips
from discreet.design.solver.threads import one_thread
from discreet.numerics.arrays import Floats, Integers

MOST_STEPS = 120
NEAR = 1e-4
"""Of the cost: how far from the optimum the last point is."""
FIRST_GAP = 100.0
"""Slacks times prices at the start, of its cost."""
STEP = 0.95
"""Of the way to the nearest border."""
CORRECTIONS, FARTHER, PAYS = 2, 0.3, 0.03
"""How often products are brought back, for steps that are so much longer; and by how much they must be longer in truth."""
STRAYED = 0.1, 10.0
"""Times the target: products outside are brought back."""
Step = tuple[Floats, Floats, Floats, Floats]
"""Changes of unknowns, of the prices of E, of slacks and of their prices."""


@dataclass(frozen=True, eq=False)
class Inequalities:
    """x_small ≤ factor·x_large, row by row; the last of `columns` unknowns is the one that meets all others."""

    small: Integers
    large: Integers
    factors: Floats
    columns: int

    def slack(self, x: Floats) -> Floats:
        return self.factors * x[self.large] - x[self.small]

    def back(self, y: Floats) -> Floats:
        """Gᵀy, G x = −slack."""
        found = np.bincount(self.small, y, self.columns) - np.bincount(self.large, self.factors * y, self.columns)
        return np.asarray(found, dtype=np.float64)


class StripBand:
    """Where the entries of Gᵀ diag(w) G stand in strips, in an order of all unknowns but the last."""

    def __init__(self, rows: Inequalities, order: Integers) -> None:
        self.rows, self.order, size = rows, order, len(order)
        place = np.append(np.empty(size, dtype=np.int64), size)
        place[order] = np.arange(size)
        small, large = place[rows.small], place[rows.large]
        self.inner = np.flatnonzero((small < size) & (large < size))
        first, last = np.minimum(small, large)[self.inner], np.maximum(small, large)[self.inner]
        ends = np.arange(1, size + 1)
        np.maximum.at(ends, first, last + 1)
        self.ends = np.maximum.accumulate(ends)
        strips = Strips(self.ends)
        self.shapes, starts = [strip.shape for strip in strips.rows], np.array(strips.starts)
        self.offsets = np.cumsum([0, *(tall * wide for tall, wide in self.shapes)])
        wide = np.array([wide for _, wide in self.shapes])

        def flat(row: Integers, column: Integers) -> Integers:
            strip = np.searchsorted(starts, row, side="right") - 1
            return np.asarray(self.offsets[strip] + (row - starts[strip]) * wide[strip] + column - starts[strip])

        every = np.arange(size)
        self.diagonal = flat(every, every)
        self.twice = last < starts[np.searchsorted(starts, first, side="right")]  # blocks on the diagonal have a lower half, too
        self.both = np.concatenate([flat(first, last), flat(last[self.twice], first[self.twice])])

    def factored(self, weights: Floats) -> tuple[BandedCholesky, Floats, float]:
        """Of Gᵀ diag(w) G: the factors of all but the last unknown, in order, the column of that one, and its own entry."""
        rows, size = self.rows, len(self.order)
        each = np.bincount(rows.small, weights, size + 1) + np.bincount(rows.large, rows.factors**2 * weights, size + 1)
        across = -rows.factors * weights
        last, first = rows.large == size, rows.small == size
        border: Floats = np.zeros(size + 1)
        border += np.bincount(rows.small[last], across[last], size + 1)
        border += np.bincount(rows.large[first], across[first], size + 1)
        inner = across[self.inner]
        total: Floats = np.zeros(self.offsets[-1])
        total += np.bincount(self.both, np.concatenate([inner, inner[self.twice]]), self.offsets[-1])
        total[self.diagonal] += each[self.order]
        strips = Strips(self.ends)
        strips.rows = [total[a:b].reshape(s) for a, b, s in zip(self.offsets[:-1], self.offsets[1:], self.shapes, strict=True)]
        return strips.factored(), border[self.order], float(each[-1])


@one_thread()
def solved(cost: Floats, rows: Inequalities, each: Floats, order: Integers, start: Floats, go_on: Callable[[], bool]) -> Floats:
    """The least cost·x that was found, from a start inside with each·x = 1; `each` is [equation, unknown]."""
    band, x = StripBand(rows, order), start.copy()
    cost = cost / float(cost @ x)
    s, prices = rows.slack(x), np.zeros(len(each))
    y = FIRST_GAP / len(s) / s
    for _ in range(MOST_STEPS):
        off, gap = cost + rows.back(y) - prices @ each, float(s @ y)
        if gap + abs(float(off @ x)) < NEAR * float(cost @ x) or not go_on():
            break
        newton, mean = _Newton(band, y / s, each), gap / len(s)
        _, _, ds, dy = _towards(newton, rows, (x, s, y), off, -s * y)
        after = float((s + _far(s, ds) * ds) @ (y + _far(y, dy) * dy)) / len(s)
        target = mean * (after / mean) ** 3
        step = _towards(newton, rows, (x, s, y), off, target - s * y - ds * dy)
        dx, dp, ds, dy = _corrected(newton, rows, (x, s, y), step, target)
        here, there = STEP * _far(s, ds), STEP * _far(y, dy)
        x = x + here * dx
        s, y, prices = rows.slack(x), y + there * dy, prices + there * dp
    return x


def _corrected(newton: _Newton, rows: Inequalities, at: tuple[Floats, Floats, Floats], step: Step, target: float) -> Step:
    """A direction along which both sides can go farther, as their products do not stray as much."""
    _, s, y = at
    far = _far(s, step[2]), _far(y, step[3])
    for _ in range(CORRECTIONS):
        here, there = (min(1.0, each + FARTHER) for each in far)
        products = (s + here * step[2]) * (y + there * step[3])
        back = np.clip(products, STRAYED[0] * target, STRAYED[1] * target) - products
        more = _towards(newton, rows, at, None, np.maximum(back, -STRAYED[1] * target))
        longer = tuple(one + other for one, other in zip(step, more, strict=True))
        reached = _far(s, longer[2]), _far(y, longer[3])
        if sum(reached) < sum(far) + PAYS:
            break
        step, far = (longer[0], longer[1], longer[2], longer[3]), reached
    return step


def _towards(newton: _Newton, rows: Inequalities, at: tuple[Floats, Floats, Floats], off: Floats | None, right: Floats) -> Step:
    """How unknowns, the prices of E, slacks and their prices change for y·ds + s·dy = right, with nothing left off.

    Without `off` what is left off stays as it is.
    """
    x, s, y = at
    if off is None:
        dx, dp = newton.solve(-rows.back(right / s), np.zeros(len(newton.each)))
    else:
        dx, dp = newton.solve(-off - rows.back(right / s), 1 - newton.each @ x)
    ds = rows.slack(dx)
    return dx, dp, ds, (right - y * ds) / s


def _far(x: Floats, dx: Floats) -> float:
    """How far x + t·dx stays positive, up to 1."""
    falls = dx < 0
    return float((-x[falls] / dx[falls]).min(initial=1.0))


class _Newton:
    """[N −Eᵀ; E 0], N = Gᵀ diag(w) G."""

    def __init__(self, band: StripBand, weights: Floats, each: Floats) -> None:
        self.order, self.each, self.inner = band.order, each, each[:, band.order]
        self.factor, self.border, corner = band.factored(weights)
        self.back = self.factor.solve(np.column_stack([self.border, self.inner.T]))
        # what is left: the last unknown, and the prices
        self.small = np.empty((len(each) + 1, len(each) + 1))
        self.small[0] = -self.border @ self.back
        self.small[1:] = self.inner @ self.back
        self.small[0, 0] += corner
        self.small[0, 1:] = -each[:, -1] - self.small[0, 1:]
        self.small[1:, 0] = each[:, -1] - self.small[1:, 0]

    def solve(self, right: Floats, sums: Floats) -> tuple[Floats, Floats]:
        """dx and the change of prices, for N dx − Eᵀ dp = right and E dx = sums."""
        inner = self.factor.solve(right[self.order])
        below = np.concatenate([[right[-1] - self.border @ inner], sums - self.inner @ inner])
        found = np.linalg.solve(self.small, below)
        dx = np.empty_like(right)
        dx[self.order] = inner - self.back[:, 0] * found[0] + self.back[:, 1:] @ found[1:]
        dx[-1] = found[0]
        return dx, found[1:]
