"""The program behind the set-aside bound, by an interior point: kernels on one respondent's type, one for each state of the others.

P_{a,i}(b) is how likely the mechanism plays a when the others are in state b and the one set aside has type i. The program is

    min Σ c_{a,i}(b)·P_{a,i}(b),    y_a(b) ≤ P_{a,i}(b) ≤ e^ε·y_a(b),    Σ_a P_{a,i}(b) = 1  (ν),    C·P_a = 0  (β_a),

C saying of every state s and form that Σ_i E[n_i·m; s]·(N·w_i − s) = 0. Each pair (b, i) belongs to one state b + w_i, so C has
one entry for each form and pair. With slacks P − y and e^ε·y − P and their multipliers over them, α and τ, the Newton matrix of
an action is diagonal plus a rank-one part for every b, γ = Σ_i α_i·τ_i·(e^ε − 1)²/(α_i + τ_i) without subtraction; β is
eliminated for each action and ν for all together. P stays feasible from P = 1/(number of actions) on, and barriers are weighed by
the prior. Predictor and corrector as Mehrotra's. Whatever β and ν are, `proved` is a bound.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.design.ladder.bounds.set_aside_prices import Prices, proved
from discreet.design.schedule import SECONDS_PER_FLOP, now, spend
from discreet.numerics.arrays import Floats
from discreet.watch import SILENT, Watch

if TYPE_CHECKING:
    from discreet.design.ladder.bounds.set_aside import SetAsideProgram


MOST_ITERATIONS = 150
BACK = 0.9
"""Share of the way to the boundary that a step goes."""
LEAST_CENTRING = 0.1
START = 10.0
"""How far costs are above zero at the start, in units of the variance."""
RIDGE = 1e-12


def iteration_seconds(program: SetAsideProgram, nodes: int) -> float:
    """A guess of one step."""
    pairs, rows = int(program.here.sum()), program.coefficients.shape[0] * len(program.states)
    each = rows**3 + 4.0 * pairs * program.here.shape[1] * program.coefficients.shape[0] * (rows + pairs)
    return 0.4 * (SECONDS_PER_FLOP * (nodes * each + pairs**3 / 3.0) + 1e-3 * nodes)


def solve_set_aside(
    program: SetAsideProgram, epsilon: float, knots: Floats, gap: float, seconds: float, watch: Watch = SILENT
) -> Prices:
    """Prices that prove the best bound seen within the time, or the first within `gap` of the program's value."""
    ends, walk = now() + seconds, _Walk(program, epsilon, knots)
    step = iteration_seconds(program, len(knots))
    best = Prices(walk.forms, walk.levels, float("-inf"))
    for _ in range(MOST_ITERATIONS):
        bound = proved(program, epsilon, knots, walk.forms, walk.levels)
        if bound > best.bound:
            best = Prices(walk.forms.copy(), walk.levels.copy(), bound)
        watch.report(stage="set-aside bound", bound=best.bound)
        begun = now()
        if walk.gap() <= gap * program.second or watch.cancelled() or not walk.step():
            break
        spend(step)
        if now() + (now() - begun) > ends:
            break
    return best


