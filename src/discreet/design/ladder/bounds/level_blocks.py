"""Newton matrices of many nodes side by side, each R′·diag(w)·R with rows that join neighbouring levels of unknowns only.

Unknowns are sorted by level, so that every matrix is block tridiagonal. Few entries of a block are not 0: a row joins the unknowns
of two states. They are kept as a list, and blocks are filled where they are factored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.numerics.arrays import Floats, Integers

if TYPE_CHECKING:
    from scipy import sparse

RIDGES = (1e-12, 1e-9, 1e-7)
"""Added to the diagonal of a block in parts of itself, the larger ones where digits give out."""


class Levels:
    """Where the entries of R′·diag(w)·R are kept: the blocks on the diagonal, then those below it; `edges` end the levels."""

    def __init__(self, rows: sparse.csr_array, edges: Integers) -> None:
        from scipy import sparse

        self.edges, self.sizes = edges, np.diff(edges)
        self.diagonal = np.concatenate([[0], np.cumsum(self.sizes**2)])
        self.below = self.diagonal[-1] + np.concatenate([[0], np.cumsum(self.sizes[1:] * self.sizes[:-1])])
        level = np.repeat(np.arange(len(self.sizes)), self.sizes)
        lengths = np.diff(rows.indptr)
        found: list[tuple[Integers, Integers, Floats]] = []
        for length in np.unique(lengths[lengths > 0]):
            some = np.flatnonzero(lengths == length)
            at = rows.indptr[some][:, None] + np.arange(length)
            column, entry = rows.indices[at].astype(np.int64), rows.data[at]
            i, j = np.repeat(column, length, axis=1).ravel(), np.tile(column, (1, length)).ravel()
            products = (np.repeat(entry, length, axis=1) * np.tile(entry, (1, length))).ravel()
            low, high = level[j], level[i]
            kept = high >= low
            i, j, low, high = i[kept], j[kept], low[kept], high[kept]
            assert int((high - low).max()) <= 1, "a row joins neighbouring levels only"
            first = np.where(low == high, self.diagonal[low], self.below[np.minimum(low, len(self.below) - 1)])
            place = first + (i - edges[high]) * self.sizes[low] + j - edges[low]
            found.append((place, np.repeat(some, length**2)[kept], products[kept]))
        place, row, products = (np.concatenate(parts) for parts in zip(*found, strict=True))
        self.places, at = np.unique(place, return_inverse=True)
        self.products = sparse.csr_array(sparse.coo_array((products, (at.ravel(), row)), shape=(len(self.places), rows.shape[0])))

    def factored(self, weights: Floats, prices: Floats) -> Factors:
        """The factors for weights [row, node], and what the columns of `prices` are after the first half of a solution."""
        return Factors(self, np.ascontiguousarray((self.products @ weights).T), prices)

    def block(self, entries: Floats, first: int, rows: int, columns: int) -> Floats:
        """The block whose places begin there, from the entries of one node at `places`; few of them are not 0."""
        start, end = np.searchsorted(self.places, (first, first + rows * columns))
        found = np.zeros(rows * columns)
        found[self.places[start:end] - first] = entries[start:end]
        return found.reshape(rows, columns)


class Factors:
    """H = L·L′ for every node; `halves` is L⁻¹·prices of every level [node, unknown, price].

    Triangles are solved and squares updated by LAPACK node by node, which takes half as long as stacked products with inverses.
    """

    def __init__(self, levels: Levels, entries: Floats, prices: Floats) -> None:
        from scipy.linalg import LinAlgError, blas, lapack

        self.levels, nodes = levels, len(entries)
        self.lowers: list[list[Floats]] = []
        self.joints: list[list[Floats]] = []
        self.halves: list[Floats] = []
        for b, size in enumerate(levels.sizes):
            own, before = levels.edges[b : b + 2], levels.sizes[b - 1] if b else 0
            lowers, joints, halves = [], [], np.empty((nodes, size, prices.shape[1]))
            for a in range(nodes):
                # blocks are kept by rows, their transposes are what LAPACK reads; half of those on the diagonal is kept
                block = levels.block(entries[a], levels.diagonal[b], size, size).T
                right = prices[own[0] : own[1]]
                if b:
                    low = levels.block(entries[a], levels.below[b - 1], size, before)
                    joint = blas.dtrsm(1.0, self.lowers[-1][a], low.T, side=0, lower=1)
                    block = blas.dsyrk(-1.0, joint, beta=1.0, c=block, trans=1, lower=1)
                    right = right - joint.T @ self.halves[-1][a]
                    joints.append(joint)
                block = np.asfortranarray(block)
                for ridge in RIDGES:
                    block[np.diag_indices(size)] *= 1 + ridge
                    lower, wrong = lapack.dpotrf(block, lower=1)
                    if not wrong:
                        break
                else:
                    raise LinAlgError("a block is not positive definite")
                lowers.append(lower)
                halves[a] = blas.dtrsm(1.0, lower, np.asfortranarray(right), side=0, lower=1)
            self.lowers.append(lowers)
            self.halves.append(halves)
            if b:
                self.joints.append(joints)

    def products(self) -> Floats:
        """Σ over nodes of prices′·H⁻¹·prices."""
        width = self.halves[0].shape[2]
        total = np.zeros((width, width))
        for half in self.halves:
            flat = half.reshape(-1, width)
            total += flat.T @ flat
        return total

    def half(self, right: Floats) -> list[Floats]:
        """L⁻¹·right for right sides [node, unknown], by level."""
        from scipy.linalg import blas

        found: list[Floats] = []
        for b, lowers in enumerate(self.lowers):
            part = right[:, self.levels.edges[b] : self.levels.edges[b + 1]].copy()
            for a, lower in enumerate(lowers):
                if b:
                    part[a] -= self.joints[b - 1][a].T @ found[-1][a]
                part[a] = blas.dtrsv(lower, part[a], lower=1)
            found.append(part)
        return found

    def priced(self, halves: list[Floats]) -> Floats:
        """Σ over nodes of prices′·H⁻¹·right."""
        return np.asarray(sum(np.einsum("aik,ai->k", own, half) for own, half in zip(self.halves, halves, strict=True)))

    def whole(self, halves: list[Floats], prices: Floats) -> Floats:
        """H⁻¹·(right + Σ prices of the columns) as [node, unknown], from the halves of `right`."""
        from scipy.linalg import blas

        found: list[Floats] = []
        for b in range(len(self.lowers) - 1, -1, -1):
            part = halves[b] + self.halves[b] @ prices
            for a, lower in enumerate(self.lowers[b]):
                if found:
                    part[a] -= self.joints[b][a] @ found[-1][a]
                part[a] = blas.dtrsv(lower, part[a], lower=1, trans=1)
            found.append(part)
        return np.asarray(np.concatenate(found[::-1], axis=1))
