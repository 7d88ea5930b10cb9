"""Integer noise for a sum of sensitivity W, as finite kernels that are exactly private.

Two families of symmetric noise Z on the integers.  Both satisfy f(j) <= e^epsilon f(j') whenever |j-j'| <= W:

    geometric   f(j) = alpha^|j| (1-alpha)/(1+alpha),      alpha = e^(-epsilon/W)
    staircase   f(j) = c b^k(|j|),  b = e^-epsilon,  k(i) = 0 for i < r,  k(i) = 1 + floor((i-r)/W) for i >= r

The staircase (Geng and Viswanath) has a centre of 2r-1 integers, 1 <= r <= W, and then stairs of W integers
on each side, each lower by b than the one before: on 0, 1, ..., W-1 it is high for r steps and low for W-r,
and f(j+W) = b f(j) for j >= 0.  Its constant is c = (1-b)/(2r-1 + b(2W-2r+1)).  Private: ||j|-|j'|| <= W
moves k by at most one.  With r = W = 1 both families are the same.

Finite kernel.  Outputs are from..to; the row of state s is the law of s + Z with everything below `from`
moved to `from` and everything above `to` moved to `to`.  That is post-processing, so it keeps epsilon on
every pair of states.

`spread` computes sum_s x(s) f(y-s) for all outputs in linear time: one-sided recursions u(y) = x(y) + alpha
u(y-1) for the geometric, window sums (of r and of W integers) and u(y) = box(y) + b u(y-W) for the staircase.
Sums of non-negative numbers are never differenced, so small masses keep their relative accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Geometric:
    """f(j) proportional to ratio^|j|; epsilon-DP at sensitivity W when ratio^W >= e^-epsilon."""

    ratio: float

    family = "geometric"

    def __post_init__(self) -> None:
        if not 0.0 <= self.ratio < 1.0:
            raise InputError(
                "the ratio of geometric noise must lie in [0, 1)",
                found=self.ratio,
                remedy="At epsilon = 0 nothing can be told: publish a constant.",
            )

    @classmethod
    def at(cls, epsilon: float, sensitivity: int) -> Geometric:
        """The noise that is epsilon-DP for steps up to `sensitivity`."""
        return cls(math.exp(-epsilon / sensitivity))

    def log_mass(self, j: NDArray[np.int64]) -> Floats:
        """ln f(j)."""
        if self.ratio == 0.0:
            return np.where(j == 0, 0.0, -np.inf)
        return math.log((1 - self.ratio) / (1 + self.ratio)) + np.abs(j) * math.log(self.ratio)

    def tail(self, j: NDArray[np.int64]) -> Floats:
        """P(Z >= j)."""
        a = self.ratio
        far = np.power(a, np.abs(j)) / (1 + a)
        return np.where(j > 0, far, 1.0 - far * a)

    def spread(self, x: Floats) -> Floats:
        """sum_s x(s) f(y-s) along the last axis, y over the same integers as s."""
        from scipy.signal import lfilter

        down = lfilter([1.0], [1.0, -self.ratio], x, axis=-1)
        up = lfilter([1.0], [1.0, -self.ratio], x[..., ::-1], axis=-1)[..., ::-1]
        return np.asarray((down + (up - x)) * ((1 - self.ratio) / (1 + self.ratio)))

    @property
    def variance(self) -> float:
        """Var Z = 2 alpha / (1-alpha)^2."""
        return 2 * self.ratio / (1 - self.ratio) ** 2


@dataclass(frozen=True)
class Staircase:
    """f(j) = c * ratio^k(|j|) with a centre of 2*plateau-1 integers and stairs of `width` integers."""

    width: int
    plateau: int
    ratio: float

    family = "staircase"

    def __post_init__(self) -> None:
        if not 1 <= self.plateau <= self.width:
            raise InputError(
                "the plateau must lie in 1..width", found=self.plateau, allowed=f"1..{self.width}"
            )
        if not 0.0 <= self.ratio < 1.0:
            raise InputError(
                "the ratio of staircase noise must lie in [0, 1)",
                found=self.ratio,
                remedy="At epsilon = 0 nothing can be told: publish a constant.",
            )

    @classmethod
    def at(cls, epsilon: float, sensitivity: int, plateau: int | None = None) -> Staircase:
        """The noise that is epsilon-DP for steps up to `sensitivity`; the plateau of least variance by
        default."""
        ratio = math.exp(-epsilon)
        if plateau is not None:
            return cls(sensitivity, plateau, ratio)
        guess = best_plateau_share(epsilon) * sensitivity
        near = {min(sensitivity, max(1, math.floor(guess) + d)) for d in (-1, 0, 1, 2)}
        return min((cls(sensitivity, r, ratio) for r in sorted(near)), key=lambda noise: noise.variance)

    @cached_property
    def centre_mass(self) -> float:
        """c = f(0)."""
        r, w, b = self.plateau, self.width, self.ratio
        return (1 - b) / (2 * r - 1 + b * (2 * w - 2 * r + 1))

    def log_mass(self, j: NDArray[np.int64]) -> Floats:
        """ln f(j)."""
        stairs = np.maximum(0, 1 + (np.abs(j) - self.plateau) // self.width)
        if self.ratio == 0.0:
            return np.where(stairs == 0, math.log(self.centre_mass), -np.inf)
        return np.asarray(math.log(self.centre_mass) + stairs * math.log(self.ratio))

    def tail(self, j: NDArray[np.int64]) -> Floats:
        """P(Z >= j)."""
        r, w, b, c = self.plateau, self.width, self.ratio, self.centre_mass
        period = c * (r + b * (w - r))
        i = np.where(j > 0, j, 1 - j)
        turns, rest = np.divmod(i, w)
        first = c * (np.maximum(r - rest, 0) + b * (w - np.maximum(r, rest)))
        far = np.power(b, turns) * (first + b * period / (1 - b))
        return np.asarray(np.where(j > 0, far, 1.0 - far))

    def spread(self, x: Floats) -> Floats:
        """sum_s x(s) f(y-s) along the last axis, y over the same integers as s."""
        return np.asarray(self.centre_mass * (self._side(x) + (self._side(x[..., ::-1])[..., ::-1] - x)))

    def _side(self, x: Floats) -> Floats:
        """sum_{j>=0} b^k(j) x(y-j)."""
        n, r, w, b = x.shape[-1], self.plateau, self.width, self.ratio
        box = window_sum(x, r)
        if w > r and n > r:
            low = window_sum(x, w - r)
            box[..., r:] += b * low[..., : n - r]
        for start in range(w, n, w):
            stop = min(start + w, n)
            box[..., start:stop] += b * box[..., start - w : stop - w]
        return box

    @cached_property
    def variance(self) -> float:
        """Var Z, by summing whole periods in closed form."""
        r, w, b = self.plateau, self.width, self.ratio
        i = np.arange(w, dtype=np.float64)
        f = np.where(i < r, 1.0, b)
        m0, m1, m2 = float(f.sum()), float((f * i).sum()), float((f * i * i).sum())
        k0, k1, k2 = 1 / (1 - b), b / (1 - b) ** 2, b * (1 + b) / (1 - b) ** 3
        return 2 * self.centre_mass * (m2 * k0 + 2 * w * m1 * k1 + w * w * m0 * k2)


Noise = Geometric | Staircase


def window_sum(x: Floats, length: int) -> Floats:
    """sum_{j=0}^{length-1} x(y-j) along the last axis, by block prefix and suffix sums: no subtraction."""
    n = x.shape[-1]
    blocks = -(-n // length)
    padded = np.zeros((*x.shape[:-1], blocks * length))
    padded[..., :n] = x
    cut = padded.reshape(*x.shape[:-1], blocks, length)
    prefix = np.cumsum(cut, axis=-1)
    suffix = np.cumsum(cut[..., ::-1], axis=-1)[..., ::-1]
    prefix[..., 1:, : length - 1] += suffix[..., :-1, 1:]
    return prefix.reshape(*x.shape[:-1], blocks * length)[..., :n].copy()


def to_outputs(x: Floats, first: int, noise: Noise, start: int, stop: int) -> Floats:
    """sum_s x(s) M(y|s) for outputs y = start..stop of the finite kernel, states s = first, first+1, ..."""
    if start > stop:
        raise InputError("the first output must not exceed the last", found=f"{start}..{stop}")
    n = x.shape[-1]
    states = np.arange(first, first + n)
    if start == stop:
        return np.asarray(x.sum(axis=-1, keepdims=True))
    lo, hi = min(first, start), max(first + n - 1, stop)
    wide = np.zeros((*x.shape[:-1], hi - lo + 1))
    wide[..., first - lo : first - lo + n] = x
    out = noise.spread(wide)[..., start - lo : stop - lo + 1].copy()
    out[..., 0] = x @ noise.tail(states - start)
    out[..., -1] = x @ noise.tail(stop - states)
    return out


def best_plateau_share(epsilon: float) -> float:
    """r/W of the continuous staircase of least variance (Geng and Viswanath).

    gamma = -b/(1-b) + (b - 2b^2 + 2b^4 - b^5)^(1/3) / (2^(1/3) (1-b)^2),  b = e^-epsilon.
    """
    b = math.exp(-epsilon)
    gap = -math.expm1(-epsilon)
    if gap == 0.0:
        return 0.5
    inner = b * gap**3 * (1 + b)
    share = -b / gap + (inner / 2) ** (1 / 3) / gap**2
    return float(min(1.0, max(0.0, share)))


def unit_variance(epsilon: float) -> float:
    """kappa(epsilon): the least variance of continuous staircase noise of sensitivity one.

    kappa = (2^(-2/3) b^(2/3) (1+b)^(2/3) + b) / (1-b)^2.
    """
    b = math.exp(-epsilon)
    return float((2 ** (-2 / 3) * (b * (1 + b)) ** (2 / 3) + b) / math.expm1(-epsilon) ** 2)
