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
from collections.abc import Callable
from functools import partial

import numpy as np

from discreet.design.schedule import TimeIsUpError, now, time_left, windowed_seconds
from discreet.design.solver.banded import BandedCholesky
from discreet.design.solver.batches import BatchFactor, Digits
from discreet.design.solver.conjugate import Conjugates
from discreet.design.solver.fewer_first import TRIED, Levels, led_up_to
from discreet.design.solver.interior import FAINTEST, SAFE, Direction, beyond, corrected, longest
from discreet.design.solver.pricing import guessed
from discreet.design.solver.program import Floats, Integers, Program, Solution, dual_bound, reduced_cost, value_of
from discreet.design.solver.repair import repair_nearby
from discreet.design.solver.stride import Stride, Timing, TooSlowError
from discreet.design.solver.threads import one_thread
from discreet.design.solver.windows import Ranked, Windows, seen_as
from discreet.design.watchdog import Keep, forget
from discreet.watch import SILENT, Watch

LIMIT = 150
PROGRESS, PATIENCE = 0.95, 4
"""So many steps that do not bring the gap below this share of the least end the search."""
MOST_ROUNDS, MOST_KEPT = 80, 200
"""Rounds of conjugate gradients for one direction, and in a step."""
FAINT = 1e-4
"""Trees end where what hangs there counts by this share of the gap."""
GENTLE, LOOSE = 0.6, 3.0
"""The path begins with noise that falls by this share of what it may, and with a complementarity of so many times what it loses."""
CLOSE, ROUGHLY = 3e-9, 3e-2
"""Sums of probabilities are hit as closely as this, or by this share of what was missing."""
MOST_ANSWERED = 20_000_000
"""Numbers that are kept, early in a search, of what variables answer to prices: a direction is then a sum of these."""
ROUGH, FEW_DIGITS = 1e-3, 3e-2
"""Above the first relative gap a step is early; above the second half the digits are enough for factors."""
SAFE_EARLY, CORRECTIONS = 0.9, 3
"""Of the longest step, while it is early, and how many corrections may make it longer."""
SPARE, STAYS = 5e-3, 0.02
"""Of the gap, what multipliers may fall below zero in all; they stay at this share of what they were."""
ROUND = 0.0175
"""Share of a step: of each round of conjugate gradients, of which there are twenty or so."""


@one_thread()
def solve_windowed(
    program: Program,
    lattice: Ranked,
    centres: Floats,
    radius: float,
    gap: float = 1e-6,
    watch: Watch = SILENT,
    timing: Timing = Timing(),
    keep: Keep[Solution] = forget,
    fewer: Levels = (),
    repaired: bool = True,
) -> Solution:
    """Solve a program whose action k belongs to ω = centres[k], ascending, to a gap or as near as windows of this radius let.

    It begins with fewer actions at these levels. In its first steps, if `timing` says how many are usual, `TooSlowError` is raised.
    Who needs multipliers alone has the kernel not `repaired`: it may overstep ε, and loses less than it might.
    """
    return _Solving(program, lattice, centres, radius, gap, repaired).solved(watch, timing, keep, fewer)


