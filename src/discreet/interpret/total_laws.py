"""The law of a weighted sum S = Σ_i w(θ_i) of independent respondents, alone or with the statistic ω = Σ_i v(θ_i).

Alone it is convolved without subtraction and keeps its relative precision. The pair (S, ω) is the N-th power of the transform
    F(a, b) = Σ_t p_t·e^(−2πi(a·w_t/A + b·v_t/B))
on a window of A totals and B values around the means, so that its size does not depend on the number of types. What lies beyond
the window wraps around; the window is `REACH` deviations wide on each side, and pairs below `FAINT` are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, sqrt

import numpy as np

from discreet.errors import TooLarge
from discreet.numerics.arrays import Floats
from discreet.numerics.exact import whole_steps
from discreet.numerics.logspace import log_multinomial_pmf

LONGEST_LAW = 40_000
"""The most totals that are convolved; the work grows with its square."""
MOST_PAIRS = 8_000_000
"""The most pairs (S, ω) of a window."""
REACH = 9.0
FAINT = 1e-15


@dataclass(frozen=True, eq=False)
class PairLaw:
    """Pairs with their log probabilities: the total, and ω as a position among the ascending `values`."""

    totals: np.ndarray
    omega: np.ndarray
    logs: Floats
    values: tuple[Fraction, ...]


def joint_law(respondents: int, chances: Floats, weights: Sequence[int], values: Sequence[Fraction]) -> PairLaw:
    """The likely pairs (S, ω) of iid respondents."""
    base = min(values)
    unit, steps = whole_steps([v - base for v in values])
    w, v = np.array(weights) - min(weights), np.array(steps)
    (first, width), (start, height) = _window(respondents, chances, w), _window(respondents, chances, v)
    if width * height > MOST_PAIRS:
        raise TooLarge(
            "There are too many pairs of the weighted sum and the statistic",
            size=f"{width:,} × {height:,}",
            fits=f"{MOST_PAIRS:,}",
            remedy="design with smaller weights, or read fewer respondents",
        )
    rows, columns = np.arange(width)[:, None], np.arange(height // 2 + 1)[None, :]
    transform = sum(
        p * np.exp(-2j * np.pi * (rows * (a / width) + columns * (b / height)))
        for p, a, b in zip(chances.tolist(), w.tolist(), v.tolist(), strict=True)
    )
    pairs = np.fft.irfft2(transform**respondents, s=(width, height))
    pairs = np.roll(pairs, (-(first % width), -(start % height)), axis=(0, 1))
    at, omega = np.nonzero(pairs > FAINT * pairs.max())
    held = np.unique(omega)
    exact = tuple(base * respondents + int(k + start) * unit for k in held.tolist())
    return PairLaw(at + first + respondents * min(weights), np.searchsorted(held, omega), np.log(pairs[at, omega]), exact)


def _window(respondents: int, chances: Floats, steps: np.ndarray) -> tuple[int, int]:
    """The first value and the length of the likely window of a sum of non-negative steps."""
    mean, most = float(chances @ steps), int(steps.max())
    spread = sqrt(max(respondents * float(chances @ (steps - mean) ** 2), 0.0))
    low = max(0, floor(respondents * mean - REACH * spread - most))
    high = min(respondents * most, ceil(respondents * mean + REACH * spread + REACH * most))
    return low, high - low + 1


def affine(weights: Sequence[int], values: Sequence[Fraction]) -> tuple[Fraction, Fraction] | None:
    """(a, b) with value = a·weight + b for every type, or None. Then ω = a·S + b·N."""
    distinct = [t for t in range(len(weights)) if weights[t] != weights[0]]
    if not distinct:
        return None
    j = distinct[0]
    slope = Fraction(values[j] - values[0]) / (weights[j] - weights[0])
    shift = values[0] - slope * weights[0]
    if slope and all(slope * w + shift == v for w, v in zip(weights, values, strict=True)):
        return slope, Fraction(shift)
    return None


def total_law(respondents: int, chances: Floats, weights: Sequence[int]) -> tuple[np.ndarray, Floats]:
    """Totals S = Σ w(θ_i) of iid respondents, ascending, and their log probabilities, by exact convolution.

    Two different weights give a binomial law with full relative precision; more are convolved by repeated squaring of
    non-negative numbers, which keeps relative precision down to about 10^-300.
    """
    low, high = min(weights), max(weights)
    steps = np.zeros(high - low + 1)
    np.add.at(steps, np.array(weights) - low, chances)
    if len(set(weights)) == 2:
        k = np.arange(respondents + 1)
        logs = log_multinomial_pmf(np.stack([respondents - k, k], axis=1), np.array([steps[0], steps[-1]]))
        return respondents * low + k * (high - low), logs
    if respondents * (high - low) + 1 > LONGEST_LAW:
        raise TooLarge(
            "There are too many totals to convolve",
            size=f"{respondents * (high - low) + 1:,} totals",
            fits=f"{LONGEST_LAW:,} totals",
            remedy="use a summary with two weights, or smaller weights",
        )
    law, power, left = np.ones(1), steps, respondents
    while left:
        if left & 1:
            law = np.convolve(law, power)
        left >>= 1
        if left:
            power = np.convolve(power, power)
    with np.errstate(divide="ignore"):
        return respondents * low + np.arange(len(law)), np.log(law)
