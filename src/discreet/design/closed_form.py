"""The geometric mechanism as the optimum, in closed form (SY Thm 3), for any number of respondents.

States are counts 0..N; the ratio is a rational just not below e^−ε; each output recommends its best action given the
posterior. The certificate's witness is the theorem.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.certify.path import Band, bands, path_of
from discreet.certify.path_losses import best_actions, loss_function
from discreet.certify.theorems import GEOMETRIC
from discreet.model.actions import Action, ListedActions, NamedActions, RealActions
from discreet.model.certificate import TheoremWitness
from discreet.model.decision import Decision
from discreet.model.kernel import GeometricKernel
from discreet.model.problem import Problem
from discreet.model.statistic import on_histograms
from discreet.model.universe import Universe
from discreet.numerics.brackets import rational_above_exp

RATIO_BITS = 80
DECIMALS = 10**7
"""Real actions are recommended to seven decimals: their squared error costs less than 10^-14."""


def geometric_kernel(problem: Problem) -> GeometricKernel:
    """The geometric kernel on counts with the best action for each output."""
    universe = problem.universe
    assert isinstance(universe, Universe)
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


def theorem_witness(reduction: str | None) -> TheoremWitness:
    return TheoremWitness(GEOMETRIC, () if reduction is None else (("reduction", reduction),))


def _chosen(decision: Decision, band: Band, omegas: np.ndarray, exact: Sequence[Fraction]) -> list[Action]:
    if isinstance(decision.actions, RealActions):
        best = best_actions(decision, band, omegas)[0]
        return [_decimal(a, decision.actions) for a in best.tolist()]
    at = band.at
    if isinstance(decision.actions, NamedActions) or not decision.is_loss:
        table = np.array([[-float(decision.payoff(a, w)) for w in exact] for a in decision.actions])
        expected = np.stack([(band.joint * row[at]).sum(axis=1) for row in table])
        listed = list(decision.actions)
        return [listed[i] for i in expected.argmin(axis=0).tolist()]
    assert isinstance(decision.actions, ListedActions)
    candidates = np.stack(best_actions(decision, band, omegas))
    loss = loss_function(decision)
    expected = np.stack([(band.joint * loss(a[:, None], omegas[at])).sum(axis=1) for a in candidates])
    picked = candidates[expected.argmin(axis=0), np.arange(len(band.outputs))]
    nearest = np.searchsorted([float(a) for a in decision.actions.numbers], picked - 1e-9)
    return [decision.actions.numbers[min(i, len(decision.actions) - 1)] for i in nearest.tolist()]


def _decimal(a: float, actions: RealActions) -> Fraction:
    rounded = Fraction(round(a * DECIMALS), DECIMALS)
    if actions.lower is not None:
        rounded = max(rounded, actions.lower)
    return rounded if actions.upper is None else min(rounded, actions.upper)
