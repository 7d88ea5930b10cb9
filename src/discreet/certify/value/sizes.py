"""How many respondents there are, n with probability P(n), and averages over the types that each of them may have."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.model.universe import Universe

Sizes = tuple[tuple[int, Fraction], ...]


def sizes_of(universe: Universe, chances: tuple[Fraction, ...] | None) -> Sizes:
    """(n, P(n)) of every size of positive probability, ascending."""
    if chances is None:
        return ((universe.largest, Fraction(1)),)
    return tuple((universe.smallest + i, p) for i, p in enumerate(chances) if p > 0)


def mean_size(sizes: Sizes) -> Fraction:
    """E[n]."""
    return sum((n * p for n, p in sizes), Fraction(0))


def mean_pairs(sizes: Sizes) -> Fraction:
    """E[n(n − 1)]."""
    return sum((n * (n - 1) * p for n, p in sizes), Fraction(0))


def averaged(shares: Sequence[Fraction], values: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """Σ_t s_t·v_t and Σ_t s_t·v_t²."""
    first = [s * v for s, v in zip(shares, values, strict=True)]
    return sum(first, Fraction(0)), sum((x * v for x, v in zip(first, values, strict=True)), Fraction(0))


def fewer(sizes: Sizes) -> Sizes:
    """The sizes weighed by themselves, one respondent fewer."""
    mean = mean_size(sizes)
    return tuple((n - 1, n * p / mean) for n, p in sizes if n > 0)
