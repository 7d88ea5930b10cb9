"""An interior point for averaged programs: min sum_a c_a x_a, G x_a >= 0, x_a >= 0, sum_a x_a = 1.

With slacks s_a = G x_a (the rows of x_a >= 0 among those of G) and multipliers z_a, Newton's matrix of one action is

    H_a = G' diag(z_a/s_a) G,

block tridiagonal where states are sorted (`averaged_blocks`); prices solve with sum_a H_a^-1, whose work, a product of
|A| n^2 and the states of a block, is most of a step.  x = 1/|A| is strictly feasible.  Multipliers of every step prove a
bound, so the search may stop anywhere.  Mehrotra's predictor and corrector, then corrections towards equal products s z.

Targets are weighed: w_r is a small power of (|G| (x span))_r with mean 1, span the largest difference of costs at a state, as
both fall by many powers of ten away from where an action is played.  While the gap is wide a few multipliers that would fall
below zero stop nobody; and half the digits will do, for the factors until it is narrower, for the sum of inverses until the
end is near, as what sums of x miss is solved for again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.design.ladder.bounds.averaged_blocks import Blocks
from discreet.design.schedule import now, spend
from discreet.design.solver.interior import beyond, longest
from discreet.design.solver.threads import one_thread
from discreet.numerics.arrays import Floats
from discreet.watch import SILENT, Watch

if TYPE_CHECKING:
    from scipy import sparse


SAFE, SAFE_EARLY = 0.99, 0.95
"""Of the longest step, how far to go; the second while some multipliers may fall below zero."""
LIMIT = 80
CENTRALITY, FARTHER, WORTH_IT = 4, 0.2, 0.02
"""Corrections towards equal products s z that a step may take, by how much they try to make it longer, and must."""
FIRST = 5.0
"""Sum of the products s z at the start, in units of the mean cost."""
PATIENCE = 8
"""Steps without progress before the search ends."""
POWER, FAINTEST = 0.05, 1e-4
"""Of what a slack may be worth, how its target grows; and the least target in parts of the largest."""
SPARE, STAYS, ROUGH = 5e-3, 0.02, 3e-3
"""Of the gap, what multipliers may fall below zero in all; they stay at this share of what they were. Below the last relative gap
none may."""
FEW_DIGITS, FEW_IN_SUMS = 1e-2, 5e-3
"""Above the first relative gap half the digits are enough for factors, above the second for the sum of inverses."""
SHORT, SHORTEST = 0.1, 1e-6
"""Steps that are shorter are taken again with more digits; and end the search, where there are none."""
CLOSE, CLOSEST, ROUNDS = 1e-3, 1e-10, 3
"""Sums of x are hit as closely as this share of the relative gap, or as this; so often what they miss is solved for again."""
RIDGES, SUM_RIDGES = (0.0, 1e-10, 1e-8), (0.0, 1e-7, 1e-5)
"""Added to diagonals in parts of themselves where digits give out: of factors, and of the sum of inverses."""

USUAL_STEPS = 25
"""To a gap of 2e-3."""
SECONDS_PER_STEP = 3e-4
SECONDS_PER_SUM, SECONDS_PER_FACTOR, SECONDS_PER_PAIR, SECONDS_PER_ROW = 1e-11, 1.2e-10, 2.5e-8, 4.5e-8
"""Of a step, for each action: of states^2 x widest block, of states x its square, of states x it, and of rows and states."""

Way = tuple[Floats, Floats, Floats, Floats]
"""Changes of x, s, z and the prices."""


@dataclass(frozen=True)
class Averaged:
    """Multipliers [action, row], the kernel [action, state] that loses least, and how the search ended."""

    multipliers: Floats
    kernel: Floats
    status: str


def taking(states: int, rows: int, actions: int, widest: int) -> float:
    """A guess in seconds of a whole solve to a gap of 2e-3, for so many rows of G, where the widest block has so many states."""
    return USUAL_STEPS * step_seconds(states, rows, actions, widest)


def step_seconds(states: int, rows: int, actions: int, widest: int) -> float:
    """A guess of one step."""
    n, width = float(states), float(widest)
    sums, factors = SECONDS_PER_SUM * n**2 * width, SECONDS_PER_FACTOR * n * width**2
    each = sums + factors + SECONDS_PER_PAIR * n * width + SECONDS_PER_ROW * (rows + n)
    return SECONDS_PER_STEP + actions * each


@one_thread()
def solve_averaged(
    cone: sparse.csr_array,
    cost: Floats,
    bound_of: Callable[[Floats], float],
    gap: float = 1e-6,
    seconds: float = 60.0,
    watch: Watch = SILENT,
) -> Averaged:
    """The multipliers of the best bound seen; `cost` is [action, state], `bound_of` judges multipliers [action, row]."""
    ends = now() + seconds
    search = _Search(cone, cost)
    step = step_seconds(cost.shape[1], cone.shape[0], len(cost), int(search.blocks.levels.sizes.max()))
    best, best_z = -np.inf, np.zeros((len(cost), cone.shape[0]))
    stalled, least, status = 0, np.inf, "step limit"
    for _ in range(LIMIT):
        before, value, excess = best, search.value(), search.excess()
        for z in search.multipliers():
            bound = bound_of(z)
            if bound > best:
                best, best_z = bound, z
        stalled = 0 if best > before + 1e-9 * abs(before) or excess < 0.9 * least else stalled + 1
        least = min(least, excess)
        if excess <= gap * abs(value):
            status = "optimal"
            break
        if stalled >= PATIENCE or now() + search.took > ends or watch.cancelled():
            status = "stalled" if stalled >= PATIENCE else "cancelled"
            break
        begun = now()
        with np.errstate(all="ignore"):
            moved = search.advance(excess / abs(value))
        spend(step)
        search.took = now() - begun
        if not moved:
            status = "stalled"
            break
    return Averaged(best_z, search.kernel(), status)


def _beyond(point: Floats, direction: Floats, spare: float) -> float:
    return beyond(point.ravel(), direction.ravel(), spare, 1.0)


class _Search:
    """A point (x, s, z, price) of the path, [state or row, action]; states are in the order of their blocks.

    Costs are divided by `scale` inside, the rows x >= 0 stand below G's.
    """

    def __init__(self, cone: Any, cost: Floats) -> None:
        from scipy import sparse

        self.rows, n = cone.shape
        self.used = np.flatnonzero(np.diff(cone.indptr))
        self.blocks = Blocks(sparse.csr_array(sparse.vstack([cone[self.used], sparse.eye_array(n)])))
        self.cone, order = self.blocks.rows, self.blocks.order
        self.back, self.size = sparse.csr_array(self.cone.T), abs(self.cone)
        base = cost.min(axis=0)
        self.base, self.scale = float(base.sum()), float((cost - base).mean(axis=0).sum()) or 1.0
        self.cost = np.ascontiguousarray(((cost - base) / self.scale)[:, order].T)
        self.span = self.cost.max(axis=1)
        self.x: Floats = np.full(self.cost.shape, 1.0 / len(cost))
        self.s: Floats = self.cone @ self.x
        self.z: Floats = FIRST * self.weights() / (self.s * self.s.size)
        self.pull: Floats = self.back @ self.z
        self.price = np.zeros(n)
        self.proof, self.proved = self.z, self._proved(self.pull)
        self.played, self.loss = self.x, float(np.vdot(self.cost, self.x))
        self.took = 0.0

    def multipliers(self) -> Iterator[Floats]:
        """[action, row] of the rows that were given: where the search is, and what proves more at these very actions."""
        for inner in (self.z,) if self.proof is self.z else (self.z, self.proof):
            z = np.zeros((self.x.shape[1], self.rows))
            z[:, self.used] = self.scale * inner[: len(self.used)].T
            yield z

    def kernel(self) -> Floats:
        """[action, state] in the order that was given."""
        found = np.empty(self.x.shape[::-1])
        found[:, self.blocks.order] = self.played.T
        return found

    def value(self) -> float:
        """The least seen."""
        return self.loss * self.scale + self.base

    def excess(self) -> float:
        """How far the value lies above what the best multipliers prove for these costs."""
        return (self.loss - self.proved) * self.scale

    def _proved(self, pull: Floats) -> float:
        return float((self.cost - pull).min(axis=1).sum())

    def _known(self, z: Floats) -> Floats:
        """G'z, which is kept if it proves more than what was seen before."""
        pull: Floats = self.back @ z
        proved = self._proved(pull)
        if proved > self.proved:
            self.proof, self.proved = z, proved
        return pull

    def _play(self, x: Floats) -> None:
        """Keep x if it loses less than what was seen before."""
        loss = float(np.vdot(self.cost, x))
        if loss < self.loss and float(np.abs(1.0 - x.sum(axis=1)).max()) < self.close:
            self.played, self.loss = x, loss

    def weights(self) -> Floats:
        """How large the target of each product s z is beside the others, with mean 1."""
        worth = self.size @ (self.x * self.span[:, None])
        found = np.maximum((worth / worth.max()) ** POWER, FAINTEST)
        return np.asarray(found / found.mean())

    def advance(self, relative: float) -> bool:
        """One step from this relative gap; False when the linear algebra has no digits left."""
        self.close = max(CLOSE * relative, CLOSEST)
        early = relative > ROUGH
        if relative > FEW_DIGITS and self._stepped(early, np.float32, np.float32, SHORT):
            return True
        if relative > FEW_IN_SUMS and self._stepped(early, np.float64, np.float32, SHORT):
            return True
        return self._stepped(early, np.float64, np.float64, SHORTEST)

    def _stepped(self, early: bool, digits: Any, digits_of_sums: Any, least: float) -> bool:
        """The same by factors, and a sum of inverses, of so many digits; False where it is shorter than the least."""
        if not self._factored(digits, digits_of_sums):
            return False
        way, step_s, step_z = self._corrected(SPARE * float(np.vdot(self.s, self.z)) if early else 0.0)
        safe = SAFE_EARLY if early else SAFE
        step_s, step_z = min(1.0, safe * step_s), min(1.0, safe * step_z)
        if not (np.isfinite(step_s) and np.isfinite(step_z)) or max(step_s, step_z) < least:
            return False
        x, z = self.x + step_s * way[0], np.maximum(self.z + step_z * way[2], STAYS * self.z)
        s = self.cone @ x
        s = np.where(s > 0, s, self.s + step_s * way[1])
        if not (np.isfinite(z).all() and x.min() > 0 and s.min() > 0):
            return False
        self.x, self.s, self.z, self.price = x, s, z, self.price + step_z * way[3]
        self.pull = self._known(z)
        self._play(x)
        return True

    def _factored(self, digits: Any, digits_of_sums: Any) -> bool:
        """Whether there are factors, and one of the sum of inverses."""
        from scipy.linalg import LinAlgError, lapack

        for ridge in RIDGES:
            try:
                self.factors = self.blocks.factored(self.z / self.s, digits, max(ridge, float(np.finfo(digits).eps)))
                break
            except LinAlgError:
                continue
        else:
            return False
        self.largest, total = self.factors.summed(digits_of_sums)
        for ridge in SUM_RIDGES:
            tried = total.astype(np.float64)
            tried[np.diag_indices(len(tried))] *= 1.0 + ridge
            self.master, failed = lapack.dpotrf(tried.T, lower=1, overwrite_a=1, clean=0)
            if not failed:
                return True
        return False

    def _corrected(self, spare: float) -> tuple[Way, float, float]:
        """Mehrotra's direction with corrections that make steps longer, and the longest steps of s and z along it."""
        s, z = self.s, self.z
        dual, primal = self.cost - self.price[:, None] - self.pull, 1.0 - self.x.sum(axis=1)
        product = s * z
        mu = float(product.mean())
        far_s = partial(longest, safe=1.0)
        far_z = partial(_beyond, spare=spare) if spare else far_s
        dx, ds, dz, _ = self._direction(-product, dual, primal)
        step_s, ahead = far_s(s, ds), np.maximum(z + far_z(z, dz) * dz, 0.0)
        self._play(self.x + step_s * dx)
        self._known(ahead)
        after = float(np.mean((s + step_s * ds) * ahead))
        aim = min(max((after / mu) ** 2, 1e-6), 1.0) * mu * self.weights()
        goal = aim - product - ds * dz
        way = self._direction(goal, dual, primal)
        step_s, step_z = far_s(s, way[1]), far_z(z, way[2])
        for _ in range(CENTRALITY):
            if min(step_s, step_z) > 0.95:
                break
            further_s, further_z = min(1.0, 1.1 * step_s + FARTHER), min(1.0, 1.1 * step_z + FARTHER)
            reached = (s + further_s * way[1]) * (z + further_z * way[2])
            goal += np.maximum(np.clip(reached, 0.1 * aim, 10.0 * aim) - reached, -10.0 * aim)
            other = self._direction(goal, dual, primal)
            new_s, new_z = far_s(s, other[1]), far_z(z, other[2])
            if new_s + new_z < step_s + step_z + WORTH_IT:
                break
            way, step_s, step_z = other, new_s, new_z
        return way, step_s, step_z

    def _direction(self, goal: Floats, dual: Floats, primal: Floats) -> Way:
        """Newton's direction towards s z = s z + goal, its sums of x refined."""
        right = self.back @ (goal / self.s) - dual
        alone = self.factors.solve(right)
        dprice = self._priced(primal - alone.sum(axis=1))
        dx = self.factors.solve(right + dprice[:, None])
        for _ in range(ROUNDS):
            missing = primal - dx.sum(axis=1)
            if float(np.abs(missing).max()) < self.close:
                break
            more = self._priced(missing)
            dprice, dx = dprice + more, dx + self.factors.solve(np.repeat(more[:, None], dx.shape[1], axis=1))
        ds = self.cone @ dx
        return dx, ds, (goal - self.z * ds) / self.s, dprice

    def _priced(self, missing: Floats) -> Floats:
        """The prices that move sums of x by so much."""
        from scipy.linalg import lapack

        return np.asarray(lapack.dpotrs(self.master, missing / self.largest, lower=1)[0] / self.largest)
