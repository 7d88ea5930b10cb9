"""Moments of privacy losses in floats, each with a bound on its error.

    K(t) = log Σ p e^(tL),      L = log p − log q,

for rows p, q of correctly rounded probabilities. The error of each float logarithm of a probability is bounded by `log_error`:
a correctly rounded probability has a relative error of 2^−53, the library's logarithm is assumed within `LIBRARY_ULPS` steps,
and logarithms of probabilities below 10^-300 are differences of two logarithms of integers of `bits` bits.
"""

from __future__ import annotations

import numpy as np

from discreet.numerics.arrays import Floats
from discreet.numerics.outward import LIBRARY_ULPS


def log_error(logs: Floats, bits: int) -> float:
    """A bound on the error of each finite logarithm of a probability with a denominator of so many bits."""
    finite = logs[np.isfinite(logs)]
    largest = float(-finite.min(initial=0.0))
    direct = 2.0**-52 + LIBRARY_ULPS * 2.0**-52 * (largest + 1)
    if largest < 690.0:
        return direct
    return direct + 8 * 2.0**-52 * (bits + largest + 64)


def loss_errors(log_mass: Floats, losses: Floats, log_error: float) -> Floats:
    """A bound on the error of each loss: rounding and the library's steps; more for probabilities below 10^-300."""
    with np.errstate(invalid="ignore"):
        tiny = (log_mass < -690.0) | (log_mass - losses < -690.0)
        plain = 2.0**-52 * (16 + 10 * np.abs(log_mass) + 5 * np.abs(losses))
    return np.where(tiny, 2 * log_error, np.where(np.isfinite(plain), plain, 0.0))


def log_moments(mass: Floats, log_mass: Floats, losses: Floats, t: float | Floats, log_error: float) -> tuple[Floats, Floats]:
    """K(t) over the last axis and a bound on the error of each; t is one number or one per row.

    Σ p e^(tL) is 1 + Σ p (e^(tL) − 1): where tL is moderate the second form loses nothing near 1; elsewhere sums of
    exponentials are taken from their largest term.
    """
    factor = np.asarray(t, dtype=np.float64).reshape(-1, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        exponents = factor * losses
        small = exponents.max(axis=-1) < 30.0
        terms = np.where(mass > 0, mass * np.expm1(np.minimum(exponents, 31.0)), 0.0)
        sizes = np.abs(terms).sum(axis=-1)
        wrong = ((terms + mass) * loss_errors(log_mass, losses, log_error)).sum(axis=-1)
        plain = np.log1p(terms.sum(axis=-1))
        tilted = log_mass + exponents
        peak = tilted.max(axis=-1, keepdims=True)
        shift = np.where(np.isfinite(peak), peak, 0.0)
        summed = np.log(np.exp(tilted - shift).sum(axis=-1)) + shift[..., 0]
    summed = np.where(np.isposinf(peak[..., 0]), np.inf, summed)
    count, factors = mass.shape[-1], factor[:, 0]
    rounding = (count + 16) * 2.0**-51
    moment_error = (2 * factors * wrong + rounding * sizes) * np.exp(-np.maximum(plain, 0.0)) + count * 1e-290
    largest = np.where(np.isfinite(tilted), np.abs(tilted), 0.0).max(axis=-1)
    sum_error = (2 + 4 * factors) * log_error + rounding * (1 + largest)
    # An error of tL is worth up to Σ p e^(tL) of it, and one of the terms their size: the logarithm divides by the sum.
    values = np.where(small, np.maximum(plain, 0.0), np.maximum(summed, 0.0))
    errors = np.where(small, moment_error, sum_error)
    return values, np.where(np.isinf(values), 0.0, errors)
