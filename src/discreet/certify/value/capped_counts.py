"""The law of which table of noise a database reads, found by its counts (`model.count_tables`).

Let X be the table of a tree that tells all that the kernel reads, and in which the table of one respondent more follows from the
table and the class c of that one: X ⊕ c (`CountTables.growing`). Hence
    independent:  P_n(x′) = Σ_c p_c·Σ {P_(n−1)(x): x ⊕ c = x′},
    drawn from an urn:  μ_c(x′) = Σ {[c_c·Σ_b μ_b(x) + (n − 1)·μ_c(x)]/(C + n − 1): x ⊕ c = x′},    P_n(x) = Σ_c μ_c(x),

μ_c(x) the probability of X = x and that the last respondent is of class c, as in `urn_sums`: X does not depend on the order of
respondents, so that each was as likely the last. Everything is rounded down in units of 2^−62: from below, and what is missing is
one minus the sum. As many steps as respondents, as many cells each as there are X. [ours]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.certify.value.laws import Identical, Law, Listed, Mixed, Overdispersed, Separate
from discreet.certify.value.sizes import Sizes
from discreet.certify.value.urn_sums import UNITS, below
from discreet.errors import TooLarge
from discreet.model.count_tables import CountTables
from discreet.model.together import ask

MOST_STEPS = 1 << 30
"""Respondents × cells, of all laws of a mixture."""
EACH_STEP, EACH_TABLE = 2_000, 60
"""What a respondent takes beside the cells, and a table for each number of respondents that there may be."""
Marks = Sequence[int]
"""The class of each type, from 1; 0 of those that are not counted."""
Cells = NDArray[Any]


def table_chances(law: Law, marks: Marks, counts: CountTables) -> list[Fraction]:
    """The probability of each table from below, of types with these marks; together at most one."""
    steps = _steps(law, counts)
    if steps > MOST_STEPS:
        raise TooLarge(
            "The law of these counts takes too many steps",
            size=f"{steps:,} respondents × cells",
            fits=f"{MOST_STEPS:,} of both",
            remedy="use fewer respondents or fewer tables",
        )
    ask(steps, MOST_STEPS)
    return _chances(law, marks, counts)


def _steps(law: Law, counts: CountTables) -> int:
    """Respondents × cells, and what else takes time."""
    if isinstance(law, Mixed):
        return sum(_steps(one, counts) for _, one in law.parts)
    if isinstance(law, Listed):
        return EACH_TABLE * len(law.histograms)
    sizes = _sizes(law)
    return sizes[-1][0] * (len(counts.growing) + EACH_STEP) + len(sizes) * len(counts) * EACH_TABLE


def _sizes(law: Law) -> Sizes:
    assert isinstance(law, (Identical, Overdispersed, Separate))
    return ((len(law.rows), Fraction(1)),) if isinstance(law, Separate) else law.sizes


def _chances(law: Law, marks: Marks, counts: CountTables) -> list[Fraction]:
    """The probability of each table from below."""
    if isinstance(law, Mixed):
        parts = [[share * p for p in _chances(one, marks, counts)] for share, one in law.parts]
        return [sum(each, Fraction(0)) for each in zip(*parts, strict=True)]
    found = [Fraction(0)] * len(counts)
    if isinstance(law, Listed):
        for histogram, p in law.histograms:
            held = [0] * (counts.classes + 1)
            for mark, n in zip(marks, histogram, strict=True):
                held[mark] += n
            found[counts.of(held[1:])] += p
        return found
    tables = counts.at(list(np.array(counts.growing.counts, dtype=np.int64).T))
    for share, cells in _grown(law, marks, counts):
        masses = np.zeros(len(counts), dtype=np.uint64)
        np.add.at(masses, tables, cells)
        found = [p + share * Fraction(mass, 1 << UNITS) for p, mass in zip(found, masses.tolist(), strict=True)]
    return found


def _grown(law: Law, marks: Marks, counts: CountTables) -> Iterator[tuple[Fraction, Cells]]:
    """P(X = x) in units of 2^−UNITS for each number of respondents that there may be, with its chance."""
    start = np.zeros(len(counts.growing), dtype=np.uint64)
    start[0] = 1 << UNITS
    classes, sizes = sorted(set(marks)), _sizes(law)
    held, cells, chances = [np.zeros_like(start) for _ in classes], start, dict(sizes)
    if 0 in chances:
        yield chances[0], start
    for n in range(sizes[-1][0]):
        after = _next(law, n, marks, classes, cells, held)
        held = [counted_once(each, mark, counts.growing) for each, mark in zip(after, classes, strict=True)]
        cells = sum(held[1:], held[0])
        if n + 1 in chances:
            yield chances[n + 1], cells


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


def counted_once(cells: Cells, mark: int, growing: CountTables) -> Cells:
    """x ⊕ c of cells [..., x]: one more of a class."""
    if not mark:
        return cells
    after = np.zeros_like(cells)
    np.add.at(after.T, growing.one_more[mark - 1], cells.T)
    return after
