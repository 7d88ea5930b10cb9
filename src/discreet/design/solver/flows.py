"""Flows that price actions: is there f ≥ 0 on the directed edges with Gᵀf ≤ c?

By duality, with weights n > 0 on the states that sum to one,

    min { t ≥ 0 : Gᵀf + v − t·n = c, f, v ≥ 0 }  =  max { −c·x : G x ≥ 0, n·x ≤ 1, x ≥ 0 },

and an action whose cost minus prices is c cannot improve a design iff t = 0; the flow f is the proof, a ray x with
c·x < 0 the counterexample.  Many actions are priced at once by the blocks of the interior point without their
coupling, each with its own step, dropped from the batch as soon as it is proved or refuted.  Blocks keep their
M-matrix: v adds x∘v ≥ 0 to the row sums, the bound on n·x a rank-one term.

The *deficit* of a flow is Σ_h max(0, (Gᵀf − c)_h): what a dual bound loses at most by using it.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from discreet.design.memory import allowed
from discreet.design.schedule import interior_seconds, place_for, pricing_bytes, pricing_seconds, spend
from discreet.design.solver.elimination import Factor, Pattern
from discreet.design.solver.layers import layered
from discreet.design.solver.program import Flags, Floats, Integers, directed, pulled
from discreet.design.solver.threads import one_thread
from discreet.frozen import dataclass
from discreet.numerics.devices import device_bytes, fetched, home
from discreet.watch import Watch

SAFE = 0.99


@dataclass(frozen=True)
class Priced:
    """Per action: the best flow found, its deficit, and the least c·x seen on a ray with n·x = 1."""

    flow: Floats = field(repr=False)
    deficit: Floats
    ray: Floats = field(repr=False)
    ray_value: Floats


def deficits(reduced: Floats) -> Floats:
    """Σ_h max(0, −reduced_h) per action."""
    found: Floats = np.maximum(-reduced, 0.0).sum(axis=-1)
    return found


@one_thread()
def price(
    surplus: Floats,
    edges: Integers,
    factor: float,
    tolerance: float,
    weight: Floats | None = None,
    watch: Watch | None = None,
    limit: int = 120,
    refute: bool = True,
) -> Priced:
    """Price every row c of `surplus` [action, state] on a connected graph until deficits are ≤ `tolerance`.

    With `refute`, an action is given up as soon as a ray shows c·x < −10·tolerance.
    """
    actions, states = surplus.shape
    if weight is None:
        weight = np.abs(surplus).mean(axis=0)
    weight = weight / weight.sum() + 1e-6 / states
    weight = weight / weight.sum()
    deficit = deficits(surplus)
    found = Priced(np.zeros((actions, 2 * len(edges))), deficit, np.ones((actions, states)), surplus.sum(axis=1))
    live = np.flatnonzero(deficit > tolerance)
    layers = layered(states, edges, weight)
    each = pricing_bytes(states, int(layers.sizes.max()), len(edges))
    place = place_for(len(live) * pricing_seconds(states, int(layers.sizes.max())), each)
    pattern = Pattern(layers, edges, place)
    most = max(int(allowed() if place is np else 0.5 * device_bytes()) // each, 1)
    for k in range(0, len(live), most):
        _price(found, live[k : k + most], surplus, weight, edges, factor, tolerance, pattern, watch, limit, refute)
    return found


def _price(
    found: Priced,
    live: Integers,
    surplus: Floats,
    weight: Floats,
    edges: Integers,
    factor: float,
    tolerance: float,
    pattern: Pattern,
    watch: Watch | None,
    limit: int,
    refute: bool,
) -> None:
    """Price the rows `live` and write what is found into `found`."""
    place, states = pattern.place, surplus.shape[1]
    flow, deficit, ray, ray_value = found.flow, found.deficit, found.ray, found.ray_value
    scale = np.maximum(np.abs(surplus).sum(axis=1), 1e-300)
    there = place.asarray(weight)
    point = _Blocks.start(place.asarray(surplus[live] / scale[live, None]), there, place.asarray(edges), factor)
    for _ in range(limit):
        if not live.size or (watch is not None and watch.cancelled()):
            break
        spend(interior_seconds(len(live), states, int(pattern.layers.sizes.max())))
        with np.errstate(all="ignore"):
            point, alive = point.step(pattern)
        reduced = point.cost - pulled(point.z, point.edges, factor, states)
        short = fetched(deficits(reduced)) * scale[live]
        better = short < deficit[live]
        flow[live[better]] = fetched(point.z[place.asarray(better)]) * scale[live[better], None]
        deficit[live] = np.minimum(deficit[live], short)
        value = fetched(np.sum(point.cost * point.x, axis=1) / (point.x @ there)) * scale[live]
        lower = value < ray_value[live]
        ray[live[lower]] = fetched(point.x[place.asarray(lower)])
        ray_value[live] = np.minimum(ray_value[live], value)
        keep = (deficit[live] > tolerance) & fetched(alive)
        if refute:
            keep &= ray_value[live] > -10 * tolerance
        if not keep.all():
            live, point = live[keep], point.only(place.asarray(keep))


@dataclass(frozen=True)
class _Blocks:
    """Iterates of many pricing problems: rays x, slacks s = G x and y = 1 − n·x, duals z, v and t."""

    cost: Floats
    weight: Floats
    edges: Integers
    q: float
    x: Floats
    s: Floats
    y: Floats
    z: Floats
    v: Floats
    t: Floats

    @staticmethod
    def start(cost: Floats, weight: Floats, edges: Integers, q: float) -> _Blocks:
        actions, states = cost.shape
        place = home(cost)
        x = place.full((actions, states), 0.5)
        s = place.full((actions, 2 * len(edges)), 0.5 * (q - 1.0))
        level = 1.0 / (states + 2 * len(edges))
        z = level / s
        t = place.full(actions, 1.0) + np.max(-cost / weight, axis=1).clip(0.0, 10.0)
        v = np.maximum(cost + t[:, None] * weight - pulled(z, edges, q, states), level / x)
        return _Blocks(cost, weight, edges, q, x, s, place.full(actions, 0.5), z, v, t)

    def only(self, keep: Flags) -> _Blocks:
        return _Blocks(
            self.cost[keep],
            self.weight,
            self.edges,
            self.q,
            self.x[keep],
            self.s[keep],
            self.y[keep],
            self.z[keep],
            self.v[keep],
            self.t[keep],
        )

    def step(self, pattern: Pattern) -> tuple[_Blocks, Flags]:
        """One predictor-corrector step of every action on its own, and which actions still move."""
        x, s, y, z, v, t, n, q, edges = (self.x, self.s, self.y, self.z, self.v, self.t, self.weight, self.q, self.edges)
        tail, head = directed(edges)
        count, states = len(edges), x.shape[1]
        at_tail = x.take(tail, axis=1)
        stiff = (at_tail / s) * (z * x.take(head, axis=1))
        pull = pulled(z, edges, q, states)
        factor = Factor(pattern, q * (stiff[:, :count] + stiff[:, count:]), x * (pull + v))
        dual = self.cost + t[:, None] * n - pull - v
        primal = 1.0 - y - x @ n
        xn = x * n
        unit = factor.solve(xn)
        ratio = t / y
        bend = ratio / (1.0 + ratio * np.sum(xn * unit, axis=1))
        size = s.shape[1] + states + 1
        mu = (np.sum(s * z, axis=1) + np.sum(x * v, axis=1) + y * t) / size

        def direction(goal_s: Floats, goal_x: Floats, goal_y: Floats) -> tuple[Floats, ...]:
            push = goal_s / s
            right = x * (pulled(push, edges, q, states) - dual) + goal_x
            right -= xn * ((goal_y - t * primal) / y)[:, None]
            dy = factor.solve(right)
            dy = dy + factor.solve(right - factor.times(dy, edges))
            dy = dy - unit * (bend * np.sum(xn * dy, axis=1))[:, None]
            there = dy.take(head, axis=1)
            ds = s * there + at_tail * (there - dy.take(tail, axis=1))
            gap = primal - np.sum(xn * dy, axis=1)
            return dy, ds, gap, push - (z / s) * ds, goal_x / x - v * dy, (goal_y - t * gap) / y

        def longest(dy: Floats, ds: Floats, gap: Floats, dz: Floats, dv: Floats, dt: Floats) -> tuple[Floats, Floats]:
            forward = np.maximum(np.maximum(np.max(-ds / s, axis=1), np.max(-dy, axis=1)), -gap / y)
            back = np.maximum(np.maximum(np.max(-dz / z, axis=1), np.max(-dv / v, axis=1)), -dt / t)
            return 1.0 / np.maximum(forward, SAFE), 1.0 / np.maximum(back, SAFE)

        first = direction(-s * z, -x * v, -y * t)
        a, b = longest(*first)
        dy, ds, gap, dz, dv, dt = first
        A, B = a[:, None], b[:, None]
        after = (
            np.sum((s + A * ds) * (z + B * dz), axis=1)
            + (y + a * gap) * (t + b * dt)
            + np.sum(x * (1 + A * dy) * (v + B * dv), axis=1)
        ) / size
        aim = np.clip((after / mu) ** 2, 1e-6, 1.0) * mu
        dy, ds, gap, dz, dv, dt = second = direction(
            aim[:, None] - s * z - ds * dz, aim[:, None] - x * v - x * dy * dv, aim - y * t - gap * dt
        )
        a, b = (np.minimum(1.0, SAFE * step) for step in longest(*second))
        good = np.isfinite(dy).all(axis=1) & np.isfinite(dz).all(axis=1) & (np.maximum(a, b) > 1e-6)
        a, b = np.where(good, a, 0.0), np.where(good, b, 0.0)
        dy, ds, gap, dz, dv, dt = (np.nan_to_num(d, nan=0.0, posinf=0.0, neginf=0.0) for d in second)
        A, B = a[:, None], b[:, None]
        moved = _Blocks(self.cost, n, edges, q, x * (1 + A * dy), s + A * ds, y + a * gap, z + B * dz, v + B * dv, t + b * dt)
        return moved, good
