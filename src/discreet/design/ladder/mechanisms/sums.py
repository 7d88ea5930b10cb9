"""The law of an integer-weighted sum S = sum_i w(theta_i), and what it tells about omega = sum_i v(theta_i).

For independent respondents the triple of sequences over s

    P(s) = P(S=s),   A(s) = E[R; S=s],   B(s) = E[R^2; S=s],        R = omega - c S - d

multiplies like polynomials: (P,A,B)*(P',A',B') = (PP', AP'+PA', BP'+2AA'+PB').  R is the residual of a
regression of v on w, so that moments are on the scale of what S does not explain and nothing cancels.  Then
E[omega|S=s] = c s + d + A/P and Var(omega|S=s) = B/P - (A/P)^2.

Products are direct convolutions of non-negative sequences (signed for A), so every P(s) keeps its relative
accuracy; tails are cut where their total mass is below `TAIL`.  `quick=True` uses fast Fourier convolutions whose
absolute error (about 1e-16) drowns masses below 1e-13: those are cut.  Use it to search, not to state a value.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.certify.value.urn_sums import drawn
from discreet.errors import InputError, TooLarge
from discreet.numerics.arrays import Floats

TAIL = 1e-26
"""Mass that one cut of one tail may drop."""

QUICK_TAIL = 1e-12

LARGEST_RANGE = 100_000
"""Likely values of S that direct convolutions take (about ten seconds); quick ones take forty times more."""

LARGEST_JOINT = 4_000_000
"""Cells of the joint law of (S, omega) that are formed at most."""


@dataclass(frozen=True, eq=False)
class SumLaw:
    """P(S=s), E[omega|S=s] and Var(omega|S=s) for s = first, first+1, ...; what is unlikely may be left out."""

    first: int
    masses: Floats
    means: Floats
    variances: Floats

    @property
    def last(self) -> int:
        """The largest s kept."""
        return self.first + len(self.masses) - 1

    @property
    def unexplained(self) -> float:
        """E Var(omega | S): the loss of someone who sees S itself."""
        return float(self.masses @ self.variances)


@dataclass(frozen=True, eq=False)
class SumPairs:
    """P(omega = omegas[k], S = first + s) as `masses[k, s]`."""

    omegas: tuple[Fraction, ...]
    first: int
    masses: Floats

    @property
    def last(self) -> int:
        """The largest s held."""
        return self.first + self.masses.shape[1] - 1


@dataclass(frozen=True)
class _Triple:
    first: int
    p: Floats
    a: Floats
    b: Floats


def sum_law(
    probabilities: ArrayLike,
    values: Sequence[float],
    weights: Sequence[int],
    respondents: int,
    quick: bool = False,
) -> SumLaw:
    """The law of S with the conditional mean and variance of omega, for independent respondents with one law."""
    p = np.asarray(probabilities, dtype=np.float64)
    v = np.asarray(values, dtype=np.float64)
    w = check_weights(weights, len(v))
    length, most = likely_length(p, weights, respondents), LARGEST_RANGE * (40 if quick else 1)
    if length > most:
        raise TooLarge(
            "the likely values of the weighted sum",
            size=length,
            fits=most,
            remedy="Use smaller weights: a coarser lattice or a lower clipping.",
        )
    mean_v, mean_w = float(p @ v), float(p @ w)
    spread = float(p @ (w - mean_w) ** 2)
    slope = float(p @ ((w - mean_w) * (v - mean_v))) / spread if spread > 0 else 0.0
    offset = float(p @ (v - slope * w))
    unit = math.gcd(*map(int, w))
    law = _stretched(_power(_single(p, v - slope * w - offset, w // unit), respondents, quick), unit)
    safe = np.where(law.p > 0, law.p, 1.0)
    residual = law.a / safe
    means = slope * np.arange(law.first, law.first + len(law.p)) + respondents * offset + residual
    return SumLaw(law.first, law.p, means, np.maximum(law.b / safe - residual**2, 0.0))


def urn_law(concentration: Sequence[Fraction], values: Sequence[float], weights: Sequence[int], respondents: int) -> SumLaw:
    """The law of S with the conditional mean of omega under a Dirichlet, by `certify.value.urn_sums` in floats.

    Every total has the variance that omega has given S on average.
    """
    unit, low = math.gcd(*weights) or 1, min(weights)
    classes: dict[int, Fraction] = {}
    worth: dict[int, float] = {}
    for c, v, w in zip(concentration, values, weights, strict=True):
        step = (w - low) // unit
        classes[step] = classes.get(step, Fraction(0)) + c
        worth[step] = worth.get(step, 0.0) + float(c) * v
    every = drawn(classes, respondents, lambda x, share: np.asarray(x * float(share)), 1.0)
    held = deque(every, maxlen=1).pop()
    masses = np.sum(held, axis=0)
    each = np.array([worth[w] / (float(c) or 1.0) for w, c in classes.items()])
    sums = respondents * (each @ np.array(held))
    lo = int(np.searchsorted(np.cumsum(masses), TAIL))
    hi = len(masses) - int(np.searchsorted(np.cumsum(masses[::-1]), TAIL))
    masses, means = masses[lo:hi], sums[lo:hi] / np.where(masses[lo:hi] > 0, masses[lo:hi], 1.0)
    whole = float(sum(concentration, Fraction(0)))
    shares, worths = np.array([float(c) for c in concentration]) / whole, np.asarray(values, dtype=np.float64)
    mean = float(shares @ worths)
    variance = float(shares @ (worths - mean) ** 2) * respondents * (respondents + whole) / (1 + whole)
    left = max(variance - float(masses @ (means - respondents * mean) ** 2), 0.0)
    law = _stretched(_Triple(0, masses, means, np.full(len(masses), left)), unit)
    return SumLaw(respondents * low + unit * lo, law.p, law.a, law.b)


def _stretched(law: _Triple, unit: int) -> _Triple:
    """The law of a sum in steps of `unit`, from that of the number of steps."""
    if unit == 1:
        return law

    def apart(x: Floats) -> Floats:
        wide = np.zeros(unit * (len(x) - 1) + 1)
        wide[::unit] = x
        return wide

    return _Triple(unit * law.first, apart(law.p), apart(law.a), apart(law.b))


def likely_length(probabilities: ArrayLike, weights: Sequence[int], respondents: int) -> int:
    """About how many values of S are kept: all of them, or twelve standard deviations to each side."""
    p, w = np.asarray(probabilities, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    variance = float(p @ w**2 - (p @ w) ** 2) * respondents
    return int(min(respondents * w.max(), 24 * math.sqrt(max(variance, 0.0)) + 60 * w.max())) + 1


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
    p, a, b = (np.bincount(w, weights=row * residuals**k, minlength=size).astype(np.float64) for k in range(3))
    return _Triple(0, p, a, b)


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


def _transformed(x: Floats, y: Floats) -> Floats:
    """The convolution by fast Fourier transforms."""
    size = len(x) + len(y) - 1
    padded = 1 << (size - 1).bit_length()
    return np.asarray(np.fft.irfft(np.fft.rfft(x, padded) * np.fft.rfft(y, padded), padded)[:size])


def _times(x: _Triple, y: _Triple, quick: bool) -> _Triple:
    convolve = _transformed if quick and min(len(x.p), len(y.p)) > 64 else np.convolve
    same = x is y
    p = np.maximum(convolve(x.p, y.p), 0.0)
    a = 2 * convolve(x.a, x.p) if same else convolve(x.a, y.p) + convolve(x.p, y.a)
    cross = 2 * convolve(x.a, y.a)
    b = (2 * convolve(x.b, x.p) if same else convolve(x.b, y.p) + convolve(x.p, y.b)) + cross
    tail = QUICK_TAIL if quick else TAIL
    up, down = np.cumsum(p), np.cumsum(p[::-1])
    lo = int(np.searchsorted(up, tail))
    hi = len(p) - int(np.searchsorted(down, tail))
    kept = slice(lo, hi)
    return _Triple(x.first + y.first + lo, p[kept], a[kept], b[kept])
