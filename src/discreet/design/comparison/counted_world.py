"""Noise that follows a count, at face value, in a world that need not be its prior's: only the law of the count matters.

In any truth it loses Σ_j P(j)·E_j, E_j what the noise of table min(j, J) loses (`certify.value.counted`) with nothing gathered at
its ends; what gathering saves is left out. So it loses at most the largest E_j whatever the data, and needs no other reading: its
outputs are not looked at.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from discreet.certify.value.counted import counted_payoff, moments
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
    """Respondents seen through the count alone."""

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
        kernel = self.mechanism.kernel
        assert isinstance(kernel, CountedKernel)
        marks = tuple(w // kernel.stride for w in self.mechanism.weighted_sum.weights)
        mean, first, found = self.mixture.moments(factors, marks)
        tables = np.minimum(first + np.arange(found.shape[1]), kernel.most)
        losses, biases = self._tables
        return Outcome(mean, float(found[0] @ losses[tables]), float(found[0] @ biases[tables]), False)

    def replies(self, thetas: list[float]) -> Replies:
        raise _no_outputs()

    def chances(self, thetas: list[float]) -> np.ndarray:
        raise _no_outputs()

    def after_outputs(self) -> tuple[float, np.ndarray, np.ndarray, float]:
        raise _no_outputs()


def _no_outputs() -> TooLarge:
    return TooLarge(
        "The outputs of noise that follows a count in so large a cell are not looked at one by one",
        size="the law of a sum and a count",
        fits="20,000 totals of both",
        remedy="ask for fewer respondents",
    )
