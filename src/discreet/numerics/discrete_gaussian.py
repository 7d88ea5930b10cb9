"""Discrete Gaussian probabilities from both sides: f(j) = e^(−j²/2σ²)/Z on the integers, Z = Σ_k e^(−k²/2σ²), for rational σ².

Z is irrational, so nothing here is a rational that pretends to be f(j): every number is a pair of whole numbers in units of 2^−bits
around the truth. With g(k) = e^(−k²/2σ²) and h(k) = g(k+1)/g(k),

    g(k+1) = g(k)·h(k),    h(k+1) = h(k)·e^(−1/σ²),    Σ_{k≥K} g(k) ≤ g(K)/(1 − h(K)),

each product rounded down on one side and up on the other. Logarithms in floats are for reading, not for proofs.
Reference: Canonne, Kamath & Steinke (2020), Def. 1.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isqrt, log, log1p

import numpy as np

from discreet.frozen import dataclass
from discreet.numerics.brackets import exp_bracket

Pair = tuple[int, int]
REACH = 40
"""So many σ away a float has underflowed."""


@dataclass(frozen=True, eq=False)
class GaussianBrackets:
    """Both sides of f(j) and of Σ_{i≥j} f(i) for j = 0, …, count − 1, in units of 2^−bits."""

    bits: int
    masses: list[Pair]
    tails: list[Pair]


def gaussian_brackets(sigma_squared: Fraction, count: int, bits: int) -> GaussianBrackets:
    """The first `count` probabilities and tails."""
    inner = bits + 2 * (count + isqrt(ceil(sigma_squared)) + 1).bit_length() + 24
    one = 1 << inner
    change = _exponential(-1 / sigma_squared, inner)
    value, factor = (one, one), _exponential(-1 / (2 * sigma_squared), inner)
    found: list[Pair] = []
    while len(found) < count or value[1] > 1 << 8:
        found.append(value)
        value, factor = _product(value, factor, inner), _product(factor, change, inner)
    rest = (0, -(-value[1] * one // (one - factor[1])))
    sums = [rest]
    for low, high in reversed(found):
        sums.append((sums[-1][0] + low, sums[-1][1] + high))
    sums.reverse()
    total = (2 * sums[1][0] + found[0][0], 2 * sums[1][1] + found[0][1])
    return GaussianBrackets(
        bits, [_quotient(pair, total, bits) for pair in found[:count]], [_quotient(pair, total, bits) for pair in sums[:count]]
    )


def gaussian_logs(sigma_squared: Fraction, distances: np.ndarray) -> np.ndarray:
    """log f(j) in floats."""
    return np.asarray(-(distances.astype(float) ** 2) / (2 * float(sigma_squared)) - _log_total(sigma_squared))


def gaussian_log_tails(sigma_squared: Fraction, longest: int) -> np.ndarray:
    """log Σ_{i≥j} f(i) in floats for j = 0, …, longest."""
    span = longest + REACH * (isqrt(ceil(sigma_squared)) + 1)
    logs = gaussian_logs(sigma_squared, np.arange(span + 1))
    return np.logaddexp.accumulate(logs[::-1])[::-1][: longest + 1]


def gaussian_moments(sigma_squared: Fraction) -> tuple[float, float]:
    """E J² and E|J| in floats."""
    k = np.arange(1, REACH * (isqrt(ceil(sigma_squared)) + 1), dtype=float)
    masses = np.exp(gaussian_logs(sigma_squared, k))
    return 2 * float((k * k * masses)[::-1].sum()), 2 * float((k * masses)[::-1].sum())


def _log_total(sigma_squared: Fraction) -> float:
    k = np.arange(1, REACH * (isqrt(ceil(sigma_squared)) + 1), dtype=float)
    tail = float(np.exp(-k * k / (2 * float(sigma_squared)))[::-1].sum())
    return log1p(2 * tail) if tail < 1 else log(1 + 2 * tail)


def _exponential(exponent: Fraction, bits: int) -> Pair:
    low, high = exp_bracket(exponent, bits + 8)
    return (low.numerator << bits) // low.denominator, -(-(high.numerator << bits) // high.denominator)


def _product(a: Pair, b: Pair, bits: int) -> Pair:
    return a[0] * b[0] >> bits, -(-a[1] * b[1] >> bits)


def _quotient(pair: Pair, total: Pair, bits: int) -> Pair:
    return (pair[0] << bits) // total[1], min(-(-(pair[1] << bits) // total[0]), 1 << bits)
