"""Cholesky factors and blocked substitution with NumPy alone.

The price system S dλ = right is nearly singular by nature: solving with factors leaves a small residual, which
an explicit inverse does not.  Only the small diagonal blocks of the factor are inverted, so the heavy parts are
matrix products.  SciPy would do the same and takes a quarter of a second to load.
"""

from __future__ import annotations

import numpy as np

from discreet.design.solver.program import Floats
from discreet.numerics.devices import Array, home

WIDTH = 32
WIDTH_ON_DEVICE = 512
"""Of the diagonal blocks that are inverted: a device takes few large products as fast as small ones."""


class Cholesky:
    """S = diag(r)·L·Lᵀ·diag(r) with r the root of the diagonal; a breath of ridge where S has no digits left."""

    def __init__(self, matrix: Floats) -> None:
        """Raise `numpy.linalg.LinAlgError` when the matrix is not finite or far from positive definite."""
        size = len(matrix)
        self.root = np.sqrt(np.diagonal(matrix))
        if not (np.all(np.isfinite(self.root)) and self.root.min() > 0):
            raise np.linalg.LinAlgError("the diagonal is not positive")
        scaled = matrix / self.root[:, None]
        scaled /= self.root[None, :]
        ridge = 0.0
        while True:
            try:
                self.lower = self.lower_of(scaled)
                break
            except np.linalg.LinAlgError:
                ridge = 1e-15 if ridge == 0.0 else 10 * ridge
                if ridge > 1e-8:
                    raise
                every = home(matrix).arange(size)
                scaled[every, every] = 1.0 + ridge
        width = WIDTH if isinstance(matrix, np.ndarray) else WIDTH_ON_DEVICE
        self.cuts = [(a, min(a + width, size)) for a in range(0, size, width)]
        self.small = [np.linalg.inv(self.lower[a:b, a:b]) for a, b in self.cuts]

    @staticmethod
    def lower_of(scaled: Floats) -> Floats:
        """L, or `numpy.linalg.LinAlgError`, which a device does not raise by itself."""
        lower: Array = np.linalg.cholesky(scaled)
        if not isinstance(lower, np.ndarray) and not bool(np.isfinite(lower[-1]).all()):
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        found: Floats = lower
        return found

    def solve(self, right: Floats) -> Floats:
        """S⁻¹·right for one right-hand side."""
        y = right / self.root
        for (a, b), inverse in zip(self.cuts, self.small, strict=True):
            y[a:b] = inverse @ (y[a:b] - self.lower[a:b, :a] @ y[:a])
        for (a, b), inverse in zip(reversed(self.cuts), reversed(self.small), strict=True):
            y[a:b] = inverse.T @ (y[a:b] - self.lower[b:, a:b].T @ y[b:])
        found: Floats = y / self.root
        return found
