"""Real actions and squared error: one program whose optimum bounds all real actions, refined where it is not yet true.

Cells tile the range of actions. A cell with centre a_k and radius r_k is one action of a program, its costs lowered by r_k² per
unit of prior:

    c̃_h(k) = π_h·((a_k − ω_h)² − r_k²).

Flows that price two neighbours at these costs price, interpolated, every real action between their centres: the chord of c̃ lies
below the parabola exactly when the cells touch. So the program's bound is one for all real actions, in a single solve. From its
rows comes a mechanism: each recommends its own posterior mean. A row with mean m is told for less than it costs by its mass times
r_k² − (a_k − m)², nothing when m lies on the border of its cell; the sum of that is all that separates value and bound.

An optimum plays about as many rays of the cone of private rows as there are states, and the mean of a ray does not move when prices
do. So a cell that is told too cheaply is cut on both sides of its mean: what is left is a small cell around the ray, or the rays of
a mixed row fall into different cells. Cells are cut and never joined. The interior point goes on after every refinement from a
point of its path where the change is small; rows are shared out among their heirs and flows interpolated.
"""

from __future__ import annotations

import time
from collections import deque
from functools import partial

import numpy as np

from discreet.design.schedule import now, time_left
from discreet.design.solver.continuum import Continuum, first_actions
from discreet.design.solver.interior import Iterate, Point
from discreet.design.solver.losses import SquaredError
from discreet.design.solver.program import Floats, Integers, Program
from discreet.design.solver.repair import repair
from discreet.design.solver.threads import one_thread
from discreet.design.watchdog import Keep, forget
from discreet.frozen import dataclass
from discreet.model.gap import reached
from discreet.numerics.devices import fetched
from discreet.watch import Watch

FIRST_CELLS = 48
LIMIT = 400
"""Steps in all."""
SETTLED = 1.0
"""Refine when the interior point's own gap is below this share of what rows are told too cheaply."""
BACK = 3.0
"""Go back to where its own gap was so many times what rows are told too cheaply,"""
KEPT = 16
"""so many steps at most."""
LEFT, LEAST_LEFT = 0.03, 0.1
"""Cells are cut until the others are told too cheaply by this share of the whole, or by this share of the gap asked for."""
INNER = 0.12
"""Radius of the cell around a mean, in parts of the cell that is cut."""
FOR_AN_END = 1e-3
"""Radius of the cell around an end where actions may lie, in parts of the range."""
PROGRESS, PATIENCE = 0.9, 4
"""So many refinements that do not bring the gap below this share of the least end the search."""


@dataclass(frozen=True)
class Line:
    """Cells side by side, given by their borders, ascending; the outer ones are centred at the ends of the range."""

    borders: Floats

    @property
    def centres(self) -> Floats:
        return np.asarray((self.borders[:-1] + self.borders[1:]) / 2)

    @property
    def radii(self) -> Floats:
        return np.asarray(np.diff(self.borders) / 2)

    def cost(self, loss: SquaredError) -> Floats:
        """c̃, axes [cell, state]."""
        return np.asarray(loss.cost(self.centres) - self.radii[:, None] ** 2 * loss.prior)

    def cut(self, cells: Integers, means: Floats) -> Line:
        """Each of these cells cut on both sides of a mean, where that leaves more than the inner cell's radius."""
        left, right = self.borders[cells], self.borders[cells + 1]
        inner = INNER * (right - left) / 2
        low, high = means - inner, means + inner
        return Line(np.unique(np.concatenate([self.borders, low[low - left > inner], high[right - high > inner]])))

    def heirs(self, finer: Line) -> tuple[Floats, Floats]:
        """What each cell of a finer line gets of these rows (columns add up to one), and how flows are interpolated there."""
        old, new = self.centres, finer.centres
        every = np.arange(len(new))
        parent = np.clip(np.searchsorted(self.borders, new) - 1, 0, len(old) - 1)
        rows = np.zeros((len(new), len(old)))
        rows[every, parent] = 1.0 / np.bincount(parent, minlength=len(old))[parent]
        right = np.clip(np.searchsorted(old, new), 1, len(old) - 1)
        share = np.clip((new - old[right - 1]) / (old[right] - old[right - 1]), 0.0, 1.0)
        flows = np.zeros((len(new), len(old)))
        flows[every, right - 1] = 1 - share
        flows[every, right] += share
        return rows, flows


def line(inner: Floats, low: float, high: float) -> Line:
    """Cells between these borders within the range, and beyond them larger and larger ones as far as it reaches."""
    near = float(np.min(np.diff(inner)))
    before, after = _beyond(float(inner[0]) - low, near), _beyond(high - float(inner[-1]), near)
    return Line(np.concatenate([inner[0] - before[::-1], inner, inner[-1] + after]))


def _within(loss: SquaredError, first: float, last: float, count: int) -> Floats:
    """The first borders: evenly between these actions, or over the range; cells at its ends are kept for actions that lie there."""
    end = FOR_AN_END * (loss.high - loss.low)
    low, high = max(first, loss.low + end), min(last, loss.high - end)
    return np.linspace(*((low, high) if high - low > end else (loss.low + end, loss.high - end)), count + 1)


