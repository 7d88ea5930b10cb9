"""The table of maximum entropy for D and V: what the agencies' own generators make, as a baseline and a starting point.

At each count the noise p(v) on max(−i, −D) ≤ v ≤ D maximises −Σ p log p subject to Σ v·p = 0 and Σ v²·p = V, or ≤ V as
`ptable` has it. The maximum is p(v) ∝ e^(a·v + b·v²), found by Newton's method on the convex function log Σ e^(a·v +
b·v²) − b·V; where ≤ V does not bind, b = 0. Floats propose; `rounding` makes them exact. Monotony, an option of
`ptable`, is not imposed. Reference: Giessing (2016).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.errors import InputError
from discreet.numerics.exact import brief

STEPS = 200
TOLERANCE = 1e-13


def entropy_rows(noise: int, variance: Fraction, *, at_most: bool = False, blocked: tuple[int, ...] = ()) -> list[dict[int, float]]:
    """Chances of each noise at counts 0 to D (more when outputs are blocked), in floats."""
    check_parameters(noise, variance)
    last = noise + max(blocked, default=0)
    rows: list[dict[int, float]] = [{0: 1.0}]
    for count in range(1, last + 1):
        values = allowed_noise(count, noise, blocked)
        rows.append(_row(values, float(row_variance(count, noise, variance)), at_most))
    return rows


def allowed_noise(count: int, noise: int, blocked: tuple[int, ...] = ()) -> list[int]:
    """The noise that a count may get: at most D from 0, nothing below 0, nothing blocked."""
    if count == 0:
        return [0]
    return [v for v in range(-min(count, noise), noise + 1) if count + v not in blocked]


def row_variance(count: int, noise: int, variance: Fraction) -> Fraction:
    """V, or the most that unbiased noise from −i to D can have where that is less: i·D."""
    return min(variance, Fraction(min(count, noise) * noise))


def check_parameters(noise: int, variance: Fraction) -> None:
    """Refuse a D and V that no table has."""
    if not 1 <= noise <= 50 or not 0 < variance <= noise * noise:
        raise InputError(
            "There is no table with this D and V",
            found=f"D = {noise}, V = {brief(variance)}",
            allowed="D from 1 to 50, V above 0 and at most D²",
            remedy="for instance D = 5, V = 3",
        )


def _row(values: list[int], variance: float, at_most: bool) -> dict[int, float]:
    v = np.array(values, dtype=float)
    if at_most:
        free = _newton(v, np.zeros((0,)), None)
        if float(free @ v**2) <= variance:
            return dict(zip(values, free.tolist(), strict=True))
    found = _newton(v, v**2, variance)
    return dict(zip(values, found.tolist(), strict=True))


def _newton(v: np.ndarray, squares: np.ndarray, variance: float | None) -> np.ndarray:
    """argmax of entropy with mean 0 and, when given, E[v²] = variance."""
    features = v[None, :] if variance is None else np.stack([v, squares])
    target = np.zeros(1) if variance is None else np.array([0.0, variance])
    x = np.zeros(len(target))
    p = _weights(x, features)
    for _ in range(STEPS):
        gradient = features @ p - target
        if np.abs(gradient).max() < TOLERANCE:
            break
        centred = features - (features @ p)[:, None]
        hessian = (centred * p) @ centred.T + 1e-14 * np.eye(len(target))
        step = np.linalg.solve(hessian, -gradient)
        size, value = 1.0, _potential(x, features, target)
        while _potential(x + size * step, features, target) > value + 1e-4 * size * float(gradient @ step) and size > 1e-10:
            size /= 2
        x = x + size * step
        p = _weights(x, features)
    return p


def _weights(x: np.ndarray, features: np.ndarray) -> np.ndarray:
    exponents = x @ features
    raw = np.exp(exponents - exponents.max())
    return np.asarray(raw / raw.sum())


def _potential(x: np.ndarray, features: np.ndarray, target: np.ndarray) -> float:
    exponents = x @ features
    peak = float(exponents.max())
    return float(peak + np.log(np.exp(exponents - peak).sum()) - x @ target)
