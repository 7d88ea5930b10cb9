"""Newton matrices of many nodes side by side, each R′·diag(w)·R with rows that join neighbouring levels of unknowns only.

Unknowns are sorted by level, so that every matrix is block tridiagonal. Blocks of all nodes are stacked [node, row, column] and
factored together; inverses of triangular blocks are kept, so that everything after is a product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.numerics.arrays import Floats, Integers

if TYPE_CHECKING:
    from scipy import sparse

RIDGE = 1e-12


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
        self.products = sparse.csr_array(sparse.coo_array((products, (place, row)), shape=(int(self.below[-1]), rows.shape[0])))

    @property
    def floats(self) -> int:
        """Numbers kept for each node: entries and factors."""
        return 3 * int(self.below[-1])

    def factored(self, weights: Floats, prices: Floats) -> Factors:
        """The factors for weights [row, node], and what the columns of `prices` are after the first half of a solution."""
        return Factors(self, np.ascontiguousarray((self.products @ weights).T), prices)


class Factors:
    """H = L·L′ for every node; `halves` is L⁻¹·prices of every level [node, unknown, price]."""

    def __init__(self, levels: Levels, entries: Floats, prices: Floats) -> None:
        from scipy.linalg import lapack

        self.levels, nodes = levels, len(entries)
        self.inverses: list[Floats] = []
        self.joints: list[Floats] = []
        self.halves: list[Floats] = []
        for b, size in enumerate(levels.sizes):
            block = entries[:, levels.diagonal[b] : levels.diagonal[b + 1]].reshape(nodes, size, size).copy()
            right = np.broadcast_to(prices[levels.edges[b] : levels.edges[b + 1]], (nodes, size, prices.shape[1]))
            if b:
                low = entries[:, levels.below[b - 1] : levels.below[b]].reshape(nodes, size, levels.sizes[b - 1])
                joint = low @ self.inverses[-1].transpose(0, 2, 1)
                block -= joint @ joint.transpose(0, 2, 1)
                right = right - joint @ self.halves[-1]
                self.joints.append(joint)
            own = np.arange(size)
            block[:, own, own] *= 1 + RIDGE
            lower = np.linalg.cholesky(block)
            inverse: Floats = np.array([lapack.dtrtri(part, lower=1)[0] for part in lower]).reshape(nodes, size, size)
            self.inverses.append(inverse)
            self.halves.append(self.inverses[-1] @ right)

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
        found: list[Floats] = []
        for b, inverse in enumerate(self.inverses):
            part = right[:, self.levels.edges[b] : self.levels.edges[b + 1], None]
            if b:
                part = part - self.joints[b - 1] @ found[-1]
            found.append(inverse @ part)
        return found

    def priced(self, halves: list[Floats]) -> Floats:
        """Σ over nodes of prices′·H⁻¹·right."""
        return np.asarray(sum(np.einsum("aik,aij->k", own, half) for own, half in zip(self.halves, halves, strict=True)))

    def whole(self, halves: list[Floats], prices: Floats) -> Floats:
        """H⁻¹·(right + Σ prices of the columns) as [node, unknown], from the halves of `right`."""
        found: list[Floats] = []
        for b in range(len(self.inverses) - 1, -1, -1):
            part = halves[b] + (self.halves[b] @ prices)[:, :, None]
            if found:
                part = part - self.joints[b].transpose(0, 2, 1) @ found[-1]
            found.append(self.inverses[b].transpose(0, 2, 1) @ part)
        return np.asarray(np.concatenate(found[::-1], axis=1)[:, :, 0])
