"""The uniform-peaked relative risk order (UPRR) between two sets of posteriors about an ordered state.

τ ≥ τ′ when each μ of τ has a peak ω*(μ) such that against every μ′ of τ′ the ratio μ(ω)/μ′(ω) does not fall up to the
peak and does not rise after it. It makes τ better in every supermodular decision (SY Thm 4). Ratios are compared
cross-multiplied, so zeros need no care: "rises from ω to ω+" means μ(ω+)μ′(ω) > μ(ω)μ′(ω+). The order is not
reflexive (a posterior may have no peak against its own companions), so no axioms of a partial order are assumed.
Reference: SY section 5.2, Lemma 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from discreet.errors import InputError

Posterior = Sequence[Fraction]


@dataclass(frozen=True)
class NoPeak:
    """Posterior number `posterior` has no peak: its ratio falls within `falls` against one rival and rises within
    `rises`, at the same place or later, against another (pairs of states, rivals by number)."""

    posterior: int
    falls: tuple[int, int]
    falls_against: int
    rises: tuple[int, int]
    rises_against: int


@dataclass(frozen=True)
class UprrAnswer:
    """The peaks [lowest, highest] of each posterior when the order holds, else what rules a peak out."""

    peaks: tuple[tuple[int, int], ...] | None
    counterexample: NoPeak | None

    @property
    def holds(self) -> bool:
        """Whether the first set dominates the second."""
        return self.peaks is not None


def uprr(posteriors: Sequence[Posterior], others: Sequence[Posterior], tolerance: Fraction = Fraction(0)) -> UprrAnswer:
    """Whether `posteriors` dominate `others`; relative differences of ratios up to `tolerance` are overlooked."""
    width = len(posteriors[0])
    if any(len(p) != width for p in (*posteriors, *others)):
        raise InputError(
            "Posteriors about different states cannot be compared",
            found="different lengths",
            allowed="one length",
            remedy="compare mechanisms of the same problem",
        )
    ours, rivals = [whole(p) for p in posteriors], [whole(p) for p in others]
    peaks = []
    for number, posterior in enumerate(ours):
        found = _peaks(number, posterior, rivals, tolerance)
        if isinstance(found, NoPeak):
            return UprrAnswer(None, found)
        peaks.append(found)
    return UprrAnswer(tuple(peaks), None)


def whole(posterior: Posterior) -> list[int]:
    """A positive multiple with whole entries: ratios between posteriors keep their shape, and products are quick."""
    scale = lcm(*(p.denominator for p in posterior))
    return [p.numerator * (scale // p.denominator) for p in posterior]


def _peaks(number: int, posterior: list[int], others: Sequence[list[int]], tolerance: Fraction) -> tuple[int, int] | NoPeak:
    """[lowest, highest] peak: a rise from a to b needs a peak above a, a fall from a to b one below b."""
    width, above, unit = len(posterior), tolerance.numerator + tolerance.denominator, tolerance.denominator
    lowest, rises, rising = 0, (0, 0), 0
    highest, falls, falling = width - 1, (width - 1, width - 1), 0
    for rival, other in enumerate(others):
        for a, b in _pairs(posterior, other):
            later, sooner = posterior[b] * other[a], posterior[a] * other[b]
            if a + 1 > lowest and later * unit > sooner * above:
                lowest, rises, rising = a + 1, (a, b), rival
            if b - 1 < highest and later * above < sooner * unit:
                highest, falls, falling = b - 1, (a, b), rival
    if lowest <= highest:
        return lowest, highest
    return NoPeak(number, falls, falling, rises, rising)


def _pairs(posterior: list[int], other: list[int]) -> list[tuple[int, int]]:
    """Neighbouring states suffice where nothing is zero; else all pairs, since 0/0 breaks the chain."""
    width = len(posterior)
    if all(posterior) and all(other):
        return [(i, i + 1) for i in range(width - 1)]
    return [(i, j) for i in range(width) for j in range(i + 1, width)]
