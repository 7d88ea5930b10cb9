"""Averaged programs with thousands of states: first-order steps on a fine grid of real actions, restarted at their averages.

Multipliers f stand at knots b_0 < b_1 < ... and are interpolated between them (`knots`), which is the dual of a program whose
actions are all points between the knots and whose cone holds for the hat-weighted sums y_k = sum_a hat_k(a) x_a:

    min sum_a c_a x_a,   G y_k >= 0 for every knot k,   x >= 0,   sum_a x_a = 1.

Primal-dual hybrid gradient: x moves against c - B'G'f and back onto the simplex, f against G of the extrapolated x and back above
zero.  Steps are diagonal: tau_s and sigma_r undo the prior, which spans many orders of magnitude between states; every `RESTART`
steps the search goes on from the average since the last restart.  Work is linear in rows times knots.  Multipliers of every
step prove a bound, so the search may stop anywhere.

Reference: Chambolle and Pock 2011; diagonal steps Pock and Chambolle 2011; restarts as in PDLP (Applegate et al. 2021).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.design.ladder.bounds.averaged import Averages
from discreet.design.ladder.bounds.stakes import Stakes
from discreet.design.schedule import SECONDS_PER_STEP, now, spend
from discreet.numerics.arrays import Floats
from discreet.watch import SILENT, Watch

if TYPE_CHECKING:
    from scipy import sparse


BETWEEN = 2
"""Actions for each interval between knots: its right end, and what lies between."""
CHECK = 80
"""Steps between two looks at the bound."""
RESTART = 80
LOOK_BACK = 800
"""Steps in which the bound must gain."""
DAMPING = 0.95
WEIGHT = 2.0
"""Steps of f are longer than those of x by the square of this, once the prior is undone (1 to 4 do about as well)."""
SINGLE = np.float32
SQUARED = Stakes()
"""A squared error with real actions."""


@dataclass(frozen=True)
class Stepped:
    """The multipliers [knot, row] of the best bound seen, that bound, and how many steps were taken."""

    multipliers: Floats
    bound: float
    steps: int


def step_down(
    program: Averages,
    cone: sparse.csr_array,
    knots: Floats,
    bound_of: Callable[[Floats], float],
    seconds: float,
    gap: float = 1e-4,
    watch: Watch = SILENT,
    stakes: Stakes = SQUARED,
) -> Stepped:
    """Improve multipliers until the time is over, or until `LOOK_BACK` steps gain less than `gap` of the bound."""
    ends = now() + seconds
    search = _Walk(program, cone, knots, stakes)
    best, best_f = 0.0, np.zeros((len(knots), cone.shape[0]))
    before, taken, longest = 0.0, 0, 0.0
    while True:
        begun = now()
        for _ in range(CHECK):
            search.step()
        taken += CHECK
        spend(CHECK * SECONDS_PER_STEP * program.size * len(knots))
        for averaged in (True, False):
            found = search.multipliers(averaged)
            bound = bound_of(found)
            if bound > best:
                best, best_f = bound, found
        watch.report(stage="quotient bound", bound=best)
        if search.count >= RESTART:
            search.restart()
        if taken % LOOK_BACK == 0:
            if best - before <= gap * best and taken >= 2 * LOOK_BACK:
                break
            before = best
        longest = max(longest, now() - begun)
        if now() + longest > ends or watch.cancelled():
            break
    return Stepped(best_f, best, taken)


class _Walk:
    """x [state, action] and f [used row, knot] with running sums of both, in single precision: only `bound_of` must be right."""

    def __init__(self, program: Averages, cone: Any, knots: Floats, stakes: Stakes = SQUARED) -> None:
        from scipy import sparse

        pi = program.masses
        self.rows = cone.shape[0]
        self.used = np.flatnonzero(np.diff(cone.indptr))
        g = sparse.csr_array(cone[self.used])
        root = np.sqrt(pi)
        at = np.repeat([row.state for row in program.rows], 2)[self.used]
        scaled = abs(sparse.diags_array(root[at]) @ g @ sparse.diags_array(1.0 / root))
        hats, actions = _hats(knots) if stakes.nodes is None else (np.eye(len(knots)), knots)
        cost = pi[:, None] * stakes.costs(actions, program.statistics).T
        self.scale = float(cost.mean(axis=1).sum()) or 1.0
        tau = 1.0 / (pi * (scaled.T @ np.ones(len(at))))
        sigma = pi[at] / (scaled @ np.ones(len(pi)))
        self.g, self.g_back = g.astype(SINGLE), sparse.csr_array(g.T).astype(SINGLE)
        self.hats, self.hats_back = hats.T.astype(SINGLE).copy(), hats.astype(SINGLE)
        self.tau = (DAMPING / WEIGHT * tau[:, None]).astype(SINGLE)
        self.sigma = (DAMPING * WEIGHT * sigma[:, None] / hats.sum(axis=1)).astype(SINGLE)
        self.cost = (cost / self.scale).astype(SINGLE)
        self.x: NDArray[Any] = np.full(cost.shape, 1.0 / len(actions), dtype=SINGLE)
        self.f: NDArray[Any] = np.zeros((len(self.used), len(knots)), dtype=SINGLE)
        self.pull = np.zeros_like(self.x)
        self.level: NDArray[Any] | None = None
        self._forget()

    def _forget(self) -> None:
        self.sum_x, self.sum_f, self.count = np.zeros_like(self.x), np.zeros_like(self.f), 0

    def step(self) -> None:
        moved, self.level = on_simplex(self.x - self.tau * (self.cost - self.pull), self.level)
        slack = self.g @ ((2 * moved - self.x) @ self.hats)
        slack *= self.sigma
        self.f -= slack
        np.maximum(self.f, 0, out=self.f)
        self.pull = (self.g_back @ self.f) @ self.hats_back
        self.x = moved
        self.sum_x += moved
        self.sum_f += self.f
        self.count += 1

    def restart(self) -> None:
        """Go on from the average."""
        self.x, self.f = self.sum_x / self.count, self.sum_f / self.count
        self.pull = (self.g_back @ self.f) @ self.hats_back
        self._forget()

    def multipliers(self, averaged: bool) -> Floats:
        """[knot, row] in the units of the loss."""
        f = self.sum_f / self.count if averaged else self.f
        found = np.zeros((f.shape[1], self.rows))
        found[:, self.used] = f.T * self.scale
        return found


def on_simplex(points: NDArray[Any], level: NDArray[Any] | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """The nearest point with entries >= 0 and sum 1 to every row, max(point - level, 0), and that level of every row.

    Newton's method for the sum, which is convex and falls in the level: from any start the second guess is too low and
    the others rise. A level near the right one (that of the last step) saves most of the way.
    """
    close = 16 * np.finfo(points.dtype).eps
    level = points.max(axis=1) - 1 if level is None else level
    while True:
        above = np.maximum(points - level[:, None], 0)
        total = above.sum(axis=1)
        if np.abs(total - 1).max() <= close * points.shape[1]:
            return above, level
        size = np.count_nonzero(above, axis=1)
        higher = level + (total - 1) / np.maximum(size, 1).astype(points.dtype)
        moved = np.where(size > 0, higher, points.max(axis=1) - 1)
        if np.array_equal(moved, level):
            return above, level
        level = moved


def _hats(knots: Floats) -> tuple[Floats, Floats]:
    """The hat functions of the knots at actions on and between them, [knot, action], and those actions."""
    shares = np.arange(1, BETWEEN + 1) / BETWEEN
    actions = np.concatenate([knots[:1], (knots[:-1, None] + np.diff(knots)[:, None] * shares).ravel()])
    position = np.interp(actions, knots, np.arange(len(knots)))
    return np.maximum(0.0, 1.0 - np.abs(position[None, :] - np.arange(len(knots))[:, None])), actions
