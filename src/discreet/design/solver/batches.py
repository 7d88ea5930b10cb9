"""The eliminated Newton matrices of windows, in batches of neighbouring actions, and the sum of their inverses as a band."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.design.solver.banded import BandedCholesky, Strips
from discreet.design.solver.elimination import Factor
from discreet.design.solver.program import Floats, Integers
from discreet.design.solver.windows import Windows

FACTORING, SUMMING = 0.15, 0.5
"""Shares of a step: factors, and the preconditioner that is made of them."""

Digits = type[np.floating[Any]]
"""How many digits numbers have."""

NOWHERE = 1e-30
"""Scale of states that others of a group have, and an action does not: its square counts as nothing."""


class BatchFactor:
    """The eliminated Newton matrices of all actions, chunk by chunk."""

    def __init__(self, windows: Windows, off: Floats, sums: Floats, stride: Callable[[float], None], digits: Digits) -> None:
        self.windows = windows
        self.factors = []
        for chunk in windows.chunks:
            size = int(chunk.pattern.layers.starts[-1])
            weights: Floats = np.zeros((chunk.actions, len(chunk.template_edges)), dtype=digits)
            weights.ravel()[chunk.edge_slots] = off[chunk.edge_begin : chunk.edge_end]
            rows: Floats = np.ones((chunk.actions, size), dtype=digits)
            rows.ravel()[chunk.slots] = sums[chunk.begin : chunk.end]
            self.factors.append(Factor(chunk.pattern, weights, rows))
            stride(FACTORING / len(windows.chunks))

    def solve(self, right: Floats) -> Floats:
        """Q⁻¹·right for every action."""
        found: Floats = np.empty_like(right)
        for chunk, factor in zip(self.windows.chunks, self.factors, strict=True):
            rows = np.zeros_like(factor.sums)
            rows.ravel()[chunk.slots] = right[chunk.begin : chunk.end]
            found[chunk.begin : chunk.end] = factor.solve(rows).ravel()[chunk.slots]
        return found

    def summed_inverse(self, scale: Floats, ends: Integers, stride: Callable[[float], None], digits: Digits) -> BandedCholesky:
        """Σ_a diag(scale) Q_a⁻¹ diag(scale) on the windows, by products of so many digits, factored."""
        total = Strips(ends)
        for chunk, factor in zip(self.windows.chunks, self.factors, strict=True):
            rows = np.full(factor.sums.shape, NOWHERE)
            rows.ravel()[chunk.slots] = scale[chunk.begin : chunk.end]
            for group in chunk.groups:
                actions = slice(group.first, group.last)
                total.add(group.low, factor.inverse(actions, group.spans, rows[actions], digits), group.ranks)
            stride(SUMMING / len(self.windows.chunks))
        return total.factored()