class _Solving:
    """A program on windows, and the best kernel and multipliers that its path has shown."""

    def __init__(self, program: Program, lattice: Ranked, centres: Floats, radius: float, gap: float, repaired: bool) -> None:
        self.begun, self.program, self.gap, self.repaired = time.perf_counter(), program, gap, repaired
        span = np.ptp(program.cost, axis=0)[lattice.order]
        seen = seen_as(lattice, span, program.epsilon)
        self.active = np.flatnonzero((centres > seen[0] - radius / 2) & (centres < seen[-1] + radius / 2))
        self.chosen = program.restricted(self.active)

        def on(some: Integers) -> WindowedIterate:
            chosen = self.active[some]
            windows = Windows(lattice, seen, centres[chosen], radius, program.factor)
            return WindowedIterate(program.restricted(chosen), lattice, windows)

        self.on, self.state = on, on(np.arange(len(self.active)))
        self.least, self.x = np.inf, self.state.x
        self.bound, self.dual = -np.inf, (self.state.z, self.state.price)
        self.taken = self.stalled = 0

    def solved(self, watch: Watch, timing: Timing, keep: Keep[Solution], fewer: Levels) -> Solution:
        """Step until the gap is reached, nothing helps any more, or the time is up."""
        try:
            led_up_to(self.state, self.on, fewer, watch, timing)
        except TooSlowError:
            raise
        except TimeIsUpError:
            pass  # the path begins with noise, and ends there
        stride = Stride(self.state.step_seconds, timing, watch)
        slowest, status = stride.guess, "iteration limit"
        while self.taken < LIMIT:
            value = self._looked()
            keep(partial(self._solution, self.x, self.dual, self.taken, "cancelled"))
            watch.report(stage="windows", value=value, bound=self.bound, seconds=time.perf_counter() - self.begun)
            if self.least <= self.gap * abs(value):
                status = "optimal"
                break
            if watch.cancelled() or slowest + timing.kept(stride.pace) > time_left(watch):
                status = "cancelled"
                break
            begun = now()
            stride.begin(timing.steps - self.taken if self.taken < TRIED else 0.0)
            try:
                with np.errstate(all="ignore"):
                    moved = self.stalled < PATIENCE and self.state.advance(stride)
            except TooSlowError:
                raise
            except TimeIsUpError:
                status = "cancelled"
                break
            if not moved:
                status = "stalled"
                break
            self.taken += 1
            slowest = max(now() - begun, slowest / 2)
        return self._solution(self.x, self.dual, self.taken, status)

    def _looked(self) -> float:
        """Remember what the iterate shows where that is better; its value."""
        state = self.state
        value, proved = state.value(), state.bound()
        if proved > self.bound:
            self.bound, self.dual = proved, (state.z, state.price)
        apart = value - self.bound + state.unfair()
        told = self.least < 0.5 * abs(value)  # multipliers begin small, and prove nothing before they have grown
        self.stalled = 0 if apart < PROGRESS * self.least or not told else self.stalled + 1
        if apart < self.least:
            self.least, self.x = apart, state.x
        return value

    def _solution(self, x: Floats, dual: tuple[Floats, Floats], taken: int, status: str) -> Solution:
        """A kernel that is private, and multipliers for all actions."""
        program, chosen, active = self.program, self.chosen, self.active
        rows = repair_nearby(self.state.kernel(x), chosen) if self.repaired else self.state.kernel(x)
        flows = self.state.multipliers(*dual, FAINT * self.gap)
        kernel, multipliers = np.zeros_like(program.cost), np.zeros((program.actions, flows.shape[1]))
        kernel[active], multipliers[active] = rows, flows
        value = value_of(chosen, rows)
        others = np.setdiff1d(np.arange(program.actions), active)
        if others.size:
            part = Solution(rows, flows, value, self.bound, taken, 0.0, status)
            prices = reduced_cost(chosen, flows).min(axis=0)
            surplus, tolerance = program.cost[others] - prices, 0.01 * self.gap * abs(value)
            multipliers[others] = guessed(program, active, part, others, surplus, tolerance)[0]
        bound, seconds = dual_bound(program, multipliers), time.perf_counter() - self.begun
        return Solution(kernel, multipliers, value, bound, taken, seconds, status)


