"""Pairs that dominate: what a release shows about one respondent is never more than what the pair shows.

(P, Q) dominates (P′, Q′) when every attack is at least as good against it,

    h(x) = Σ max(p − xq, 0) ≥ h′(x) = Σ max(p′ − xq′, 0)      for every x ≥ 0.

h is convex and linear between its kinks, the ratios p/q, and so is its slope; comparing at the kinks of h, and beyond
the last one, decides it in integers. Composition keeps domination, also when releases depend on earlier outputs.

`envelope` dominates several pairs at once. `coarsened` dominates one pair with few atoms and short numbers, so that it
can be written down, hashed and compared by whoever reads it. References: Zhu, Dong & Wang (2022); KOV Thm 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from discreet.currencies.pair import Pair, exact_pair
from discreet.numerics.brackets import rational_above_exp

Point = tuple[Fraction, Fraction]

STEPS = 24
"""Ratios between 1 and e^ε that a coarse pair may have."""
BITS = 60
MARGIN = Fraction(1, 1 << 44)
"""What is added to every corner of a coarse pair: more than the floats of two machines differ by."""


def dominates(pair: Pair, other: Pair) -> bool:
    """Whether no attack is better against `other`, decided exactly."""
    if excess(other, None) > excess(pair, None):
        return False
    ratios = {Fraction(p, q) for p, q in pair.key if p and q}
    return all(excess(other, x) <= excess(pair, x) for x in ratios)


def excess(pair: Pair, x: Fraction | None) -> Fraction:
    """h(x) = Σ max(p − xq, 0), exact; None stands for x = ∞."""
    if x is None:
        return Fraction(sum(p for p, q in pair.key if q == 0), pair.denominator)
    up, down = x.numerator, x.denominator
    return Fraction(sum(max(p * down - up * q, 0) for p, q in pair.key), down * pair.denominator)


def envelope(pairs: Sequence[Pair]) -> Pair:
    """A pair that dominates each of these: its curve is the concave hull of theirs."""
    if len(pairs) == 1:
        return pairs[0]
    points = {
        (Fraction(alarms, pair.denominator), Fraction(hits, pair.denominator)) for pair in pairs for alarms, hits in pair.curve
    }
    hull: list[Point] = []
    for point in sorted(points):
        while hull and (hull[-1][0] == point[0] or (len(hull) > 1 and _below(hull[-2], hull[-1], point))):
            hull.pop()
        hull.append(point)
    return _pair([(Fraction(0), Fraction(0)), *hull])


def coarsened(pair: Pair, epsilon: Fraction) -> Pair:
    """A pair with few atoms that dominates this one, whose ratios lie within e^±ε but for a little mass.

    Each atom is split between the two nearest ratios of a fixed list so that P and Q keep their masses; that undoes a
    post-processing. Corners are then rounded outward.
    """
    steps = [rational_above_exp(epsilon * n / STEPS, BITS) for n in range(1, STEPS + 1)]
    ratios = [*(1 / r for r in reversed(steps)), Fraction(1), *steps]
    masses = [[Fraction(0), Fraction(0)] for _ in range(len(ratios) + 1)]
    for p, q in pair.key:
        at = sum(p > r * q for r in ratios)
        masses[at][0] += Fraction(p, pair.denominator)
        masses[at][1] += Fraction(q, pair.denominator)
    atoms = [(Fraction(0), Fraction(0))] * (len(ratios) + 2)
    for at, (mass, other) in enumerate(masses):
        low = ratios[at - 1] if at else None
        high = ratios[at] if at < len(ratios) else None
        for place, more in enumerate(_share(mass, other, low, high), start=at):
            atoms[place] = (atoms[place][0] + more[0], atoms[place][1] + more[1])
    corners, hits, alarms = [(Fraction(0), Fraction(0))], Fraction(0), Fraction(0)
    for mass, other in reversed(atoms):
        if mass or other:
            hits, alarms = hits + mass, alarms + other
            raised = min(Fraction(ceil(hits * (1 << BITS)), 1 << BITS) + MARGIN, Fraction(1))
            corners.append((Fraction(floor(alarms * (1 << BITS)), 1 << BITS), raised))
    return _pair(corners)


def _share(p: Fraction, q: Fraction, low: Fraction | None, high: Fraction | None) -> tuple[Point, Point]:
    """Masses (p, q) with low ≤ p/q ≤ high as one atom of ratio `low` (None: 0) and one of ratio `high` (None: ∞)."""
    if low is None:
        assert high is not None
        return (Fraction(0), q - p / high), (p, p / high)
    if high is None:
        return (q * low, q), (p - q * low, Fraction(0))
    upper = (p - low * q) / (high - low)
    return (p - high * upper, q - upper), (high * upper, upper)


def _below(first: Point, middle: Point, last: Point) -> bool:
    """Whether the middle point does not stand out of the line between the others."""
    return (middle[1] - first[1]) * (last[0] - first[0]) <= (last[1] - first[1]) * (middle[0] - first[0])


def _pair(corners: Iterable[Point]) -> Pair:
    """The pair whose curve passes through corners from (0, 0) on, which may only rise; the rest of both masses ends it."""
    rising, a, b = [], Fraction(0), Fraction(0)
    for alarms, hits in corners:
        a, b = max(a, alarms), max(b, hits)
        rising.append((a, b))
    rising.append((Fraction(1), Fraction(1)))
    pieces = [(y[0] - x[0], y[1] - x[1]) for x, y in pairwise(rising) if x != y]
    return exact_pair([p for _, p in pieces], [q for q, _ in pieces])
