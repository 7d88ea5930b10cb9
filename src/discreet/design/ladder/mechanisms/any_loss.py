"""Weighted-sum proxies under any loss, through the joint law of (S, omega).

After output y the weight of omega is J(omega, y) = sum_s P(omega, s) M(y|s), and the best action minimises
sum_omega J(omega, y) loss(a, omega): a median for absolute error, a quantile for pinball losses, a row of the
table otherwise. The joint law must fit (`sums.LARGEST_JOINT`); squared error has no such limit (`proxy`).
Values must be integers: multiply by a common denominator, and the loss by what that does to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.design.ladder.binomial import UNIT_ROUNDOFF
from discreet.design.ladder.mechanisms.noise import to_outputs
from discreet.design.ladder.mechanisms.proxy import Proxy, best_noise
from discreet.design.ladder.mechanisms.sums import SumPairs, joint_law
from discreet.errors import InputError, TooLarge
from discreet.mechanisms.integer_noise import IntegerNoise
from discreet.model.losses import DistanceLoss

Floats = NDArray[np.float64]

LARGEST_PRICING = 50_000_000
"""Actions times outputs that are priced at once."""


def other_loss(
    probabilities: ArrayLike,
    values: Sequence[int],
    respondents: int,
    epsilon: float,
    weights: Sequence[int],
    losses: Floats | DistanceLoss,
    actions: Sequence[float] | None = None,
) -> Proxy:
    """The best proxy with these weights under a loss that is best at a quantile, or under a table.

    A table is losses[action, omega] over all integers omega from N min(v) to N max(v); `actions` names its
    rows.
    """
    joint = joint_law(probabilities, values, weights, respondents)
    tried = [
        read_joint(joint, weights, noise, losses, actions)
        for noise in best_noise(epsilon, max(weights))
    ]
    return min(tried, key=lambda proxy: proxy.loss)


def read_joint(
    joint: SumPairs,
    weights: Sequence[int],
    noise: IntegerNoise,
    losses: Floats | DistanceLoss,
    actions: Sequence[float] | None = None,
) -> Proxy:
    """Attach one noise and the best actions to a sum whose joint law with omega is known."""
    states = joint.masses.shape[1]
    posterior = to_outputs(joint.masses, 0, noise, 0, states - 1)
    if isinstance(losses, DistanceLoss):
        chosen, total, size = _by_quantile(joint.values, posterior, losses)
    else:
        chosen, total, size = _by_table(
            joint.values, posterior, np.asarray(losses, dtype=np.float64), actions
        )
    gamma = (48.0 * (states + len(joint.values)) + 64.0) * UNIT_ROUNDOFF
    return Proxy(tuple(int(w) for w in weights), noise, 0, states - 1, chosen, total, 2 * gamma * size)


def _by_quantile(omega: Floats, posterior: Floats, loss: DistanceLoss) -> tuple[Floats, float, float]:
    if loss.quantile is None:
        raise InputError(
            "This loss is not best at a quantile", found=loss.kind, allowed="absolute or pinball error, or a table of losses",
            remedy="use `proxy` for squared error",
        )
    level = float(loss.quantile)
    density = posterior.sum(axis=0)
    below = np.cumsum(posterior, axis=0)
    chosen = omega[np.argmax(below >= level * density, axis=0)]
    each = loss.of_gap(omega[:, None] - chosen[None, :])
    return chosen, float((posterior * each).sum()), float(omega[-1] - omega[0])


def _by_table(
    omega: Floats, posterior: Floats, table: Floats, actions: Sequence[float] | None
) -> tuple[Floats, float, float]:
    if table.ndim != 2 or table.shape[1] != len(omega) or not table.shape[0]:
        raise InputError(
            "a table of losses needs one row per action and one column per value of the statistic",
            found=f"shape {table.shape}",
            allowed=f"{len(omega)} columns",
        )
    if not np.all(np.isfinite(table)):
        raise InputError(
            "a table of losses must hold finite numbers", remedy="Leave out actions that are never allowed."
        )
    outputs = posterior.shape[1]
    if table.shape[0] * outputs > LARGEST_PRICING:
        raise TooLarge(
            "losses of all actions at all outputs",
            size=table.shape[0] * outputs,
            fits=LARGEST_PRICING,
            remedy="Use fewer actions or coarser weights.",
        )
    expected = table @ posterior
    best = np.argmin(expected, axis=0)
    chosen = best.astype(np.float64) if actions is None else np.asarray(actions, dtype=np.float64)[best]
    return chosen, float(expected[best, np.arange(outputs)].sum()), float(np.abs(table).max())
