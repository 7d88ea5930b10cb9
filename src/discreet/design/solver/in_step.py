"""Interior points of several programs on one graph, taken in step: the levels of a frontier, the sizes of a family.

Most of a step of a small program is the overhead of some hundred operations on small arrays. Programs that share their graph share
these: the actions of all stand below each other, [action of any program, state], and are eliminated at once (`elimination`). What
belongs to a program (its ε, costs, prices, step lengths, targets, its end) stays its own, so each goes along the path that
`interior.Iterate` takes, whoever else is there, up to rounding; one that has ended or stalled leaves, and the others go on.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from discreet.design.schedule import interior_seconds, now, spend, time_left
from discreet.design.solver.cholesky import Cholesky
from discreet.design.solver.elimination import Factor, Pattern
from discreet.design.solver.interior import (
    CENTRALITY,
    EXACT,
    FAINTEST,
    FARTHER,
    LIMIT,
    PATIENCE,
    PROGRESS,
    SAFE,
    Iterate,
)
from discreet.design.solver.program import Flags, Floats, Integers, Program, Solution, directed, ends_of, pulled, value_of
from discreet.design.solver.repair import repair
from discreet.frozen import dataclass
from discreet.model.gap import reached
from discreet.watch import SILENT, Watch

CLOSE = 30.0
"""Kernels are repaired and valued from so many times the gap on: before that nobody asks for one."""


@dataclass(frozen=True, eq=False)
class PathAsked:
    """A connected program with ε > 0 and two actions or more, the relative gap to reach, and who may cancel it."""

    program: Program
    gap: float
    watch: Watch = SILENT


def interior_points(asked: Sequence[PathAsked]) -> list[Solution]:
    """The solutions of programs on one graph whose states are eliminated in one order (`interior.order_of`)."""
    begun = time.perf_counter()
    live = [_Member(one, begun) for one in asked]
    found: dict[int, Solution] = {}
    numbers = list(range(len(live)))
    point = Points([one.program for one in asked])
    longest = point.step_seconds
    while True:
        bounds, values = point.bounds(), point.values()
        keep = np.ones(len(live), dtype=bool)
        for k, member in enumerate(live):
            status = member.look(point, k, float(values[k]), float(bounds[k]), longest)
            if status is not None:
                found[numbers[k]] = member.solution(status)
                keep[k] = False
        if not keep.all():
            live = [member for k, member in enumerate(live) if keep[k]]
            numbers = [number for k, number in enumerate(numbers) if keep[k]]
            point = point.only(keep) if live else point
        if not live:
            return [found[number] for number in range(len(asked))]
        started = now()
        with np.errstate(all="ignore"):
            moved = point.advance()
        for k, member in enumerate(live):
            member.taken += 1
            member.stuck = not moved[k]
        longest = max(now() - started, longest / 2)


class _Member:
    """What is known of one program: its best bound and kernel, and how long it has made no progress."""

    def __init__(self, asked: PathAsked, begun: float) -> None:
        self.asked, self.begun = asked, begun
        self.bound, self.value, self.raw = -np.inf, np.inf, np.inf
        self.z: Floats = np.zeros((0, 0))
        self.x: Floats = np.zeros((0, 0))
        self.kernel: Floats | None = None
        self.scale = 1.0
        self.taken = self.stalled = 0
        self.stuck = False
        self.least = (np.inf, np.inf)

    def look(self, point: Points, k: int, value: float, bound: float, longest: float) -> str | None:
        """Take note of a new point; why this program is done, or None while it is not."""
        program, gap, watch = self.asked.program, self.asked.gap, self.asked.watch
        rows = point.rows(k)
        better = False
        if bound > self.bound:
            better, self.bound, self.z, self.scale = True, bound, point.z[rows], float(point.scale[k])
        if value < self.raw:
            better, self.raw, self.x = True, value, point.x[rows]
            if reached(value, self.bound, CLOSE * gap):  # what counts is the value after repair
                self._repaired(program)
        now_at = float(point.residual[k]), float(point.complementarity[k])
        if better or now_at[0] < PROGRESS * self.least[0] or now_at[1] < PROGRESS * self.least[1]:
            self.stalled, self.least = 0, (min(self.least[0], now_at[0]), min(self.least[1], now_at[1]))
        else:
            self.stalled += 1
        watch.report(stage="interior point", value=min(self.value, self.raw), bound=self.bound, seconds=self._seconds)
        if self.kernel is not None and reached(self.value, self.bound, gap):
            return "optimal"
        if watch.cancelled() or longest > time_left(watch):
            return "cancelled"
        if self.stuck or self.stalled >= PATIENCE:
            return "stalled"
        return "iteration limit" if self.taken >= LIMIT else None

    def _repaired(self, program: Program) -> None:
        candidate = repair(self.x, program)
        honest = value_of(program, candidate)
        if honest < self.value or self.kernel is None:
            self.value, self.kernel = honest, candidate

    def solution(self, status: str) -> Solution:
        if self.kernel is None:
            self._repaired(self.asked.program)
        assert self.kernel is not None
        return Solution(self.kernel, self.z * self.scale, self.value, self.bound, self.taken, self._seconds, status)

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self.begun


class Points:
    """Points (x, s, z, λ) of the paths of several programs; rows are actions, program after program."""

    def __init__(self, programs: Sequence[Program]) -> None:
        each = [Iterate(program) for program in programs]
        self.pattern: Pattern = each[0].pattern
        self.edges: Integers = each[0].edges
        self.count = len(self.edges)
        self.tail, self.head = directed(self.edges)
        self.sizes = np.array([len(one.x) for one in each])
        self.q: Floats = np.array([one.q for one in each])
        self.scale: Floats = np.array([one.scale for one in each])
        self.base: Floats = np.stack([one.base for one in each])
        self.span: Floats = np.stack([one.span for one in each])
        self.price: Floats = np.stack([one.price for one in each])
        parts = ("cost", "x", "s", "z")
        self.cost, self.x, self.s, self.z = (np.concatenate([getattr(one, part) for one in each]) for part in parts)
        self.residual = self.complementarity = np.full(len(each), np.inf)
        self._placed()

    def _placed(self) -> None:
        """What follows from how many actions each program has."""
        self.of = np.repeat(np.arange(len(self.sizes)), self.sizes)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        self.pairs = self.sizes * 2 * self.count
        self.heavy: Floats = self.span.take(self.head, axis=1)[self.of]
        self.factors: Floats = self.q[self.of, None]
        self.ends = ends_of(self.edges, len(self.of), self.x.shape[1])
        self.known: tuple[Floats, Floats] | None = None

    def rows(self, k: int) -> slice:
        """Where the actions of one program stand."""
        return slice(int(self.starts[k]), int(self.starts[k] + self.sizes[k]))

    def only(self, keep: Flags) -> Points:
        """The points of some of the programs."""
        found = object.__new__(Points)
        found.pattern, found.edges, found.count, found.tail, found.head = self.pattern, self.edges, self.count, self.tail, self.head
        for part in ("sizes", "q", "scale", "base", "span", "price", "residual", "complementarity"):
            setattr(found, part, getattr(self, part)[keep])
        kept = keep[self.of]
        for part in ("cost", "x", "s", "z"):
            setattr(found, part, getattr(self, part)[kept])
        found._placed()
        return found

    @property
    def step_seconds(self) -> float:
        """A guess of what a step of all takes."""
        states, width = self.x.shape[1], int(self.pattern.layers.sizes.max())
        return float(sum(interior_seconds(int(actions), states, width) for actions in self.sizes))

    def summed(self, array: Floats) -> Floats:
        """Sums over the actions of each program."""
        found: Floats = np.add.reduceat(array, self.starts, axis=0)
        return found

    def most(self, array: Floats) -> Floats:
        """The largest entry of each program."""
        found: Floats = np.maximum.reduceat(array.max(axis=1), self.starts)
        return found

    def mean(self, array: Floats) -> Floats:
        """The mean over the pairs of each program."""
        found: Floats = self.summed(array.sum(axis=1)) / self.pairs
        return found

    def pull(self, flow: Floats) -> Floats:
        return pulled(flow, self.edges, self.factors, self.x.shape[1], self.ends)

    @property
    def pull_of_z(self) -> Floats:
        """Gᵀz, found once for each z."""
        if self.known is None or self.known[0] is not self.z:
            self.known = self.z, self.pull(self.z)
        return self.known[1]

    def bounds(self) -> Floats:
        """What the multipliers of each program prove."""
        least = np.minimum.reduceat(self.cost - self.pull_of_z, self.starts, axis=0)
        return least.sum(axis=1) * self.scale + self.base.sum(axis=1)

    def values(self) -> Floats:
        """What the kernel of each program loses."""
        x = self.x / self.summed(self.x)[self.of]
        return self.summed((self.cost * x).sum(axis=1)) * self.scale + self.base.sum(axis=1)

    def longest(self, point: Floats, direction: Floats) -> Floats:
        """The largest step ≤ 1/SAFE of each program that keeps point + step·direction non-negative."""
        ratio = self.most(-direction / point)
        return np.where(ratio > 0, np.minimum(1.0 / SAFE, 1.0 / ratio), 1.0 / SAFE)

    def weights(self) -> Floats:
        """How large the target of each pair is beside the others of its program, with mean 1."""
        size = self.x.take(self.head, axis=1) * self.heavy
        found: Floats = np.maximum(np.cbrt(size / self.most(size)[self.of, None]), FAINTEST)
        return found / self.mean(found)[self.of, None]

    def advance(self) -> Flags:
        """One predictor-corrector step of every program on its own; which of them moved."""
        spend(self.step_seconds)
        x, s, z, of = self.x, self.s, self.z, self.of
        weight = z / s
        self.at_tail = x.take(self.tail, axis=1)
        stiff = (self.at_tail / s) * (z * x.take(self.head, axis=1))
        pull = self.pull_of_z
        self.factor = Factor(self.pattern, self.factors * (stiff[:, : self.count] + stiff[:, self.count :]), x * pull)
        self.masters = Masters(self.factor.summed_inverses(x, self.starts))
        dual = self.cost - self.price[of] - pull
        primal = 1.0 - self.summed(x)
        product = s * z
        mu = self.mean(product)
        self.residual, self.complementarity = self.most(np.abs(dual)), mu
        _, ds, dz, _ = self.direction(-product, dual, primal, weight, rounds=0, known=(-z, -pull))
        step_s, step_z = self.longest(s, ds), self.longest(z, dz)
        after = self.mean((s + step_s[of, None] * ds) * (z + step_z[of, None] * dz))
        aim = (np.clip((after / mu) ** 3, 1e-8, 1.0) * mu)[of, None] * self.weights()
        goal = aim - product - ds * dz
        dy, ds, dz, dprice = self.direction(goal, dual, primal, weight)
        step_s, step_z = self.longest(s, ds), self.longest(z, dz)
        open_still = np.ones(len(self.sizes), dtype=bool)
        for _ in range(CENTRALITY):
            open_still &= np.minimum(step_s, step_z) <= 0.9
            if not open_still.any():
                break
            try_s, try_z = (np.minimum(1.0, 1.08 * step + FARTHER)[of, None] for step in (step_s, step_z))
            there = (s + try_s * ds) * (z + try_z * dz)
            goal = goal + np.maximum(np.clip(there, 0.1 * aim, 10.0 * aim) - there, -10.0 * aim)
            other = self.direction(goal, dual, primal, weight, rounds=1)
            new_s, new_z = self.longest(s, other[1]), self.longest(z, other[2])
            open_still &= (new_s >= step_s) & (new_z >= step_z) & (new_s + new_z >= step_s + step_z + 0.01)
            if open_still.all():
                (dy, ds, dz, dprice), step_s, step_z = other, new_s, new_z
            elif open_still.any():
                chosen = open_still[of, None]
                dy, ds, dz = (np.where(chosen, new, old) for new, old in zip(other[:3], (dy, ds, dz), strict=True))
                dprice = np.where(open_still[:, None], other[3], dprice)
                step_s, step_z = np.where(open_still, new_s, step_s), np.where(open_still, new_z, step_z)
        step_s, step_z = np.minimum(1.0, SAFE * step_s), np.minimum(1.0, SAFE * step_z)
        moved = np.isfinite(step_s) & np.isfinite(step_z) & (np.maximum(step_s, step_z) >= 1e-6) & self.masters.sound
        if not moved.all():
            step_s, step_z = np.where(moved, step_s, 0.0), np.where(moved, step_z, 0.0)
            dy, ds, dz, dprice = (np.nan_to_num(d, nan=0.0, posinf=0.0, neginf=0.0) for d in (dy, ds, dz, dprice))
        self.x = x * (1.0 + step_s[of, None] * dy)
        self.s = s + step_s[of, None] * ds
        self.z = z + step_z[of, None] * dz
        self.price = self.price + step_z[:, None] * dprice
        self.rebalance()
        return moved & np.isfinite(self.summed(self.x.sum(axis=1))) & (np.minimum.reduceat(self.x.min(axis=1), self.starts) > 0)

    def rebalance(self) -> None:
        """Scale whole actions so that Σ_a x_a = 1 again, as `interior.Iterate.rebalance` does."""
        missing = 1.0 - self.summed(self.x)
        for k in np.flatnonzero(np.isfinite(missing).all(axis=1) & (np.abs(missing).max(axis=1) > 1e-14)).tolist():
            rows = self.rows(k)
            share = np.linalg.lstsq(self.x[rows].T, missing[k], rcond=1e-14)[0]
            if np.abs(share).max() < 1e-3:
                self.x[rows] *= 1.0 + share[:, None]
                self.s[rows] *= 1.0 + share[:, None]

    def direction(
        self,
        goal: Floats,
        dual: Floats,
        primal: Floats,
        weight: Floats,
        rounds: int = 2,
        known: tuple[Floats, Floats] | None = None,
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Newton directions towards s∘z = s∘z + goal: (dy, ds, dz, dλ), refined on Σ_a x∘dy = primal where that is missed.

        `known` are goal/s and its pull, where somebody has them.
        """
        x, of = self.x, self.of
        push = goal / self.s if known is None else known[0]
        pull = (self.pull(push) if known is None else known[1]) - dual
        dy = self.factor.solve(x * pull)
        dprice = self.masters.solve(primal - self.summed(x * dy))
        dy = self.factor.solve(x * (pull + dprice[of]))
        for _ in range(rounds):
            missed = primal - self.summed(x * dy)
            missed[np.abs(missed).max(axis=1) < EXACT] = 0.0
            if not missed.any():
                break
            dprice = dprice + self.masters.solve(missed)
            more = self.factor.solve(x * (pull + dprice[of]) - self.factor.times(dy, self.edges))
            missing: Flags = np.abs(missed).max(axis=1) > 0
            dy = dy + np.where(missing[of, None], more, 0.0)
        there = dy.take(self.head, axis=1)
        ds = self.s * there + self.at_tail * (there - dy.take(self.tail, axis=1))
        return dy, ds, push - weight * ds, dprice


class Masters:
    """The price system of each program; where one has no digits left, that program does not move (`sound`)."""

    def __init__(self, matrices: Floats) -> None:
        self.sound = np.ones(len(matrices), dtype=bool)
        self.each: list[Cholesky | None] = []
        for k, matrix in enumerate(matrices):
            try:
                self.each.append(Cholesky(matrix))
            except np.linalg.LinAlgError:
                self.each.append(None)
                self.sound[k] = False

    def solve(self, right: Floats) -> Floats:
        """Each program's prices for its own right-hand side."""
        found = np.zeros_like(right)
        for row, one, wanted in zip(found, self.each, right, strict=True):
            if one is not None:
                row[:] = one.solve(wanted)
        return found
