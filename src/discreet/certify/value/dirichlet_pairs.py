"""The law of a weighted sum under a Dirichlet when at most two weights beside zero count: every pair of their counts, from below.

With c_k the concentrations of weight w_k, A = Σ c_k, a_k(j) = (c_k)_j/j!·ρ^j and g(n) = P(n)·n!/((A)_n·ρ^n),

    P(n_0, n_1, n_2) = g(n_0 + n_1 + n_2)·a_0(n_0)·a_1(n_1)·a_2(n_2),      h(m) = Σ_{n_0} g(m + n_0)·a_0(n_0),
    P(S = s) = Σ a_1(n_1)·a_2(n_2)·h(n_1 + n_2)  over  w_1·n_1 + w_2·n_2 = s.

Respondents of weight zero are summed up once, so N²/2 products are all, however far apart weights are; a urn takes as many steps as
there are respondents and totals. Where N is fixed the least weight may be taken for zero. Everything is a sum of products of
non-negative whole numbers in units of 2^−(bits + SPARE), rounded down. [ours]
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from discreet.certify.value.dirichlet_series import series_of
from discreet.certify.value.sizes import Sizes, mean_size

SPARE = 40
"""Bits beyond those asked for: what a million products lose together stays below one unit."""
MOST_PAIRS = 4_000_000
PAIRS_PER_DRAW = 28
"""What one pair takes, in steps of an urn."""


def pairs_of(weights: Mapping[int, Fraction], sizes: Sizes) -> int | None:
    """How many pairs of counts there are; None where more than two weights count, or pairs are too many."""
    fixed, most = len(sizes) == 1, sizes[-1][0]
    beside = len(weights) - (1 if fixed or 0 in weights else 0)
    pairs = (most + 1) * (most + 2) // 2
    return pairs if beside <= 2 and pairs <= MOST_PAIRS else None


def pair_masses(weights: Mapping[int, Fraction], sizes: Sizes, bits: int) -> tuple[int, list[int]]:
    """(first, masses) with P(S = first + i) ≥ masses[i]/2^bits: weights have their concentrations, sizes their chances."""
    most, low = sizes[-1][0], min(weights) if len(sizes) == 1 else 0
    steps = {w - low: c for w, c in weights.items()}
    total, fine = sum(steps.values(), Fraction(0)), bits + SPARE
    mean = max(mean_size(sizes), Fraction(1))
    factor = (mean / (mean + total)).limit_denominator(1 << 20)
    scale, series = Fraction(1), dict[int, np.ndarray]()
    for w, c in steps.items():
        listed, shift = series_of(c, factor, most, fine)
        scale *= Fraction(2) ** shift
        series[w] = np.array(listed, dtype=object)
    held = _by_size(sizes, total, factor, scale, most, fine)
    if (none := series.pop(0, None)) is not None:
        held = np.array([int((held[m:] * none[: most + 1 - m]).sum()) >> fine for m in range(most + 1)], dtype=object)
    ends = [most * w for w in series]
    first, last = min(0, *ends, 0), max(0, *ends, 0)
    found = np.array([0] * (last - first + 1), dtype=object)
    one = np.array([1 << fine], dtype=object)
    (w, inner), (v, outer) = [*series.items(), (0, one), (0, one)][:2]
    for j, share in enumerate(outer[: most + 1]):
        if share:
            row = (inner[: most + 1 - j] * held[j : j + len(inner)][: most + 1 - j] >> fine) * share
            found[v * j - first + w * np.arange(len(row))] += row
    return first + low * most, [int(x) >> 2 * fine - bits for x in found]


def _by_size(sizes: Sizes, total: Fraction, factor: Fraction, scale: Fraction, most: int, fine: int) -> np.ndarray:
    """g(n) for n = 0..most, in units of 2^−fine."""
    found, whole, at = [0] * (most + 1), Fraction(1), 0
    for n, chance in sizes:
        while at < n:
            whole *= (total + at) * factor / (at + 1)
            at += 1
        share = chance / (whole * scale)
        found[n] = (share.numerator << fine) // share.denominator
    return np.array(found, dtype=object)
