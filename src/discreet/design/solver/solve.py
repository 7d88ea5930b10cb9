"""The front door: any program, taken apart, solved to a relative gap, put together again.

Components of the graph share no constraint, so they are separate programs.  Within a component

    one action              nothing to choose; z = 0 proves it,
    an isolated state       its cheapest action; z = 0 proves it,
    ε = 0                   x_a is constant, so the action with the least total cost is played everywhere; flows along
                            a spanning tree move every other action's cost on top of it (Gᵀz is any vector of sum 0),
    otherwise               the structured interior point, and HiGHS where that stalls.

The gaps of components add, so each is asked for its share of the allowance.
"""

from __future__ import annotations

import time

import numpy as np

from discreet.design.solver.interior import Iterate, interior_point
from discreet.design.solver.layers import components
from discreet.design.solver.program import Floats, Integers, Program, Solution, dual_bound, value_of
from discreet.design.solver.seats import seated
from discreet.design.solver.threads import one_thread
from discreet.model.gap import reached
from discreet.watch import Watch

FALLBACK = 60_000
"""HiGHS is asked for a second try only when actions × directed edges is below this."""


@one_thread()
def solve(program: Program, gap: float = 1e-6, watch: Watch | None = None, start: Iterate | None = None) -> Solution:
    """Solve to (value − bound) ≤ gap·|value|, or as near as the arithmetic and the watch allow.

    `start` is a point of the path of a connected program to go on from; it moves along.
    """
    begun = time.perf_counter()
    label = components(program.states, program.edges)
    count = int(label.max()) + 1
    if count == 1:
        return _solve_connected(program, gap, watch, start)
    kernel = np.zeros_like(program.cost)
    multipliers = np.zeros((program.actions, 2 * len(program.edges)))
    edge_label = label[program.edges[:, 0]] if len(program.edges) else np.zeros(0, dtype=np.int64)
    iterations, statuses = 0, set()
    position = np.zeros(program.states, dtype=np.int64)
    for component in range(count):
        members = np.flatnonzero(label == component)
        position[members] = np.arange(len(members))
        chosen = np.flatnonzero(edge_label == component)
        part = Program(program.cost[:, members], position[program.edges[chosen]], program.epsilon)
        solved = _solve_connected(part, gap, watch)
        kernel[:, members] = solved.kernel
        both = np.concatenate([chosen, chosen + len(program.edges)])
        multipliers[:, both] = solved.multipliers
        iterations += solved.iterations
        statuses.add(solved.status)
    status = next((word for word in ("cancelled", "stalled", "iteration limit") if word in statuses), "optimal")
    return Solution(
        kernel=kernel,
        multipliers=multipliers,
        value=value_of(program, kernel),
        bound=dual_bound(program, multipliers),
        iterations=iterations,
        seconds=time.perf_counter() - begun,
        status=status,
    )


def _solve_connected(program: Program, gap: float, watch: Watch | None, start: Iterate | None = None) -> Solution:
    if program.actions == 1 or program.states == 1:
        return _choose(program)
    if program.epsilon == 0.0:
        return _constant(program)
    seat = seated() if start is None else None
    found = interior_point(program, gap, watch, start=start) if seat is None else seat.solve(program, gap, watch)
    if found.status in ("optimal", "cancelled") or found.relative_gap <= gap:
        return found
    if program.actions * 2 * len(program.edges) > FALLBACK:
        return found
    from discreet.design.solver.highs import solve_with_highs

    return better_of(found, solve_with_highs(program), gap)


def better_of(one: Solution, two: Solution, gap: float = 1e-6) -> Solution:
    """The better kernel of two and the better bound of two: each stands on its own."""
    upper = one if one.value <= two.value else two
    lower = one if one.bound >= two.bound else two
    return Solution(
        kernel=upper.kernel,
        multipliers=lower.multipliers,
        value=upper.value,
        bound=lower.bound,
        iterations=one.iterations + two.iterations,
        seconds=one.seconds + two.seconds,
        status="optimal" if reached(upper.value, lower.bound, gap) else one.status,
    )


def _choose(program: Program) -> Solution:
    """Every state on its own (or a single action): the cheapest action, proved by no multipliers at all."""
    kernel = np.zeros_like(program.cost)
    kernel[np.argmin(program.cost, axis=0), np.arange(program.states)] = 1.0
    value = value_of(program, kernel)
    return Solution(kernel, np.zeros((program.actions, 2 * len(program.edges))), value, value, 0, 0.0, "optimal")


def _constant(program: Program) -> Solution:
    """ε = 0 on a connected graph: say nothing, play the best action for the prior."""
    begun = time.perf_counter()
    totals = program.cost.sum(axis=1)
    best = int(np.argmin(totals))
    kernel = np.zeros_like(program.cost)
    kernel[best] = 1.0
    spare = (totals - totals[best]) / program.states
    surplus = program.cost - program.cost[best] - spare[:, None]
    multipliers = tree_flow(surplus, program.edges)
    return Solution(
        kernel,
        multipliers,
        float(totals[best]),
        dual_bound(program, multipliers),
        0,
        time.perf_counter() - begun,
        "optimal",
    )


def tree_flow(surplus: Floats, edges: Integers) -> Floats:
    """z ≥ 0 with Σ_{i→h} z − Σ_{h→k} z = surplus_h, for rows of `surplus` that sum to zero (q = 1)."""
    states = surplus.shape[1]
    parent_edge = np.full(states, -1, dtype=np.int64)
    order = [0]
    seen = {0}
    incident: list[list[tuple[int, int]]] = [[] for _ in range(states)]
    for number, (i, j) in enumerate(edges.tolist()):
        incident[i].append((j, number))
        incident[j].append((i, number))
    for h in order:
        for other, number in incident[h]:
            if other not in seen:
                seen.add(other)
                parent_edge[other] = number
                order.append(other)
    need = np.array(surplus)
    flow = np.zeros((len(surplus), 2 * len(edges)))
    for h in reversed(order[1:]):
        number = int(parent_edge[h])
        i, j = edges[number]
        parent, into, out = (i, number, number + len(edges)) if j == h else (j, number + len(edges), number)
        flow[:, into] = np.maximum(need[:, h], 0.0)
        flow[:, out] = np.maximum(-need[:, h], 0.0)
        need[:, parent] += need[:, h]
    return flow
