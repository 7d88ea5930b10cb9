"""Sums over respondents who are drawn from an urn one after another: a Dirichlet-multinomial as Pólya has it.

Types of weight w_k have concentration c_k together, A = Σ c_k. Let μ_k(s) be the probability that S = s and that the last of n
respondents has weight w_k. Given the others he has it with probability (c_k + n_k)/(A + n − 1), and each of them was as likely the
last of theirs. So with what holds of n − 1 respondents on the right

    μ_k(s + w_k) = [c_k·Σ_j μ_j(s) + (n − 1)·μ_k(s)]/(A + n − 1),       P(S = s) = Σ_k μ_k(s),       E[n_k; S = s] = n·μ_k(s).

One pass gives the law of S and the mean count of every class beside it, in n·(totals)·(classes) steps. Nothing is subtracted:
floats keep their relative accuracy, and whole numbers in units of 2^−UNITS that are rounded down in every product stay below the
truth, by 6·n·(classes) units at a total at most. [ours]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNITS = 62
HALF = UNITS // 2

Array = NDArray[Any]


def drawn(classes: Mapping[int, Fraction], most: int, part: Callable[[Array, Fraction], Array], one: Any) -> Iterator[list[Array]]:
    """μ_k at totals 0, 1, … after 1, …, `most` respondents, one array for each weight ≥ 0 with its concentration, in their order.

    `part(x, share)` is share·x for a share in 0..1, and `one` what probability 1 is.
    """
    top, total = max(classes), sum(classes.values(), Fraction(0))
    law, held = np.array([one]), [np.zeros_like(np.array([one])) for _ in classes]
    for n in range(most):
        longer = []
        for (weight, concentration), before in zip(classes.items(), held, strict=True):
            after = np.zeros(len(law) + top, dtype=law.dtype)
            after[weight : weight + len(law)] = part(law, concentration / (total + n)) + part(before, n / (total + n))
            longer.append(after)
        held, law = longer, sum(longer[1:], longer[0])
        yield held


def below(x: Array, share: Fraction) -> Array:
    """share·x rounded down, both in units of 2^−UNITS: two halves of each, whose products fit in 64 bits."""
    left, right = (np.uint64(half) for half in divmod((share.numerator << UNITS) // share.denominator, 1 << HALF))
    high, low = x >> np.uint64(HALF), x & np.uint64((1 << HALF) - 1)
    carried = high * right + low * left + (low * right >> np.uint64(HALF))
    return np.asarray(high * left + (carried >> np.uint64(HALF)))


@dataclass(frozen=True, eq=False)
class UrnSums:
    """P(S = first + i), and E[n_k; S = first + i] of each weight, from below in units of 2^−bits."""

    first: int
    masses: list[int]
    counts: dict[int, list[int]]


def urn_sums(classes: Mapping[int, Fraction], sizes: tuple[tuple[int, Fraction], ...], bits: int) -> UrnSums:
    """The law of S from below for weights with their concentrations, and sizes with their chances."""
    unit, low = gcd(*classes) or 1, min(classes)
    steps = {(w - low) // unit: c for w, c in classes.items()}
    chances, largest = dict(sizes), sizes[-1][0]
    first, last = min(n * low for n, _ in sizes), max(n * max(classes) for n, _ in sizes)
    masses, counts = [0] * (last - first + 1), {w: [0] * (last - first + 1) for w in classes}
    if 0 in chances:
        _add(masses, [1 << UNITS], -first, unit, chances[0], bits)
    for n, held in enumerate(drawn(steps, largest, below, np.uint64(1 << UNITS)), 1):
        if n in chances:
            start = n * low - first
            _add(masses, sum(held[1:], held[0]).tolist(), start, unit, chances[n], bits)
            for weight, one in zip(classes, held, strict=True):
                _add(counts[weight], one.tolist(), start, unit, n * chances[n], bits)
    return UrnSums(first, masses, counts)


def _add(held: list[int], numbers: list[int], start: int, unit: int, share: Fraction, bits: int) -> None:
    """Add share·numbers at start, start + unit, …, rounded down."""
    top, bottom = share.numerator << bits, share.denominator << UNITS
    for i, number in enumerate(numbers):
        if number:
            held[start + unit * i] += number * top // bottom