class WindowedIterate:
    """One point (x, s, z, λ) of the path and the step to the next; costs are divided by `scale` inside, states sorted by ω."""

    def __init__(self, program: Program, lattice: Ranked, windows: Windows) -> None:
        self.program, self.windows, self.q = program, windows, program.factor
        cost = program.cost[:, lattice.order]
        span = np.ptp(cost, axis=0)
        self.one, self.two = windows.edges.T
        self.tail, self.head = (np.concatenate([*ends, windows.alone]) for ends in ((self.one, self.two), (self.two, self.one)))
        self.base = cost.min(axis=0)
        self.regret = cost - self.base
        self.scale = float(self.regret.mean(axis=0).sum()) or 1.0
        self.regret = self.regret / self.scale
        self.cost = windows.gather_each(self.regret)
        self.span = (span / (float(span.max()) or 1.0))[windows.state]
        one, two = lattice.edges.T
        near = float(np.max(np.abs(windows.seen[two] - windows.seen[one])))
        self.x: Floats = windows.noisy(GENTLE * program.epsilon / near)
        self.s: Floats = self.q * self.x[self.head] - self.x[self.tail]
        self.z: Floats = LOOSE * float(self.cost @ self.x) / self.s.size * self.weights() / self.s
        self.price: Floats = np.zeros(windows.states)
        reach = np.arange(windows.states) + 1
        for group in (group for chunk in windows.chunks for group in chunk.groups):
            low, high = group.low, group.low + len(group.ranks)
            reach[low:high] = np.maximum(reach[low:high], high)
        self.ends = np.maximum.accumulate(reach)
        self.missing = self.complementarity = np.inf
        self.rounds = 0
        self.digits: Digits = np.float32
        self.rough = self.few = True

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

    def advance(self, stride: Callable[[float], None]) -> bool:
        """One predictor-corrector step; False when the linear algebra has no digits left.

        `stride` is told of every share of it that is done, and may raise: then the iterate stays where it was. Early factors have
        half the digits, until there is a step that cannot be made with these.
        """
        self.stride, apart = stride, float(np.vdot(self.s, self.z)) / float(self.cost @ self.x)
        self.rough, self.few = apart > ROUGH, self.few and apart > FEW_DIGITS
        if self.few and self._stepped(np.float32):
            return True
        self.few = False
        return self._stepped(np.float64)

    def _stepped(self, digits: Digits) -> bool:
        """The same with factors of so many digits."""
        x, s, z = self.x, self.s, self.z
        weight = z / s
        stiff = (x[self.tail] / s) * (z * x[self.head])
        count = len(self.one)
        off = self.q * (stiff[:count] + stiff[count : 2 * count])
        pull = self.pull(z)
        self.answers: list[Floats] = []
        self.factor = BatchFactor(self.windows, off, x * pull, self.stride, digits)
        try:
            master = self._preconditioner()
        except np.linalg.LinAlgError:
            return False
        self.prices = Conjugates(self._answered, master.solve, self.windows.states, MOST_KEPT)
        dual = self.cost - self.windows.gather(self.price) - pull
        primal = 1.0 - self.windows.hang(x)
        product = s * z
        mu = float(product.mean())
        self.missing, self.complementarity, self.rounds = float(np.abs(primal).max()), mu, 0
        _, ds, dz, _ = self.direction(-product, dual, primal, weight, 0.3)

        def direct(goal: Floats) -> Direction:
            return self.direction(goal, dual, primal, weight)

        (dy, ds, dz, dprice), step_s, step_z = self._corrected((ds, dz), direct)
        if not (np.isfinite(step_s) and np.isfinite(step_z)) or max(step_s, step_z) < 1e-6:
            return False
        moved = (x * (1.0 + step_s * dy), s + step_s * ds, np.maximum(z + step_z * dz, STAYS * z), self.price + step_z * dprice)
        if not (np.isfinite(moved[0]).all() and np.isfinite(moved[2]).all() and moved[0].min() > 0):
            return False
        self.x, self.s, self.z, self.price = moved
        return True

    def _corrected(self, predicted: tuple[Floats, Floats], direct: Callable[[Floats], Direction]) -> tuple[Direction, float, float]:
        """A direction, and the steps of s and z: while it is early a few multipliers that would fall below zero stop nobody."""
        s, z = self.s, self.z
        if not self.rough:
            found, step_s, step_z = corrected(s, z, predicted, self.weights(), direct, direct)
            return found, min(1.0, SAFE * step_s), min(1.0, SAFE * step_z)
        spare = SPARE * float(np.vdot(s, z))
        reaches = partial(longest, safe=SAFE_EARLY), partial(beyond, spare=spare, safe=SAFE_EARLY)
        found, step_s, step_z = corrected(s, z, predicted, self.weights(), direct, direct, reaches, CORRECTIONS, both=False)
        return found, min(1.0, SAFE_EARLY * step_s), min(1.0, SAFE_EARLY * step_z)

    def _preconditioner(self) -> BandedCholesky:
        """S without what hangs on windows; half the digits will do until they do not."""
        if self.digits is np.float32:
            try:
                return self.factor.summed_inverse(self.x, self.ends, self.stride, np.float32)
            except np.linalg.LinAlgError:
                if self.few:
                    raise  # factors with all digits come first
                self.digits = np.float64
        return self.factor.summed_inverse(self.x, self.ends, self.stride, np.float64)

    def direction(
        self, goal: Floats, dual: Floats, primal: Floats, weight: Floats, share: float = ROUGHLY
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Newton direction towards s∘z = s∘z + goal: (dy, ds, dz, dλ), with Σ_a P x∘dy = primal by conjugate gradients."""
        x, windows = self.x, self.windows
        push = goal / self.s
        pull = self.pull(push) - dual
        dy = self.factor.solve(x * pull)
        missed = primal - windows.hang(x * dy)
        enough = max(CLOSE, share * float(np.abs(primal).max()))
        lengths = self.prices.solve(missed, enough, MOST_ROUNDS, self._round)
        dprice = lengths @ self.prices.ways[: len(lengths)]
        del self.answers[len(lengths) :]  # a direction without curvature is not kept
        if len(self.answers) == len(lengths):
            for length, answer in zip(lengths.tolist(), self.answers, strict=True):
                dy += length * answer
        else:
            dy = self.factor.solve(x * (pull + windows.gather(dprice)))
        ds = self.s * dy[self.head] + x[self.tail] * (dy[self.head] - dy[self.tail])
        dz = push - weight * ds
        return dy, ds, dz, dprice

    def _round(self) -> None:
        self.rounds += 1
        self.stride(ROUND)

    def _answered(self, prices: Floats) -> Floats:
        """S times these prices; early in a search what they answer to is kept."""
        answer = self.factor.solve(self.x * self.windows.gather(prices))
        if self.rough and len(self.answers) == self.prices.count and len(self.answers) * len(answer) < MOST_ANSWERED:
            self.answers.append(answer)
        return self.windows.hang(self.x * answer)

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
        found[action, windows.number + count * ~turned] = z[inside : 2 * inside]
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
