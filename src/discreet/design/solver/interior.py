"""A primal-dual interior point built for the design problem.

Variables: x_a free, slacks s_a = G x_a > 0, multipliers z_a > 0, one price λ_h per state (of Σ_a x_a = 1).

    Gᵀ z_a + λ = cost_a,     Σ_a x_a = 1,     s∘z = target∘w.

Directions are scaled, dx = x∘dy, which turns the Newton matrix of each action into an M-matrix that is eliminated
without cancellation (`elimination`); prices solve with the summed inverse S = Σ_a diag(x) Q_a⁻¹ diag(x).
Slacks are moved as ds_{i→j} = s·dy_j + x_i·(dy_j − dy_i), never recomputed by subtraction.  x_a = 1/|A| (the
mechanism that says nothing) is strictly feasible, so every iterate is a private kernel up to its row sums,
and every iterate's multipliers prove a lower bound (`program.dual_bound`).

The path is weighted: w_{i→j} ∝ (x_j·span_j)^⅓ with mean 1, span the largest difference of costs at a state.  Both fall by many
powers of ten away from where an action is played, and a pair (s, z) whose own size lies below its target is undecided there
and hinders every step; with smaller targets for faint pairs some thirty percent fewer steps are taken.

Reference: Mehrotra's predictor and corrector, Gondzio's centrality correctors; the method approximates, the bound is
what is proved.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from discreet.design.schedule import interior_place, interior_seconds, now, spend, time_left
from discreet.design.solver.cholesky import Cholesky
from discreet.design.solver.elimination import Factor, Pattern
from discreet.design.solver.layers import Layers, layered
from discreet.design.solver.program import (
    Ends,
    Floats,
    Integers,
    Program,
    Solution,
    directed,
    ends_of,
    pulled,
    value_of,
)
from discreet.design.solver.repair import repair
from discreet.model.gap import reached
from discreet.numerics.devices import fetched
from discreet.watch import Watch

Direction = tuple[Floats, Floats, Floats, Floats]
"""Changes of ln x, s, z and the prices."""

SAFE = 0.995
CENTRALITY = 2
HALVINGS = 16
"""Of what is not known about a step."""
FARTHER = 0.3
"""By so much a corrected step is to be longer than the one before."""
LIMIT = 200
PROGRESS = 0.9
"""By this factor complementarity or what the prices miss must fall in steps that improve neither value nor bound."""
FAINTEST = 1e-4
"""The least weight of a pair, in parts of the largest."""
MOST_PLACED = 200_000
"""Flows of which it is remembered where they end; where there are more, finding it takes no time beside the rest."""
EXACT = 1e-13
"""Sums of probabilities that a direction hits as closely as this need no refinement."""
PATIENCE = 8
"""How many steps without any progress end the search: multipliers begin small, and prove nothing before they have grown."""


Point = tuple[Floats, Floats, Floats, Floats]


def interior_point(
    program: Program, gap: float = 1e-6, watch: Watch | None = None, limit: int = LIMIT, start: Iterate | None = None
) -> Solution:
    """Solve a program whose graph is connected, with ε > 0 and at least two actions, to a relative gap.

    `start` is a point of the path of this very program (its costs as `Iterate.reprice` set them) to go on from.
    """
    begun = time.perf_counter()
    state = Iterate(program) if start is None else start
    best_bound, best_z = -np.inf, state.z
    kernel = repair(state.x, program)
    best_value = value_of(program, kernel)
    status = "iteration limit"
    taken = stalled = 0
    least = (np.inf, np.inf)
    longest = state.step_seconds
    while True:
        bound, value = state.bound(), state.value()
        better = bound > best_bound
        if better:
            best_bound, best_z = bound, state.z
        if value < best_value:
            # What counts is the value after repair: late iterates look better than they are.
            candidate = repair(state.x, program)
            honest = value_of(program, candidate)
            if honest < best_value:
                best_value, kernel, better = honest, candidate, True
        reached_now = (state.residual, state.complementarity)
        if better or reached_now[0] < PROGRESS * least[0] or reached_now[1] < PROGRESS * least[1]:
            stalled, least = 0, (min(least[0], reached_now[0]), min(least[1], reached_now[1]))
        else:
            stalled += 1
        if watch is not None:
            seconds = time.perf_counter() - begun
            watch.report(stage="interior point", value=best_value, bound=best_bound, seconds=seconds)
        if reached(best_value, best_bound, gap):
            status = "optimal"
            break
        if watch is not None and (watch.cancelled() or longest > time_left(watch)):
            status = "cancelled"
            break
        if taken >= limit:
            break
        started = now()
        with np.errstate(all="ignore"):
            moved = stalled < PATIENCE and state.advance()
        if not moved:
            status = "stalled"
            break
        taken += 1
        longest = max(now() - started, longest / 2)
    return Solution(
        kernel=kernel,
        multipliers=fetched(best_z) * state.scale,
        value=best_value,
        bound=best_bound,
        iterations=taken,
        seconds=time.perf_counter() - begun,
        status=status,
    )


def order_of(program: Program) -> Layers:
    """The order in which the states of a connected program are eliminated."""
    return layered(program.states, program.edges, program.cost.max(axis=0) - program.cost.min(axis=0))


class Iterate:
    """One point (x, s, z, λ) of the path and the step to the next.  Costs are divided by `scale` inside."""

    def __init__(self, program: Program) -> None:
        q, (actions, states) = program.factor, program.cost.shape
        layers = order_of(program)
        self.place = interior_place(actions, states, int(layers.sizes.max()))
        self.pattern = Pattern(layers, program.edges, self.place)
        self.q, self.edges = q, self.place.asarray(program.edges)
        self.count = len(program.edges)
        self.tail, self.head = directed(self.edges)
        regret = program.cost - program.cost.min(axis=0)
        self.scale = float(regret.mean(axis=0).sum()) or 1.0
        self.base = program.cost.min(axis=0)
        self.cost = self.place.asarray(regret / self.scale)
        span = regret.max(axis=0)
        self.span = self.place.asarray(span / (float(span.max()) or 1.0))
        self.x: Floats = self.place.full((actions, states), 1.0 / actions)
        self.s: Floats = self.place.full((actions, 2 * self.count), (q - 1.0) / actions)
        self.z: Floats = self.weights() / self.s.size / self.s
        self.residual = self.complementarity = np.inf
        self.price: Floats = self.place.zeros(states)
        self.ends: Ends | None = None
        self.known: tuple[Floats, Floats] | None = None

    def reprice(self, cost: Floats) -> None:
        """Go on with other costs for the same actions: z proves what it proves, and the residual of λ takes the change."""
        self.cost = self.place.asarray((cost - self.base) / self.scale)

    def gather(self, groups: Integers, cost: Floats) -> None:
        """Add up the actions of each group (0, 1, …; −1 is dropped) into one, with the cost of the joint action.

        Slacks add up with the probabilities; multipliers are averaged so that each edge keeps its sum of s·z.
        """
        count = int(groups.max()) + 1
        member = self.place.asarray(groups == np.arange(count)[:, None], dtype=float)
        product = member @ (self.s * self.z)
        self.x, self.s = member @ self.x, member @ self.s
        self.z = product / self.s
        self.reprice(cost)

    def share_out(self, rows: Floats, lines: Floats, cost: Floats) -> None:
        """Go on with other actions: `rows` says what each gets of every old one's probabilities, `lines` mixes multipliers."""
        shares = self.place.asarray(rows)
        self.x, self.s = shares @ self.x, shares @ self.s
        self.z = self.place.asarray(lines) @ self.z
        self.reprice(cost)

    @property
    def point(self) -> Point:
        """Where on the path this is, to come back to: (x, s, z, λ)."""
        return self.x, self.s, self.z, self.price

    @point.setter
    def point(self, point: Point) -> None:
        self.x, self.s, self.z, self.price = point

    @property
    def kernel(self) -> Floats:
        """x in this machine's memory."""
        return fetched(self.x)

    @property
    def step_seconds(self) -> float:
        """A guess of what a step takes."""
        actions, states = self.x.shape
        return interior_seconds(actions, states, int(self.pattern.layers.sizes.max()))

    def pull(self, flow: Floats) -> Floats:
        if flow.size > MOST_PLACED:
            return pulled(flow, self.edges, self.q, self.x.shape[1])
        if self.ends is None or len(self.ends[0]) != flow.size:
            self.ends = ends_of(self.edges, *self.x.shape)
        return pulled(flow, self.edges, self.q, self.x.shape[1], self.ends)

    @property
    def pull_of_z(self) -> Floats:
        """Gᵀz, found once for each z."""
        if self.known is None or self.known[0] is not self.z:
            self.known = self.z, self.pull(self.z)
        return self.known[1]

    def bound(self) -> float:
        reduced = self.cost - self.pull_of_z
        return float(reduced.min(axis=0).sum() * self.scale + self.base.sum())

    def value(self) -> float:
        x = self.x / self.x.sum(axis=0)
        return float(np.sum(self.cost * x) * self.scale + self.base.sum())

    def advance(self) -> bool:
        """One predictor-corrector step; False when the linear algebra has no digits left."""
        spend(self.step_seconds)
        x, s, z = self.x, self.s, self.z
        weight = z / s
        # Grouped so that no factor leaves the range of floats when x spans e^(−ε·diameter).
        self.at_tail = x.take(self.tail, axis=1)
        stiff = (self.at_tail / s) * (z * x.take(self.head, axis=1))
        off = self.q * (stiff[:, : self.count] + stiff[:, self.count :])
        pull = self.pull_of_z
        self.factor = Factor(self.pattern, off, x * pull)
        total = self.factor.summed_inverse(x)
        try:
            self.master = Cholesky(total)
        except np.linalg.LinAlgError:
            return False
        dual = self.cost - self.price - pull
        primal = 1.0 - x.sum(axis=0)
        product = s * z
        mu = float(product.mean())
        self.residual, self.complementarity = float(np.abs(dual).max()), mu
        _, ds, dz, _ = self.direction(-product, dual, primal, weight, rounds=0, known=(-z, -pull))

        def direct(goal: Floats, rounds: int = 2) -> Direction:
            return self.direction(goal, dual, primal, weight, rounds)

        once = partial(direct, rounds=1)
        (dy, ds, dz, dprice), step_s, step_z = corrected(s, z, (ds, dz), self.weights(), direct, once)
        step_s, step_z = min(1.0, SAFE * step_s), min(1.0, SAFE * step_z)
        if not (np.isfinite(step_s) and np.isfinite(step_z)) or max(step_s, step_z) < 1e-6:
            return False
        before = self.point
        self.x = x * (1.0 + step_s * dy)
        self.s = s + step_s * ds
        self.z = z + step_z * dz
        self.price = self.price + step_z * dprice
        self.rebalance()
        if np.isfinite(self.x).all() and np.isfinite(self.z).all() and self.x.min() > 0:
            return True
        self.point = before  # whoever goes on from here finds numbers
        return False

    def weights(self) -> Floats:
        """How large the target of each pair is beside the others, with mean 1."""
        size = self.x.take(self.head, axis=1) * self.span[self.head]
        found: Floats = np.maximum(np.cbrt(size / size.max()), FAINTEST)
        return found / found.mean()

    def rebalance(self) -> None:
        """Scale whole actions so that Σ_a x_a = 1 again.

        Rounding in a nearly singular block is common to all states of an action, so what is missing from the sums
        is a combination of the x_a; x and s of an action scale together and stay consistent.
        """
        missing = 1.0 - self.x.sum(axis=0)
        # LAPACK iterates for ever on numbers that are not finite
        if np.isfinite(missing).all() and np.abs(missing).max() > 1e-14:
            share = np.linalg.lstsq(self.x.T, missing, rcond=1e-14)[0]
            if np.abs(share).max() < 1e-3:
                self.x *= 1.0 + share[:, None]
                self.s *= 1.0 + share[:, None]

    def direction(
        self,
        goal: Floats,
        dual: Floats,
        primal: Floats,
        weight: Floats,
        rounds: int = 2,
        known: tuple[Floats, Floats] | None = None,
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Newton direction towards s∘z = s∘z + goal: (dy, ds, dz, dλ), refined on Σ_a x∘dy = primal.

        `known` are goal/s and its pull, where somebody has them.
        """
        x = self.x
        push = goal / self.s if known is None else known[0]
        pull = (self.pull(push) if known is None else known[1]) - dual
        dy = self.factor.solve(x * pull)
        dprice = self.master.solve(primal - np.sum(x * dy, axis=0))
        right = x * (pull + dprice)
        dy = self.factor.solve(right)
        for _ in range(rounds):
            missed = primal - np.sum(x * dy, axis=0)
            if float(np.abs(missed).max()) < EXACT:
                break
            dprice = dprice + self.master.solve(missed)
            right = x * (pull + dprice)
            dy = dy + self.factor.solve(right - self.factor.times(dy, self.edges))
        there = dy.take(self.head, axis=1)
        ds = self.s * there + self.at_tail * (there - dy.take(self.tail, axis=1))
        dz = push - weight * ds
        return dy, ds, dz, dprice


def longest(point: Floats, direction: Floats, safe: float = SAFE) -> float:
    """The largest step ≤ 1/safe that keeps point + step·direction non-negative."""
    ratio = float(np.max(-direction / point))
    return min(1.0 / safe, 1.0 / ratio) if ratio > 0 else 1.0 / safe


Reach = Callable[[Floats, Floats], float]
"""How far from a point in a direction one may go."""


def corrected(
    s: Floats,
    z: Floats,
    predicted: tuple[Floats, Floats],
    weights: Floats,
    direct: Callable[[Floats], Direction],
    again: Callable[[Floats], Direction],
    reaches: tuple[Reach, Reach] = (longest, longest),
    corrections: int = CENTRALITY,
    both: bool = True,
) -> tuple[Direction, float, float]:
    """Mehrotra's direction and how far s and z may go along it, corrected for centrality while that pays.

    `predicted` are ds and dz towards s∘z = 0, `weights` how large the target of each pair is beside the others; `direct` and
    `again` find the direction of a change of s∘z, the first time and for corrections. These are so many at most, and pay where
    neither s nor z goes less far by them, or, if not `both`, where their steps sum to more.
    """
    (ds, dz), (far_s, far_z) = predicted, reaches
    product = s * z
    mu = float(product.mean())
    after = float(np.mean((s + far_s(s, ds) * ds) * (z + far_z(z, dz) * dz)))
    aim = min(max((after / mu) ** 3, 1e-8), 1.0) * mu * weights
    goal = aim - product - ds * dz
    found = direct(goal)
    step_s, step_z = far_s(s, found[1]), far_z(z, found[2])
    for _ in range(corrections):
        if min(step_s, step_z) > 0.9:
            break
        try_s, try_z = min(1.0, 1.08 * step_s + FARTHER), min(1.0, 1.08 * step_z + FARTHER)
        reach = (s + try_s * found[1]) * (z + try_z * found[2])
        goal = goal + np.maximum(np.clip(reach, 0.1 * aim, 10.0 * aim) - reach, -10.0 * aim)
        other = again(goal)
        new_s, new_z = far_s(s, other[1]), far_z(z, other[2])
        shorter = both and (new_s < step_s or new_z < step_z)
        if shorter or new_s + new_z < step_s + step_z + 0.01:
            break
        found, step_s, step_z = other, new_s, new_z
    return found, step_s, step_z


def beyond(point: Floats, direction: Floats, spare: float, safe: float) -> float:
    """The largest step ≤ 1/safe that takes no more than `spare` in all below zero, where somebody stops it."""
    least, most = longest(point, direction, safe), 1.0 / safe
    stopped = np.flatnonzero(point + most * direction < 0)
    at, along = point[stopped], direction[stopped]

    def below(step: float) -> float:
        return -float(np.minimum(at + step * along, 0.0).sum())

    if below(most) <= spare:
        return most
    for _ in range(HALVINGS):
        middle = (least + most) / 2
        least, most = (middle, most) if below(middle) <= spare else (least, middle)
    return least
