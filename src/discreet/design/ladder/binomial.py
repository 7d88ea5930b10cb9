"""A binomial count on a path, read through the geometric mechanism.

X ~ Bin(M, beta) sits on the path 0..M, one step is one replacement, and Y is the output of the
range-restricted geometric mechanism with ratio alpha = e^-epsilon,

    P(Y=y | X=x) = alpha^|x-y| * (1-alpha)/(1+alpha)   inside,   alpha^|x-y| / (1+alpha)   at the two ends.

`hidden_variance` returns  V = E Var(X|Y)  and  U = E sum_k Var(1[X>=k] | Y)  in time linear in the window
of likely counts, together with a bound on the rounding error of each.

Window.  Restricting X to lo..hi without renormalising can only lower V and U: telling the reader whether
X lies in the window lowers every expected conditional variance.  Given X in lo..hi all outputs below lo
have the same posterior, as have all above hi, so merging them into lo and hi loses nothing.  The
window's masses therefore give valid lower bounds.

Relative errors.  For a joint sub-law J(x,y) >= 0 let L(J) = sum_y J(.,y) Var_J(g|y).  L is homogeneous and
superadditive (reveal which of two parts a draw comes from), hence monotone: J' (1-eta) <= J entrywise
implies L(J) >= (1-eta) L(J').  So an entrywise relative error of the masses is a relative error of the bound.

Notation: alpha → `ratio`, beta → `probability`, M → `trials`.  Used by SY Thm 3 (T=1) and the chain bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

UNIT_ROUNDOFF = 2.0**-53
"""Largest relative error of one correctly rounded operation."""

CHUNK = 256
"""Outputs treated at once where time is quadratic."""

LOG_TAIL = 57.0
"""A window leaves out at most 2 e^-LOG_TAIL (about 4e-25) of the mass."""


@dataclass(frozen=True)
class HiddenVariance:
    """V and U for one path, with rigorous bounds on how far the computed numbers may be too large."""

    count: float
    """V = E Var(X | Y)."""
    indicators: float
    """U = E sum_k Var(1[X >= k] | Y)."""
    count_error: float
    indicators_error: float


def likely_range(trials: int, probability: float) -> tuple[int, int]:
    """Counts lo..hi that hold all but 2 e^-LOG_TAIL of the binomial, by Bernstein's inequality."""
    mean = trials * probability
    variance = mean * (1.0 - probability)
    half = LOG_TAIL / 3 + math.sqrt((LOG_TAIL / 3) ** 2 + 2 * variance * LOG_TAIL)
    return max(0, math.floor(mean - half) - 1), min(trials, math.ceil(mean + half) + 1)


def binomial_window(trials: int, probability: float | Fraction) -> tuple[int, Floats]:
    """(lo, masses) of Bin(trials, probability) on its likely range, normalised there.

    Masses come from the ratio recursion out of the mode, so each has relative error at most
    (8 d + 8) roundoffs where d is the window's length, the tail's mass included.
    """
    exact = Fraction(probability)
    if exact <= 0 or exact >= 1:
        return (0 if exact <= 0 else trials), np.ones(1)
    beta = float(exact)
    odds = float(exact / (1 - exact))
    lo, hi = likely_range(trials, beta)
    mode = min(hi, max(lo, int((trials + 1) * beta)))
    up = np.arange(mode, hi, dtype=np.float64)
    down = np.arange(mode, lo, -1, dtype=np.float64)
    above = np.cumprod((trials - up) / (up + 1.0) * odds)
    below = np.cumprod(down / (trials - down + 1.0) / odds)
    masses = np.concatenate([below[::-1], [1.0], above])
    return lo, masses / math.fsum(masses)


def hidden_variance(masses: Floats, epsilon: float) -> HiddenVariance:
    """V and U for the path whose states have these masses, read through the geometric mechanism.

    For an output y let A(y) = sum_{x<=y} P(x) alpha^(y-x) and C(y) = sum_{x>=y} P(x) alpha^(x-y).  For k <= y
    the event X < k has weight alpha^(y-k+1) A(k-1); summing over k gives the first and (summing twice) the
    second factorial moment of y-X, and the sum of squares gives U.  Every sum has non-negative terms; the
    only subtractions are those of the variances themselves, on the scale of X-Y.
    """
    from scipy.signal import lfilter

    alpha = math.exp(-epsilon)
    n = len(masses)

    def left(x: Floats, ratio: float) -> Floats:
        """sum_{j<=y} ratio^(y-j) x(j)."""
        return np.asarray(lfilter([1.0], [1.0, -ratio], x), dtype=np.float64)

    def before(x: Floats, ratio: float) -> Floats:
        """sum_{j<y} ratio^(y-j) x(j)."""
        return ratio * np.concatenate([[0.0], left(x, ratio)[:-1]])

    def side(x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        total = left(x, alpha)
        first = before(total, alpha)
        second = 2.0 * before(first, alpha) + first
        squares = before(total * total, alpha * alpha)
        return total, first, second, squares

    a, a1, a2, asq = side(masses)
    c, c1, c2, csq = (part[::-1] for part in side(masses[::-1]))
    density = a + alpha * np.concatenate([c[1:], [0.0]])
    weight = np.full(n, (1.0 - alpha) / (1.0 + alpha))
    weight[0] = weight[-1] = 1.0 / (1.0 + alpha)
    if n == 1:
        return HiddenVariance(0.0, 0.0, 0.0, 0.0)
    safe = np.where(density > 0.0, density, 1.0)
    shift = c1 - a1
    around = weight * (a2 + c2)
    crossing = weight * (a1 + c1)
    count = math.fsum(np.maximum(around - weight * shift * shift / safe, 0.0))
    indicators = math.fsum(np.maximum(crossing - weight * (asq + csq) / safe, 0.0))
    # Roundings on the way to any of the sums: 8n in the masses, (2 + epsilon)n in powers of alpha, 2n in each
    # of at most three filters.  Squares and quotients at most triple them.
    gamma = ((32.0 + 2.0 * epsilon) * n + 64.0) * UNIT_ROUNDOFF
    subtracted = weight * (a1 + c1) ** 2 / safe
    return HiddenVariance(
        count,
        indicators,
        4.0 * gamma * (math.fsum(around) + math.fsum(subtracted)),
        8.0 * gamma * math.fsum(crossing),
    )


def hidden_pinball(masses: Floats, epsilon: float, quantile: float) -> tuple[float, float]:
    """(E min_a E[pinball(X - a) | Y], rounding error): quantile per unit below the truth, 1 - quantile above.

    The best a given y is a quantile of X, and the loss is sum_k min(q P(X>=k|y), (1-q) P(X<k|y)).  Both tails
    are sums of non-negative terms, so the error is relative.  Takes time quadratic in the window.
    """
    n = len(masses)
    if n == 1:
        return 0.0, 0.0
    alpha = math.exp(-epsilon)
    x = np.arange(n)
    total = 0.0
    for start in range(0, n, CHUNK):
        y = x[start : start + CHUNK]
        joint = masses[None, :] * np.exp(-epsilon * np.abs(x[None, :] - y[:, None]))
        joint *= np.where((y == 0) | (y == n - 1), 1.0, 1.0 - alpha)[:, None] / (1.0 + alpha)
        below = np.cumsum(joint, axis=1)[:, :-1]
        above = np.cumsum(joint[:, ::-1], axis=1)[:, ::-1][:, 1:]
        total += float(np.minimum(quantile * above, (1.0 - quantile) * below).sum())
    gamma = ((32.0 + 2.0 * epsilon) * n + 64.0) * UNIT_ROUNDOFF
    return total, 4.0 * gamma * total
