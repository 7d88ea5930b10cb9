"""Prices of the set-aside program, β of the forms and ν of the types: the best ν for a β, and the bound that they prove in floats.

For given β the bases are apart. Each asks for the least of Σ h_{a,i}·P_{a,i} with y_a ≤ P_{a,i} ≤ e^ε·y_a and Σ_a P_{a,i} = 1 (ν),
h the cost less what β takes off: a program of a few prices, solved for all bases at once by an interior point as in
`set_aside_solver`, each with steps of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.numerics.arrays import Flags, Floats

if TYPE_CHECKING:
    from discreet.design.ladder.bounds.set_aside import SetAsideProgram


STEPS, CENTRING, BACK = 30, 0.1, 0.9
RIDGE = 1e-11
NEAR = 1e-4
"""Prices are sought until all bases together are so near, as a share of the bound's variance."""


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


def lowered(knots: Floats) -> Floats:
    """h²/4 of the wider interval beside each node: by so much an action beside it may cost less than its chord."""
    bends = np.diff(knots) ** 2 / 4
    return np.asarray(np.maximum(np.append(bends, 0.0), np.append(0.0, bends)))


def best_levels(program: SetAsideProgram, epsilon: float, knots: Floats, forms: Floats) -> Floats:
    """The ν [base, type] that prove most with these β, nodes counted as `lowered`.

    Every base is a program of its own; one that has no digits left stays as it is.
    """
    with np.errstate(all="ignore"):
        return _best_levels(program, epsilon, knots, forms)


def _best_levels(program: SetAsideProgram, epsilon: float, knots: Floats, forms: Floats) -> Floats:
    q, here = math.exp(epsilon), program.here
    cost = (program.costs(knots) - priced(program, forms) - lowered(knots)[:, None, None]) * program.shares * here
    spread = program.second
    nu = np.where(here, cost.min(axis=0) - spread * program.shares, 0.0)
    p = np.full(cost.shape, 1.0 / len(knots))
    y = np.full(cost.shape[:2], 1.0 / len(knots) / math.sqrt(q))
    zt = np.where(here, (cost - nu) / (q - 1), 1.0)
    zu, types = q * zt, np.arange(here.shape[1])
    for _ in range(STEPS):
        u, t = p - y[:, :, None], q * y[:, :, None] - p
        products = ((zu * u + zt * t) * here).sum(axis=(0, 2))
        if float(program.masses @ products) < NEAR * spread:
            break
        target = (CENTRING * products / (2 * len(knots) * np.maximum(here.sum(axis=1), 1)))[None, :, None] * here
        alpha, tau = zu / u, zt / t
        diagonal = alpha + tau
        inverse, cross = here / diagonal, -(alpha + q * tau) * here
        gamma = ((q - 1) ** 2 * alpha * tau / diagonal * here).sum(axis=2)
        slope = inverse * cross
        ku, kt = (target / u - zu) * here, (target / t - zt) * here
        right = ku - kt - (cost - nu - zu + zt) * here
        low = (q * (kt + zt * here) - ku - zu * here).sum(axis=2)
        over = slope / gamma[:, :, None]
        free = inverse * right + over * ((slope * right).sum(axis=2) - low)[:, :, None]
        joined = np.einsum("abi,abj->bij", slope, over)
        joined[:, types, types] += inverse.sum(axis=0)
        joined[:, types, types] += RIDGE * joined[:, types, types].max(axis=1, keepdims=True) + ~here
        short = ((free + p).sum(axis=0) - 1.0) * here
        dnu = -np.linalg.solve(joined, short[:, :, None])[:, :, 0] * here
        dp = free + inverse * dnu + over * (slope * dnu).sum(axis=2)[:, :, None]
        dy = (low - (cross * dp).sum(axis=2)) / ((alpha + q * q * tau) * here).sum(axis=2)
        du, dt = (dp - dy[:, :, None]) * here, (q * dy[:, :, None] - dp) * here
        dzu, dzt = ku - alpha * du, kt - tau * dt
        sound = np.isfinite(dnu).all(axis=1) & np.isfinite(dy).all(axis=0)
        sound &= (np.isfinite(dp) & np.isfinite(dzu) & np.isfinite(dzt)).all(axis=(0, 2))
        if not sound.any():
            break
        first = np.minimum(_longest(u, du), _longest(t, dt))
        second = np.minimum(_longest(zu, dzu), _longest(zt, dzt))
        p, y = p + _scaled(first[:, None], dp, sound[:, None]), y + _scaled(first, dy, sound)
        nu = nu + _scaled(second[:, None], dnu, sound[:, None])
        zu, zt = (z + _scaled(second[:, None], dz * here, sound[:, None]) for z, dz in ((zu, dzu), (zt, dzt)))
    return np.asarray(np.where(here, nu / program.shares, 0.0))


def _scaled(length: Floats, change: Floats, sound: Flags) -> Floats:
    return np.asarray(np.where(sound, length * change, 0.0))


def _longest(x: Floats, dx: Floats) -> Floats:
    """For every base how far it may go, at most 1."""
    falling = dx < 0
    return np.asarray(np.minimum(1.0, BACK * np.where(falling, x / np.where(falling, -dx, 1.0), np.inf).min(axis=(0, 2))))
