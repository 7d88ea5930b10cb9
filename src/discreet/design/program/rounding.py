"""From floats to an exact kernel: what is published is integers over 2^B that satisfy every privacy inequality exactly.

1. Round each probability, times 2^B less a small reserve, up.
2. Raise along edges with a rational q just below e^ε: w_j ← max(w_j, ⌈w_i/q⌉), largest first, so that one pass settles all.
   What one rounding adds is divided by q at every step, so no weight is raised by more than 1/(1 − 1/q) units, however small
   its neighbours are: B follows from how much loss may be added, not from the smallest probability.
   Up to 2^50 doubles hold whole weights, and all outputs are raised together: what they round, they round up (`raised_together`).
3. Give what is left of each state to one output. Sums of private rows are private, so only R_i ≤ q·R_j of the remainders is asked;
   it holds once the reserve dwarfs the rounding, and the reserve grows until it does.
`certify` proves the result again from scratch.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, frexp, log2

import numpy as np

from discreet.design.solver.repair import neighbours
from discreet.errors import InputError
from discreet.numerics.brackets import rational_below_exp

Rows = list[list[int]]
"""Weights [output][state]."""
SPARE_BITS = 64
FEWEST_BITS, MOST_BITS = 24, 400
"""Of a denominator; more than any double needs is never asked for."""
ROOM = 8
"""Times as much as the first reserve is taken at least."""
DOUBLED_BITS = 50
"""Weights of up to so many bits, and sums of them, are doubles without loss."""
UPWARD = 1.0 + 2.0**-50
"""More than two roundings of a double take away."""
MOST_SWEEPS = 60
"""Rows that are still being raised after so many are settled one by one."""


def enough_bits(regrets: np.ndarray, blind: int, epsilon: Fraction, spare: float) -> int:
    """So many bits that rounding adds at most `spare` to the expected loss; `regrets` is [output, state]."""
    unit, reserve = _unit(epsilon), _reserve(len(regrets), epsilon)
    most = unit * float(regrets.sum()) + reserve * float(regrets[blind].sum())
    fewest = max(FEWEST_BITS, (ROOM * reserve).bit_length())
    if not (most > 0 and spare > 0 and np.isfinite(most / spare)):
        return max(fewest, 2 * SPARE_BITS)
    return min(max(fewest, ceil(log2(most / spare))), MOST_BITS)


def _unit(epsilon: Fraction) -> float:
    """How far raising can lift a weight above its rounding, in units: 1/(1 − e^−ε)."""
    return -1.0 / float(np.expm1(-float(epsilon))) if epsilon else 1.0


def _reserve(outputs: int, epsilon: Fraction) -> int:
    """Units to keep back for one output: remainders that differ by `outputs` roundings then differ by less than a factor q."""
    return ceil(2 * outputs * _unit(epsilon) ** 2) + 2


def rounded_weights(kernel: np.ndarray, edges: np.ndarray, epsilon: Fraction, blind: int, bits: int) -> tuple[Rows, int]:
    """Integer weights [output][state] and their denominator 2^bits, exactly ε-private on the edges.

    `blind` is the output that takes the remainders: the best one for someone who sees nothing.
    """
    whole = 1 << bits
    factor = rational_below_exp(epsilon, max(96, bits + 32)) if epsilon else Fraction(1)
    around: list[list[int]] = [[] for _ in range(kernel.shape[1])]
    for a, b in edges.tolist():
        around[a].append(b)
        around[b].append(a)
    reserve = _reserve(len(kernel), epsilon)
    while reserve < whole // 2:
        if bits <= DOUBLED_BITS and len(edges):
            rows = raised_together(kernel, edges, around, factor, whole - reserve)
        else:
            rows = [raised([scaled(p, whole - reserve) for p in row], around, factor) for row in kernel.tolist()]
        left = [whole - sum(column) for column in zip(*rows, strict=True)]
        if min(left) >= 0 and is_private(left, edges.tolist(), factor):
            rows[blind] = [w + extra for w, extra in zip(rows[blind], left, strict=True)]
            return rows, whole
        reserve *= ROOM
    raise InputError(
        "The proposed kernel is too far from private to be rounded",
        found="probabilities that do not sum to one",
        allowed="a kernel that satisfies its constraints up to rounding",
        remedy="solve again with a smaller gap",
    )


def raised_together(kernel: np.ndarray, edges: np.ndarray, around: Sequence[Sequence[int]], factor: Fraction, whole: int) -> Rows:
    """`raised` of `scaled` for all rows at once, in doubles that are whole numbers; where these are in doubt, by a unit more.

    Every state raises its neighbours at once, again and again while that changes anything: not often, floats being nearly private.
    """
    beside = neighbours(edges, kernel.shape[1])
    share = min(float(1 / factor) * UPWARD, 1.0)
    found = np.ceil(np.ascontiguousarray(kernel.T) * (float(whole) * UPWARD))
    rows, weights = np.arange(len(kernel)), found
    for _ in range(MOST_SWEEPS):
        least, higher = np.ceil(weights * share), weights
        for others in beside:
            higher = np.maximum(higher, least.take(others, axis=0))
        changed = np.flatnonzero((higher != weights).any(axis=0))
        rows, weights = rows[changed], np.ascontiguousarray(higher[:, changed])
        found[:, rows] = weights
        if not len(rows):
            break
    settled = found.T.astype(np.int64).tolist()
    for row in rows.tolist():
        settled[row] = raised(settled[row], around, factor)
    return settled


def scaled(p: float, whole: int) -> int:
    """⌈p·whole⌉ of a double, exactly."""
    mantissa, exponent = frexp(p)
    digits, shift = int(mantissa * (1 << 53)) * whole, exponent - 53
    return digits << shift if shift >= 0 else -(-digits >> -shift)


def raised(weights: list[int], around: Sequence[Sequence[int]], factor: Fraction) -> list[int]:
    """The least w′ ≥ w with w′_j ≥ w′_i/q on every edge, by always settling the largest (Dijkstra's order)."""
    top, bottom = factor.numerator, factor.denominator
    settled = list(weights)
    queue = [(-w, state) for state, w in enumerate(weights)]
    heapq.heapify(queue)
    done = [False] * len(weights)
    while queue:
        w, state = heapq.heappop(queue)
        if done[state] or -w < settled[state]:
            continue
        done[state] = True
        least = -(w * bottom // top)
        for other in around[state]:
            if not done[other] and settled[other] < least:
                settled[other] = least
                heapq.heappush(queue, (-least, other))
    return settled


def is_private(row: list[int], edges: list[list[int]], factor: Fraction) -> bool:
    """Whether a row of weights keeps within the factor on every edge, in whole numbers."""
    top, bottom = factor.numerator, factor.denominator
    return all(row[a] * bottom <= row[b] * top and row[b] * bottom <= row[a] * top for a, b in edges)
