"""What the sampling tests share: small kernels, and a chi-square test at a stated false-alarm probability."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy import stats

from discreet.model.kernel import Output, TableKernel

FALSE_ALARM = 1e-7
"""Probability that one chi-square test rejects the truth."""


def random_kernel(bits: int, outputs: int, states: int, seed: int) -> TableKernel:
    """A table kernel with arbitrary weights, some of them zero."""
    dice, denominator = random.Random(seed), 1 << bits
    columns = []
    for _ in range(states):
        cuts = sorted(dice.choice([0, denominator, dice.randrange(denominator + 1)]) for _ in range(outputs - 1))
        ends = [0, *cuts, denominator]
        columns.append([b - a for a, b in pairwise(ends)])
    return TableKernel(
        tuple(map(str, range(states))),
        tuple(Output(str(k)) for k in range(outputs)),
        tuple(tuple(column[k] for column in columns) for k in range(outputs)),
        denominator,
    )


def p_value(drawn: np.ndarray, law: Sequence[Fraction | float]) -> float:
    """Pearson's chi-square, outputs rarer than 20 expected gathered; 0 when an impossible output occurred."""
    seen = np.bincount(drawn, minlength=len(law)).astype(float)
    expected = np.array([float(p) for p in law]) * len(drawn)
    if seen[expected == 0].any():
        return 0.0
    rare = expected < 20
    seen = np.append(seen[~rare], seen[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    if expected[-1] < 20:
        expected[-2] += expected[-1]
        seen[-2] += seen[-1]
        seen, expected = seen[:-1], expected[:-1]
    statistic = float(((seen - expected) ** 2 / expected).sum())
    return float(stats.chi2.sf(statistic, len(seen) - 1))