def _beyond(room: float, near: float) -> Floats:
    """Distances of the borders on one side; the last cell is centred where the range ends. No posterior mean lies far out."""
    found: list[float] = []
    reach, radius = 0.0, near
    while reach + 2 * radius < room:
        reach += 2 * radius
        found.append(reach)
        radius = reach
    return np.array([*found, 2 * room - reach])


@one_thread()
def solve_cells(
    loss: SquaredError,
    edges: Integers,
    epsilon: float,
    gap: float = 1e-6,
    watch: Watch | None = None,
    first: int = FIRST_CELLS,
    keep: Keep[Continuum] = forget,
) -> Continuum:
    """Best kernel over real actions on a connected graph with ε > 0, and a bound over all real actions, to a relative gap.

    It begins with about `first` cells; `keep` is handed the best so far.
    """
    return _Refining(loss, edges, epsilon, gap, watch, first).solved(keep)


class _Refining:
    """The program on a line of cells, its interior point, and the best of what they showed."""

    def __init__(self, loss: SquaredError, edges: Integers, epsilon: float, gap: float, watch: Watch | None, first: int) -> None:
        self.loss, self.edges, self.epsilon, self.gap, self.watch = loss, edges, epsilon, gap, watch
        self.begun = time.perf_counter()
        seen = first_actions(loss, edges, epsilon)
        self.line = line(_within(loss, float(seen[0]), float(seen[-1]), first), loss.low, loss.high)
        self.state = Iterate(Program(self.line.cost(loss), edges, epsilon))
        self.path: deque[tuple[float, Point]] = deque(maxlen=KEPT)
        self.value, self.bound = np.inf, -np.inf
        self.kernel = np.ones((1, len(loss.prior)))
        self.actions = loss.best(self.kernel)
        self.proof = (self.line.centres, np.zeros((len(self.line.centres), 2 * len(edges))))
        self.least, self.idle = np.inf, 0

    def solved(self, keep: Keep[Continuum]) -> Continuum:
        """Step and refine until the gap is reached, nothing helps any more, or the time is up."""
        status, pace = "stalled", 1.0
        for _ in range(LIMIT):
            own, cheap, means = self._looked()
            keep(partial(self._shown, self.actions, self.kernel, self.proof, self.value, self.bound, "cancelled"))
            if reached(self.value, self.bound, self.gap):
                status = "optimal"
                break
            if self.watch is not None:
                seconds = time.perf_counter() - self.begun
                self.watch.report(stage="real actions", value=self.value, bound=self.bound, seconds=seconds)
                if self.watch.cancelled() or pace * self.state.step_seconds > time_left(self.watch):
                    status = "cancelled"
                    break
            told = float(cheap.sum())
            if own < SETTLED * told and not self._refined(told, cheap, means):
                break
            guess, begun = self.state.step_seconds, now()
            with np.errstate(all="ignore"):
                if not self.state.advance():
                    break
            pace = max((now() - begun) / guess, pace / 2, 1.0)
        return self._shown(self.actions, self.kernel, self.proof, self.value, self.bound, status)

    def _shown(
        self, actions: Floats, kernel: Floats, proof: tuple[Floats, Floats], value: float, bound: float, status: str
    ) -> Continuum:
        return Continuum(actions, kernel, *proof, value, bound, time.perf_counter() - self.begun, status)

    def _looked(self) -> tuple[float, Floats, Floats]:
        """The interior point's own gap, by how much each row is told too cheaply, and the rows' posterior means."""
        loss, state = self.loss, self.state
        x = state.kernel / state.kernel.sum(axis=0)
        means = loss.best(x)
        each = np.sum(x * loss.cost(means), axis=1)
        bound = state.bound()
        if bound > self.bound:
            self.bound, self.proof = bound, (self.line.centres, fetched(state.z) * state.scale)
        if float(each.sum()) < self.value:
            # What counts is the value after repair: late iterates look better than they are.
            kernel = repair(x, Program(loss.cost(means), self.edges, self.epsilon))
            actions = loss.best(kernel)
            value = float(np.sum(kernel * loss.cost(actions)))
            if value < self.value:
                self.value, self.kernel, self.actions = value, kernel, actions
        told = np.sum(x * self.line.cost(loss), axis=1)
        own = float(told.sum()) - bound
        self.path.append((own, state.point))
        return own, each - told, means

    def _refined(self, told: float, cheap: Floats, means: Floats) -> bool:
        """Cut the cells that are told too cheaply; whether that promises anything."""
        apart = self.value - self.bound
        self.idle = 0 if apart < PROGRESS * self.least else self.idle + 1
        self.least = min(self.least, apart)
        if self.idle >= PATIENCE:
            return False
        order = np.argsort(-cheap, kind="stable")
        left = told - np.cumsum(cheap[order])
        enough = max(LEFT * told, LEAST_LEFT * self.gap * abs(self.value))
        chosen = order[: int(np.count_nonzero(left > enough)) + 1]
        finer = self.line.cut(chosen, means[chosen])
        if len(finer.borders) == len(self.line.borders):
            return False
        before = [point for own, point in self.path if own > BACK * told] or [self.path[0][1]]
        self.path.clear()
        self.state.point = before[-1]
        self.state.share_out(*self.line.heirs(finer), finer.cost(self.loss))
        self.line = finer
        return True
