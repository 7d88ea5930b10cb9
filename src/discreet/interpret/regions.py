"""Quantiles and credible sets of a distribution on finitely many values.

quantile(q)    the smallest value with P(ω ≤ value) ≥ q
equal-tailed   [quantile((1−c)/2), largest value with P(ω ≥ value) ≥ (1−c)/2]: at most (1−c)/2 is left out on
               each side
highest-density  the most probable values, most probable first, until their probability reaches c

Values are discrete, so a set usually holds more than its level; `probability` says how much. Everything is
vectorised over rows [output, value] of a table of posteriors. Ties go to the smaller value, so results are
repeatable.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InputError
from discreet.numerics.arrays import Flags, Floats

SLACK = 1e-12
"""Rounding that a cumulative sum of doubles may carry: a level missed by less counts as reached."""


@dataclass(frozen=True)
class CredibleSet:
    """Positions of the values in the set, the probability that it holds, and whether they are consecutive values."""

    positions: tuple[int, ...]
    probability: float | Fraction
    contiguous: bool

    @property
    def first(self) -> int:
        return self.positions[0]

    @property
    def last(self) -> int:
        return self.positions[-1]


def check_level(level: float) -> float:
    """A credible level strictly between 0 and 1."""
    if not 0 < level < 1:
        raise InputError(
            "A credible level lies between 0 and 1",
            found=f"{level}",
            allowed="0 < level < 1",
            remedy="for instance 0.9",
        )
    return float(level)


def quantile_positions(rows: Floats, q: float) -> np.ndarray:
    """For each row the position of the smallest value whose cumulative probability reaches q."""
    cumulative = np.cumsum(rows, axis=-1)
    return np.minimum((cumulative < q - SLACK).sum(axis=-1), rows.shape[-1] - 1)


def upper_quantile_positions(rows: Floats, q: float) -> np.ndarray:
    """For each row the position of the largest value with P(ω ≥ value) ≥ q."""
    return rows.shape[-1] - 1 - quantile_positions(rows[..., ::-1], q)


def equal_tailed_positions(rows: Floats, level: float) -> tuple[np.ndarray, np.ndarray]:
    """First and last position of the equal-tailed set of each row."""
    tail = (1 - check_level(level)) / 2
    return quantile_positions(rows, tail), upper_quantile_positions(rows, tail)


def equal_tailed(probabilities: Floats, level: float) -> CredibleSet:
    """The equal-tailed set of one distribution."""
    first, last = (int(p) for p in equal_tailed_positions(np.asarray(probabilities), level))
    inside = tuple(range(first, last + 1))
    return CredibleSet(inside, float(np.sum(probabilities[first : last + 1])), True)


def highest_density(probabilities: Floats, level: float) -> CredibleSet:
    """The smallest set of values with at least the level; it may have gaps when the distribution has several peaks."""
    p = np.asarray(probabilities, dtype=np.float64)
    order = np.argsort(-p, kind="stable")
    reached = np.cumsum(p[order])
    count = min(int((reached < check_level(level) - SLACK).sum()) + 1, len(p))
    inside = np.sort(order[:count])
    return CredibleSet(tuple(inside.tolist()), float(p[inside].sum()), bool(inside[-1] - inside[0] + 1 == len(inside)))


def highest_density_mask(rows: Floats, level: float) -> Flags:
    """Membership [output, value] of the highest-density set of each row."""
    order = np.argsort(-rows, axis=1, kind="stable")
    before = np.cumsum(np.take_along_axis(rows, order, axis=1), axis=1) - np.take_along_axis(rows, order, axis=1)
    mask = np.zeros(rows.shape, dtype=bool)
    np.put_along_axis(mask, order, before < check_level(level) - SLACK, axis=1)
    return mask


def exact_quantile(probabilities: tuple[Fraction, ...], q: Fraction) -> int:
    """The position of the q-quantile of exact probabilities, without any rounding."""
    total = Fraction(0)
    for position, p in enumerate(probabilities):
        total += p
        if total >= q:
            return position
    return len(probabilities) - 1
