"""Cholesky factors and blocked substitution with NumPy alone.

The price system S dλ = right is nearly singular by nature: solving with factors leaves a small residual, which
an explicit inverse does not.  Only the small diagonal blocks of the factor are inverted, so the heavy parts are
matrix products.  SciPy would do the same and takes a quarter of a second to load.
"""

from __future__ import annotations

import numpy as np

from discreet.design.solver.program import Floats

WIDTH = 32


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
                self.lower = np.linalg.cholesky(scaled)
                break
            except np.linalg.LinAlgError:
                ridge = 1e-15 if ridge == 0.0 else 10 * ridge
                if ridge > 1e-8:
                    raise
                scaled[np.diag_indices(size)] = 1.0 + ridge
        self.cuts = [(a, min(a + WIDTH, size)) for a in range(0, size, WIDTH)]
        self.small = [np.linalg.inv(self.lower[a:b, a:b]) for a, b in self.cuts]

    def solve(self, right: Floats) -> Floats:
        """S⁻¹·right for one right-hand side."""
        y = right / self.root
        for (a, b), inverse in zip(self.cuts, self.small, strict=True):
            y[a:b] = inverse @ (y[a:b] - self.lower[a:b, :a] @ y[:a])
        for (a, b), inverse in zip(reversed(self.cuts), reversed(self.small), strict=True):
            y[a:b] = inverse.T @ (y[a:b] - self.lower[b:, a:b].T @ y[b:])
        return np.asarray(y / self.root)
