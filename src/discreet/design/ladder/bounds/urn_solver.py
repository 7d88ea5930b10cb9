"""The program behind the urn bound, by an interior point: min Σ_a c_a·x_a with, for every node a,

    G·x_a ≥ 0,  x_a ≥ 0,  E·x_a = 0,        and Σ_a Φ′·x_a = Φ′·1 for all nodes together.

E joins the cells of one state, and what it leaves free is x = F·y (`urn_prices`). G joins states whose counts differ by one. So
with R = (G; 1)·F, slacks z = R·y and multipliers f, the Newton matrix of a node, R′·diag(f/z)·R, is block tridiagonal along the
count (`level_blocks`), and nodes are coupled by prices alone, some hundred: smooth Φ in the place of one for each cell.

The start is centred: every state plays the same, f = μ/z, prices by least squares. All barriers weigh the same: weighed by the
prior, as one might expect, steps reach a tenth of the way. Predictor and corrector as Mehrotra's, then a few corrections of
products that strayed (Gondzio), which cost a solution and no factors. Whatever multipliers there are, `worth` says what they prove.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from discreet.design.ladder.bounds.level_blocks import Factors, Levels
from discreet.design.ladder.bounds.urn_prices import FEW_CELLS, MOST_COLUMNS, prices_of, ties_of
from discreet.design.memory import must_fit
from discreet.design.schedule import SECONDS_PER_PRODUCT, now, spend, threads_at_once
from discreet.design.solver.threads import one_thread
from discreet.numerics.arrays import Floats
from discreet.watch import SILENT, Watch

if TYPE_CHECKING:
    from discreet.design.ladder.bounds.urn import UrnCone, UrnProgram

USUAL_STEPS, MOST_STEPS = 26, 90
MEASURED, LATER = 2, 0.6
"""After so many steps it is known how long they take here; the first also loads what it needs, and later ones have fewer
corrections."""
BACK, LEAST_CENTRING = 0.97, 0.05
START = 300.0
"""Products of slacks and multipliers at the start, in units of the variance."""
CORRECTIONS, WORTH_IT = 4, 0.01
STRAYED = 10.0
"""A product is brought back when it is so many times larger or smaller than its target."""
RIDGE = 1e-11
NEAR = 1e-3
"""Relative distance of both sides at which it ends."""
SECONDS_PER_BLOCK = 1e-4
"""Of a step, for each level of a node."""
THREADS = 2
"""Nodes are independent but for their prices, and all they take are products of matrices."""


class SlowStepsError(Exception):
    """Steps take so long that the program would not be solved in its time; `pace` is what they take against what was guessed."""

    def __init__(self, pace: float) -> None:
        super().__init__(f"steps take {pace:.2g} times as long as they were thought to")
        self.pace = pace


def step_seconds(program: UrnProgram, nodes: int) -> float:
    """A guess of one step."""
    levels = np.unique(program.states[:, 0], return_counts=True)[1].astype(np.float64)
    sizes = levels * max(1, len(program.weights) - program.states.shape[1])
    prices = _prices(program)
    each = 1.0 * (sizes**3).sum() + 2.5 * prices * (sizes**2).sum() + 1.5 * prices**2 * sizes.sum()
    return nodes * (SECONDS_PER_PRODUCT * float(each) + SECONDS_PER_BLOCK * len(sizes))


def solve_seconds(program: UrnProgram, nodes: int) -> float:
    """A guess of what a program takes."""
    return USUAL_STEPS * step_seconds(program, nodes) / threads_at_once(THREADS)


def _prices(program: UrnProgram) -> int:
    return len(program.cells) if len(program.cells) <= FEW_CELLS else len(program.weights) * MOST_COLUMNS


def multipliers_of(
    program: UrnProgram,
    cone: UrnCone,
    cost: Floats,
    played: Floats,
    worth: Callable[[Floats], float],
    seconds: float,
    watch: Watch = SILENT,
) -> Floats | None:
    """The multipliers [node, row] worth most among those seen within the time; `played` is how often nodes are at the start.

    Multipliers of the first steps prove nothing: where steps turn out too slow to come near, SlowStepsError says so at once.
    """
    ends, walk = now() + seconds, _Walk(program, cone, cost, played)
    step, best, most = step_seconds(program, len(cost)), None, float("-inf")
    took = 0.0
    with one_thread(), ThreadPoolExecutor(THREADS) as pool:
        for number in range(MOST_STEPS):
            begun = now()
            if number == MEASURED and (USUAL_STEPS - MEASURED) * LATER * took > ends - begun:
                raise SlowStepsError(LATER * took / step * threads_at_once(THREADS))
            going = walk.step(pool)
            spend(step)
            took = now() - begun
            found = walk.multipliers()
            value = worth(found) if np.isfinite(found).all() else float("-inf")
            if value > most:
                best, most = found, value
            watch.report(stage="urn bound", bound=most)
            near = walk.gap() <= NEAR * max(most, 1e-3 * program.second)
            if not going or near or watch.cancelled() or now() + (now() - begun) > ends:
                break
    return best


class _Walk:
    """Unknowns y [unknown, node], slacks and multipliers [row, node], prices."""

    def __init__(self, program: UrnProgram, cone: UrnCone, cost: Floats, played: Floats) -> None:
        from scipy import sparse

        self.ties = ties_of(program, cone)
        self.bounds = sparse.csr_array(cone.matrix[np.flatnonzero(~cone.free)])
        free = self.ties.free
        rows = sparse.csr_array(sparse.vstack([self.bounds, sparse.eye_array(len(program.cells))]) @ free)
        rows.eliminate_zeros()
        self.rows, self.back, self.cost = rows, sparse.csr_array(rows.T), cost.T
        self.prices = prices_of(program, self.ties)
        firsts = np.flatnonzero(np.diff(program.states[:, 0], prepend=-1))
        starts = np.concatenate([[0], self.ties.ends])
        edges = np.append(starts[firsts], starts[-1])
        sizes, nodes = np.diff(edges), len(played)
        must_fit(8.0 * nodes * (2.5 * float(sizes @ sizes) + rows.shape[1] * self.prices.shape[1]), "the urn bound")
        self.levels = Levels(rows, edges)
        self.parts = [part for part in np.array_split(np.arange(nodes), THREADS) if len(part)]
        self.free_cost = np.asarray(free.T @ self.cost)
        self.y = np.asarray(free.T @ np.repeat(played[None, :], len(program.cells), axis=0))
        self.slack = np.asarray(rows @ self.y)
        self.total = float(self.slack.size)
        self.f = START * program.second / self.total / self.slack
        self.normal = np.asarray(self.prices.T @ self.y.sum(axis=1))
        left = np.asarray((self.free_cost - self.back @ self.f) @ played)
        self.u = np.asarray(np.linalg.lstsq(self.prices, left, rcond=None)[0])

    def gap(self) -> float:
        """Σ of slacks times multipliers."""
        return float((self.slack * self.f).sum())

    def multipliers(self) -> Floats:
        """[node, row]: of the inequalities, then of the equations."""
        count = self.bounds.shape[0]
        own, zero = self.f[:count], self.f[count:]
        left = self.cost - np.asarray(self.ties.free @ (self.prices @ self.u))[:, None] - self.bounds.T @ own - zero
        return np.asarray(np.concatenate([own, self.ties.multipliers @ left]).T)

    def step(self, pool: ThreadPoolExecutor) -> bool:
        """One predictor, corrector and what corrections pay; False when the numbers give out."""
        from scipy import linalg

        stray = self.free_cost - (self.prices @ self.u)[:, None] - self.back @ self.f
        short = self.normal - self.prices.T @ self.y.sum(axis=1)
        ratio, average = self.f / self.slack, self.gap() / self.total
        try:
            factors = list(pool.map(lambda part: self.levels.factored(ratio[:, part], self.prices), self.parts))
            matrix = np.asarray(sum(pool.map(Factors.products, factors)))
            scale = 1.0 / np.sqrt(np.diag(matrix))
            matrix *= scale[:, None] * scale
            matrix[np.diag_indices(len(matrix))] += RIDGE
            coupled = linalg.cho_factor(matrix, lower=True, check_finite=False)
        except linalg.LinAlgError:
            return False

        def direction(wanted: Floats) -> tuple[Floats, Floats, Floats, Floats]:
            right = np.ascontiguousarray((self.back @ wanted - stray).T)
            halves = list(pool.map(lambda own, part: own.half(right[part]), factors, self.parts))
            priced = sum(own.priced(half) for own, half in zip(factors, halves, strict=True))
            du = scale * linalg.cho_solve(coupled, scale * (short - priced), check_finite=False)
            dy = np.ascontiguousarray(np.concatenate([*pool.map(lambda own, half: own.whole(half, du), factors, halves)]).T)
            dz = np.asarray(self.rows @ dy)
            return dy, du, dz, wanted - ratio * dz

        def lengths(way: tuple[Floats, Floats, Floats, Floats]) -> tuple[float, float]:
            return _longest(self.slack, way[2]), _longest(self.f, way[3])

        way = direction(-self.f)
        first, second = lengths(way)
        after = float(((self.slack + first * way[2]) * (self.f + second * way[3])).sum()) / self.total
        target = max((after / average) ** 3, LEAST_CENTRING) * average
        wanted = (target - way[2] * way[3]) / self.slack - self.f
        way = direction(wanted)
        first, second = lengths(way)
        for _ in range(CORRECTIONS):
            further = [min(1.0, 1.3 * length + 0.15) for length in (first, second)]
            products = (self.slack + further[0] * way[2]) * (self.f + further[1] * way[3]) / target
            strayed = np.maximum(np.clip(products, 1 / STRAYED, STRAYED) - products, -STRAYED)
            more = wanted + target * strayed / self.slack
            other = direction(more)
            reach = lengths(other)
            if not min(reach) >= min(first, second) + WORTH_IT:
                break
            way, wanted, (first, second) = other, more, reach
        if not all(np.isfinite(part).all() for part in way):
            return False
        self.y, self.u = self.y + first * way[0], self.u + second * way[1]
        self.slack, self.f = self.slack + first * way[2], self.f + second * way[3]
        return True


def _longest(x: Floats, dx: Floats) -> float:
    """The share of a step that stays within, and not at, the boundary."""
    falling = dx < 0
    return min(1.0, BACK * float((-x[falling] / dx[falling]).min(initial=np.inf)))
