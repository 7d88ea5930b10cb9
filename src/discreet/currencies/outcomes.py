"""Composition by listing outcomes: k releases of one pair as one pair, exact, where few outcomes can be told apart.

Outputs with equal loss tell the same and are taken together. Of k releases only how often each loss occurred matters:

    P^k(a) = k!/(a₁!…a_m!) Π p_i^a_i,     a₁ + … + a_m = k,

and likewise for Q: C(k+m−1, m−1) outcomes. Everything about the pair then follows exactly, ε(δ) by its corners.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from discreet.currencies.pair import Pair

MOST_OUTCOMES = 3_000
MOST_BITS = 20_000_000
"""Bits of all weights together beyond which outcomes are not listed."""


def listed_outcomes(pair: Pair, times: int) -> Pair | None:
    """That many independent releases as one pair, or None when there are too many outcomes to list."""
    classes = _by_loss(pair)
    count = comb(times + len(classes) - 1, len(classes) - 1)
    if count > MOST_OUTCOMES or count * times * pair.denominator.bit_length() > MOST_BITS:
        return None
    first, second = [], []
    left: list[tuple[int, int, int, int]] = [(times, 1, 1, 1)]
    for place, (p, q) in enumerate(classes):
        final, grown = place == len(classes) - 1, []
        for rest, ways, p_so_far, q_so_far in left:
            for used in range(rest, -1, -1) if not final else (rest,):
                grown.append((rest - used, ways * comb(rest, used), p_so_far * p**used, q_so_far * q**used))
        left = grown
    for _, ways, p_all, q_all in left:
        first.append(ways * p_all)
        second.append(ways * q_all)
    return Pair(tuple(first), tuple(second), pair.denominator**times)


def _by_loss(pair: Pair) -> list[tuple[int, int]]:
    """The weights (P, Q) of outputs with each loss."""
    found: dict[Fraction | None, tuple[int, int]] = {}
    for p, q in pair.key:
        ratio = Fraction(p, q) if q else None
        before = found.get(ratio, (0, 0))
        found[ratio] = before[0] + p, before[1] + q
    return list(found.values())
