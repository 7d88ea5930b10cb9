"""Real-valued actions: the continuous optimum with a proof that covers every real number.

Upper bound: a program on finitely many actions that move to their posterior optima (`polish`).
Lower bound: prices λ, and nodes a_1 < … < a_K with flows f_k; between nodes the flow is interpolated linearly, so

    bound = Σ_h min over pieces k of min_{a in [a_k, a_{k+1}]} [c_h(a) − (Gᵀf(a))_h]

holds for every action in the range [low, high] that contains all best actions (outside it, convex losses only grow
for every state, so no action there is ever needed).

Nodes.  Around a used action a* with flow f and ray x, the tangent flow f′ solves Gᵀf′ = ∂c/∂a with the least relative
change Σ(f′/f)², so f ± t·f′ prices a* ± t with slack c(a) − c(a*) − c′(a*)(a − a*) ≥ 0 as far as it stays non-negative.
Between such nodes interpolation loses up to (width/2)² per unit of prior for squared error, which slack at the
ends pays for: slacks s₁, s₂ cover a width of √s₁ + √s₂.  Where that is too wide, nodes in between are priced by
`flows.price` with as much slack as a ladder of requests gives.
"""

from __future__ import annotations

import time
from dataclasses import field

import numpy as np

from discreet.design.solver.elimination import Factor, Pattern
from discreet.design.solver.flows import deficits, price
from discreet.design.solver.layers import distances, layered, neighbour_lists
from discreet.design.solver.losses import Pinball, RealLoss
from discreet.design.solver.polish import polish, spacing
from discreet.design.solver.pricing import solve_priced
from discreet.design.solver.program import Floats, Integers, Program, Solution, directed, pulled, slack
from discreet.design.solver.solve import solve
from discreet.frozen import dataclass
from discreet.model.gap import relative_gap, size
from discreet.watch import Watch

LADDER = (0.5, 0.15, 0.0)
"""Slack asked of a priced node, as a share of the squared distance to the nearest used action."""

NEAREST = 1e-3
"""Distance of the first nodes beside a used action without a tangent, as a share of the spacing of used actions."""

RATIO = 3.0
"""Growth of the distance of priced nodes from a used action."""

REFINEMENTS = 9
ATTEMPTS = 8


@dataclass(frozen=True)
class Continuum:
    """Used actions with their kernel, and nodes with multipliers that prove the bound between them too."""

    actions: Floats
    kernel: Floats = field(repr=False)
    nodes: Floats = field(repr=False)
    multipliers: Floats = field(repr=False)
    value: float
    bound: float
    seconds: float
    status: str

    @property
    def relative_gap(self) -> float:
        return relative_gap(self.value, self.bound)


def solve_continuum(loss: RealLoss, edges: Integers, epsilon: float, gap: float = 1e-6, watch: Watch | None = None) -> Continuum:
    """Best kernel over real actions on a connected graph with ε > 0, and a bound over all real actions."""
    begun = time.perf_counter()
    if isinstance(loss, Pinball):
        return _at_kinks(loss, edges, epsilon, gap, watch)
    actions, upper = polish(loss, edges, epsilon, first_actions(loss, edges, epsilon), 0.2 * gap, watch)
    best: Continuum | None = None
    stuck = False
    for _ in range(ATTEMPTS):
        nodes, multipliers, bound, wanted = prove(loss, edges, epsilon, actions, upper, watch, gap)
        seconds = time.perf_counter() - begun
        found = Continuum(actions, upper.kernel, nodes, multipliers, upper.value, bound, seconds, upper.status)
        best = found if best is None else better(best, found)
        if watch is not None:
            watch.report(stage="real actions", value=best.value, bound=best.bound, seconds=seconds)
        if best.relative_gap <= gap or upper.status == "cancelled" or not len(wanted):
            break
        more = thinned(np.concatenate([actions, wanted]), 1e-3 * spacing(actions))
        moved, lower = (actions, upper) if stuck else polish(loss, edges, epsilon, more, 0.2 * gap, watch)
        stuck = upper.value - lower.value <= 0.3 * gap * abs(upper.value)
        if stuck:
            # they are no better, only under these prices: kept although nobody plays them, they teach the prices
            moved, lower = more, solve(Program(loss.cost(more), edges, epsilon), 0.2 * gap, watch)
        actions, upper = moved, lower
    assert best is not None
    return best


