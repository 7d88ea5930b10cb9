"""The geometric mechanism as the optimum, in closed form (SY Thm 3), for any number of respondents.

States are counts 0..N; the ratio is a rational just not below e^−ε; each output recommends its best action given the
posterior. The certificate's witness is the theorem.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.certify.bounds import GEOMETRIC
from discreet.design.proposal import Proposal
from discreet.design.routes.route import Asked, Route
from discreet.design.schedule import GRACE, SECONDS_PER_PROVED_COUNT, TooDearError, time_left
from discreet.model.actions import Action, RealActions
from discreet.model.certificate import TheoremWitness
from discreet.model.decision import Decision
from discreet.model.kernel import GeometricKernel
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.replies import best_replies, decimal
from discreet.model.statistic import on_histograms
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.brackets import rational_above_exp

if TYPE_CHECKING:
    from discreet.certify.value.path import Band

RATIO_BITS = 80
AT_ONCE = 256
"""Outputs whose best replies are found together."""


class GeometricRoute(Route):
    """SY Thm 3: the best of all, without any search."""

    name = "geometric"
    theorem = GEOMETRIC

    def obstacle(self, problem: Problem) -> str | None:
        universe = problem.universe
        if (
            not isinstance(universe, Universe) or universe.types != 2
        ):  # the first condition of the theorem, which needs nothing loaded
            return "respondents have more than two types"
        from discreet.certify.bounds.theorems import why_not_geometric

        return why_not_geometric(problem)

    def why(self, problem: Problem) -> str:
        return "two types, an exchangeable prior, ordered actions and a supermodular payoff: the geometric mechanism is optimal"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        """The closed form, and the theorem as its witness."""
        taking = SECONDS_PER_PROVED_COUNT * _likely_counts(problem) - GRACE
        if taking > max(time_left(asked.watch), 0.0):
            raise TooDearError(f"its likely counts take about {taking:.2g} s beyond the time")
        kernel = geometric_kernel(problem)
        summary = LinearSummary((0, 1), kernel.low, kernel.high)
        return Proposal(summary, kernel, TheoremWitness(GEOMETRIC), "closed form", "optimal")


def _likely_counts(problem: Problem) -> float:
    """About how many counts are likely, at most: of independent respondents, within twelve deviations on either side."""
    n = problem.people.largest
    if not isinstance(problem.prior, IidPrior):
        return n
    p = float(problem.prior.probabilities[1])
    return min(n, 24 * sqrt(n * p * (1 - p)) + 60)


def geometric_kernel(problem: Problem) -> GeometricKernel:
    """The geometric kernel on counts with the best action for each output."""
    from discreet.certify.value.path import bands, path_of

    universe = problem.people
    n = universe.respondents
    ratio = rational_above_exp(-problem.epsilon, RATIO_BITS)
    path = path_of(problem)
    # outputs beyond the likely counts would never be drawn, so they are not listed: the ends stand for them
    low, high = int(path.counts[0]), int(path.counts[-1])
    exact = on_histograms(problem.statistic, np.column_stack([n - path.counts, path.counts]), universe)
    omegas = np.array([float(w) for w in exact])
    actions: list[Action] = []
    for band in bands(path, ratio, low, high):
        actions += _chosen(problem.decision, band, omegas, exact)
    return GeometricKernel(low, high, 1, ratio, tuple(actions))


def _chosen(decision: Decision, band: Band, omegas: np.ndarray, exact: Sequence[Fraction]) -> list[Action]:
    """The best reply to each output of a band, whose counts are spread over the window of likely ones."""
    if isinstance(decision.actions, RealActions):
        from discreet.certify.value.path_losses import best_actions

        best = best_actions(decision, band, omegas)[0]
        return [decimal(a, decision.actions) for a in best.tolist()]
    found: list[Action] = []
    for start in range(0, len(band.outputs), AT_ONCE):  # noise reaches only so far: a few outputs see a few counts
        at, masses = band.at[start : start + AT_ONCE], band.joint[start : start + AT_ONCE]
        first, last = int(at.min()), int(at.max())
        joint = np.zeros((len(at), last - first + 1))
        np.add.at(joint, (np.arange(len(at))[:, None], at - first), masses)
        found += best_replies(decision, joint, exact[first : last + 1]).actions
    return found
