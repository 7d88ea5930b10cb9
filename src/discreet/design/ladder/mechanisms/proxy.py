"""Weighted-sum proxies: perturb S = sum_i w(theta_i) instead of omega, then read the output by Bayes' rule.

A proxy is an integer weight per type (0..W), integer noise that is epsilon-DP for steps up to W (`noise`), a
range of outputs, and for each output the action that is best given it.  Replacing one respondent moves S by
at most W, so the published output is epsilon-DP.  For squared error the action is E[omega|y] and

    loss = E Var(omega|S) + E Var(g(S)|Y),      g(s) = E[omega|S=s],

computed in time linear in the range of S: no table of states by outputs is formed.  Other losses go through
the joint law of (S, omega) (`losses`).

Accuracy.  Every sum has non-negative terms or lives on the scale of a residual; `loss_error` bounds rounding
and the cut tails, so that the expected loss of the mechanism with exactly this noise is at most loss +
loss_error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.design.ladder.binomial import UNIT_ROUNDOFF, binomial_window, hidden_variance
from discreet.design.ladder.mechanisms.noise import geometric_noise, staircase_noise, to_outputs
from discreet.design.ladder.mechanisms.sums import SumLaw, sum_law
from discreet.errors import InputError
from discreet.mechanisms.integer_noise import IntegerNoise

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Proxy:
    """A weighted sum, its noise, its outputs start..stop, the action after each, and the expected loss."""

    weights: tuple[int, ...]
    noise: IntegerNoise
    start: int
    stop: int
    actions: Floats
    loss: float
    loss_error: float

    @property
    def sensitivity(self) -> int:
        """W, the largest step one replacement makes."""
        return max(self.weights)

    def row(self, state: int) -> Floats:
        """The probabilities of all outputs at one state: a row of the finite kernel."""
        return to_outputs(np.ones(1), state, self.noise, self.start, self.stop)

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.weights))
        return f"weights ({shown}) with {self.noise.family} noise, outputs {self.start}..{self.stop}"


def squared_loss_proxy(
    probabilities: ArrayLike,
    values: Sequence[float],
    respondents: int,
    weights: Sequence[int],
    noise: IntegerNoise,
    allowed: Sequence[float] | None = None,
) -> Proxy:
    """The proxy with these weights and this noise under squared error, real actions unless some are
    `allowed`."""
    law = sum_law(probabilities, values, weights, respondents)
    return read_by_bayes(law, weights, noise, values, respondents, allowed)


def read_by_bayes(
    law: SumLaw,
    weights: Sequence[int],
    noise: IntegerNoise,
    values: Sequence[float],
    respondents: int,
    allowed: Sequence[float] | None = None,
) -> Proxy:
    """Attach noise and the best action after each output (of the allowed ones; None: all reals) to a sum."""
    centre = float(law.masses @ law.means) / float(law.masses.sum())
    g = law.means - centre
    moments = np.stack([law.masses, law.masses * g, law.masses * g * g])
    density, first, second = to_outputs(moments, law.first, noise, law.first, law.last)
    safe = np.where(density > 0, density, 1.0)
    hidden = math.fsum(np.maximum(second - first * first / safe, 0.0))
    actions = centre + first / safe
    if allowed is not None:
        nearest = _nearest(actions, np.sort(np.asarray(allowed, dtype=np.float64)))
        hidden += math.fsum(density * (nearest - actions) ** 2)
        actions = nearest
    widest = respondents * (max(values) - min(values))
    gamma = (48.0 * (len(law.masses) + respondents) + 64.0) * UNIT_ROUNDOFF
    scale = math.sqrt(float(law.masses @ (law.variances + g * g))) + law.magnitude
    return Proxy(
        weights=tuple(int(w) for w in weights),
        noise=noise,
        start=law.first,
        stop=law.last,
        actions=actions,
        loss=law.unexplained + hidden,
        loss_error=gamma * scale**2 + law.dropped * widest**2,
    )


def _nearest(points: Floats, allowed: Floats) -> Floats:
    if len(allowed) == 1:
        return np.full(len(points), allowed[0])
    above = np.clip(np.searchsorted(allowed, points), 1, len(allowed) - 1)
    low, high = allowed[above - 1], allowed[above]
    return np.where(points - low <= high - points, low, high)


def geometric_baseline(
    probabilities: ArrayLike, values: Sequence[float], respondents: int, epsilon: float
) -> Proxy:
    """What people do today: omega plus geometric noise of scale sensitivity/epsilon, then Bayes remapping."""
    weights, exact = lattice_weights(values)
    if not exact:
        raise InputError(
            "geometric noise on the statistic needs values on a lattice of at most 10000 steps",
            found=list(values),
        )
    return squared_loss_proxy(
        probabilities, values, respondents, weights, geometric_noise(epsilon, max(weights))
    )


def lattice_weights(values: Sequence[float], finest: int = 10_000) -> tuple[tuple[int, ...], bool]:
    """Integers proportional to values - min, and whether that is exact (to 1e-12 of the span)."""
    low, span = min(values), max(values) - min(values)
    if span == 0:
        raise InputError("all types have the same value: the statistic is a constant", found=list(values))
    shares = (np.asarray(values, dtype=np.float64) - low) / span
    for steps in range(1, finest + 1):
        scaled = shares * steps
        if np.all(np.abs(scaled - np.round(scaled)) <= 1e-12 * steps):
            return tuple(int(x) for x in np.round(scaled)), True
    return tuple(int(x) for x in np.round(shares * 240)), False


def count_loss(
    probabilities: Sequence[float],
    values: Sequence[float],
    respondents: int,
    epsilon: float,
    members: Sequence[int],
) -> tuple[float, float]:
    """(loss, error bound) of geometric noise on c = number of respondents whose type is in `members`; any N.

    iid respondents make E[omega|c] affine and Var(omega|c) affine in c, so
    loss = N (p_in Var_in + p_out Var_out) + (mean_in - mean_out)^2 E Var(c|Y).
    """
    p, v = np.asarray(probabilities, dtype=np.float64), np.asarray(values, dtype=np.float64)
    inside = np.zeros(len(v), dtype=bool)
    inside[list(members)] = True
    share = float(p[inside].sum())
    if not 0.0 < share < 1.0:
        raise InputError(
            "a count needs types inside and outside with positive probability", found=list(members)
        )
    means, variances = [], []
    for part in (inside, ~inside):
        q = p[part] / p[part].sum()
        means.append(float(q @ v[part]))
        variances.append(float(q @ (v[part] - means[-1]) ** 2))
    within = respondents * (share * variances[0] + (1 - share) * variances[1])
    hidden = hidden_variance(binomial_window(respondents, share)[1], epsilon)
    slope = (means[0] - means[1]) ** 2
    error = slope * hidden.count_error + 64 * len(v) * UNIT_ROUNDOFF * within
    return within + slope * hidden.count, error


def best_noise(epsilon: float, sensitivity: int) -> list[IntegerNoise]:
    """Noises worth trying: the staircase of least variance and its neighbours, and the geometric."""
    middle = staircase_noise(epsilon, sensitivity).plateau
    plateaus = range(max(1, middle - 2), min(sensitivity, middle + 2) + 1)
    return [*(staircase_noise(epsilon, sensitivity, r) for r in plateaus), geometric_noise(epsilon, sensitivity)]