def _at_kinks(loss: Pinball, edges: Integers, epsilon: float, gap: float, watch: Watch | None) -> Continuum:
    """Costs that are linear between kinks need no other actions and, flows being linear too, lose nothing there."""
    kinks = np.unique(np.clip(loss.omega, loss.low, loss.high))
    found = solve_priced(Program(loss.cost(kinks), edges, epsilon), gap, watch)
    used = found.kernel.max(axis=1) > 0
    return Continuum(
        kinks[used], found.kernel[used], kinks, found.multipliers, found.value, found.bound, found.seconds, found.status
    )


def better(one: Continuum, two: Continuum) -> Continuum:
    """The better kernel, with its actions, and the better bound: each stands on its own."""
    upper = one if one.value < two.value else two
    lower = one if one.bound > two.bound else two
    return Continuum(upper.actions, upper.kernel, lower.nodes, lower.multipliers, upper.value, lower.bound, two.seconds, two.status)


def first_actions(loss: RealLoss, edges: Integers, epsilon: float, looks: int = 160, most: int = 48) -> Floats:
    """Posterior optima after seeing a state through e^(−ε·distance), thinned to at most `most`."""
    states = len(loss.prior)
    offsets, targets = neighbour_lists(states, edges)
    order = np.argsort(-loss.prior, kind="stable")
    heavy = order[: np.count_nonzero(loss.prior > 1e-8 * loss.prior.max()) or 1]
    seen = heavy[np.unique(np.linspace(0, len(heavy) - 1, looks).astype(np.int64))]
    rays = np.stack([np.exp(-epsilon * distances(states, offsets, targets, int(h))) for h in seen])
    values = np.unique(loss.best(rays))
    width = max((values[-1] - values[0]) / most, 1e-9)
    kept = [float(values[0])]
    for value in values[1:]:
        if value - kept[-1] >= width:
            kept.append(float(value))
    return np.array(kept)


def thinned(values: Floats, near: float) -> Floats:
    """Sorted values without those closer than `near` to the one before."""
    kept: list[float] = []
    for value in np.sort(values).tolist():
        if not kept or value - kept[-1] >= near:
            kept.append(value)
    return np.array(kept)


def tangents(
    loss: RealLoss, edges: Integers, q: float, actions: Floats, kernel: Floats, flow: Floats
) -> tuple[Floats, Floats, Floats]:
    """Tangent flows f′ with Gᵀf′ = ∂c/∂a − ρ·π, how far f ± t·f′ stays ≥ 0, and ρ.

    ρ makes the right side orthogonal to the ray; it vanishes for an action at its posterior optimum.
    """
    pattern = Pattern(layered(len(loss.prior), edges, loss.prior), edges)
    tail, head = directed(edges)
    x = kernel / kernel.max(axis=1, keepdims=True)
    top = np.maximum(flow.max(axis=1, keepdims=True), np.finfo(float).tiny)
    f = np.maximum(flow / top, 1e-13)
    rate = loss.rate(actions)
    off_balance = np.sum(x * rate, axis=1) / np.sum(x * loss.prior, axis=1)
    rate = rate - off_balance[:, None] * loss.prior
    s = np.maximum(slack(x, edges, q), 0.0)
    both = f**2 * x.take(tail, axis=1) * x.take(head, axis=1)
    count = len(edges)
    factor = Factor(pattern, q * (both[:, :count] + both[:, count:]), x * pulled(f**2 * s, edges, q, x.shape[1]))
    dy = factor.solve(x * rate)
    for _ in range(2):
        dy = dy + factor.solve(x * rate - factor.times(dy, edges))
    there = dy.take(head, axis=1)
    change = f * (s * there + x.take(tail, axis=1) * (there - dy.take(tail, axis=1))) / top
    reach = 0.98 / np.maximum(np.abs(np.nan_to_num(change, nan=np.inf)).max(axis=1), 1e-12)
    return np.nan_to_num(change * f * top), reach, off_balance