class _Walk:
    """P [node, base, type], y [node, base], multipliers of both slacks, β and ν."""

    def __init__(self, program: SetAsideProgram, epsilon: float, knots: Floats) -> None:
        from scipy import sparse

        self.q, self.here = math.exp(epsilon), program.here
        self.weights = program.shares[None] * program.masses[:, None] * program.here
        self.live = np.flatnonzero(self.here)
        self.program, self.nodes = program, len(knots)
        self.cost = program.costs(knots) * self.weights
        forms, (bases, types), states = len(program.coefficients), self.here.shape, len(program.states)
        self.shape = (self.nodes, bases, types)
        # the rows of C, each divided by its size under the prior
        size = np.zeros((forms, states))
        for k, apart in enumerate(program.coefficients):
            np.add.at(size[k], program.targets[self.here], (self.weights * apart**2)[self.here])
        self.size = np.sqrt(np.where(size > 0, size, 1.0))
        self.entries = np.stack(
            [self.weights * c / s[program.targets] for c, s in zip(program.coefficients, self.size, strict=True)]
        )
        rows = np.concatenate([k * states + program.targets[self.here] for k in range(forms)])
        columns = np.tile(np.arange(len(self.live)), forms)
        values = np.concatenate([e[self.here] for e in self.entries])
        self.consistent = sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=(forms * states, len(self.live))))
        numbers = np.full(self.here.size, -1)
        numbers[self.live] = np.arange(len(self.live))
        self.numbers = numbers.reshape(self.here.shape)
        # feasible from the start on both sides: costs plus a level are squares plus START variances
        floor = START * program.second
        played = 1.0 / (knots**2 + floor)
        played /= played.sum()
        self.p = np.broadcast_to(played[:, None, None], self.shape).copy()
        self.y = np.broadcast_to(played[:, None] / math.sqrt(self.q), self.shape[:2]).copy()
        self.nu = -self.weights * (program.read**2 + floor)
        over = self.cost - self.nu
        self.zt = over / (self.q - 1)
        self.zu = self.q * self.zt
        self.beta = np.zeros((self.nodes, forms * states))
        self.total = 2.0 * self.nodes * float(self.weights.sum())

    @property
    def forms(self) -> Floats:
        return np.asarray(self.beta.reshape(self.nodes, *self.size.shape) / self.size)

    @property
    def levels(self) -> Floats:
        return np.asarray(self.nu / np.where(self.here, self.weights, 1.0))

    def _slacks(self) -> tuple[Floats, Floats]:
        y = self.y[:, :, None]
        return np.where(self.here, self.p - y, 1.0), np.where(self.here, self.q * y - self.p, 1.0)

    def gap(self) -> float:
        """Σ of slacks times multipliers: what the program's value and its dual lie apart once prices are feasible."""
        u, t = self._slacks()
        return float((self.zu * u + self.zt * t).sum())

    def _back(self, beta: Floats) -> Floats:
        """C′β for each node, on [base, type]."""
        found = np.zeros((self.nodes, self.here.size))
        found[:, self.live] = (self.consistent.T @ beta.T).T
        return found.reshape(self.shape)

    def step(self) -> bool:
        """One predictor and corrector; False when the numbers give out."""
        from scipy import linalg

        u, t = self._slacks()
        alpha, tau = self.zu / u, self.zt / t
        diagonal = np.where(self.here, alpha + tau, 1.0)
        inverse = self.here / diagonal
        cross = -(alpha + self.q * tau) * self.here
        gamma = ((self.q - 1) ** 2 * alpha * tau / diagonal * self.here).sum(axis=2)
        corner = ((alpha + self.q**2 * tau) * self.here).sum(axis=2)
        slope = inverse * cross
        try:
            system = _System(self, inverse, slope, gamma)
        except linalg.LinAlgError:
            return False
        stray = (self.cost - self._back(self.beta) - self.nu - self.zu + self.zt) * self.here
        stray_y = self.zu.sum(axis=2) - self.q * self.zt.sum(axis=2)

        def direction(ku: Floats, kt: Floats) -> tuple[Floats, ...]:
            ku, kt = ku * self.here, kt * self.here
            right = -stray + ku - kt
            below = -stray_y - ku.sum(axis=2) + self.q * kt.sum(axis=2)
            dp, dbeta, dnu = system.solve(right, below)
            dy = (below - (cross * dp).sum(axis=2)) / corner
            du, dt = (dp - dy[:, :, None]) * self.here, (self.q * dy[:, :, None] - dp) * self.here
            return dp, dy, dbeta, dnu, du, dt, (ku - alpha * du) * self.here, (kt - tau * dt) * self.here

        average = float((self.zu * u + self.zt * t).sum()) / self.total
        *_, du, dt, dzu, dzt = direction(-self.zu, -self.zt)
        first, second = min(_longest(u, du), _longest(t, dt)), min(_longest(self.zu, dzu), _longest(self.zt, dzt))
        after = (self.zu + second * dzu) * (u + first * du) + (self.zt + second * dzt) * (t + first * dt)
        centring = max((float(after.sum()) / self.total / average) ** 3, LEAST_CENTRING)
        target = centring * average * self.weights
        ways = direction(target / u - self.zu - dzu * du / u, target / t - self.zt - dzt * dt / t)
        dp, dy, dbeta, dnu, du, dt, dzu, dzt = ways
        if not all(np.isfinite(way).all() for way in ways):
            return False
        first, second = min(_longest(u, du), _longest(t, dt)), min(_longest(self.zu, dzu), _longest(self.zt, dzt))
        self.p, self.y = self.p + first * dp, self.y + first * dy
        self.beta, self.nu = self.beta + second * dbeta, self.nu + second * dnu
        self.zu, self.zt = self.zu + second * dzu, self.zt + second * dzt
        return True


