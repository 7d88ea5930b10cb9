"""Noise that follows counts, at face value, in a world that need not be its prior's: only the law of the counts matters.

In any truth it loses Σ_i P(i)·E_i, E_i what the noise of table i loses (`certify.value.counted`) with nothing gathered at its ends;
what gathering saves is left out. So it loses at most the largest E_i whatever the data, and needs no other reading: its outputs are
not looked at. A truth is a mixture of cells of independent respondents, whose capped counts are added up as the checker does it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from discreet.certify.value.capped_counts import counted_once
from discreet.certify.value.counted import counted_payoff, moments
from discreet.design.comparison.mixtures import Parts, mean_of
from discreet.design.comparison.outcome import Outcome
from discreet.design.comparison.truths import Replies, SummedWorld
from discreet.errors import TooLarge
from discreet.model.kernel import CountedKernel
from discreet.model.lattice import statistic_lattice
from discreet.model.mechanism import Mechanism


def is_counted(mechanism: Mechanism) -> bool:
    """Whether it is noise that follows a count, at face value."""
    return isinstance(mechanism.kernel, CountedKernel) and counted_payoff(mechanism) is not None


class CountedWorld(SummedWorld):
    """Respondents seen through the counts alone."""

    @cached_property
    def _tables(self) -> tuple[np.ndarray, np.ndarray]:
        """What each table loses, and by how much it publishes too much on average."""
        kernel, lattice = self.mechanism.kernel, statistic_lattice(self.problem)
        assert isinstance(kernel, CountedKernel) and lattice is not None
        each, unit = np.array([[float(x) for x in row] for row in moments(kernel)]), float(lattice.unit)
        losses = np.zeros(len(each))
        for decision in self.problem.decisions:
            q = decision.distance.quantile
            one = unit**2 * each[:, 2]
            if q is not None:
                one = unit * decision.distance.pinballs * (float(q) * each[:, 0] + float(1 - q) * each[:, 1])
            losses += float(decision.weight) * one
        return losses, unit * (each[:, 1] - each[:, 0])

    @property
    def most(self) -> float:
        """The most that it loses, whatever the data."""
        return float(self._tables[0].max())

    def by_type(self, factors: np.ndarray) -> Outcome:
        parts = self.mixture.truth(factors)
        chances, (losses, biases) = self._chances(parts), self._tables
        return Outcome(mean_of(parts, self.values), float(chances @ losses), float(chances @ biases), False)

    def _chances(self, parts: Parts) -> np.ndarray:
        """The probability of each table: counts of every part [part, x], a respondent more at each step."""
        kernel = self.mechanism.kernel
        assert isinstance(kernel, CountedKernel)
        counts, marks = kernel.counts, kernel.marks(self.mechanism.weighted_sum.weights)
        rows = parts.probabilities[:, None] if parts.apart else parts.probabilities[None]  # [respondent or all, part, type]
        sizes, cells = parts.sizes, np.zeros((len(parts.shares), len(counts.growing)))
        cells[:, 0], found = 1.0, np.zeros(len(counts.growing))
        for n in range(int(sizes.max()) + 1):
            found += np.tensordot(np.where(sizes == n, parts.shares, 0.0), cells, 1)
            row = rows[n % len(rows)]
            shares = [(mark, row[:, [t for t, m in enumerate(marks) if m == mark]].sum(axis=1)) for mark in set(marks)]
            cells = sum((counted_once(cells * share[:, None], mark, counts.growing) for mark, share in shares), np.zeros(()))
        return np.bincount(counts.at(list(np.array(counts.growing.counts).T)), found, len(counts))

    def replies(self, thetas: list[float]) -> Replies:
        raise _no_outputs()

    def chances(self, thetas: list[float]) -> np.ndarray:
        raise _no_outputs()

    def after_outputs(self) -> tuple[float, np.ndarray, np.ndarray, float]:
        raise _no_outputs()


def _no_outputs() -> TooLarge:
    return TooLarge(
        "The outputs of noise that follows a count in so large a cell are not looked at one by one",
        size="the law of a sum and counts",
        fits="20,000 totals of all",
        remedy="ask for fewer respondents",
    )