def prove(
    loss: RealLoss,
    edges: Integers,
    epsilon: float,
    actions: Floats,
    solved: Solution,
    watch: Watch | None,
    gap: float,
) -> tuple[Floats, Floats, float, Floats]:
    """Nodes, their flows and the bound; and actions that would improve the value, if a ray shows some."""
    q = float(np.exp(epsilon))
    states = len(loss.prior)
    prices = (loss.cost(actions) - pulled(solved.multipliers, edges, q, states)).min(axis=0)
    with np.errstate(all="ignore"):
        tilt, reach, off_balance = tangents(loss, edges, q, actions, solved.kernel, solved.multipliers)
    played = solved.kernel @ loss.prior > 1e-6 * loss.prior.sum()
    settled = played & (off_balance**2 <= 0.2 * gap * abs(solved.value))
    nodes: list[float] = actions[~settled].tolist()
    flows: list[Floats] = list(solved.multipliers[~settled])
    # a search that was stopped early may have settled no action: distances are then taken to all of them
    near_to = actions[settled] if settled.any() else actions
    actions, reach, tilt, multipliers = actions[settled], reach[settled], tilt[settled], solved.multipliers[settled]
    around, tilted, open_nodes = _around(loss, actions, reach, tilt, multipliers)
    nodes += around
    flows += tilted
    order = np.argsort(nodes, kind="stable")
    known, first = np.unique(np.array(nodes)[order], return_index=True)
    flow = np.array(flows)[order][first]
    fresh = np.setdiff1d(np.clip(open_nodes, loss.low, loss.high), known)
    tolerance = 0.01 * gap * size(solved.value, solved.bound)
    wanted: list[float] = []
    bound = -np.inf
    for _ in range(REFINEMENTS):
        added = _priced(loss, edges, q, fresh, near_to, prices, tolerance, wanted, watch)
        everything = np.concatenate([known, fresh])
        order = np.argsort(everything, kind="stable")
        known, flow = everything[order], np.concatenate([flow, added])[order]
        pull = pulled(flow, edges, q, states)
        pieces = loss.piece_minimum(known[:-1], known[1:], pull[:-1], pull[1:])
        bound = float(pieces.min(axis=0).sum())
        reached = solved.value - bound <= 0.9 * gap * abs(solved.value)
        if reached or wanted or (watch is not None and watch.cancelled()):
            break
        short = deficits(pieces - prices)
        worst = np.flatnonzero(short > tolerance)
        left, right = known[worst], known[worst + 1]
        wide = short[worst] > 100 * tolerance
        fresh = np.concatenate([(left + right) / 2, (3 * left + right)[wide] / 4, (left + 3 * right)[wide] / 4])
        if not len(fresh):
            break
    return known, flow, bound, np.array(wanted)


def _around(
    loss: RealLoss, actions: Floats, reach: Floats, tilt: Floats, multipliers: Floats
) -> tuple[list[float], list[Floats], list[float]]:
    """Nodes to both sides of each settled action with the flows that its tangent gives, and nodes whose flows must be found."""
    nodes: list[float] = []
    flows: list[Floats] = []
    far = np.concatenate([[loss.low], (actions[1:] + actions[:-1]) / 2, [loss.high]])
    open_nodes: list[float] = [loss.low, loss.high]
    for k, action in enumerate(actions):
        near = max(float(reach[k]), NEAREST * spacing(actions))
        for side, end in ((-1.0, far[k]), (1.0, far[k + 1])):
            room = abs(float(end) - float(action))
            step = min(near, room)
            if step <= reach[k]:
                nodes.append(action + side * step)
                flows.append(np.maximum(multipliers[k] + side * step * tilt[k], 0.0))
            else:
                open_nodes.append(action + side * step)
                nodes.append(action)
                flows.append(multipliers[k])
            while step < room:
                step *= RATIO
                open_nodes.append(action + side * min(step, room))
    return nodes, flows, open_nodes


def _priced(
    loss: RealLoss,
    edges: Integers,
    q: float,
    nodes: Floats,
    actions: Floats,
    prices: Floats,
    tolerance: float,
    wanted: list[float],
    watch: Watch | None,
) -> Floats:
    """Flows for nodes, with as much slack as the ladder gives; actions that would improve the value are noted."""
    flow = np.zeros((len(nodes), 2 * len(edges)))
    todo = np.arange(len(nodes))
    for share in LADDER:
        if not todo.size:
            break
        apart = np.abs(nodes[todo][:, None] - actions[None, :])
        near, distance = actions[apart.argmin(axis=1)], apart.min(axis=1)
        asked = loss.cost(nodes[todo]) - prices - share * (distance**2)[:, None] * loss.bend(near)
        priced = price(asked, edges, q, tolerance, loss.prior, watch, limit=60 if share == 0.0 else 25)
        if share == 0.0:
            flow[todo] = priced.flow
            bad = np.flatnonzero(priced.ray_value < -10 * tolerance)
            wanted.extend(loss.best(priced.ray[bad]).tolist())
        good = priced.deficit <= tolerance
        flow[todo[good]] = priced.flow[good]
        todo = todo[~good]
    return flow
