"""The law of which table of noise a database reads: two counts, each told apart up to a cap (`model.count_tables`).

Let X be (min(j, J), min(k, A)), j and k the numbers of respondents of a first and of a second class, A = max n − 1. Capped counts
add up, so X follows from the X of all but one and the class of that one: X ⊕ m_c, with the mark m_c of his class c. Hence

    independent:  P_n(x′) = Σ_c p_c·Σ {P_(n−1)(x): x ⊕ m_c = x′},
    drawn from an urn:  μ_c(x′) = Σ {[c_c·Σ_b μ_b(x) + (n − 1)·μ_c(x)]/(C + n − 1): x ⊕ m_c = x′},    P_n(x) = Σ_c μ_c(x),

μ_c(x) the probability of X = x and that the last respondent is of class c, as in `urn_sums`: X does not depend on the order of
respondents, so that each was as likely the last. Everything is rounded down in units of 2^−62: from below, and what is missing is
one minus the sum. As many steps as respondents, (J + 1)·(A + 1) cells each. [ours]
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.certify.value.laws import Identical, Law, Listed, Mixed, Overdispersed, Separate
from discreet.certify.value.sizes import Sizes
from discreet.certify.value.urn_sums import UNITS, below
from discreet.errors import TooLarge
from discreet.model.count_tables import CountTables

MOST_STEPS = 100_000_000
"""Respondents × cells."""
Marks = Sequence[tuple[int, int]]
Cells = NDArray[Any]


def table_chances(law: Law, marks: Marks, counts: CountTables) -> list[Fraction]:
    """The probability of each table from below, of types with these marks; together at most one."""
    if isinstance(law, Mixed):
        parts = [[share * p for p in table_chances(one, marks, counts)] for share, one in law.parts]
        return [sum(each, Fraction(0)) for each in zip(*parts, strict=True)]
    found = [Fraction(0)] * len(counts)
    if isinstance(law, Listed):
        for histogram, p in law.histograms:
            j, k = (sum(m[c] * n for m, n in zip(marks, histogram, strict=True)) for c in (0, 1))
            found[counts.of(j, k)] += p
        return found
    for share, cells in _grown(law, marks, counts):
        for (j, k), mass in np.ndenumerate(cells):
            found[counts.of(j, k)] += share * Fraction(int(mass), 1 << UNITS)
    return found


def _grown(law: Law, marks: Marks, counts: CountTables) -> list[tuple[Fraction, Cells]]:
    """P(X = x) [j, k] in units of 2^−UNITS for each number of respondents that there may be, with its chance."""
    assert isinstance(law, (Identical, Overdispersed, Separate))
    sizes: Sizes = ((len(law.rows), Fraction(1)),) if isinstance(law, Separate) else law.sizes
    start = np.zeros((counts.first + 1, counts.second + 1), dtype=np.uint64)
    if sizes[-1][0] * start.size > MOST_STEPS:
        raise TooLarge(
            "The law of two counts takes too many steps",
            size=f"{sizes[-1][0]:,} respondents × {start.size:,} cells",
            fits=f"{MOST_STEPS:,} of both",
            remedy="use fewer respondents or fewer tables",
        )
    start[0, 0] = 1 << UNITS
    classes = sorted(set(marks))
    held, cells, chances = [np.zeros_like(start) for _ in classes], start, dict(sizes)
    found = [(chances[0], start)] if 0 in chances else []
    for n in range(sizes[-1][0]):
        held = [counted_once(each, mark) for each, mark in zip(_next(law, n, marks, classes, cells, held), classes, strict=True)]
        cells = sum(held[1:], held[0])
        if n + 1 in chances:
            found.append((chances[n + 1], cells))
    return found


def _next(law: Law, n: int, marks: Marks, classes: Marks, cells: Cells, held: list[Cells]) -> list[Cells]:
    """What comes from each cell when respondent n, counted from 0, is of each class."""
    if isinstance(law, Overdispersed):
        whole = sum(law.concentration, Fraction(0)) + n
        shares = _by_class(law.concentration, marks, classes)
        return [below(cells, share / whole) + below(last, n / whole) for share, last in zip(shares, held, strict=True)]
    row = law.rows[n] if isinstance(law, Separate) else law.probabilities  # type: ignore[attr-defined]
    return [below(cells, share) for share in _by_class(row, marks, classes)]


def _by_class(numbers: Sequence[Fraction], marks: Marks, classes: Marks) -> list[Fraction]:
    return [sum((x for x, mark in zip(numbers, marks, strict=True) if mark == one), Fraction(0)) for one in classes]


def counted_once(cells: Cells, mark: tuple[int, int]) -> Cells:
    """x ⊕ m of cells [..., j, k]: one more of a class, where counts at their cap stay."""
    if mark == (0, 0):
        return cells
    axis = mark.index(1) - 2
    along = np.moveaxis(cells, axis, 0)
    after = np.zeros_like(along)
    after[1:] = along[:-1]
    after[-1] += along[-1]
    return np.moveaxis(after, 0, axis)
