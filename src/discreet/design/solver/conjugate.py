"""Conjugate directions for several right-hand sides of one matrix: what was found for one serves the next.

A step of an interior point asks for three or four directions with the same price system, and each round of conjugate gradients
costs a product with it. Directions of earlier rounds are kept, with what the matrix makes of them; a new right-hand side begins
with its projection on all of them. So the smallest eigenvalues, which take most of the rounds near an optimum, are paid for once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.design.solver.program import Floats


class Conjugates:
    """Directions that are conjugate with respect to a matrix which is only ever multiplied with."""

    def __init__(self, times: Callable[[Floats], Floats], ready: Callable[[Floats], Floats], size: int, most: int) -> None:
        """`ready` solves roughly, `most` is how many directions are kept."""
        self.times, self.ready = times, ready
        self.ways, self.moved, self.curves = np.empty((most, size)), np.empty((most, size)), np.empty(most)
        self.count = 0

    def solve(self, right: Floats, enough: float, rounds: int, each: Callable[[], None]) -> Floats:
        """How far to go along each direction, so that the matrix makes `right` of it, but for `enough` at each place.

        `each` is told of every round.
        """
        found = np.zeros(len(self.ways))
        missed = np.array(right)
        for _ in range(2):  # the second time takes away what rounding left
            share = self._shares(self.ways, missed)
            found[: self.count] += share
            missed -= share @ self.moved[: self.count]
        for _ in range(rounds):
            if float(np.abs(missed).max()) <= enough or self.count == len(self.ways):
                break
            way = self.ready(missed)
            way = way - self._shares(self.moved, way) @ self.ways[: self.count]
            moved = self.times(way)
            curve = float(way @ moved)
            if not curve > 0:
                break
            length = float(way @ missed) / curve
            found[self.count] = length
            missed -= length * moved
            self.ways[self.count], self.moved[self.count], self.curves[self.count] = way, moved, curve
            self.count += 1
            each()
        return found[: self.count]

    def _shares(self, rows: Floats, vector: Floats) -> Floats:
        return np.asarray(rows[: self.count] @ vector / self.curves[: self.count], dtype=np.float64)
