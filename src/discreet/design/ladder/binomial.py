"""The likely counts of a binomial with their masses, in floats that propose."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.numerics.arrays import Floats

LOG_TAIL = 57.0
"""A window leaves out at most 2 e^-LOG_TAIL (about 4e-25) of the mass."""


def likely_range(trials: int, probability: float) -> tuple[int, int]:
    """Counts lo..hi that hold all but 2 e^-LOG_TAIL of the binomial, by Bernstein's inequality."""
    mean = trials * probability
    variance = mean * (1.0 - probability)
    half = LOG_TAIL / 3 + math.sqrt((LOG_TAIL / 3) ** 2 + 2 * variance * LOG_TAIL)
    return max(0, math.floor(mean - half) - 1), min(trials, math.ceil(mean + half) + 1)


def binomial_window(trials: int, probability: float | Fraction) -> tuple[int, Floats]:
    """(lo, masses) of Bin(trials, probability) on its likely range, normalised there, by ratios out of the mode."""
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