class _System:
    """The Newton system, factored: β for each node, then ν for all nodes."""

    def __init__(self, walk: _Walk, inverse: Floats, slope: Floats, gamma: Floats) -> None:
        from scipy import linalg, sparse

        self.walk, self.slope, self.gamma = walk, slope, gamma
        types = walk.here.shape[1]
        count = len(walk.live)
        self.blocks = slope[:, :, :, None] * slope[:, :, None, :] / gamma[:, :, None, None]
        diagonal = np.arange(types)
        self.blocks[:, :, diagonal, diagonal] += inverse
        both = walk.here[:, :, None] & walk.here[:, None, :]
        at, to = (np.broadcast_to(x, both.shape)[both] for x in (walk.numbers[:, :, None], walk.numbers[:, None, :]))
        prices = np.zeros((count, count))
        prices[at, to] = self.blocks.sum(axis=0)[both]
        self.factors: list[tuple[Any, Floats, Any]] = []
        for block in self.blocks:
            spread = sparse.csr_array((block[both], (at, to)), shape=(count, count))
            reach = sparse.csr_array(spread @ walk.consistent.T)
            matrix = (walk.consistent @ reach).toarray()
            own = np.diag(matrix)
            scale = np.where(own > 0, 1.0 / np.sqrt(np.where(own > 0, own, 1.0)), 0.0)
            matrix *= scale[:, None] * scale
            matrix[np.diag_indices(len(matrix))] = 1.0 + RIDGE
            factor = linalg.cho_factor(matrix, lower=True, check_finite=False)
            inner = linalg.cho_solve(factor, np.diag(scale), check_finite=False) * scale[:, None]
            prices -= reach @ np.ascontiguousarray((reach @ inner).T)
            self.factors.append((factor, scale, reach))
        self.scale = 1.0 / np.sqrt(np.einsum("bii->bi", self.blocks.sum(axis=0)).ravel()[walk.live])
        prices = (prices + prices.T) / 2 * (self.scale[:, None] * self.scale)
        # prices are told apart only up to C′x, which every β takes up: that direction is held
        rows = walk.consistent.multiply(self.scale[None, :]).toarray()
        rows /= np.maximum(np.linalg.norm(rows, axis=1), 1e-300)[:, None]
        prices += rows.T @ rows
        prices[np.diag_indices(count)] += 1e-10
        self.prices = linalg.cho_factor(prices, lower=True, check_finite=False)

    def _held(self, node: int, moved: Floats) -> tuple[Floats, Floats]:
        """A move of P at a node, kept consistent, and the β for that."""
        from scipy import linalg

        factor, scale, reach = self.factors[node]
        beta = -scale * linalg.cho_solve(factor, scale * (self.walk.consistent @ moved), check_finite=False)
        return moved + reach @ beta, beta

    def solve(self, right: Floats, below: Floats) -> tuple[Floats, Floats, Floats]:
        """Moves of P and β of every node and of ν."""
        from scipy import linalg

        walk = self.walk
        free = np.einsum("abij,abj->abi", self.blocks, right) - self.slope * (below / self.gamma)[:, :, None]
        held = [self._held(a, free[a].ravel()[walk.live]) for a in range(walk.nodes)]
        over = sum(move for move, _ in held)
        dnu = np.zeros(walk.here.size)
        dnu[walk.live] = -self.scale * linalg.cho_solve(self.prices, self.scale * over, check_finite=False)
        nudged = np.einsum("abij,bj->abi", self.blocks, dnu.reshape(walk.here.shape))
        dp, dbeta = np.zeros((walk.nodes, walk.here.size)), np.empty_like(walk.beta)
        for a, (move, beta) in enumerate(held):
            more, extra = self._held(a, nudged[a].ravel()[walk.live])
            dp[a, walk.live], dbeta[a] = move + more, beta + extra
        return dp.reshape(walk.shape), dbeta, dnu.reshape(walk.here.shape)


def _longest(x: Floats, dx: Floats) -> float:
    falling = dx < 0
    return min(1.0, BACK * float((-x[falling] / dx[falling]).min(initial=np.inf)))
