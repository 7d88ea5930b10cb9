"""The trade-off function of a mechanism: how often an attacker must err.

    f(α) = the least FNR β of any test of P against Q with FPR at most α,

for the worst edge: the largest convex function below the trade-offs of all edges, so that the mechanism is f-DP
and f is the best one. Piecewise linear, with corners (alpha, beta). It is the convex conjugate of the profile:
1 − δ(ε) = min over α of f(α) + e^ε α. Each corner is rounded to the lower left, where the function stays valid.

References: Dong, Roth & Su (2022) (f-DP); CY (error region α + e^ε β ≥ 1 − δ).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.currencies.profiles import Profile
from discreet.errors import InputError
from discreet.numerics.exact import exact


@dataclass(frozen=True)
class Tradeoff:
    """Corners by rising alpha; beta falls from at most 1 to 0 and is linear in between, a lower bound throughout."""

    corners: tuple[tuple[float, float], ...]

    def beta(self, alpha: object) -> float:
        """A lower bound of the FNR at this FPR."""
        level = probability(alpha, "alpha")
        alphas, betas = zip(*self.corners, strict=True)
        found = float(np.interp(float(level), alphas, betas))
        return max(found - 2.0**-50 * found - 1e-300 * (found > 0), 0.0)


def tradeoff(source: Profile) -> Tradeoff:
    """The trade-off function of a mechanism from its profile."""
    curve = source.curve
    if len(source.channel.edges) == 0:
        return Tradeoff(((0.0, 1.0), (1.0, 0.0)))
    margin = curve.relative_error * curve.hits + curve.absolute_error
    alphas = np.maximum(curve.false_alarms * (1 - curve.relative_error) - curve.absolute_error, 0.0)
    betas = np.clip(1.0 - curve.hits - margin - 2.0**-52, 0.0, 1.0)
    # Without any output that gives P away the curve starts at FNR 1 exactly.
    betas = np.where(curve.hits == 0.0, 1.0, betas)
    points = list(zip(alphas.tolist(), betas.tolist(), strict=True))
    if points[-1][0] < 1.0:
        points.append((1.0, 0.0))
    return Tradeoff(tuple(points))


def approximate_tradeoff(epsilon: object, delta: object = 0) -> Callable[[float], float]:
    """f of (ε, δ)-DP: max(0, 1 − δ − e^ε α, e^−ε(1 − δ − α)), rounded down."""
    rate, chance = exact(epsilon, "epsilon"), probability(delta, "delta")
    growth = math.exp(float(rate))

    def f(alpha: float) -> float:
        found = max(0.0, 1 - float(chance) - growth * alpha, (1 - float(chance) - alpha) / growth)
        return max(found - 2.0**-48 * (1 + growth * alpha), 0.0)

    return f


def probability(value: object, what: str) -> Fraction:
    """An exact number from 0 to 1."""
    number = exact(value, what)
    if not 0 <= number <= 1:
        raise InputError(f"{what} is not a probability", found=str(number), allowed="0 to 1", remedy=f"correct {what}")
    return number
