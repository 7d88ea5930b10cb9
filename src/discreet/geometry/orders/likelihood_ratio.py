"""Good news: posteriors ordered by likelihood ratio (MLRP) or by first-order stochastic dominance.

MLRP: μ′ ≥ μ when μ′(ω+)μ(ω) ≥ μ′(ω)μ(ω+) for all ω < ω+ (cross-multiplied). First order: μ′ ≥ μ when every tail
P_μ′(ω ≥ w) is at least P_μ(ω ≥ w). MLRP implies first order. A family is ordered when every two members are; both
orders imply the order of means, so sorting by the mean finds the only candidate. Reference: SY fn 31, Milgrom 1981.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InputError
from discreet.geometry.orders.uprr import whole

Posterior = Sequence[Fraction]


@dataclass(frozen=True)
class Disorder:
    """Posteriors number `lower` and `higher` (by mean) that are not ordered, seen at states `low` and `high`."""

    lower: int
    higher: int
    low: int
    high: int


@dataclass(frozen=True)
class Chain:
    """Posteriors from the lowest to the highest when they are ordered, else the pair that is not."""

    order: tuple[int, ...] | None
    counterexample: Disorder | None

    @property
    def holds(self) -> bool:
        """Whether the family is ordered."""
        return self.order is not None


def mlrp(posteriors: Sequence[Posterior], tolerance: Fraction = Fraction(0)) -> Chain:
    """Whether the posteriors are ordered by likelihood ratio."""
    return _chain(posteriors, _falling_ratio, tolerance)


def first_order(posteriors: Sequence[Posterior], tolerance: Fraction = Fraction(0)) -> Chain:
    """Whether the posteriors are ordered by first-order stochastic dominance."""
    return _chain(posteriors, _smaller_tail, tolerance)


def _falling_ratio(low: list[int], high: list[int], tolerance: Fraction) -> tuple[int, int] | None:
    n, above, unit = len(low), tolerance.numerator + tolerance.denominator, tolerance.denominator
    full = all(low) and all(high)
    pairs = ((a, a + 1) for a in range(n - 1)) if full else ((a, b) for a in range(n) for b in range(a + 1, n))
    for a, b in pairs:
        if high[b] * low[a] * above < high[a] * low[b] * unit:
            return a, b
    return None


def _smaller_tail(low: list[int], high: list[int], tolerance: Fraction) -> tuple[int, int] | None:
    above, unit = tolerance.numerator + tolerance.denominator, tolerance.denominator
    all_low, all_high = sum(low) * above, sum(high) * unit
    tail_low = tail_high = 0
    for w in reversed(range(len(low))):
        tail_low += low[w]
        tail_high += high[w]
        if tail_high * all_low < tail_low * all_high:
            return w, w
    return None


def _chain(
    posteriors: Sequence[Posterior],
    violation: Callable[[list[int], list[int], Fraction], tuple[int, int] | None],
    tolerance: Fraction,
) -> Chain:
    _same_length(posteriors)
    means = [sum((p * i for i, p in enumerate(posterior)), Fraction(0)) for posterior in posteriors]
    order = sorted(range(len(posteriors)), key=means.__getitem__)
    scaled = [whole(posterior) for posterior in posteriors]
    # Both orders are transitive on beliefs without zeros, but not with them: every two are looked at.
    for x, low in enumerate(order):
        for high in order[x + 1 :]:
            found = violation(scaled[low], scaled[high], tolerance)
            if found is not None:
                return Chain(None, Disorder(low, high, *found))
    return Chain(tuple(order), None)


def _same_length(posteriors: Sequence[Posterior]) -> None:
    lengths = sorted({len(posterior) for posterior in posteriors})
    if len(lengths) > 1:
        raise InputError(
            "Posteriors about different states cannot be compared",
            found=f"{lengths} states",
            allowed="one length",
            remedy="compare mechanisms of the same problem",
        )
