"""From a kernel in floats to one that is exactly private and exactly unbiased.

Values and outputs are whole numbers of a small unit. Two outputs lo < hi, a power of two of units apart and well outside the range,
make an unbiased mechanism of their own: P(hi | h) = (ω_h − lo)/(hi − lo). Its probabilities at neighbours differ by less than
e^(ε/2), so that a little of it, mixed in, is strictly private where it stands. The mixture's two outputs then take whatever each
state lacks in mass and in mean after rounding: with all weights multiples of hi − lo, both equations have whole solutions
    x_lo + x_hi = R,   lo·x_lo + hi·x_hi = M.
Ratios that floats leave a little too large are mended from below first (`rounding.raised`): where a solver leaves 10^-10 at one
state and nothing at the next, cutting would cut the whole output. What is mixed in grows until the result passes the test in whole
numbers; `certify` proves it again from scratch.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, expm1, log2

import numpy as np

from discreet.design.program.rounding import is_private, raised, scaled
from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.numerics.brackets import rational_below_exp
from discreet.numerics.exact import whole_steps

FINE = 10
"""Outputs are whole numbers of 2^−10 of the unit of the statistic."""
LEAST_MIXED, MOST_MIXED = 40, 8
"""Powers of two: the smallest and the largest share that is mixed in."""
FEW_BITS = 40
"""Of the smallest weight at ε = 1: rounding it takes less than what ratios are kept below e^ε."""
DROPPED = 1e-12
"""An output whose probability is below this at every state is dropped; the two repair outputs make up for it."""


@dataclass(frozen=True)
class Scale:
    """ω = origin + unit·k with whole k; outputs are origin + unit·j/2^FINE. `places` are the k of each state."""

    origin: Fraction
    unit: Fraction
    places: tuple[int, ...]

    @classmethod
    def of(cls, omegas: Sequence[Fraction]) -> Scale:
        """The scale of the values of the statistic by state."""
        origin = min(omegas)
        unit, places = whole_steps([w - origin for w in omegas])
        return cls(origin, unit, places)

    def number(self, fine: int) -> Fraction:
        """The output at a whole number of fine units."""
        return self.origin + self.unit * Fraction(fine, 1 << FINE)


def repair_outputs(places: Sequence[int], edges: np.ndarray, epsilon: float) -> tuple[int, int]:
    """lo and hi in whole units: a power of two apart, so far outside that neighbours' shares differ by at most e^(ε/2)."""
    at = np.array(places)
    step = int(np.abs(at[edges[:, 0]] - at[edges[:, 1]]).max(initial=1)) if len(edges) else 1
    beyond = max(1, ceil(step / expm1(epsilon / 2)))
    spread = int(at.max()) + 2 * beyond
    width = 1 << (spread - 1).bit_length()
    low = -beyond - (width - spread) // 2
    return low, low + width


def exact_means(
    kernel: np.ndarray, fine: np.ndarray, scale: Scale, edges: np.ndarray, epsilon: Fraction
) -> tuple[list[int], list[list[int]], int]:
    """Outputs in fine units, whole weights [output][state] and their denominator: exactly ε-private, exactly ω on average.

    `kernel` is [output, state] in floats and `fine` the outputs in fine units.
    """
    lo, hi = (end << FINE for end in repair_outputs(scale.places, edges, float(epsilon)))
    kept = kernel.max(axis=1) > DROPPED
    rows = {int(a): row for a, row in zip(fine[kept].tolist(), kernel[kept], strict=True)}
    factor = rational_below_exp(epsilon, 96)
    tighter = 1 + (factor - 1) * (1 - Fraction(1, 1 << 30))
    around: list[list[int]] = [[] for _ in scale.places]
    for a, b in edges.tolist():
        around[a].append(b)
        around[b].append(a)
    outputs = sorted({lo, hi, *rows})
    bits, fewest = 2 * FEW_BITS, FEW_BITS + max(0, ceil(-log2(float(epsilon))))
    while True:  # until no weight is so small that rounding it down matters
        found = {a: raised([scaled(p, 1 << bits) for p in row.tolist()], around, tighter) for a, row in rows.items()}
        least = min(w for row in found.values() for w in row if w)
        if least.bit_length() >= fewest:
            break
        bits += fewest - least.bit_length() + 1
    base = [found.get(a, [0] * len(scale.places)) for a in outputs]
    for power in range(LEAST_MIXED, MOST_MIXED, -2):
        mended = _mended(base, outputs, scale, (lo, hi), bits, power)
        if mended is not None and all(is_private(row, edges.tolist(), factor) for row in mended):
            return outputs, mended, (hi - lo) << bits
    raise InputError(
        "The proposed kernel is too far from unbiased to be repaired",
        found="means that are off by more than rounding",
        allowed="a kernel that satisfies its constraints up to rounding",
        remedy="solve again, or ask for less",
    )


def _mended(
    base: list[list[int]], outputs: list[int], scale: Scale, ends: tuple[int, int], bits: int, power: int
) -> list[list[int]] | None:
    """The base with 2^−power of it given up for the two ends, which then make mass and mean right; None when one turns negative."""
    lo, hi = ends
    width = hi - lo
    whole = 1 << bits
    keep = (1 << power) - 1
    rows = [[(w * keep >> power) * width for w in row] for row in base]
    low, high = outputs.index(lo), outputs.index(hi)
    for state, place in enumerate(scale.places):
        column = [row[state] for row in rows]
        mass = whole * width - sum(column)
        mean = whole * width * (place << FINE) - sum(a * w for a, w in zip(outputs, column, strict=True))
        upper = (mean - lo * mass) // width
        assert lo * (mass - upper) + hi * upper == mean, "weights are multiples of hi − lo"
        rows[low][state] += mass - upper
        rows[high][state] += upper
        if rows[low][state] < 0 or rows[high][state] < 0:
            return None
    return rows
