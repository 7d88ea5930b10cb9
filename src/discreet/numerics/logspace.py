"""Sums of exponentials kept as logarithms, where probabilities span e^(−ε·diameter) and would underflow.

    log_sum_exp(a) = log Σ e^a_i

−inf stands for probability zero everywhere and never turns into NaN. These are floats: they propose, they do
not certify. Multinomial probabilities follow Loader (2000), "Fast and accurate computation of binomial
probabilities": Stirling's formula with its exact error, and deviances that do not cancel, so that they stay
accurate where differences of log-gammas lose every digit.
"""

import math
from decimal import Context, Decimal
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from discreet.numerics.arrays import Floats

HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)
STIRLING_TABLE = 16


def log_sum_exp(logs: ArrayLike, axis: int | None = None) -> Floats:
    """log Σ e^logs along an axis (over everything when None); −inf for an empty sum or a sum of zeros."""
    values = np.asarray(logs, dtype=np.float64)
    if values.size == 0 or (axis is not None and values.shape[axis] == 0):
        return np.full(np.zeros(values.shape).sum(axis=axis).shape, -np.inf)
    peak = np.max(values, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        total = np.log(np.sum(np.exp(values - shift), axis=axis, keepdims=True)) + shift
    return np.asarray(np.squeeze(total, axis=axis) if axis is not None else total.reshape(()))


def log1mexp(logs: ArrayLike) -> Floats:
    """log(1 − e^x) for x ≤ 0, accurate at both ends (Mächler 2012); −inf at x = 0."""
    x = np.asarray(logs, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > -math.log(2), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def log_gamma(values: ArrayLike) -> Floats:
    """log Γ(x) for x > 0, computed once per distinct value."""
    x = np.asarray(values, dtype=np.float64)
    distinct, where = np.unique(x, return_inverse=True)
    return np.array([math.lgamma(value) for value in distinct])[where].reshape(x.shape)


def log_factorial(values: ArrayLike) -> Floats:
    """log n! for integers n ≥ 0, by Stirling's formula with its error added back."""
    n = np.asarray(values, dtype=np.float64)
    positive = np.maximum(n, 1.0)
    stirling = (positive + 0.5) * np.log(positive) - positive + HALF_LOG_TWO_PI + stirling_error(positive)
    return np.where(n <= 1, 0.0, stirling)


def log_multinomial_pmf(counts: ArrayLike, probabilities: ArrayLike) -> Floats:
    """log of the probability of integer counts (last axis) of independent respondents.

    The probabilities of the types (last axis) sum to one. A count of a type of probability zero gives −inf.
    """
    k = np.asarray(counts, dtype=np.float64)
    n = k.sum(axis=-1, keepdims=True)
    expected = n * np.asarray(probabilities, dtype=np.float64)
    return np.asarray(_stirling_corrections(k, n) - _deviance(k, expected).sum(axis=-1))


def stirling_error(values: ArrayLike) -> Floats:
    """log n! − ( (n + ½) log n − n + ½ log 2π ) for integers n ≥ 1, and 0 at n = 0."""
    n = np.asarray(values, dtype=np.float64)
    small = n < STIRLING_TABLE
    table = _stirling_table()[np.where(small, n, 0).astype(np.int64)]
    inverse = 1.0 / np.where(small, float(STIRLING_TABLE), n)
    square = inverse * inverse
    # The asymptotic series with Bernoulli numbers B_2j / (2j (2j − 1) n^(2j − 1)).
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
    return np.where(small, table, series)


def _stirling_corrections(k: Floats, n: Floats) -> Floats:
    """What is left of log(n!/Πk!) beside Σ k log(n/k); types with no respondent contribute 0."""
    whole = np.where(n > 0, HALF_LOG_TWO_PI + 0.5 * np.log(np.maximum(n, 1.0)) + stirling_error(n), 0.0)
    parts = np.where(k > 0, HALF_LOG_TWO_PI + 0.5 * np.log(np.maximum(k, 1.0)) + stirling_error(k), 0.0)
    return np.asarray(whole[..., 0] - parts.sum(axis=-1))


def _deviance(k: Floats, expected: Floats) -> Floats:
    """k log(k/m) + m − k ≥ 0 for expectation m, without cancellation near k = m; +inf at m = 0 < k."""
    k, m = np.broadcast_arrays(k, expected)
    near = np.abs(k - m) < 0.1 * (k + m)
    with np.errstate(divide="ignore", invalid="ignore"):
        far_value = np.where(k > 0, k * np.log(k / m) + m - k, m)
    # With v = (k − m)/(k + m), k log(k/m) = 2k·atanh v: the deviance is (k − m)v + 2k Σ_{j≥1} v^(2j+1)/(2j+1)
    v = np.divide(k - m, k + m, out=np.zeros(k.shape), where=near)
    square = v * v
    tail = np.zeros(k.shape)
    for odd in range(19, 1, -2):
        tail = square * (tail + 1.0 / odd)
    return np.where(near, (k - m) * v + 2.0 * k * v * tail, far_value)


@lru_cache(maxsize=1)
def _stirling_table() -> Floats:
    """Stirling errors of 0..15, from logarithms of 40 digits so that the subtraction keeps full precision."""
    context = Context(prec=40)
    half_log_two_pi = Decimal("0.9189385332046727417803297364056176398614")
    errors = [Decimal(0)]
    for n in range(1, STIRLING_TABLE):
        stirling = (Decimal(n) + Decimal("0.5")) * context.ln(Decimal(n)) - n + half_log_two_pi
        errors.append(context.ln(Decimal(math.factorial(n))) - stirling)
    return np.array([float(error) for error in errors])
