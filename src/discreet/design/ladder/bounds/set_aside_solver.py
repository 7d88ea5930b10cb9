"""The program behind the set-aside bound, by an interior point: kernels on one respondent's type, one for each state of the others.

P_{a,i}(b) is how likely the mechanism plays a when the others are in state b and the one set aside has type i. The program is

    min Σ c_{a,i}(b)·P_{a,i}(b),    y_a(b) ≤ P_{a,i}(b) ≤ e^ε·y_a(b),    Σ_a P_{a,i}(b) = 1  (ν),    C·P_a = 0  (β_a),

C saying of every state s and form that Σ_i E[n_i·m; s]·(N·w_i − s) = 0. Each pair (b, i) belongs to one state b + w_i, so C has
one entry for each form and pair. With slacks u = P − y and t = e^ε·y − P and their multipliers over them, α and τ, the Newton
matrix D of an action is, inverted, diagonal plus a rank-one part for every b, γ = Σ_i α_i·τ_i·(e^ε − 1)²/(α_i + τ_i) without
subtraction; β is eliminated for each action and ν, in splines, for all together (`set_aside_bands`). Barriers are weighed by the
prior. Predictor and corrector as Mehrotra's, and one more of Gondzio's. Where a bound is measured, ν is freed from its splines
(`best_levels`).

What would hold a step up are rare states at the edge. So a step goes as far as all but a small share allow, for P the share of
entries, for β and ν that of the others' states, a quarter of them at first; the rest stay on their side of zero, and what that
leaves unbalanced is made good by later steps. Nodes are shared out to threads. Actions between nodes h apart cost up to h²/4 less
than their chord; every node counts as so much cheaper, which takes h²/4 off the bound where uncounted it takes up to e^ε as much.
Whatever β and ν are, `proved` is a bound.

Reference: Mehrotra 1992; Gondzio 1996.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.design.ladder.bounds.set_aside_bands import PRICE_RIDGE, Layout, Window
from discreet.design.ladder.bounds.set_aside_part import ActionPart, Way
from discreet.design.ladder.bounds.set_aside_prices import Prices, best_levels, lowered, proved
from discreet.design.pace import pace
from discreet.design.schedule import (
    SECONDS_PER_BAND_CALL,
    SECONDS_PER_BAND_ENTRY,
    SECONDS_PER_BAND_FLOP,
    now,
    spend,
    threads_at_once,
)
from discreet.design.solver.threads import one_thread
from discreet.numerics.arrays import Floats
from discreet.watch import SILENT, Watch

if TYPE_CHECKING:
    from discreet.design.ladder.bounds.set_aside import SetAsideProgram


THREADS = 2
"""Nodes are shared out to these: only ν joins them."""
MOST_STEPS = 60
BACK = 0.95
"""Share of the way to the boundary that a step goes."""
CENTRING = 0.3
"""The gap that a step aims at, as a share of the one it has, at least."""
START = 1.0
"""How far costs are above zero at the start, in units of the variance."""
ENTRIES_LEFT, STATES_LEFT, MORE_LEFT = 1e-3, (3e-2, 0.25), 2.0
"""The shares of entries of P, and of the others' states, that may hold a step up and are passed over; of states the more the
farther away the end is: so many times the gap over the loss, within limits."""
OFF_CENTRE = 0.1
"""No product of slack and multiplier is less than this share of what it should be."""
FARTHER = 0.2
"""How much longer the second corrector tries to make the step."""
REACH = 4.5
"""Bases farther from a node than so many roots of the loss, and the widest step of ω, are left out."""
MEASURED_EVERY, MEASURED_FROM = 4, 0.1
"""Steps between two measurements of the bound, and how near the steps must have come, as a share of the loss: it is dear."""


def windows(layout: Layout, program: SetAsideProgram, knots: Floats, loss: float) -> list[Window | None]:
    """For every node the run of bases, in the order of the first sum, in which it may be played."""
    held = program.shares * program.here
    means = (program.read * held).sum(axis=1) / np.maximum(held.sum(axis=1), 1e-300)
    reach = REACH * math.sqrt(loss) + float(np.ptp(program.read, axis=1).max())
    found: list[Window | None] = []
    for knot in knots:
        near = np.flatnonzero(np.abs(means - knot) <= reach)
        found.append(layout.window(int(near[0]), int(near[-1]) + 1) if len(near) else None)
    return found


def taking(program: SetAsideProgram, knots: Floats, loss: float) -> tuple[float, float]:
    """Guesses of the seconds of one step, and of the bytes of all."""
    layout = Layout(program)
    seconds, size = _taking(layout, [window for window in windows(layout, program, knots, loss) if window is not None])
    return pace() * seconds / threads_at_once(THREADS), size


def _taking(layout: Layout, every: Sequence[Window]) -> tuple[float, float]:
    flops, width = float(layout.columns) ** 3, float(layout.width)
    for window in every:
        for top in layout.active[window.blocks]:
            columns = top - window.first_column
            flops += 4 * width**3 + 4 * width**2 * columns + width * columns**2
    blocks = sum(window.blocks.stop - window.blocks.start for window in every)
    entries = layout.types * sum(window.bases.stop - window.bases.start for window in every)
    seconds = SECONDS_PER_BAND_FLOP * flops + SECONDS_PER_BAND_CALL * blocks + SECONDS_PER_BAND_ENTRY * entries
    return seconds, 8 * (2 * blocks * width**2 + entries * (layout.types + 40.0))


def solve_set_aside(
    program: SetAsideProgram,
    epsilon: float,
    knots: Floats,
    loss: float,
    gap: float,
    seconds: float,
    watch: Watch = SILENT,
    enough: float = math.inf,
) -> Prices:
    """Prices that prove the best bound seen in time, the first within `gap` of the program's value, or one that is `enough`.

    `loss` is that of a good mechanism.
    """
    ends, measuring = now() + seconds, 0.0
    with one_thread(), ThreadPoolExecutor(THREADS) as pool:
        walk = _Walk(program, epsilon, knots, loss, pool)
        best = Prices(walk.forms(), walk.levels(), float("-inf"))
        step = _taking(walk.layout, [node.window for node in walk.nodes])[0]
        for number in range(1, MOST_STEPS + 1):
            begun = now()
            going = walk.step()
            spend(step)
            left = ends - now() - measuring
            going &= walk.gap() > gap * loss and not watch.cancelled() and 1.2 * (now() - begun) < left
            if (number % MEASURED_EVERY == 0 and walk.gap() < MEASURED_FROM * loss) or not going:
                begun, forms = now(), walk.forms()
                for levels in (walk.levels(), best_levels(program, epsilon, knots, forms)):
                    bound = proved(program, epsilon, knots, forms, levels)
                    if bound > best.bound:
                        best = Prices(forms, levels, bound)
                measuring = now() - begun
                watch.report(stage="set-aside bound", bound=best.bound)
            if not going or best.bound >= enough:
                break
    return best


class _Walk:
    """The nodes that are played somewhere, and ν [base, type]."""

    def __init__(self, program: SetAsideProgram, epsilon: float, knots: Floats, loss: float, pool: ThreadPoolExecutor) -> None:
        self.layout, self.q, self.program, self.pool = Layout(program), math.exp(epsilon), program, pool
        self.layout.assemble()
        self.shape = (len(knots), *program.coefficients.shape[:1], len(program.states))
        self.floor, self.loss = START * program.second, loss
        self.nu = -self.layout.weights * (program.read**2 + self.floor)
        met = [(k, w) for k, w in enumerate(windows(self.layout, program, knots, loss)) if w is not None]
        played = 1.0 / (knots**2 + self.floor)
        played /= played[[k for k, _ in met]].sum()
        lower = lowered(knots)
        self.nodes = []
        for k, window in met:
            cost = program.costs(knots[k : k + 1])[0] - lower[k]
            over = np.maximum(cost + program.read**2 + self.floor, 0.5 * self.floor)
            self.nodes.append(ActionPart(self.layout, window, self.q, cost, over, float(played[k]), k))
        self.total = 2.0 * sum(float(node.weights.sum()) for node in self.nodes)
        self.shares = [self.nodes[k::THREADS] for k in range(THREADS)]

    def forms(self) -> Floats:
        """β [node, form, state]."""
        found = np.zeros((self.shape[0], self.layout.count * self.layout.width))
        for node in self.nodes:
            found[node.number, node.first : node.first + len(node.beta)] = node.beta
        return np.asarray(found[:, self.layout.place] / self.layout.size)

    def levels(self) -> Floats:
        """ν [base, type], not weighted."""
        return np.asarray(self.nu / np.where(self.layout.here, self.layout.weights, 1.0))

    def gap(self) -> float:
        """Σ of slacks times multipliers: what the program's value and its dual lie apart once prices are feasible."""
        return sum(node.product() for node in self.nodes)

    def _factor(self) -> None:
        from scipy import linalg

        layout = self.layout

        def factored(share: Sequence[ActionPart]) -> tuple[Floats, Floats]:
            prices = np.zeros((layout.columns, layout.columns))
            room, whole = (np.zeros((layout.bases, layout.types, layout.types)) for _ in range(2))
            for node in share:
                node.factor(layout, room, prices, self.nu[node.window.bases])
                whole[node.window.bases] += room[node.window.bases]
                room[node.window.bases] = 0.0
            return prices, whole

        prices, whole = (sum(parts[1:], parts[0]) for parts in zip(*self.pool.map(factored, self.shares), strict=True))
        prices += layout.doubled(whole)
        own = np.diag(layout.doubled(whole * np.eye(layout.types)))
        self.scale = np.where(own > 0, 1.0 / np.sqrt(np.where(own > 0, own, 1.0)), 0.0)
        prices = (prices + prices.T) / 2 * (self.scale[:, None] * self.scale)
        prices[np.diag_indices(layout.columns)] += np.where(self.scale > 0, PRICE_RIDGE, 1.0)
        self.prices = linalg.cho_factor(prices, lower=True, overwrite_a=True)

    def _direction(self, changes: Callable[[ActionPart], tuple[Floats, Floats]], whole: bool) -> tuple[list[Way], Floats]:
        """Moves of all nodes and of ν for what changes of multipliers are asked for."""
        from scipy import linalg

        layout = self.layout
        over = np.zeros(layout.here.shape)
        moves = self.pool.map(lambda node: node.begin(*changes(node), whole), self.nodes)
        for node, moved in zip(self.nodes, moves, strict=True):
            over[node.window.bases] += moved + node.p * node.here if whole else moved
        if whole:
            over -= layout.here
        dnu = layout.prices(-self.scale * linalg.cho_solve(self.prices, self.scale * layout.told(over)))
        return list(self.pool.map(lambda node: node.end(dnu[node.window.bases]), self.nodes)), dnu

    def _lengths(self, ways: Sequence[Way]) -> tuple[float, float]:
        """How far P, and β and ν, may go until more than a small share would be at the boundary."""
        ratios, weights = [], []
        least = np.full(self.layout.bases, np.inf)
        for node, (_, _, _, du, dt, dzu, dzt) in zip(self.nodes, ways, strict=True):
            for x, dx in ((node.u, du), (node.t, dt)):
                short = (-dx > x) & node.here
                ratios.append(x[short] / -dx[short])
                weights.append(node.weights[short])
            own = least[node.window.bases]
            for x, dx in ((node.zu, dzu), (node.zt, dzt)):
                falling = (dx < 0) & node.here
                np.minimum(own, np.where(falling, x / np.where(falling, -dx, 1.0), np.inf).min(axis=1), out=own)
        masses = self.program.masses
        return (
            _passing(np.concatenate(ratios), np.concatenate(weights), ENTRIES_LEFT * self.total),
            _passing(least, masses, float(np.clip(MORE_LEFT * self.gap() / self.loss, *STATES_LEFT) * masses.sum())),
        )

    def step(self) -> bool:
        """One predictor and its correctors; False when the numbers give out."""
        from scipy.linalg import LinAlgError

        try:
            self._factor()
        except (LinAlgError, ValueError):
            return False
        average = self.gap() / self.total
        ahead, _ = self._direction(lambda node: (-node.zu, -node.zt), True)
        first, second = self._lengths(ahead)
        after = 0.0
        for node, (*_, du, dt, dzu, dzt) in zip(self.nodes, ahead, strict=True):
            whole = (node.zu + second * dzu) * (node.u + first * du) + (node.zt + second * dzt) * (node.t + first * dt)
            after += float((whole * node.here).sum())
        centring = max((after / self.total / average) ** 3, CENTRING)
        target = centring * average
        each = {node.number: way for node, way in zip(self.nodes, ahead, strict=True)}

        def corrected(node: ActionPart) -> tuple[Floats, Floats]:
            *_, du, dt, dzu, dzt = each[node.number]
            aim, most = target * node.weights, average * node.weights
            bent = np.clip(dzu * du, -most, most), np.clip(dzt * dt, -most, most)
            return (aim - bent[0]) / node.u - node.zu, (aim - bent[1]) / node.t - node.zt

        ways, dnu = self._direction(corrected, True)
        first, second = self._lengths(ways)
        each = {node.number: way for node, way in zip(self.nodes, ways, strict=True)}
        farther = min(1.0, first + FARTHER), min(1.0, second + FARTHER)

        def nearer(node: ActionPart) -> tuple[Floats, Floats]:
            *_, du, dt, dzu, dzt = each[node.number]
            aim = target * node.weights
            return (
                _pulled(node.u + farther[0] * du, node.zu + farther[1] * dzu, aim) / node.u,
                _pulled(node.t + farther[0] * dt, node.zt + farther[1] * dzt, aim) / node.t,
            )

        more, dnu_more = self._direction(nearer, False)
        joined = [[x + y for x, y in zip(way, other, strict=True)] for way, other in zip(ways, more, strict=True)]
        longer = self._lengths(joined)
        if sum(longer) > first + second + 0.1 * FARTHER:
            ways, dnu, (first, second) = joined, dnu + dnu_more, longer
        if not all(np.isfinite(x).all() for way in ways for x in way) or not np.isfinite(dnu).all():
            return False
        first, second = BACK * first, BACK * second
        self.nu = self.nu + second * dnu
        # the average that is left, about: products are kept from falling far below it
        least = OFF_CENTRE * average * (1 - min(first, second) * (1 - centring))
        list(self.pool.map(lambda node, way: node.go(way, first, second, least), self.nodes, ways))
        return True


def _passing(ratios: Floats, weights: Floats, spare: float) -> float:
    """The largest step at which those that are past their ratio weigh no more than `spare`; at most 1."""
    order = np.argsort(ratios)
    past = int(np.searchsorted(np.cumsum(weights[order]), spare))
    return 1.0 if past >= len(order) else min(1.0, float(ratios[order[past]]))


def _pulled(slack: Any, multiplier: Any, aim: Floats) -> Floats:
    """By how much a product is to change to lie between a tenth and ten times what it should be."""
    product = slack * multiplier
    return np.asarray(np.clip(np.clip(product, 0.1 * aim, 10 * aim) - product, -10 * aim, 10 * aim))
