"""Cholesky factors of a symmetric matrix whose rows end early, kept in strips of rows.

Strip k holds the rows of one cut from their first column on, as far as any of them or of the rows before reaches. Strips are wide,
so that all work is products of large matrices; nothing outside the envelope is stored.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.design.solver.program import Floats, Integers

WIDTH = 96
"""Rows of a strip."""
RIDGES = (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8)
"""Of the diagonal, added where the matrix has no digits left."""


class Strips:
    """The upper half of a symmetric matrix, rows `h` ending before column `ends[h]`; ends never fall."""

    def __init__(self, ends: Integers) -> None:
        size = len(ends)
        self.starts = [*range(0, size, WIDTH), size]
        self.rows: list[Floats] = [np.zeros((b - a, int(ends[b - 1]) - a)) for a, b in self._cuts()]

    def _cuts(self) -> Iterator[tuple[int, int]]:
        return zip(self.starts[:-1], self.starts[1:], strict=True)

    def add(self, low: int, block: Floats, order: Integers) -> None:
        """Add a symmetric block whose first row and column is `low`, and whose rows are these, in this order."""
        high = low + len(order)
        for k in range(low // WIDTH, (high - 1) // WIDTH + 1):
            a, b = self.starts[k], self.starts[k + 1]
            top, bottom = max(a, low), min(b, high)
            rows = block.take(order[top - low : bottom - low], axis=0)
            self.rows[k][top - a : bottom - a, top - a : high - a] += rows.take(order[top - low :], axis=1)

    def factored(self) -> BandedCholesky:
        """Its factors; raises `numpy.linalg.LinAlgError` when the matrix is not finite or far from positive definite."""
        root = np.sqrt(np.concatenate([np.diagonal(strip) for strip in self.rows]))
        if not (np.isfinite(root).all() and root.min() > 0):
            raise np.linalg.LinAlgError("the diagonal is not positive")
        for (a, b), strip in zip(self._cuts(), self.rows, strict=True):
            strip /= root[a:b, None]
            strip /= root[a : a + strip.shape[1]]
        for ridge in RIDGES:
            try:
                return BandedCholesky(self.starts, self.rows, root, ridge)
            except np.linalg.LinAlgError:
                if ridge == RIDGES[-1]:
                    raise
        raise AssertionError("the last ridge returns or raises")


class BandedCholesky:
    """A = diag(r)·UᵀU·diag(r), U upper triangular in strips."""

    def __init__(self, starts: list[int], rows: list[Floats], root: Floats, ridge: float) -> None:
        self.starts, self.root = starts, root
        work = [strip.copy() for strip in rows]
        self.inverse: list[Floats] = []
        for k, strip in enumerate(work):
            a, b = starts[k], starts[k + 1]
            every = np.arange(b - a)
            strip[every, every] += ridge
            inverse = np.linalg.inv(np.linalg.cholesky(strip[:, : b - a]))
            strip[:, b - a :] = inverse @ strip[:, b - a :]
            self.inverse.append(inverse)
            end = a + strip.shape[1]
            for j in range(k + 1, len(work)):
                c, d = starts[j], min(starts[j + 1], end)
                if c >= end:
                    break
                work[j][: d - c, : end - c] -= strip[:, c - a : d - a].T @ strip[:, c - a :]
        self.rows = work

    def solve(self, right: Floats) -> Floats:
        """A⁻¹·right for one right-hand side, or one in each column."""
        root = self.root.reshape(-1, *[1] * (right.ndim - 1))
        y = right / root
        for k, strip in enumerate(self.rows):
            a, b = self.starts[k], self.starts[k + 1]
            y[a:b] = self.inverse[k] @ y[a:b]
            y[b : a + strip.shape[1]] -= strip[:, b - a :].T @ y[a:b]
        for k in range(len(self.rows) - 1, -1, -1):
            a, b = self.starts[k], self.starts[k + 1]
            strip = self.rows[k]
            y[a:b] = self.inverse[k].T @ (y[a:b] - strip[:, b - a :] @ y[b : a + strip.shape[1]])
        found: Floats = y / root
        return found
