"""An interior point for averaged programs: min sum_a c_a x_a, G x_a >= 0, x_a >= 0, sum_a x_a = 1.

Newton's matrix of one action, scaled by x so that its unknowns are relative changes dx = x dy, is

    Q_a = X G' diag(z/s) G X,        s = G x,

dense enough after averaging (a row joins a state with all its predecessors) that plain Cholesky on n states is the quickest way;
prices solve with sum_a X Q_a^-1 X.  Work is |A| n^3 a step.  x = 1/|A| is strictly feasible.  Multipliers of every
step prove a bound, so the search may stop anywhere.  Mehrotra's predictor and corrector.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.design.schedule import SECONDS_PER_FLOP, now, spend
from discreet.design.solver.threads import one_thread
from discreet.numerics.arrays import Floats
from discreet.watch import SILENT, Watch

if TYPE_CHECKING:
    from scipy import sparse


SAFE = 0.99
LIMIT = 80
CENTRALITY = 4
"""Corrections towards equal products s z that a step may take: they cost little beside the factors."""
FIRST = 5.0
"""Sum of the products s z at the start, in units of the mean cost."""
PATIENCE = 8
"""Steps without progress before the search ends."""


@dataclass(frozen=True)
class Averaged:
    """Multipliers [action, row], the kernel [action, state] they belong to, and how the search ended."""

    multipliers: Floats
    kernel: Floats
    status: str


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
    best, best_z, best_x = -np.inf, np.zeros((len(cost), cone.shape[0])), search.x
    stalled, least, status = 0, np.inf, "step limit"
    for _ in range(LIMIT):
        z = search.multipliers()
        bound, value = bound_of(z), search.value()
        excess = search.excess()
        stalled = 0 if bound > best + 1e-9 * abs(best) or excess < 0.9 * least else stalled + 1
        least = min(least, excess)
        if bound > best:
            best, best_z, best_x = bound, z, search.x
        if excess <= gap * abs(value):
            status = "optimal"
            break
        if stalled >= PATIENCE or now() + search.took > ends or watch.cancelled():
            status = "stalled" if stalled >= PATIENCE else "cancelled"
            break
        begun = now()
        with np.errstate(all="ignore"):
            moved = search.advance()
        spend(SECONDS_PER_FLOP * cost.shape[0] * float(cost.shape[1]) ** 3)
        search.took = now() - begun
        if not moved:
            status = "stalled"
            break
    return Averaged(best_z, best_x, status)


class _Search:
    """A point (x, s, z, price) of the path; costs are divided by `scale` inside, the rows x >= 0 stand below G's."""

    def __init__(self, cone: Any, cost: Floats) -> None:
        from scipy import sparse

        self.rows, n = cone.shape
        used = np.flatnonzero(np.diff(cone.indptr))
        self.used = used
        self.cone = sparse.csr_array(sparse.vstack([cone[used], sparse.eye_array(n)]))
        self.back = sparse.csr_array(self.cone.T)
        self.base = cost.min(axis=0)
        self.scale = float((cost - self.base).mean(axis=0).sum()) or 1.0
        self.cost = (cost - self.base) / self.scale
        self.x: Floats = np.full(cost.shape, 1.0 / len(cost))
        self.s = self._slack(self.x)
        self.z: Floats = FIRST / (self.s * self.s.size)
        self.price = np.zeros(n)
        self.took = 0.0
        self.outer, self.where = _squares(self.cone)

    def multipliers(self) -> Floats:
        z = np.zeros((len(self.x), self.rows))
        z[:, self.used] = self.z[:, : len(self.used)]
        return z * self.scale

    def value(self) -> float:
        return float((self.cost * self.x).sum() * self.scale + self.base.sum())

    def excess(self) -> float:
        """How far the value lies above what the multipliers prove for these costs."""
        reduced = self.cost - self._pull(self.z)
        return float((self.cost * self.x).sum() - reduced.min(axis=0).sum()) * self.scale

    def _slack(self, x: Floats) -> Floats:
        return np.ascontiguousarray((self.cone @ x.T).T)

    def _pull(self, z: Floats) -> Floats:
        return np.ascontiguousarray((self.back @ z.T).T)

    def advance(self) -> bool:
        """One predictor-corrector step; False when the linear algebra has no digits left."""
        from scipy.linalg import lapack

        x, s, z = self.x, self.s, self.z
        n = x.shape[1]
        weights = (self.outer @ (z / s).T).T
        total = np.zeros((n, n), order="F")
        self.factors = []
        for a in range(len(x)):
            matrix = np.zeros(n * n)
            matrix[self.where] = weights[a]
            q = matrix.reshape(n, n) * x[a][:, None] * x[a][None, :]
            factor, failed = lapack.dpotrf(q, lower=1, overwrite_a=0, clean=0)
            if failed:
                q[np.diag_indices(n)] *= 1 + 1e-10
                factor, failed = lapack.dpotrf(q, lower=1, clean=0)
                if failed:
                    return False
            inverse, failed = lapack.dpotri(factor, lower=1)
            if failed:
                return False
            self.factors.append(factor)
            inverse *= x[a][:, None]
            inverse *= x[a][None, :]
            total += inverse
        self.master, failed = lapack.dpotrf(total, lower=1, clean=0)
        if failed:
            return False
        dual, primal = self.cost - self.price - self._pull(z), 1.0 - x.sum(axis=0)
        product = s * z
        mu = float(product.mean())
        _, ds, dz, _ = self._direction(-product, dual, primal)
        after = float(np.mean((s + _longest(s, ds) * ds) * (z + _longest(z, dz) * dz)))
        aim = min(max((after / mu) ** 2, 1e-6), 1.0) * mu
        goal = aim - product - ds * dz
        dx, ds, dz, dprice = self._direction(goal, dual, primal)
        step_s, step_z = _longest(s, ds), _longest(z, dz)
        for _ in range(CENTRALITY):
            if min(step_s, step_z) > 0.95:
                break
            further_s, further_z = min(1.0, 1.1 * step_s + 0.1), min(1.0, 1.1 * step_z + 0.1)
            reached = (s + further_s * ds) * (z + further_z * dz)
            goal = goal + np.maximum(np.clip(reached, 0.1 * aim, 10.0 * aim) - reached, -10.0 * aim)
            other = self._direction(goal, dual, primal)
            new_s, new_z = _longest(s, other[1]), _longest(z, other[2])
            if new_s + new_z < step_s + step_z + 0.02:
                break
            (dx, ds, dz, dprice), step_s, step_z = other, new_s, new_z
        step_s, step_z = SAFE * step_s, SAFE * step_z
        if not (np.isfinite(step_s) and np.isfinite(step_z)) or max(step_s, step_z) < 1e-6:
            return False
        self.x = x + step_s * dx
        moved = self._slack(self.x)
        self.s = np.where(moved > 0, moved, s + step_s * ds)
        self.z = z + step_z * dz
        self.price = self.price + step_z * dprice
        return bool(self.x.min() > 0 and self.s.min() > 0 and self.z.min() > 0)

    def _direction(self, goal: Floats, dual: Floats, primal: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        from scipy.linalg import lapack

        right = self._pull(goal / self.s) - dual
        alone = self._solved(right)
        dprice = lapack.dpotrs(self.master, primal - alone.sum(axis=0), lower=1)[0]
        dx = alone + self._solved(np.broadcast_to(dprice, right.shape))
        missing = primal - dx.sum(axis=0)
        more = lapack.dpotrs(self.master, missing, lower=1)[0]
        dprice, dx = dprice + more, dx + self._solved(np.broadcast_to(more, right.shape))
        ds = self._slack(dx)
        return dx, ds, (goal - self.z * ds) / self.s, dprice

    def _solved(self, right: Floats) -> Floats:
        from scipy.linalg import lapack

        return np.stack(
            [x * lapack.dpotrs(factor, x * r, lower=1)[0] for factor, x, r in zip(self.factors, self.x, right, strict=True)]
        )


def _longest(point: Floats, change: Floats) -> float:
    """The longest step up to 1 that keeps the point positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(change < 0, -point / change, np.inf)
    return float(min(1.0, np.nanmin(ratio)))


def _squares(cone: Any) -> tuple[Any, NDArray[np.int64]]:
    """(P, places): the lower triangle of G' diag(w) G at `places` of a flattened [state, state] table is P w."""
    from scipy import sparse

    n = cone.shape[1]
    rows, places, products = [], [], []
    for r in range(cone.shape[0]):
        at = cone.indices[cone.indptr[r] : cone.indptr[r + 1]]
        g = cone.data[cone.indptr[r] : cone.indptr[r + 1]]
        i, j = np.meshgrid(at, at, indexing="ij")
        both = np.outer(g, g)
        low = i >= j
        rows.append(np.full(int(low.sum()), r))
        places.append(i[low].astype(np.int64) * n + j[low])
        products.append(both[low])
    place = np.concatenate(places)
    distinct, number = np.unique(place, return_inverse=True)
    shape = (len(distinct), cone.shape[0])
    table = sparse.coo_array((np.concatenate(products), (number, np.concatenate(rows))), shape=shape)
    return sparse.csr_array(table), distinct
