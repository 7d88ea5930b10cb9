"""Geometric noise on every count of types, then the best reply: what a table of noisy histograms tells about the statistic."""

from __future__ import annotations

from math import exp

import numpy as np

from discreet.design.comparison.way import Way, answered, inapplicable, published, rows_of
from discreet.design.memory import must_fit
from discreet.design.program.sections import Ground, whole
from discreet.design.proposal import Proposal
from discreet.errors import TooLarge
from discreet.model.neighbours import ReplaceOne
from discreet.model.universe import Universe
from discreet.watch import Watch

MOST_CELLS, BYTES_PER_CELL = 30_000_000, 24
MOST_PUBLISHED = 3_000
"""Noisy histograms beyond which the way is only valued."""


class NoisyHistogram(Way):
    """Noise of ratio e^(−ε/2) on each count but the reference's (a replacement moves two counts by one)."""

    name = "noisy histogram"
    words = "geometric noise on every count of types, then the best reply"
    reads_more = True

    def loss(self, base: Ground, watch: Watch) -> float:
        noise, shape = self._noise(base)
        width = len(base.exact_omegas)
        if int(np.prod(shape)) * width > MOST_CELLS:
            raise TooLarge(
                "There are too many noisy histograms to read",
                size=f"{int(np.prod(shape)) * width:,} cells",
                fits=f"{MOST_CELLS:,}",
                remedy="fewer types or respondents",
            )
        must_fit(BYTES_PER_CELL * int(np.prod(shape)) * width, "a table of noisy histograms")
        joint = np.zeros((*shape, width))
        np.add.at(joint, (*base.space.vectors[:, 1:].T, base.column), base.masses)
        for axis in range(len(shape)):
            joint = np.moveaxis(np.tensordot(noise, joint, axes=(1, axis)), 0, axis)
        return answered(base.problem, joint.reshape(-1, width), base.exact_omegas)

    def propose(self, base: Ground, watch: Watch) -> Proposal | None:
        noise, shape = self._noise(base)
        if int(np.prod(shape)) > MOST_PUBLISHED:
            return None
        channel = np.ones((1, len(base.space)))
        for counts in base.space.vectors[:, 1:].T:
            channel = (channel[:, None, :] * noise[None][:, :, counts]).reshape(-1, len(base.space))
        return published(whole(base), channel, self.words)

    def entries(self, base: Ground) -> int:
        outputs = int(np.prod(self._noise(base)[1]))
        return rows_of(base.problem, outputs) * len(base.space) if outputs <= MOST_PUBLISHED else 0

    def _noise(self, base: Ground) -> tuple[np.ndarray, tuple[int, ...]]:
        problem, universe = base.problem, base.problem.universe
        if not (isinstance(universe, Universe) and problem.exchangeable and isinstance(problem.neighbours, ReplaceOne)):
            raise inapplicable("histograms of exchangeable respondents with replace-one neighbours")
        n = universe.respondents
        ratio, counts = exp(-float(problem.epsilon) / 2), np.arange(n + 1)
        noise = ratio ** np.abs(counts[:, None] - counts[None, :]).astype(float)
        noise *= np.where((counts == 0) | (counts == n), 1 / (1 + ratio), (1 - ratio) / (1 + ratio))[:, None]
        return noise, (n + 1,) * (universe.types - 1)
