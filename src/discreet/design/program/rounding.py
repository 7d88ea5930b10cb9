"""From floats to an exact kernel: what is published is integers over 2^B that satisfy every privacy inequality exactly.

1. Floor each probability to 2^−B, with B so large that the smallest keeps 64 bits.
2. Cap along edges with a rational q a little below e^ε: w_i ← min(w_i, ⌊q·w_j⌋), smallest first, so that one pass settles
   all; the little (2^−30 of e^ε − 1) pays for the rounding of the next step.
3. Scale by 1 − η and give each state's remainder R_h to one output. It stays private when R_i ≤ q·R_j, which holds once η
   dwarfs the rounding; η starts at 1e-15 and grows until the check in integers passes.
`certify` proves the result again from scratch.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, frexp, log2

import numpy as np

from discreet.errors import InputError
from discreet.numerics.brackets import rational_below_exp

SPARE_BITS = 64
SMALLEST_SHARE = Fraction(1, 10**15)


def rounded_weights(kernel: np.ndarray, edges: np.ndarray, epsilon: Fraction, blind: int) -> tuple[list[list[int]], int]:
    """Integer weights [output][state] and their denominator 2^B, exactly ε-private on the edges.

    `blind` is the output that takes the remainders: the best one for someone who sees nothing.
    """
    positive = kernel[kernel > 0]
    bits = SPARE_BITS + max(32, ceil(-log2(float(positive.min()))))
    bits += max(0, ceil(-log2(float(epsilon)))) if 0 < epsilon < 1 else 0
    whole = 1 << bits
    factor = rational_below_exp(epsilon, 96) if epsilon else Fraction(1)
    tighter = 1 + (factor - 1) * (1 - Fraction(1, 1 << 30))
    around: list[list[int]] = [[] for _ in range(kernel.shape[1])]
    for a, b in edges.tolist():
        around[a].append(b)
        around[b].append(a)
    settled = [capped([floored(p, bits) for p in row], around, tighter) for row in kernel.tolist()]
    share = SMALLEST_SHARE
    while share < Fraction(1, 2):
        found = _completed(settled, whole, share, blind)
        if found is not None and all(is_private(row, edges.tolist(), factor) for row in found):
            return found, whole
        share *= 10
    raise InputError(
        "The proposed kernel is too far from private to be rounded",
        found="probabilities that do not sum to one",
        allowed="a kernel that satisfies its constraints up to rounding",
        remedy="solve again with a smaller gap",
    )


def floored(p: float, bits: int) -> int:
    """⌊p·2^bits⌋ of a double, exactly."""
    mantissa, exponent = frexp(p)
    shift = exponent - 53 + bits
    digits = int(mantissa * (1 << 53))
    return digits << shift if shift >= 0 else digits >> -shift


def capped(weights: list[int], around: Sequence[Sequence[int]], factor: Fraction) -> list[int]:
    """The largest w′ ≤ w with w′_i ≤ ⌊q·w′_j⌋ on every edge, by always settling the smallest (Dijkstra's order)."""
    top, bottom = factor.numerator, factor.denominator
    settled = list(weights)
    queue = [(w, state) for state, w in enumerate(weights)]
    heapq.heapify(queue)
    done = [False] * len(weights)
    while queue:
        w, state = heapq.heappop(queue)
        if done[state] or w > settled[state]:
            continue
        done[state] = True
        most = w * top // bottom
        for other in around[state]:
            if not done[other] and settled[other] > most:
                settled[other] = most
                heapq.heappush(queue, (most, other))
    return settled


def _completed(capped: list[list[int]], whole: int, share: Fraction, blind: int) -> list[list[int]] | None:
    """Rows scaled by 1 − share, the blind output taking what is left; None when nothing is left."""
    sums = [sum(column) for column in zip(*capped, strict=True)]
    keep, over = share.denominator - share.numerator, share.denominator
    most = max(sums)
    if most == 0:
        return None
    # dividing by the largest column sum keeps every column within the whole
    rows = [[w * whole * keep // (most * over) for w in row] for row in capped]
    left = [whole - sum(column) for column in zip(*rows, strict=True)]
    if min(left) <= 0:
        return None
    rows[blind] = [w + extra for w, extra in zip(rows[blind], left, strict=True)]
    return rows


def is_private(row: list[int], edges: list[list[int]], factor: Fraction) -> bool:
    """Whether a row of weights keeps within the factor on every edge, in whole numbers."""
    top, bottom = factor.numerator, factor.denominator
    return all(row[a] * bottom <= row[b] * top and row[b] * bottom <= row[a] * top for a, b in edges)
