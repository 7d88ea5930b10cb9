"""What bounds must know of an error: what actions cost, which are nodes of a program, and what an action between nodes may save.

Listed actions are the nodes themselves, and nothing lies between. Absolute and pinball errors are straight between values of ω:
a program whose nodes are those values loses nothing. A square lies below its chord: there nodes are dense (`knots`). Where listed
actions or values of ω are more than a program should have nodes, nodes are dense as well, and what lies between is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np

from discreet.design.ladder.bounds.knots import least_between
from discreet.model.actions import ListedActions
from discreet.model.decision import Decision
from discreet.model.losses import DistanceLoss, SquaredLoss
from discreet.numerics.arrays import Floats

MOST_NODES = 120
SQUARED_LOSS = SquaredLoss()


@dataclass(frozen=True, eq=False)
class Stakes:
    """A squared, absolute or pinball error on some values of ω; `nodes` leave nothing between them (None: too many)."""

    loss: DistanceLoss = SQUARED_LOSS
    nodes: Floats | None = None
    listed: bool = False
    """Whether the nodes are all the actions there are."""

    @classmethod
    def of(cls, decision: Decision, omegas: Floats) -> Stakes:
        """The stakes of a decision while ω has one of these values."""
        loss, listed = decision.distance, isinstance(decision.actions, ListedActions)
        if isinstance(decision.actions, ListedActions):
            nodes = reaching(decision.actions.floats, float(omegas.min()), float(omegas.max()))
        else:
            nodes = np.unique(omegas)
        if len(nodes) <= MOST_NODES and (listed or loss.quantile is not None):
            return cls(loss, nodes, listed)
        return cls(loss)

    def costs(self, actions: Floats, omegas: Floats) -> Floats:
        """ℓ [action, state]."""
        return np.asarray(self.loss.table(np.asarray(actions, dtype=np.float64), omegas))

    def hidden(self, loss: float) -> tuple[float, float]:
        """The variance that a normal ω would have after outputs of a mechanism that loses so much, and how far the best action then
        lies from its mean."""
        q = self.loss.quantile
        if q is None:
            return loss, 0.0
        z = NormalDist().inv_cdf(float(q))
        deviation = loss / (self.loss.pinballs * NormalDist().pdf(z))
        return deviation**2, z * deviation

    def least(self, bracket: Floats, knots: Floats, masses: Floats, omegas: Floats) -> Floats:
        """For each state the least of the bracket [knot, state], π·ℓ plus what is straight between knots, over all actions."""
        if self.listed or len(knots) < 2:
            return np.asarray(bracket.min(axis=0))
        if self.loss.quantile is None:
            return least_between(bracket, knots, masses)
        straight = bracket - masses * self.costs(knots, omegas)
        at = np.clip(np.searchsorted(knots, omegas, side="right") - 1, 0, len(knots) - 2)
        t = np.clip((omegas - knots[at]) / (knots[at + 1] - knots[at]), 0.0, 1.0)
        each = np.arange(len(omegas))
        kink = (1 - t) * straight[at, each] + t * straight[at + 1, each]
        return np.asarray(np.minimum(bracket.min(axis=0), kink))


def reaching(numbers: Floats, low: float, high: float) -> Floats:
    """Those of ascending numbers that reach over an interval: beyond them an error only grows."""
    first = max(int(np.searchsorted(numbers, low, side="right")) - 1, 0)
    last = min(int(np.searchsorted(numbers, high, side="left")), len(numbers) - 1)
    return np.asarray(numbers[first : last + 1])


def deviation(masses: Floats, omegas: Floats, stakes: Stakes, loss: float) -> tuple[float, float]:
    """Centre and deviation of the actions that a mechanism of this loss plays."""
    mean = float(masses @ omegas) / float(masses.sum())
    variance = float(masses @ (omegas - mean) ** 2)
    hidden, away = stakes.hidden(loss)
    return mean + away, sqrt(max(variance - hidden, 0.05 * variance))
