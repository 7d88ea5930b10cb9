"""Accurate elimination of the Newton matrices of all actions at once.

For one action with x > 0, slacks s = G x > 0, multipliers z > 0 and w = z/s, the scaled Newton matrix

    Q = diag(x) Gᵀ diag(w) G diag(x)

is a symmetric M-matrix.  It is kept as its off-diagonals −p_ij, p_ij = q·(w_{i→j} + w_{j→i})·x_i·x_j ≥ 0, and its
row sums r = Q·1 = x∘Gᵀz.  Near the optimum s ≪ x, the entries of Q grow like 1/s while r stays of the size
of the reduced costs; what is lost by adding the two, as an ordinary Cholesky factorisation does, is never lost
here.  Elimination adds non-negative numbers to the off-diagonals and only the small row sums are signed
(Grassmann, Taksar, Heyman), so every inverse computed is entrywise non-negative and accurate.

The order of the states is block tridiagonal (`layers`): with diagonal blocks D_k and couplings B_k ≥ 0,

    M_0 = D_0,   C_k = M_k⁻¹ B_k,   M_{k+1} = D_{k+1} − B_kᵀ C_k,
    (Q⁻¹)_{kj} = C_k (Q⁻¹)_{k+1,j} for j > k,   (Q⁻¹)_{kk} = M_k⁻¹ + C_k (Q⁻¹)_{k+1,k+1} C_kᵀ.

All arrays carry the actions as their first axis; loops run over states once, never over actions. States are picked by `take`: what
`array[:, picked]` gives lies the other way round in memory, and every product with it takes three times as long.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from discreet.design.solver.kernels import LARGEST, half_inverse_on_device
from discreet.design.solver.layers import Layers
from discreet.design.solver.program import Flags, Floats, Integers

SMALL = 16
"""Blocks up to this size are eliminated state by state, larger ones by halves."""


class Pattern:
    """Where each edge lands in the block storage; depends on the graph only."""

    def __init__(self, layers: Layers, edges: Integers, place: Any = np) -> None:
        """`place` is the module whose arrays the weights will be."""
        self.layers, self.place = layers, place
        position = np.empty(len(layers.order), dtype=np.int64)
        position[layers.order] = np.arange(len(layers.order))
        first = np.minimum(position[edges[:, 0]], position[edges[:, 1]])
        last = np.maximum(position[edges[:, 0]], position[edges[:, 1]])
        block_of = np.repeat(np.arange(layers.blocks), layers.sizes)
        start, size = layers.starts[:-1], layers.sizes
        follow = np.concatenate([size[1:], [0]])
        self.inner = np.concatenate([[0], np.cumsum(size * size)])
        self.outer = np.concatenate([[0], np.cumsum(size * follow)])
        k, row = block_of[first], first - start[block_of[first]]
        column = last - start[block_of[last]]
        same = block_of[first] == block_of[last]
        self.same, self.next = np.flatnonzero(same), np.flatnonzero(~same)
        upper = self.inner[k] + row * size[k] + column
        lower = self.inner[k] + column * size[k] + row
        self.upper, self.lower = upper[self.same], lower[self.same]
        self.across = (self.outer[k] + row * follow[k] + column)[self.next]
        self.order, self.position = place.asarray(layers.order), place.asarray(position)
        self.same, self.next, self.across = place.asarray(self.same), place.asarray(self.next), place.asarray(self.across)
        self.upper, self.lower = place.asarray(self.upper), place.asarray(self.lower)

    def spread(self, weights: Floats) -> tuple[Floats, Floats]:
        """Edge weights [action, edge] laid out as diagonal blocks and couplings, flat per action, with the digits they have."""
        inner = self.place.zeros((len(weights), int(self.inner[-1])), dtype=weights.dtype)
        outer = self.place.zeros((len(weights), int(self.outer[-1])), dtype=weights.dtype)
        inside = weights.take(self.same, axis=1)
        inner[:, self.upper] = inside
        inner[:, self.lower] = inside
        outer[:, self.across] = weights.take(self.next, axis=1)
        return inner, outer


class Factor:
    """The eliminated Newton matrices of all actions, ready to solve and to sum their inverses."""

    def __init__(self, pattern: Pattern, off: Floats, sums: Floats) -> None:
        """`off` [action, edge] are the p_ij ≥ 0, `sums` [action, state] the row sums, states in natural order.

        All that is made of them has as many digits as they have.
        """
        self.pattern = pattern
        self.off = off
        self.sums = sums
        layers = pattern.layers
        inner, outer = pattern.spread(off)
        remaining = sums.take(pattern.order, axis=1)
        self.half: list[Floats] = []
        self.coupling: list[Floats] = []
        actions = len(off)
        for k in range(layers.blocks):
            here, there = int(layers.starts[k]), int(layers.starts[k + 1])
            size = there - here
            block = inner[:, pattern.inner[k] : pattern.inner[k + 1]].reshape(actions, size, size)
            rest = remaining[:, here:there]
            if k + 1 == layers.blocks:
                self.half.append(half_inverse(block, rest))
                break
            then = int(layers.starts[k + 2])
            out = outer[:, pattern.outer[k] : pattern.outer[k + 1]].reshape(actions, size, then - there)
            half = half_inverse(block, rest + out.sum(axis=2))
            moved = half @ out
            carry = half.transpose(0, 2, 1) @ moved
            self.half.append(half)
            self.coupling.append(carry)
            following = inner[:, pattern.inner[k + 1] : pattern.inner[k + 2]].reshape(actions, then - there, -1)
            following += moved.transpose(0, 2, 1) @ moved
            remaining[:, there:then] += (rest[:, None, :] @ carry)[:, 0, :]

    def solve(self, right: Floats) -> Floats:
        """Q⁻¹·right for every action, axes [action, state].

        Near the optimum the solution is almost constant and its small differences matter.  Halves H with
        M⁻¹ = HᵀH put the cancellation of signed input before the division by the smallest pivot, so that
        its error is common to all states and drops out of the differences.
        """
        layers = self.pattern.layers
        ordered = right.take(self.pattern.order, axis=1)
        starts = layers.starts
        for k, carry in enumerate(self.coupling):
            a, b, c = starts[k], starts[k + 1], starts[k + 2]
            ordered[:, b:c] += (ordered[:, None, a:b] @ carry)[:, 0, :]
        result = np.empty_like(ordered)
        for k in range(layers.blocks - 1, -1, -1):
            a, b = starts[k], starts[k + 1]
            half = self.half[k]
            piece = ((half @ ordered[:, a:b, None]).transpose(0, 2, 1) @ half)[:, 0, :]
            if k + 1 < layers.blocks:
                piece += (self.coupling[k] @ result[:, b : starts[k + 2], None])[:, :, 0]
            result[:, a:b] = piece
        return result.take(self.pattern.position, axis=1)

    def times(self, vector: Floats, edges: Integers) -> Floats:
        """Q·vector from differences along edges and row sums, the way its small values keep their digits."""
        actions, states = vector.shape
        flow = (self.off * (vector.take(edges[:, 0], axis=1) - vector.take(edges[:, 1], axis=1))).ravel()
        offset = states * self.pattern.place.arange(actions)[:, None]
        gone = np.bincount((edges[:, 0] + offset).ravel(), flow, actions * states)
        come = np.bincount((edges[:, 1] + offset).ravel(), flow, actions * states)
        found: Floats = self.sums * vector + (gone - come).reshape(actions, states)
        return found

    def inverse(self, actions: slice, spans: Integers, scale: Floats, digits: type[np.floating[Any]] = np.float64) -> Floats:
        """Σ diag(scale) Q⁻¹ diag(scale) over some actions on a span of each block, which nothing joins to the rest.

        `spans` are [block, (first, last)], `scale` [action, place] that of all places in the order of the blocks, above zero;
        products have so many digits.
        """
        starts, layers = self.pattern.layers.starts, self.pattern.layers
        cuts = np.concatenate([[0], np.cumsum(spans[:, 1] - spans[:, 0])]).tolist()
        places = (starts[:-1, None] + spans).tolist()
        ranges = spans.tolist()
        found: Floats = np.empty((len(scale), cuts[-1], cuts[-1]), dtype=digits)
        total: Floats = np.empty((cuts[-1], cuts[-1]), dtype=digits)
        for k in range(layers.blocks - 1, -1, -1):
            (first, last), a, b = ranges[k], cuts[k], cuts[k + 1]
            here = scale[:, places[k][0] : places[k][1]]
            half = (self.half[k][actions, first:last, first:last] * here[:, None, :]).astype(digits)
            np.matmul(half.transpose(0, 2, 1), half, out=found[:, a:b, a:b])
            if k + 1 < layers.blocks:
                (onward, until), c = ranges[k + 1], cuts[k + 2]
                there = scale[:, places[k + 1][0] : places[k + 1][1]]
                carry = self.coupling[k][actions, first:last, onward:until] * (here[:, :, None] / there[:, None, :])
                carry = carry.astype(digits)
                np.matmul(carry, found[:, b:c, b:], out=found[:, a:b, b:])
                found[:, a:b, a:b] += found[:, a:b, b:c] @ carry.transpose(0, 2, 1)
            total[a:b, a:] = found[:, a:b, a:].sum(axis=0)
            total[b:, a:b] = total[a:b, b:].T
        return total

    def summed_inverse(self, scale: Floats) -> Floats:
        """Σ_a diag(scale_a) Q_a⁻¹ diag(scale_a), a dense symmetric matrix in natural order."""
        return self.summed_inverses(scale, None)[0]

    def summed_inverses(self, scale: Floats, begins: Integers | None) -> Floats:
        """The same for each of several groups of actions, which begin at these; axes [group, state, state]."""
        layers = self.pattern.layers
        states, starts = len(layers.order), layers.starts
        place, ordered = self.pattern.place, scale.take(self.pattern.order, axis=1)
        total = place.zeros((1 if begins is None else len(begins), states, states))
        rows: Floats = place.empty((0, 0, 0))
        for k in range(layers.blocks - 1, -1, -1):
            a, b = int(starts[k]), int(starts[k + 1])
            here = ordered[:, a:b]
            half = self.half[k] * here[:, None, :]
            diagonal = half.transpose(0, 2, 1) @ half
            fresh = place.empty((len(scale), b - a, states - a))
            if k + 1 < layers.blocks:
                c = int(starts[k + 2])
                carry = self.coupling[k] * (here[:, :, None] / ordered[:, None, b:c])
                np.matmul(carry, rows, out=fresh[:, :, b - a :])
                diagonal += fresh[:, :, b - a : c - a] @ carry.transpose(0, 2, 1)
            fresh[:, :, : b - a] = diagonal
            total[:, a:b, a:] = fresh.sum(axis=0) if begins is None else np.add.reduceat(fresh, begins, axis=0)
            rows = fresh
        # Blocks right of the diagonal are filled, blocks left of it are empty; diagonal blocks are symmetric.
        for k in range(layers.blocks - 1):
            a, b = int(starts[k]), int(starts[k + 1])
            total[:, b:, a:b] = total[:, a:b, b:].transpose(0, 2, 1)
        position = self.pattern.position
        found: Floats = total.take(position, axis=1).take(position, axis=2)
        return found


def half_inverse(off: Floats, sums: Floats) -> Floats:
    """H with M⁻¹ = HᵀH for M-matrices given by off-diagonals p ≥ 0 and row sums, batch first.

    H = D^(−1/2) L⁻¹ for M = L D Lᵀ, so H is lower triangular and entrywise non-negative.  Columns up to m hold
    L⁻¹, columns after m the off-diagonals of the Schur complement, the last column its row sums; the pivot
    is a row sum plus off-diagonals, never a difference of large numbers.
    """
    batch, size = sums.shape
    on_device = not isinstance(sums, np.ndarray)
    if size > (LARGEST if on_device else SMALL):
        return _halved(off, sums)
    if on_device:
        return half_inverse_on_device(off, sums)
    work = np.empty(
        (size, size + 1, batch), dtype=sums.dtype
    )  # the batch last: loops over states are short, those over actions long
    work[:, :size] = off.transpose(1, 2, 0)
    work[:, size] = sums.T
    pivots = np.empty((size, batch), dtype=sums.dtype)
    for m in range(size):
        row = work[m]
        pivot = np.add.reduce(row[m + 1 :], axis=0, out=pivots[m])
        row[m] = 1.0
        if m + 1 < size:
            below = work[m + 1 :]
            share = below[:, m] / pivot
            below[:, m] = 0.0
            below += share[:, None] * row
    lower = np.ascontiguousarray(np.where(_triangle(size), work[:, :size].transpose(2, 0, 1), 0.0))
    lower /= np.sqrt(np.maximum(pivots.T, np.finfo(sums.dtype).tiny))[:, :, None]
    return lower


@cache
def _triangle(size: int) -> Flags:
    return np.tri(size, dtype=bool)


def _halved(off: Floats, sums: Floats) -> Floats:
    """`half_inverse` of a large block by eliminating its first half as a block: the same sums, done by products."""
    cut = sums.shape[1] // 2
    across = off[:, :cut, cut:]
    first = half_inverse(off[:, :cut, :cut], sums[:, :cut] + across.sum(axis=2))
    moved = first @ across
    carry = first.transpose(0, 2, 1) @ moved
    rest = off[:, cut:, cut:] + moved.transpose(0, 2, 1) @ moved
    second = half_inverse(rest, sums[:, cut:] + (sums[:, None, :cut] @ carry)[:, 0, :])
    half = np.zeros_like(off)
    half[:, :cut, :cut] = first
    half[:, cut:, cut:] = second
    half[:, cut:, :cut] = second @ carry.transpose(0, 2, 1)
    return half
