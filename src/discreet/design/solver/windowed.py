"""The interior point for programs of many states: each action on a window, one price for each state, by conjugate gradients.

The path, its weights and its steps are those of `interior`; what differs is what is solved.

- An action has variables on its window alone (`windows`): their number grows with states × R, not with states × actions.
- The price system S = Σ_a P diag(x) Q_a⁻¹ diag(x) Pᵀ is summed over windows without what hangs on them. States sorted by ω make it
  a band, factored in strips (`banded`), and that is the preconditioner of S itself, which is only ever multiplied with.

Any multipliers on windows and any prices λ prove a bound on the whole program, flows along the trees included. The kernel may
overstep ε by little where two trees meet; `repair_nearby` settles that, at a price that the value counts.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from discreet.design.schedule import now, spend, time_left, windowed_seconds
from discreet.design.solver.banded import BandedCholesky, Strips
from discreet.design.solver.elimination import Factor
from discreet.design.solver.interior import FAINTEST, SAFE, Direction, corrected
from discreet.design.solver.pricing import guessed
from discreet.design.solver.program import Floats, Program, Solution, dual_bound, reduced_cost, value_of
from discreet.design.solver.repair import repair_nearby
from discreet.design.solver.threads import one_thread
from discreet.design.solver.windows import TwoCounts, Windows, seen_as
from discreet.watch import Watch

LIMIT = 150
PROGRESS, PATIENCE = 0.95, 4
"""So many steps that do not bring the gap below this share of the least end the search."""
MOST_ROUNDS = 40
"""Of conjugate gradients for one direction."""
FEW = 3
"""Actions whose inverses are formed at once: as many as stay near the core."""
FAINT = 1e-4
"""Trees end where what hangs there counts by this share of the gap."""
CLOSE, ROUGHLY = 1e-9, 3e-2
"""Sums of probabilities are hit as closely as this, or by this share of what was missing."""


@one_thread()
def solve_windowed(
    program: Program, lattice: TwoCounts, centres: Floats, radius: float, gap: float = 1e-6, watch: Watch | None = None
) -> Solution:
    """Solve a program whose action k belongs to ω = centres[k], ascending, to a gap or as near as windows of this radius let."""
    begun = time.perf_counter()
    span = np.ptp(program.cost, axis=0)[lattice.order]
    seen = seen_as(lattice, span, program.epsilon)
    active = np.flatnonzero((centres > seen[0] - radius / 2) & (centres < seen[-1] + radius / 2))
    chosen = program.restricted(active)
    state = WindowedIterate(chosen, lattice, Windows(lattice, seen, centres[active], radius, program.factor))
    status, taken, stalled, slowest = "iteration limit", 0, 0, state.step_seconds
    least, kernel, bound, dual = np.inf, state.x, -np.inf, (state.z, state.price)
    for _ in range(LIMIT):
        value, proved = state.value(), state.bound()
        if proved > bound:
            bound, dual = proved, (state.z, state.price)
        apart = value - bound + state.unfair()
        stalled = 0 if apart < PROGRESS * least else stalled + 1
        if apart < least:
            least, kernel = apart, state.x
        if watch is not None:
            watch.report(stage="windows", value=value, bound=bound, seconds=time.perf_counter() - begun)
            if watch.cancelled() or slowest > time_left(watch):
                status = "cancelled"
                break
        if apart <= gap * abs(value):
            status = "optimal"
            break
        started = now()
        with np.errstate(all="ignore"):
            moved = stalled < PATIENCE and state.advance()
        if not moved:
            status = "stalled"
            break
        taken += 1
        slowest = max(now() - started, slowest / 2)
    rows = repair_nearby(state.kernel(kernel), chosen)
    flows = state.multipliers(*dual, FAINT * gap)
    part = Solution(rows, flows, value_of(chosen, rows), bound, taken, 0.0, status)
    found = Solution(
        np.zeros_like(program.cost),
        np.zeros((program.actions, flows.shape[1])),
        part.value,
        bound,
        taken,
        0.0,
        status,
    )
    found.kernel[active], found.multipliers[active] = rows, flows
    others = np.setdiff1d(np.arange(program.actions), active)
    if others.size:
        prices = reduced_cost(chosen, flows).min(axis=0)
        found.multipliers[others] = guessed(
            program, active, part, others, program.cost[others] - prices, 0.01 * gap * abs(part.value)
        )[0]
    return replace(found, bound=dual_bound(program, found.multipliers), seconds=time.perf_counter() - begun)


class WindowedIterate:
    """One point (x, s, z, λ) of the path and the step to the next; costs are divided by `scale` inside, states sorted by ω."""

    def __init__(self, program: Program, lattice: TwoCounts, windows: Windows) -> None:
        self.program, self.windows, self.q = program, windows, program.factor
        cost = program.cost[:, lattice.order]
        span = np.ptp(cost, axis=0)
        self.one, self.two = windows.edges.T
        self.tail, self.head = np.concatenate([self.one, self.two]), np.concatenate([self.two, self.one])
        self.base = cost.min(axis=0)
        self.regret = cost - self.base
        self.scale = float(self.regret.mean(axis=0).sum()) or 1.0
        self.regret = self.regret / self.scale
        self.cost = windows.gather_each(self.regret)
        self.span = (span / (float(span.max()) or 1.0))[windows.state]
        covering = float(np.bincount(windows.state, minlength=windows.states).max())
        size = len(windows.state)
        self.x: Floats = np.full(size, 1.0 / covering)
        self.s: Floats = np.full(len(self.tail), (self.q - 1.0) / covering)
        self.z: Floats = self.weights() / self.s.size / self.s
        self.price: Floats = np.zeros(windows.states)
        reach = np.arange(windows.states) + 1
        for low, high in zip(windows.low.tolist(), windows.high.tolist(), strict=True):
            reach[low:high] = np.maximum(reach[low:high], high)
        self.ends = np.maximum.accumulate(reach)
        self.missing = self.complementarity = np.inf
        self.rounds = 0

    @property
    def point(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Where on the path this is."""
        return self.x, self.s, self.z, self.price

    @property
    def step_seconds(self) -> float:
        """A guess of what a step takes."""
        return windowed_seconds(len(self.x))

    def weights(self) -> Floats:
        size = self.x[self.head] * self.span[self.head]
        found: Floats = np.maximum(np.cbrt(size / size.max()), FAINTEST)
        return found / found.mean()

    def pull(self, flow: Floats) -> Floats:
        size = len(self.x)
        return np.asarray(self.q * np.bincount(self.head, flow, size) - np.bincount(self.tail, flow, size), dtype=np.float64)

    def value(self) -> float:
        return float(self.cost @ self.x) * self.scale + float(self.base.sum())

    def unfair(self) -> float:
        """What sums of probabilities that are not one may be worth, about."""
        return float(np.abs(1.0 - self.windows.hang(self.x)) @ np.abs(self.price)) * self.scale

    def bound(self) -> float:
        """What z proves: prices are raised to the least reduced cost, then lowered where something that hangs there is too dear."""
        return float(self._proved(self.z, self.price).sum()) * self.scale + float(self.base.sum())

    def _proved(self, z: Floats, price: Floats) -> Floats:
        pulled = self.cost - self.pull(z)
        raised = price + self._least(pulled - self.windows.gather(price))
        return np.asarray(raised + np.minimum(self._least(pulled - self.windows.gather(raised)), 0.0))

    def _least(self, reduced: Floats) -> Floats:
        found: Floats = np.full(self.windows.states, np.inf)
        np.minimum.at(found, self.windows.state, reduced)
        return found

    def advance(self) -> bool:
        """One predictor-corrector step; False when the linear algebra has no digits left."""
        spend(self.step_seconds)
        x, s, z = self.x, self.s, self.z
        weight = z / s
        stiff = (x[self.tail] / s) * (z * x[self.head])
        count = len(self.one)
        off = self.q * (stiff[:count] + stiff[count:])
        pull = self.pull(z)
        self.factor = BatchFactor(self.windows, off, x * pull)
        try:
            self.master = self.factor.summed_inverse(x, self.ends)
        except np.linalg.LinAlgError:
            return False
        dual = self.cost - self.windows.gather(self.price) - pull
        primal = 1.0 - self.windows.hang(x)
        product = s * z
        mu = float(product.mean())
        self.missing, self.complementarity, self.rounds = float(np.abs(primal).max()), mu, 0
        _, ds, dz, _ = self.direction(-product, dual, primal, weight, 0.3)

        def direct(goal: Floats) -> Direction:
            return self.direction(goal, dual, primal, weight)

        (dy, ds, dz, dprice), step_s, step_z = corrected(s, z, (ds, dz), self.weights(), direct, direct)
        step_s, step_z = min(1.0, SAFE * step_s), min(1.0, SAFE * step_z)
        if not (np.isfinite(step_s) and np.isfinite(step_z)) or max(step_s, step_z) < 1e-6:
            return False
        moved = (x * (1.0 + step_s * dy), s + step_s * ds, z + step_z * dz, self.price + step_z * dprice)
        if not (np.isfinite(moved[0]).all() and np.isfinite(moved[2]).all() and moved[0].min() > 0):
            return False
        self.x, self.s, self.z, self.price = moved
        return True

    def direction(
        self, goal: Floats, dual: Floats, primal: Floats, weight: Floats, share: float = ROUGHLY
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Newton direction towards s∘z = s∘z + goal: (dy, ds, dz, dλ), with Σ_a P x∘dy = primal by conjugate gradients."""
        x, windows = self.x, self.windows
        push = goal / self.s
        right = x * (self.pull(push) - dual)
        dy = self.factor.solve(right)
        missed = primal - windows.hang(x * dy)
        dprice = np.zeros_like(primal)
        enough = max(CLOSE, share * float(np.abs(primal).max()))
        ready = self.master.solve(missed)
        way, size = ready, float(missed @ ready)
        for _ in range(MOST_ROUNDS):
            if float(np.abs(missed).max()) <= enough:
                break
            step = self.factor.solve(x * windows.gather(way))
            moved = windows.hang(x * step)
            length = size / float(way @ moved)
            dprice, dy, missed = dprice + length * way, dy + length * step, missed - length * moved
            ready = self.master.solve(missed)
            size, before = float(missed @ ready), size
            way = ready + (size / before) * way
            self.rounds += 1
        ds = self.s * dy[self.head] + x[self.tail] * (dy[self.head] - dy[self.tail])
        dz = push - weight * ds
        return dy, ds, dz, dprice

    def kernel(self, x: Floats) -> Floats:
        """The rows [action, state] in the order of the program."""
        found = np.empty_like(self.regret)
        found[:, self.windows.lattice.order] = self.windows.whole(x)
        return found

    def multipliers(self, z: Floats, price: Floats, faint: float) -> Floats:
        """Multipliers [action, directed edge] of the program: those on windows, and flows along trees for these prices.

        Trees end where what hangs there counts by a factor of `faint` at their root.
        """
        windows, program = self.windows, self.program
        order, edges = windows.lattice.order, program.edges
        place = np.empty(windows.states, dtype=np.int64)
        place[order] = np.arange(windows.states)
        ends = place[edges]
        swapped = ends[:, 0] > ends[:, 1]
        count, inside = len(edges), len(self.one)
        found = np.zeros((program.actions, 2 * count))
        action = windows.action[self.one]
        turned = swapped[windows.number]
        found[action, windows.number + count * turned] = z[:inside]
        found[action, windows.number + count * ~turned] = z[inside:]
        low, high = ends.min(axis=1), ends.max(axis=1)
        code = low * windows.states + high
        by_code = np.argsort(code)
        for parent, flow in windows.tree_flows(self.regret - self._proved(z, price), faint):
            child = np.flatnonzero(parent >= 0)
            up = parent[child]
            wanted = np.minimum(child, up) * windows.states + np.maximum(child, up)
            number = by_code[np.searchsorted(code[by_code], wanted)]
            forward = ends[number, 0] == up
            found[:, number + count * ~forward] += flow[:, child]
        return np.maximum(found, 0.0) * self.scale


class BatchFactor:
    """The eliminated Newton matrices of all actions, chunk by chunk."""

    def __init__(self, windows: Windows, off: Floats, sums: Floats) -> None:
        self.windows = windows
        self.factors = []
        for chunk in windows.chunks:
            size = int(chunk.pattern.layers.starts[-1])
            weights = np.zeros((chunk.actions, len(chunk.template_edges)))
            weights.ravel()[chunk.edge_slots] = off[chunk.edge_begin : chunk.edge_end]
            rows = np.ones((chunk.actions, size))
            rows.ravel()[chunk.slots] = sums[chunk.begin : chunk.end]
            self.factors.append(Factor(chunk.pattern, weights, rows))

    def solve(self, right: Floats) -> Floats:
        """Q⁻¹·right for every action."""
        found: Floats = np.empty_like(right)
        for chunk, factor in zip(self.windows.chunks, self.factors, strict=True):
            rows = np.zeros(factor.sums.shape)
            rows.ravel()[chunk.slots] = right[chunk.begin : chunk.end]
            found[chunk.begin : chunk.end] = factor.solve(rows).ravel()[chunk.slots]
        return found

    def summed_inverse(self, scale: Floats, ends: np.ndarray) -> BandedCholesky:
        """Σ_a diag(scale) Q_a⁻¹ diag(scale) on the windows, factored."""
        windows = self.windows
        total = Strips(ends)
        first = 0
        for chunk, factor in zip(windows.chunks, self.factors, strict=True):
            size = factor.sums.shape[1]
            rows = np.ones(factor.sums.shape)
            rows.ravel()[chunk.slots] = scale[chunk.begin : chunk.end]
            for k in range(chunk.actions):
                if k % FEW == 0:
                    inverses = factor.inverses(k, min(k + FEW, chunk.actions), rows[k : k + FEW])
                a, b = int(windows.starts[first + k]), int(windows.starts[first + k + 1])
                place = chunk.slots[a - chunk.begin : b - chunk.begin] - k * size
                total.add(int(windows.low[first + k]), inverses[k % FEW].take(place, axis=0).take(place, axis=1))
            first += chunk.actions
        return total.factored()
