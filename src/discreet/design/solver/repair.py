"""From an almost private, almost normalised float kernel to one that is both in floats.

1. Cap along edges with a ratio k slightly below e^ε:  y_i = min over states j of x_j·k^{d(i, j)}.
2. Shrink and give the remainder to one output, the best action to play blindly:

       m = (1 − η)·y + R·1[blind],      R_h = 1 − (1 − η)·Σ_a y_h.

   R is private by itself when max R ≤ e^ε·min R; a sum of private pieces is private.  The smallest such η is
   about the error of the row sums, so the loss is of that order (1e-9) and not of the order of the masses.

Reference: the float half of exact rounding (cap, scale, give the remainder away).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from discreet.design.solver.layers import REMEMBERED, edges_of, graph_of
from discreet.design.solver.program import AT_ONCE, Floats, Integers, Program, directed, value_of, violation
from discreet.numerics.devices import Array, fetched, home

MARGIN = 2.0**-47
SLOPES, TIMES = (0.4, 0.5), (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0, 64.0)
"""How fast what actions give falls beside their probabilities, and how much they give, in times what is missing."""


def repair(kernel: Floats, program: Program) -> Floats:
    """A kernel near `kernel` with rows summing to one that obeys x_i ≤ e^ε·x_j in floats on every edge."""
    q = program.factor
    x = np.maximum(kernel, 0.0)
    if not len(program.edges):
        return fetched(x / x.sum(axis=0))
    blind = int(np.argmin(program.cost.sum(axis=1)))
    if q * (1.0 - 8 * MARGIN) <= 1.0:
        return _blind(program, blind)
    edges = home(x).asarray(program.edges)
    if float(abs(x.sum(axis=0) - 1.0).max()) <= MARGIN and violation(x, edges, q) <= -MARGIN:
        return fetched(x)
    capped = cap(x, edges, q * (1.0 - 4 * MARGIN))
    total = capped.sum(axis=0)
    if not total.min() > 0:
        return _blind(program, blind)
    # 1 − (1 − η)·total must lie in [R, q·R]: solve at both ends, with room for rounding.
    low, high = float(total.min()), float(total.max())
    keep = min(1.0 / high, (q - 1.0) / (q * high - low)) if q < 1e15 else 1.0 / high
    for exponent in range(-50, 0, 3):
        inner = keep * (1.0 - 2.0**exponent) * capped
        mixed = inner.copy()
        mixed[blind] += 1.0 - inner.sum(axis=0)
        mixed[blind] += 1.0 - mixed.sum(axis=0)
        if mixed.min() >= 0 and violation(mixed, edges, q) <= -MARGIN:
            return fetched(mixed)
    return _blind(program, blind)


def repair_nearby(kernel: Floats, program: Program) -> Floats:
    """The same for a kernel that oversteps in few places: what is cut off is missing there, and only actions nearby give way.

    With y the capped kernel, ρ = 1 − Σ_a y_a and g_a ≥ 0, m = (1 − g)·y + R·1[b] is private when R = ρ + Σ_a g_a·y_a is. The
    g_a follow ρ, falling away from it about half as fast as probabilities do, so that R varies less than it may; b is best for R.
    The least g that will do is taken: what R costs is nearly all that repairing costs.
    """
    q, edges = program.factor, program.edges
    x = np.maximum(kernel, 0.0)
    y = cap(x, edges, q * (1.0 - 4 * MARGIN))
    y /= max(float(y.sum(axis=0).max()), 1.0) * (1.0 + 4 * MARGIN)
    missing = np.maximum(1.0 - y.sum(axis=0), 0.0)
    found, least = None, np.inf
    for slope in SLOPES:
        near = (y / np.maximum(y.max(axis=1, keepdims=True), np.finfo(float).tiny)) ** slope
        mixed = _given_way(y, (near * missing).max(axis=1), program)
        if mixed is not None and value_of(program, mixed) < least:
            found, least = mixed, value_of(program, mixed)
    return repair(kernel, program) if found is None else found


def _given_way(y: Floats, give: Floats, program: Program) -> Floats | None:
    """A kernel of which actions give these shares, or the least multiple of them with which it is private.

    Rows that only give way stay private; so the one that takes what is left is looked at first, and all of them once.
    """
    for times in TIMES:
        for floor in (1e-13, 1e-11, 1e-9):
            keep = 1.0 - np.minimum(times * give + floor, 1.0)
            rest = 1.0 - keep @ y
            taker = int(np.argmin(program.cost @ rest))
            taken = keep[taker] * y[taker] + rest
            if taken.min() < 0 or violation(taken[None], program.edges, program.factor) > -MARGIN:
                continue
            mixed: Floats = y * keep[:, None]
            mixed[taker] += 1.0 - mixed.sum(axis=0)
            if mixed.min() >= 0 and violation(mixed, program.edges, program.factor) <= -MARGIN:
                return mixed
    return None


def _blind(program: Program, action: int) -> Floats:
    kernel = np.zeros((program.actions, program.states))
    kernel[action] = 1.0
    return kernel


def cap(kernel: Floats, edges: Integers, ratio: float) -> Floats:
    """The largest kernel below `kernel` with x_i ≤ ratio·x_j on every edge (rows may then sum to less than one)."""
    beside = neighbours(edges, kernel.shape[1])
    step = max(AT_ONCE // kernel.shape[1], 1) if isinstance(kernel, np.ndarray) else len(kernel)
    parts = [_capped(kernel[first : first + step], beside, ratio) for first in range(0, len(kernel), step)]
    return parts[0] if len(parts) == 1 else home(kernel).concatenate(parts)


def _capped(kernel: Floats, beside: list[Integers], ratio: float) -> Floats:
    """The same for a few actions."""
    place = home(kernel)
    columns = place.ascontiguousarray(kernel.T)  # [state, action]: what belongs to a state lies side by side
    found, rows, x = columns, place.arange(len(kernel)), columns
    for _ in range(kernel.shape[1]):
        most, lowered = ratio * x, x
        for others in beside:
            lowered = np.minimum(lowered, most.take(others, axis=0))
        changed = (lowered != x).any(axis=0)
        if not bool(changed.any()):
            break
        rows, x = rows[changed], place.ascontiguousarray(lowered[:, changed])
        if found is columns:
            found = columns.copy()
        found[:, rows] = x
    return kernel if found is columns else place.ascontiguousarray(found.T)


def neighbours(edges: Array, states: int) -> list[Integers]:
    """Lists with one neighbour of every state each, which together name all; a state that has no more names itself."""
    if isinstance(edges, np.ndarray):
        return _remembered(graph_of(edges), states)
    return _neighbours(edges, states)


@lru_cache(maxsize=REMEMBERED)
def _remembered(graph: bytes, states: int) -> list[Integers]:
    return _neighbours(edges_of(graph), states)


def _neighbours(edges: Integers, states: int) -> list[Integers]:
    tail, head = directed(edges)
    order = np.argsort(tail, kind="stable")
    tail, head = tail[order], head[order]
    rank = home(edges).arange(len(tail)) - np.searchsorted(tail, tail)
    lists = []
    for k in range(int(rank.max()) + 1):
        others = home(edges).arange(states)
        others[tail[rank == k]] = head[rank == k]
        lists.append(others)
    return lists
