"""Integer noise on a sum of sensitivity W, carried through to the outputs in linear time.

Geometric noise with fall ε/W per unit and staircase noise with fall ε per W units (`mechanisms.integer_noise`) both satisfy
f(j) ≤ e^ε f(j′) whenever |j − j′| ≤ W. Finite kernel: outputs are from..to; the row of state s is the law of s + Z with everything
below `from` moved to `from` and everything above `to` moved to `to`, which is post-processing.

`spread` computes sum_s x(s) f(y-s) for all outputs in nearly linear time: one-sided recursions u(y) = x(y) + b u(y-1) for the
geometric, window sums (of plateau and of W integers) and u(y) = box(y) + b u(y-W) for the staircase. Sums of non-negative numbers
are never differenced, so small masses keep their relative accuracy.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.errors import InputError
from discreet.mechanisms.integer_noise import IntegerNoise
from discreet.mechanisms.staircase import best_plateau_share
from discreet.numerics.arrays import Floats


def geometric_noise(epsilon: float, sensitivity: int) -> IntegerNoise:
    """Geometric noise that is ε-private for steps up to `sensitivity`."""
    return IntegerNoise(1, 1, epsilon / sensitivity)


def staircase_noise(epsilon: float, sensitivity: int, plateau: int | None = None) -> IntegerNoise:
    """Staircase noise that is ε-private for steps up to `sensitivity`; by default with the plateau of least variance."""
    if plateau is not None:
        return IntegerNoise(sensitivity, plateau, epsilon)
    guess = float(best_plateau_share(epsilon)) * sensitivity if 0 < epsilon < math.inf else 0.0
    near = {min(sensitivity, max(1, math.floor(guess) + d)) for d in (-1, 0, 1, 2)}
    return min((IntegerNoise(sensitivity, r, epsilon) for r in sorted(near)), key=lambda noise: noise.variance())


def spread(noise: IntegerNoise, x: Floats) -> Floats:
    """sum_s x(s) f(y-s) along the last axis, y over the same integers as s."""
    return np.asarray(noise.centre * (_side(noise, x) + (_side(noise, x[..., ::-1])[..., ::-1] - x)))


def _side(noise: IntegerNoise, x: Floats) -> Floats:
    """sum_{j>=0} b^k(j) x(y-j)."""
    n, r, w, b = x.shape[-1], noise.plateau, noise.stair, noise.ratio
    if w == 1:
        return decayed(x, b)
    box = window_sum(x, r)
    if w > r and n > r:
        low = window_sum(x, w - r)
        box[..., r:] += b * low[..., : n - r]
    for start in range(w, n, w):
        stop = min(start + w, n)
        box[..., start:stop] += b * box[..., start - w : stop - w]
    return box


def decayed(x: Floats, ratio: float) -> Floats:
    """u(y) = x(y) + ratio u(y-1) along the last axis, by doubling: 2d terms are d terms, plus ratio^d times the d before."""
    u = np.array(x, dtype=np.float64)
    reach, factor = 1, ratio
    while reach < u.shape[-1] and factor > 0.0:
        u[..., reach:] += factor * u[..., :-reach]
        reach, factor = 2 * reach, factor * factor
    return u


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


def to_outputs(x: Floats, first: int, noise: IntegerNoise, start: int, stop: int) -> Floats:
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
    out = spread(noise, wide)[..., start - lo : stop - lo + 1].copy()
    out[..., 0] = x @ noise.tail(states - start)
    out[..., -1] = x @ noise.tail(stop - states)
    return out


def unit_variance(epsilon: float) -> float:
    """kappa(epsilon): the least variance of continuous staircase noise of sensitivity one.

    kappa = (2^(-2/3) b^(2/3) (1+b)^(2/3) + b) / (1-b)^2.
    """
    b = math.exp(-epsilon)
    return float((2 ** (-2 / 3) * (b * (1 + b)) ** (2 / 3) + b) / math.expm1(-epsilon) ** 2)
