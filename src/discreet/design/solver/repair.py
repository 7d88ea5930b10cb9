"""From an almost private float kernel to one that is private in floats, at a loss of about 1e-12.

Cap along edges with a ratio slightly below e^ε,

    y_i = min over states j of x_j · k^{d(i, j)},     k = e^ε·(1 − 2^-40) or 1 if that is below one,

then give what is missing of each row to outputs in fixed shares ρ: m_i = (1 − η)·y_i + ρ·(1 − (1 − η)·Σ_a y_i).
The mixing weight η is the smallest of a ladder for which every directed edge holds in floats.

Reference: implements the first half of exact rounding (cap, scale, give the remainder away).
"""

from __future__ import annotations

import numpy as np

from discreet.design.solver.program import Floats, Program, directed, violation

MARGIN = 2.0**-46


def repair(kernel: Floats, program: Program) -> Floats:
    """A kernel near `kernel` with rows summing to one that obeys x_i ≤ e^ε·x_j in floats on every edge."""
    q = program.factor
    x = np.maximum(np.asarray(kernel, dtype=np.float64), 0.0)
    x = x / x.sum(axis=0)
    if not len(program.edges):
        return x
    share = x.mean(axis=1)
    share = share / share.sum()
    capped = cap(x, program, max(1.0, q * (1.0 - 4 * MARGIN)))
    for exponent in (-50, -46, -42, -38, -34, -30, -26, -22, -16, -10, -5):
        eta = 2.0**exponent
        inner = (1.0 - eta) * capped
        mixed = inner + share[:, None] * np.maximum(0.0, 1.0 - inner.sum(axis=0))
        mixed = mixed / mixed.sum(axis=0)
        if violation(mixed, program.edges, q) <= -MARGIN:
            return mixed
    return np.repeat(share[:, None], program.states, axis=1)


def cap(kernel: Floats, program: Program, ratio: float) -> Floats:
    """The largest kernel below `kernel` with x_i ≤ ratio·x_j on every edge (rows may then sum to less than one)."""
    tail, head = directed(program.edges)
    order = np.argsort(tail, kind="stable")
    tail, head = tail[order], head[order]
    first = np.flatnonzero(np.r_[True, tail[1:] != tail[:-1]])
    states = tail[first]
    x = np.array(kernel)
    for _ in range(program.states):
        limit = ratio * np.minimum.reduceat(x[:, head], first, axis=1)
        lowered = np.minimum(x[:, states], limit)
        if np.array_equal(lowered, x[:, states]):
            break
        x[:, states] = lowered
    return x
