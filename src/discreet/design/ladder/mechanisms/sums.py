"""The law of an integer-weighted sum S = sum_i w(theta_i), and what it tells about omega = sum_i v(theta_i).

For independent respondents the triple of sequences over s

    P(s) = P(S=s),   A(s) = E[R; S=s],   B(s) = E[R^2; S=s],        R = omega - c S - d

multiplies like polynomials: (P,A,B)*(P',A',B') = (PP', AP'+PA', BP'+2AA'+PB').  R is the residual of a
regression of v on w, so that moments are on the scale of what S does not explain and nothing cancels.  Then
E[omega|S=s] = c s + d + A/P and Var(omega|S=s) = B/P - (A/P)^2.

Accuracy.  Products are direct convolutions of non-negative sequences (signed for A), so every P(s) keeps its
relative accuracy; tails are cut where their total mass is below `TAIL`, and the cut mass is reported.
`quick=True` uses fast Fourier convolutions whose absolute error (about 1e-16) drowns masses below 1e-13:
those are cut.  Use it to search, not to state a value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InputError, TooLarge

Floats = NDArray[np.float64]

TAIL = 1e-26
"""Mass that one cut of one tail may drop."""

QUICK_TAIL = 1e-12

LARGEST_RANGE = 100_000
"""Likely values of S that direct convolutions take (about ten seconds); quick ones take forty times more."""

LARGEST_JOINT = 4_000_000
"""Cells of the joint law of (S, omega) that are formed at most."""


@dataclass(frozen=True)
class SumLaw:
    """P(S=s), E[omega|S=s] and Var(omega|S=s) for s = first, first+1, ...; `dropped` is the mass left out."""

    first: int
    masses: Floats
    means: Floats
    variances: Floats
    dropped: float
    magnitude: float
    """sum_i E|R_i|: signed sums were formed on this scale, so their rounding error is relative to it."""

    @property
    def last(self) -> int:
        """The largest s kept."""
        return self.first + len(self.masses) - 1

    @property
    def unexplained(self) -> float:
        """E Var(omega | S): the loss of someone who sees S itself."""
        return float(self.masses @ self.variances)


@dataclass(frozen=True)
class SumPairs:
    """P(omega = values[k], S = s) as `masses[k, s]`."""

    values: Floats
    masses: Floats


@dataclass(frozen=True)
class _Triple:
    first: int
    p: Floats
    a: Floats
    b: Floats
    dropped: float


def sum_law(
    probabilities: ArrayLike,
    values: Sequence[float],
    weights: Sequence[int],
    respondents: int,
    quick: bool = False,
) -> SumLaw:
    """The law of S with the conditional mean and variance of omega.

    `probabilities` is one row (iid respondents) or one row per respondent (independent ones).
    """
    rows = np.atleast_2d(np.asarray(probabilities, dtype=np.float64))
    v = np.asarray(values, dtype=np.float64)
    w = check_weights(weights, len(v))
    if rows.shape[1] != len(v) or rows.shape[0] not in (1, respondents):
        raise InputError(
            "probabilities must be one row, or one row per respondent, with one entry per type",
            found=f"shape {rows.shape} for {respondents} respondents and {len(v)} types",
        )
    length, most = likely_length(rows, weights, respondents), LARGEST_RANGE * (40 if quick else 1)
    if length > most:
        raise TooLarge(
            "the likely values of the weighted sum",
            size=length,
            fits=most,
            remedy="Use smaller weights: a coarser lattice or a lower clipping.",
        )
    pooled = rows.mean(axis=0)
    mean_v, mean_w = float(pooled @ v), float(pooled @ w)
    spread = float(pooled @ (w - mean_w) ** 2)
    slope = float(pooled @ ((w - mean_w) * (v - mean_v))) / spread if spread > 0 else 0.0
    offsets = rows @ (v - slope * w)
    residuals = v - slope * w - offsets[:, None]
    magnitude = float((rows * np.abs(residuals)).sum()) * (respondents if rows.shape[0] == 1 else 1)
    if rows.shape[0] == 1:
        law = _power(_single(rows[0], residuals[0], w), respondents, quick)
        offset = respondents * float(offsets[0])
    else:
        law = _product([_single(r, u, w) for r, u in zip(rows, residuals, strict=True)], quick)
        offset = math.fsum(offsets)
    safe = np.where(law.p > 0, law.p, 1.0)
    residual = law.a / safe
    means = slope * np.arange(law.first, law.first + len(law.p)) + offset + residual
    variances = np.maximum(law.b / safe - residual**2, 0.0)
    return SumLaw(law.first, law.p, means, variances, law.dropped, magnitude)


def joint_law(
    probabilities: ArrayLike, values: Sequence[int], weights: Sequence[int], respondents: int
) -> SumPairs:
    """P(S=s, omega=k) for integer values, as `masses[omega, S]`; refused when it does not fit."""
    rows = np.atleast_2d(np.asarray(probabilities, dtype=np.float64))
    w = check_weights(weights, len(values))
    low = min(values)
    height, width = respondents * (max(values) - low) + 1, respondents * int(w.max()) + 1
    if height * width > LARGEST_JOINT:
        raise TooLarge(
            "the joint law of the weighted sum and the statistic",
            size=f"{height} x {width} cells",
            fits=f"{LARGEST_JOINT} cells",
            remedy="Use coarser weights, fewer respondents, or squared error, which needs moments only.",
        )

    def single(row: Floats) -> Floats:
        grid = np.zeros((max(values) - low + 1, int(w.max()) + 1))
        for p, value, weight in zip(row, values, w, strict=True):
            grid[value - low, weight] += p
        return grid

    def times(x: Floats, y: Floats) -> Floats:
        big, small = (x, y) if x.size >= y.size else (y, x)
        out = np.zeros((big.shape[0] + small.shape[0] - 1, big.shape[1] + small.shape[1] - 1))
        for i, j in zip(*np.nonzero(small), strict=True):
            out[i : i + big.shape[0], j : j + big.shape[1]] += small[i, j] * big
        return out

    # One respondent at a time: each factor has at most T+1 cells, so all terms are non-negative and cheap.
    total = np.ones((1, 1))
    for i in range(respondents):
        total = times(total, single(rows[i if rows.shape[0] > 1 else 0]))
    return SumPairs(low * respondents + np.arange(total.shape[0], dtype=np.float64), total)


def likely_length(probabilities: ArrayLike, weights: Sequence[int], respondents: int) -> int:
    """About how many values of S are kept: all of them, or twelve standard deviations to each side."""
    rows = np.atleast_2d(np.asarray(probabilities, dtype=np.float64))
    w = np.asarray(weights, dtype=np.float64)
    variance = float((rows @ w**2 - (rows @ w) ** 2).mean()) * respondents
    return int(min(respondents * w.max(), 24 * math.sqrt(variance) + 60 * w.max())) + 1


def check_weights(weights: Sequence[int], types: int) -> NDArray[np.int64]:
    """Weights as an array: one non-negative integer per type, the smallest zero, not all zero."""
    w = np.asarray(weights)
    if w.shape != (types,) or not np.issubdtype(w.dtype, np.integer) or w.min() != 0 or w.max() < 1:
        raise InputError(
            "weights of types must be integers from zero up, one per type, and not all equal",
            found=list(weights),
            remedy="Subtract the smallest weight; a constant weight carries no information.",
        )
    return w.astype(np.int64)


def _single(row: Floats, residuals: Floats, w: NDArray[np.int64]) -> _Triple:
    size = int(w.max()) + 1
    p, a, b = (
        np.bincount(w, weights=row * residuals**k, minlength=size).astype(np.float64) for k in range(3)
    )
    return _Triple(0, p, a, b, 0.0)


def _power(base: _Triple, exponent: int, quick: bool) -> _Triple:
    result: _Triple | None = None
    while True:
        if exponent & 1:
            result = base if result is None else _times(result, base, quick)
        exponent >>= 1
        if not exponent:
            break
        base = _times(base, base, quick)
    if result is None:
        raise InputError("a sum needs at least one respondent", found=0)
    return result


def _product(factors: list[_Triple], quick: bool) -> _Triple:
    while len(factors) > 1:
        paired = [_times(x, y, quick) for x, y in zip(factors[::2], factors[1::2], strict=False)]
        factors = paired + ([factors[-1]] if len(factors) % 2 else [])
    return factors[0]


def _times(x: _Triple, y: _Triple, quick: bool) -> _Triple:
    if quick and min(len(x.p), len(y.p)) > 64:
        from scipy.signal import fftconvolve as convolve
    else:
        convolve = np.convolve
    same = x is y
    p = np.maximum(convolve(x.p, y.p), 0.0)
    a = 2 * convolve(x.a, x.p) if same else convolve(x.a, y.p) + convolve(x.p, y.a)
    cross = 2 * convolve(x.a, y.a)
    b = (2 * convolve(x.b, x.p) if same else convolve(x.b, y.p) + convolve(x.p, y.b)) + cross
    tail = QUICK_TAIL if quick else TAIL
    up, down = np.cumsum(p), np.cumsum(p[::-1])
    lo = int(np.searchsorted(up, tail))
    hi = len(p) - int(np.searchsorted(down, tail))
    cut = (float(up[lo - 1]) if lo else 0.0) + (float(down[len(p) - hi - 1]) if hi < len(p) else 0.0)
    kept = slice(lo, hi)
    return _Triple(x.first + y.first + lo, p[kept], a[kept], b[kept], x.dropped + y.dropped + cut)
