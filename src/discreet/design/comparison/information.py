"""The two ends between which every private mechanism lies: publishing nothing, and knowing the truth."""

from __future__ import annotations

import numpy as np

from discreet.design.comparison.way import Way, answered, published
from discreet.design.program.sections import Ground, summed, whole
from discreet.design.proposal import Proposal
from discreet.design.routes.oblivious import best_oblivious, oblivious_proposal
from discreet.errors import TooLarge
from discreet.model.actions import RealActions
from discreet.model.promises import PROMISES
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.watch import Watch

OBLIVIOUS_GAP = 1e-5
MOST_VALUES = 4_000
"""Of the statistic, each of which is answered beside all others."""


class NoInformation(Way):
    """One output, whatever the data."""

    name = "no information"
    words = "the best action without any publication"
    serves = PROMISES

    def loss(self, base: Ground, watch: Watch) -> float:
        return answered(base.problem, masses(base)[None, :], base.exact_omegas)

    def propose(self, base: Ground, watch: Watch) -> Proposal | None:
        universe = base.problem.universe
        section = summed(base, LinearSummary((0,) * universe.types)) if isinstance(universe, Universe) else whole(base)
        return published(section, np.ones((1, len(section.space))), self.words)


class FullInformation(Way):
    """The truth, which no private mechanism tells."""

    name = "full information"
    words = "the best action when the truth is known"
    serves = PROMISES

    def loss(self, base: Ground, watch: Watch) -> float:
        if all(d.is_loss and d.actions == RealActions() for d in base.problem.decisions):
            return 0.0
        values = len(base.exact_omegas)
        if values > MOST_VALUES:
            raise TooLarge(
                "The statistic has too many values to answer each",
                size=f"{values:,} values",
                fits=f"{MOST_VALUES:,}",
                remedy="compare with what is shown",
            )
        return answered(base.problem, np.diag(masses(base)), base.exact_omegas)


class BestOblivious(Way):
    """The best mechanism that reads only the statistic (SY Prop. 3): better than any noise on it."""

    name = "best oblivious"
    words = "the best mechanism that reads only the statistic"

    def loss(self, base: Ground, watch: Watch) -> float:
        return best_oblivious(base, OBLIVIOUS_GAP, watch).loss

    def propose(self, base: Ground, watch: Watch) -> Proposal | None:
        return oblivious_proposal(base, OBLIVIOUS_GAP, watch)


def masses(base: Ground) -> np.ndarray:
    """The prior of each value of the statistic."""
    return np.bincount(base.column, base.masses, len(base.exact_omegas))
