"""The eliminated Newton matrices of windows, in batches of neighbouring actions, and the sum of their inverses as a band."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.design.solver.banded import BandedCholesky, Strips
from discreet.design.solver.elimination import Factor
from discreet.design.solver.program import Floats, Integers
from discreet.design.solver.windows import Windows

FEW = 3
"""Actions whose inverses are formed at once: as many as stay near the core."""
FACTORING, SUMMING = 0.15, 0.5
"""Shares of a step: factors, and the preconditioner that is made of them."""


class BatchFactor:
    """The eliminated Newton matrices of all actions, chunk by chunk."""

    def __init__(self, windows: Windows, off: Floats, sums: Floats, stride: Callable[[float], None]) -> None:
        self.windows = windows
        self.factors = []
        for chunk in windows.chunks:
            size = int(chunk.pattern.layers.starts[-1])
            weights = np.zeros((chunk.actions, len(chunk.template_edges)))
            weights.ravel()[chunk.edge_slots] = off[chunk.edge_begin : chunk.edge_end]
            rows = np.ones((chunk.actions, size))
            rows.ravel()[chunk.slots] = sums[chunk.begin : chunk.end]
            self.factors.append(Factor(chunk.pattern, weights, rows))
            stride(FACTORING / len(windows.chunks))

    def solve(self, right: Floats) -> Floats:
        """Q⁻¹·right for every action."""
        found: Floats = np.empty_like(right)
        for chunk, factor in zip(self.windows.chunks, self.factors, strict=True):
            rows = np.zeros(factor.sums.shape)
            rows.ravel()[chunk.slots] = right[chunk.begin : chunk.end]
            found[chunk.begin : chunk.end] = factor.solve(rows).ravel()[chunk.slots]
        return found

    def summed_inverse(self, scale: Floats, ends: Integers, stride: Callable[[float], None]) -> BandedCholesky:
        """Σ_a diag(scale) Q_a⁻¹ diag(scale) on the windows, factored."""
        windows = self.windows
        total = Strips(ends)
        first = 0
        for chunk, factor in zip(windows.chunks, self.factors, strict=True):
            size = factor.sums.shape[1]
            rows = np.ones(factor.sums.shape)
            rows.ravel()[chunk.slots] = scale[chunk.begin : chunk.end]
            for k in range(chunk.actions):
                if k % FEW == 0:
                    inverses = factor.inverses(k, min(k + FEW, chunk.actions), rows[k : k + FEW])
                a, b = int(windows.starts[first + k]), int(windows.starts[first + k + 1])
                place = chunk.slots[a - chunk.begin : b - chunk.begin] - k * size
                total.add(int(windows.low[first + k]), inverses[k % FEW].take(place, axis=0).take(place, axis=1))
            first += chunk.actions
            stride(SUMMING / len(windows.chunks))
        return total.factored()
