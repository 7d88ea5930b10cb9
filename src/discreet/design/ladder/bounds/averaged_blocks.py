"""Newton's matrices of averaged programs, H_a = G′·diag(w_a)·G for every action a, in blocks, and the sum of their inverses.

A row of G joins a state with its predecessors. In an order of the states where joined ones are near each other, consecutive states
form blocks such that every H_a is block tridiagonal. With d_a making its diagonal one,

    d_a·H_a·d_a = L·L′,      L: triangles L_b on the diagonal, K_b′ below them,      M_b = L_b⁻ᵀ·K_b,

and the scaled inverse Z follows upwards from the last block, a row of blocks from the one below it:

    Z_bj = −M_b·Z_(b+1)j  for j > b,      Z_bb = L_b⁻ᵀ·L_b⁻¹ + M_b·Z_(b+1)(b+1)·M_b′.

That is n²·(states of a block) for each action where a dense inverse is n³. Actions lie along the first axis: one call multiplies a
block of all of them. Where no order has joined states near each other, blocks are one or two, as a dense matrix has it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.design.ladder.bounds.level_blocks import Levels
from discreet.numerics.arrays import Floats, Integers

if TYPE_CHECKING:
    from scipy import sparse

Numbers = NDArray[Any]
"""Floats of as many digits as are asked for."""

SMALLEST = 16
"""States of a block: smaller ones take as long for being called as for being multiplied."""
SQUARES = 4.0
"""What factoring takes, in products of a block with a block like it."""
WORTH_REORDERING = 0.9
"""Of the work in the order that states have, what another order may take to be chosen."""


class Blocks:
    """An order of the columns of G, the `edges` of blocks in it, and where entries of G′·diag(w)·G go."""

    def __init__(self, rows: sparse.csr_array) -> None:
        from scipy import sparse

        self.order, self.edges = ordered(rows)
        self.rows = sparse.csr_array(rows[:, self.order])
        self.levels = Levels(self.rows, self.edges)
        sizes, starts, below = self.levels.sizes, self.levels.diagonal, self.levels.below
        ones = [first + np.arange(size) * (size + 1) for first, size in zip(starts, sizes, strict=False)]
        self.diagonal = np.searchsorted(self.levels.places, np.concatenate(ones))
        self.own = [_Part(self, starts[b], b, b) for b in range(len(sizes))]
        self.below = [_Part(self, below[b], b + 1, b) for b in range(len(sizes) - 1)]

    def factored(self, weights: Floats, digits: Any = np.float64, ridge: float = 0.0) -> StackedFactors:
        """The factors for weights [row, action]; LinAlgError where their digits give out."""
        return StackedFactors(self, weights, digits, ridge)


class _Part:
    """A block: where its entries are among all that are not 0, and where in the block."""

    def __init__(self, blocks: Blocks, first: int, row: int, column: int) -> None:
        edges, places = blocks.edges, blocks.levels.places
        self.shape = int(edges[row + 1] - edges[row]), int(edges[column + 1] - edges[column])
        start, end = np.searchsorted(places, (first, first + self.shape[0] * self.shape[1]))
        self.found, self.local = slice(int(start), int(end)), places[start:end] - first
        self.rows, self.columns = edges[row] + self.local // self.shape[1], edges[column] + self.local % self.shape[1]

    def filled(self, entries: Floats, scale: Floats, digits: Any) -> Numbers:
        """The blocks of all actions [action, row, column] from entries [place, action]."""
        found = np.zeros((entries.shape[1], self.shape[0] * self.shape[1]), dtype=digits)
        found[:, self.local] = (entries[self.found] * scale[self.rows] * scale[self.columns]).T
        return found.reshape(-1, *self.shape)


class StackedFactors:
    """L_b⁻¹ and K_b of all actions, stacked; `scale` is d [state, action]."""

    def __init__(self, blocks: Blocks, weights: Floats, digits: Any, ridge: float) -> None:
        from scipy.linalg import LinAlgError

        entries = np.asarray(blocks.levels.products @ weights)
        self.edges, self.digits = blocks.edges, digits
        own = entries[blocks.diagonal]
        if not (np.isfinite(own) & (own > 0)).all():
            raise LinAlgError("a diagonal is not positive")
        self.scale: Floats = 1.0 / np.sqrt(own)
        entries[blocks.diagonal] *= 1.0 + ridge
        self.inverses: list[Numbers] = []
        self.joints: list[Numbers] = []
        for b, part in enumerate(blocks.own):
            block = part.filled(entries, self.scale, digits)
            if b:
                low = blocks.below[b - 1].filled(entries, self.scale, digits)
                joint = self.inverses[-1] @ low.transpose(0, 2, 1)
                block -= joint.transpose(0, 2, 1) @ joint
                self.joints.append(joint)
            self.inverses.append(_inverted(block))

    def solve(self, right: Floats) -> Floats:
        """H⁻¹·right [state, action]."""
        scaled = (right * self.scale).T.astype(self.digits)[:, :, None]
        parts: list[Numbers] = []
        for b, inverse in enumerate(self.inverses):
            part = scaled[:, self.edges[b] : self.edges[b + 1]]
            if b:
                part = part - self.joints[b - 1].transpose(0, 2, 1) @ parts[-1]
            parts.append(inverse @ part)
        for b in range(len(parts) - 1, -1, -1):
            part = parts[b] if b + 1 == len(parts) else parts[b] - self.joints[b] @ parts[b + 1]
            parts[b] = self.inverses[b].transpose(0, 2, 1) @ part
        return np.asarray(np.concatenate(parts, axis=1)[:, :, 0].T * self.scale)

    def summed(self, digits: Any) -> tuple[Floats, Numbers]:
        """(c, S): the sum of all inverses is c·S·c, c the largest d of a state; of S the upper blocks, in so many digits."""
        edges, largest = self.edges, self.scale.max(axis=1)
        shares = (self.scale / largest[:, None]).astype(digits)
        total = np.zeros((len(shares), len(shares)), dtype=digits)
        last = below = np.empty(0)
        for b in range(len(self.inverses) - 1, -1, -1):
            here, inverse = slice(edges[b], edges[b + 1]), self.inverses[b]
            size = inverse.shape[1]
            own = (inverse.transpose(0, 2, 1) @ inverse).astype(digits, copy=False)
            row = np.empty((len(inverse), size, edges[-1] - edges[b]), dtype=digits)
            if b + 1 < len(self.inverses):
                down = (inverse.transpose(0, 2, 1) @ self.joints[b]).astype(digits, copy=False)
                own += down @ last @ down.transpose(0, 2, 1)
                np.matmul(np.negative(down, out=down), below, out=row[:, :, size:])
            # columns carry their share from here on, rows have it where they are summed
            np.multiply(own, shares[here].T[:, None, :], out=row[:, :, :size])
            total[here, edges[b] :] = np.matmul(shares[here][:, None, :], row.transpose(1, 0, 2))[:, 0]
            last, below = own, row
        return largest, total


def _inverted(blocks: Numbers) -> Numbers:
    """L⁻¹ of the blocks L·L′ [action, row, column], of which the lower triangles are read, in their place."""
    from scipy.linalg import LinAlgError, lapack

    factor, invert = lapack.get_lapack_funcs(("potrf", "trtri"), (blocks,))
    for block in blocks:
        # rows here are columns to LAPACK
        _, wrong = factor(block.T, lower=0, overwrite_a=1, clean=1)
        if wrong:
            raise LinAlgError("a block is not positive definite")
        invert(block.T, lower=0, overwrite_c=1)
    return blocks


def ordered(rows: sparse.csr_array) -> tuple[Integers, Integers]:
    """An order of the columns and the edges of blocks in it such that rows join columns of neighbouring blocks only."""
    from scipy import sparse
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    pattern = sparse.csr_array(abs(rows).T @ abs(rows))
    given = np.arange(rows.shape[1])
    other = reverse_cuthill_mckee(sparse.csr_matrix(pattern), symmetric_mode=True).astype(np.int64)
    edges, reordered = _edges(pattern), _edges(pattern[other][:, other])
    if _work(np.diff(reordered)) < WORTH_REORDERING * _work(np.diff(edges)):
        return other, reordered
    return given, edges


def _edges(pattern: sparse.csr_array) -> Integers:
    """The edges that make least work: where the first block ends says where the others do."""
    from scipy import sparse

    entries, far = sparse.coo_array(pattern), np.arange(pattern.shape[0])
    np.maximum.at(far, entries.row, entries.col)
    far = np.maximum.accumulate(far) + 1

    def begun(first: int) -> Integers:
        edges = [0, first]
        while edges[-1] < len(far):
            edges.append(max(int(far[edges[-1] - 1]), edges[-1] + 1))
        return _merged(edges)

    return min((begun(first) for first in range(1, int(far[0]) + 1)), key=lambda edges: _work(np.diff(edges)))


def _merged(edges: list[int]) -> Integers:
    """Without blocks that are smaller than they need be."""
    kept = [0]
    for end, following in pairwise(edges[1:]):
        if following - kept[-1] > SMALLEST:
            kept.append(end)
    return np.array([*kept, edges[-1]])


def _work(sizes: Integers) -> float:
    """Products for the inverse of one action and its factor."""
    width = sizes.astype(np.float64)
    beyond = width.sum() - np.cumsum(width)[:-1]
    return float(width[:-1] * width[1:] @ beyond + SQUARES * (width**3).sum())
