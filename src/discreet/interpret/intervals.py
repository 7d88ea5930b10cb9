"""Intervals of measures on finitely many outputs, and the distances that make privacy a Lipschitz condition.

I(L, U) = { μ : L(S) ≤ μ(S) ≤ U(S) for every event S }        on a finite set: L(s) ≤ μ(s) ≤ U(s) for every output s
d_MULT(P, Q) = sup_S |ln P(S)/Q(S)|, with 0/0 = 1              on a finite set: the largest over single outputs
δ(P, Q) = max over pairs of ln (P(s)Q(s′))/(P(s′)Q(s))          density-ratio metric: d_MULT ≤ δ ≤ 2 d_MULT

Membership in I(aP, bP) means −ln a and ln b bound the two sides apart; it is the same as d_MULT ≤ max(−ln a,
ln b) only when ab = 1 (the paper says it of every a and b). References: BG Def. 1-2, fn 1 (whose first
inequality is ≤), section 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InputError

ROUNDING = 1e-12
"""Relative slack that a membership test of floats allows; exact rationals get none."""


@dataclass(frozen=True, eq=False)
class IntervalOfMeasures:
    """Lower and upper measure of each output, floats or rationals; upper may be infinite."""

    lower: tuple[float | Fraction, ...]
    upper: tuple[float | Fraction, ...]

    def __post_init__(self) -> None:
        if len(self.lower) != len(self.upper) or not self.lower:
            raise InputError(
                "An interval of measures needs a lower and an upper value for each output",
                found=f"{len(self.lower)} and {len(self.upper)}",
                allowed="the same number, at least one",
                remedy="complete them",
            )
        if any(not 0 <= low <= high for low, high in zip(self.lower, self.upper, strict=True)):
            raise InputError(
                "A lower measure exceeds its upper measure, or is negative",
                found="an empty interval",
                allowed="0 <= lower <= upper for every output",
                remedy="exchange or correct them",
            )

    @classmethod
    def around(cls, measure: Sequence[float], radius: float) -> IntervalOfMeasures:
        """I(e^−r P, e^r P): the ball of d_MULT around P."""
        if not radius >= 0:
            raise InputError("A radius is not negative", found=str(radius), allowed="from 0", remedy="correct it")
        p = np.asarray(measure, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            upper = np.where(p == 0, 0.0, np.exp(radius) * p)
        return cls(tuple((np.exp(-radius) * p).tolist()), tuple(upper.tolist()))

    def contains(self, measure: Sequence[float | Fraction]) -> bool:
        """Whether L ≤ μ ≤ U; rationals are compared exactly when both sides are rational."""
        return self.violation(measure) is None

    def violation(self, measure: Sequence[float | Fraction]) -> int | None:
        """The first output at which a measure leaves the interval, or None."""
        if len(measure) != len(self.lower):
            raise InputError(
                "The measure is about other outputs",
                found=f"{len(measure)} values",
                allowed=f"{len(self.lower)}",
                remedy="give one value for each output",
            )
        for i, (low, value, high) in enumerate(zip(self.lower, measure, self.upper, strict=True)):
            exact = all(isinstance(x, (int, Fraction)) for x in (low, value, high))
            slack = 0 if exact else ROUNDING
            if value < low * (1 - slack) or value > high * (1 + slack):
                return i
        return None

    def bounds(self, event: Iterable[int]) -> tuple[float, float]:
        """(L(A), U(A)) of an event."""
        places = list(event)
        return float(sum(self.lower[i] for i in places)), float(sum(self.upper[i] for i in places))

    def probability_bounds(self, event: Iterable[int]) -> tuple[float, float]:
        """Bounds of P(A) for probability measures in the interval: the complement's bounds count as well."""
        inside = set(event)
        outside = [i for i in range(len(self.lower)) if i not in inside]
        low, high = self.bounds(inside)
        other_low, other_high = self.bounds(outside)
        return max(low, 1 - other_high, 0.0), min(high, 1 - other_low, 1.0)

    def odds_bounds(self, event: Iterable[int], against: Iterable[int]) -> tuple[float, float]:
        """P(A)/P(B) lies between L(A)/U(B) and U(A)/L(B)."""
        low_a, high_a = self.bounds(event)
        low_b, high_b = self.bounds(against)
        return (low_a / high_b if high_b else inf), (high_a / low_b if low_b else inf)

    @property
    def masses(self) -> tuple[float, float]:
        """(L(all), U(all)); a probability measure can only lie inside when the first is ≤ 1 ≤ the second."""
        return self.bounds(range(len(self.lower)))


def d_mult(p: ArrayLike, q: ArrayLike) -> float:
    """The multiplicative distance; infinite when one measure misses an output of the other."""
    a, b = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if bool(((a > 0) != (b > 0)).any()):
        return inf
    both = a > 0
    return float(np.abs(np.log(a[both]) - np.log(b[both])).max(initial=0.0))


def density_ratio_metric(p: ArrayLike, q: ArrayLike) -> float:
    """δ: how far apart the odds of any two outputs can be."""
    a, b = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if bool(((a > 0) != (b > 0)).any()):
        return inf
    both = a > 0
    logs = np.log(a[both]) - np.log(b[both])
    return float(logs.max(initial=-inf) - logs.min(initial=inf)) if both.any() else 0.0


def tight_epsilon(probabilities: ArrayLike, distances: ArrayLike) -> float:
    """The smallest ε with d_MULT(P_x, P_x′) ≤ ε·d(x, x′) for all states: the Lipschitz constant of a mechanism.

    `probabilities` [output, state], `distances` [state, state]; unconnected states (inf or −1) are not compared.
    """
    rows = np.asarray(probabilities, dtype=np.float64).T
    d = np.asarray(distances, dtype=np.float64)
    found = 0.0
    for i in range(len(rows)):
        for j in range(i + 1, len(rows)):
            if np.isfinite(d[i, j]) and d[i, j] > 0:
                found = max(found, d_mult(rows[i], rows[j]) / float(d[i, j]))
    return found
