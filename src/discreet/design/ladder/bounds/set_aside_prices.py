"""Prices of the set-aside program, β of the forms and ν of the types, and the bound that they prove in floats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.numerics.arrays import Floats

if TYPE_CHECKING:
    from discreet.design.ladder.bounds.set_aside import SetAsideProgram


@dataclass(frozen=True, eq=False)
class Prices:
    """β [node, form, state] and ν [base, type], and the bound that they prove."""

    forms: Floats
    levels: Floats
    bound: float


def proved(program: SetAsideProgram, epsilon: float, knots: Floats, forms: Floats, levels: Floats) -> float:
    """The bound of the theorem (`certify.bounds.set_aside`) in floats."""
    q = math.exp(epsilon)
    cost = program.costs(knots) - priced(program, forms) - levels
    shares = program.shares[None] * program.here
    held = shares.sum(axis=1)

    def phi(less: float | Floats) -> Floats:
        x = shares * (cost - less)
        return np.asarray(np.where(x > 0, x, q * x).sum(axis=2))

    at = phi(0.0)
    worst = at.min(axis=0)
    widths = np.diff(knots)
    curve = q * held[None] * widths[:, None] ** 2
    low, high = at[:-1], at[1:]
    t = np.clip(0.5 - (high - low) / (2.0 * curve), 0.0, 1.0)
    dip = (1 - t) * low + t * high - t * (1 - t) * curve
    bends = widths**2 / 4
    lesser = np.minimum(_bent(cost[:-1], bends, shares, q), _bent(cost[1:], bends, shares, q))
    between = np.where((t > 0) & (t < 1), np.maximum(dip, lesser), dip)
    worst = np.minimum(np.minimum(worst, between.min(axis=0, initial=np.inf)), 0.0)
    return float(program.second + program.masses @ ((shares * levels).sum(axis=1) + worst))


def _bent(cost: Floats, bends: Floats, shares: Floats, q: float) -> Floats:
    x = shares * (cost - bends[:, None, None])
    return np.asarray(np.where(x > 0, x, q * x).sum(axis=2))


def priced(program: SetAsideProgram, forms: Floats) -> Floats:
    """Σ_k β_k(a, b + w_i)·(N·w_i − s) with its sign turned: what the prices take off, [node, base, type]."""
    found = np.zeros((len(forms), *program.here.shape))
    for k, apart in enumerate(program.coefficients):
        found += apart * forms[:, k][:, program.targets]
    return found * program.here
