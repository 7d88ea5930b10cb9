"""Decision makers who take ω for a normal law: what they do, and what they lose (estimates, not proofs).

Errors have a closed form: with x = ω − a normal of mean m and deviation s, E(−x)₊ = s·φ(m/s) − m·Φ(−m/s), and the best action is a
quantile. Payoffs f(a) + ω·g(a) of real actions see the mean alone. Others are averaged at the points of a Gauss-Hermite rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import pi, sqrt
from statistics import NormalDist

import numpy as np

from discreet.model.actions import Action, NamedActions, RealActions
from discreet.model.decision import Decision
from discreet.model.losses import DistanceLoss, FormulaLoss, MatchLoss
from discreet.model.problem import Problem
from discreet.model.replies import DECIMALS, best_for_means, decimal, loss_table

HERMITE = 24
"""Points of the rule that averages a loss over a normal law."""
FURTHEST = 40.0
"""Deviations beyond which a normal law has no mass."""
MOST_AT_ONCE = 2_000_000
"""Losses that are averaged at once."""


def normal_replies(problem: Problem, decision: Decision, means: np.ndarray, variances: np.ndarray) -> list[Action]:
    """The best reply of one decision maker to each normal law of ω."""
    actions = decision.actions
    if decision.is_loss or isinstance(decision.loss, MatchLoss):
        q = decision.loss.quantile
        away = 0.0 if q is None else NormalDist().inv_cdf(float(q))
        lowest, highest = (float(w) for w in problem.omega_range)
        targets = np.clip(means + away * np.sqrt(variances), lowest, highest)
        assert not isinstance(actions, NamedActions)
        return [actions.nearest(Fraction(round(x * DECIMALS), DECIMALS)) for x in targets.tolist()]
    if isinstance(actions, RealActions):
        return [decimal(a, actions) for a in best_for_means(decision, means).tolist()]
    listed, some = list(actions), max(1, MOST_AT_ONCE // (HERMITE * len(actions)))
    found: list[Action] = []
    for start in range(0, len(means), some):
        losses = averaged(problem, decision, listed, means[start : start + some], variances[start : start + some])
        found += [listed[i] for i in losses.argmin(axis=1).tolist()]
    return found


def averaged(
    problem: Problem, decision: Decision, actions: Sequence[Action], means: np.ndarray, variances: np.ndarray
) -> np.ndarray:
    """The loss [law, action] averaged over normal laws of ω."""
    distinct = list(dict.fromkeys(actions))
    if len(distinct) < len(actions):
        place = {a: i for i, a in enumerate(distinct)}
        return averaged(problem, decision, distinct, means, variances)[:, [place[a] for a in actions]]
    spread = np.sqrt(np.maximum(variances, 0.0))
    if isinstance(decision.loss, DistanceLoss):
        return _errors(decision.loss, means[:, None] - np.array([float(a) for a in actions])[None, :], spread[:, None])
    some = max(1, MOST_AT_ONCE // (HERMITE * len(actions)))
    if len(means) > some:
        parts = (slice(start, start + some) for start in range(0, len(means), some))
        return np.concatenate([averaged(problem, decision, actions, means[part], variances[part]) for part in parts])
    nodes, shares = np.polynomial.hermite_e.hermegauss(HERMITE)
    omegas = (means[:, None] + spread[:, None] * nodes[None, :]).ravel()
    if isinstance(decision.loss, FormulaLoss):
        table = decision.loss.table(np.array([float(a) for a in actions]), omegas)
    else:
        table = _at_lattice(problem, decision, actions, omegas)
    return np.asarray(table.reshape(len(actions), len(means), HERMITE) @ shares / shares.sum()).T


def _errors(loss: DistanceLoss, away: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """E ρ(x) for x normal with mean `away` and deviation `spread`."""
    from scipy.special import ndtr

    if loss.quantile is None:
        return np.asarray(away**2 + spread**2)
    with np.errstate(over="ignore"):
        units = np.clip(away / np.maximum(spread, np.finfo(float).tiny), -FURTHEST, FURTHEST)
    short = spread * np.exp(-(units**2) / 2) / sqrt(2 * pi) - away * ndtr(-units)
    return np.asarray(loss.pinballs * (float(loss.quantile) * away + short))


def _at_lattice(problem: Problem, decision: Decision, actions: Sequence[Action], omegas: np.ndarray) -> np.ndarray:
    """Payoffs that are only defined at values of ω: each point goes to the nearest of them."""
    exact = problem.omegas
    known = np.array([float(w) for w in exact])
    at = np.searchsorted((known[1:] + known[:-1]) / 2, omegas)
    return loss_table(decision, actions, exact)[:, at]
