"""Which numbers a learning release holds: every cell answers one question, so that one respondent moves one number by one.

Within a stratum cells are put in order by size, then by a hash of their keys (neighbours in space are no neighbours here),
and cut into pairs. With x_c the number of respondents of cell c whose type is j or above, the pairs take turns:

    at least j              Σ (x_a + x_b)
    at least j, higher      Σ max(x_a, x_b)
    at least j, lower       Σ min(x_a, x_b)

and, where it is asked of what kinds cells are,

    at least j, cells above s      the number of cells with x_c ≥ s·n_c

The first for every j from 1 on, the others for the middle j, which takes two turns: their sum says how many there are, their
difference Σ |x_a − x_b| how far cells are apart. The last for the middle j, whose cells are asked for all of `SHARES_OF_CELLS`;
a cell in which two of these shares mean as many respondents is not counted for the second.

Sensitivity. Replacing one respondent moves x_c by at most 1 for one cell c, which belongs to one pair and so to one turn. A
sum moves by at most 1. Of the numbers of cells above a share one moves, by at most 1: x_c passes one number of respondents, and
no two shares stand for the same. Of higher and lower one moves, by at most 1: when one of two whole numbers moves by one, the
larger of them moves or the smaller, not both (if they were equal, up moves the larger and down the smaller). So of all numbers
of a learning release one moves, by at most 1, and each may be published with the whole ε. A unit that moves k rows from some
cells to others makes 2k replacements, all of which may meet in one number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.key_set import KeySet

QUESTION = "question"
"""The key column that tells the numbers of a stratum apart."""
WHOLE, HIGHER, LOWER, ABOVE = "", ", higher", ", lower", ", cells above "
SHARES_OF_CELLS = tuple(Fraction(s) for s in ("1/20", "1/8", "1/4", "1/2", "3/4"))
"""Above which cells are counted."""
KINDS, TURNS_OF_KINDS = 0, 2
"""The turns of the pairs in which cells are counted."""
LARGEST_ASKED = 4096
"""Cells of more respondents are not asked: how they differ is hardly hidden by noise."""
FEWEST_PAIRS = 3
"""Pairs that each turn of each stratum needs."""


@dataclass(frozen=True)
class Question:
    """One number of a learning release: the cells that it is about, and the largest value that it can have."""

    stratum: tuple[str, ...]
    about: int
    """Respondents of this type and above are counted."""
    part: str
    """Of each pair both cells, the higher or the lower one."""
    pairs: tuple[tuple[int, int], ...]
    """Places in the key set."""
    largest: int
    above: Fraction = Fraction(0)
    """The share above which cells are counted."""
    needs: tuple[tuple[int, int], ...] = ()
    """What that is in respondents of each cell of the pairs (`needs_of`)."""

    @property
    def name(self) -> str:
        """What stands in the column `question`."""
        return f"at least {self.about}{self.part}{self.above if self.part == ABOVE else ''}"

    @property
    def key(self) -> tuple[str, ...]:
        """The question as a cell of the learning release."""
        return (*self.stratum, self.name)

    def answer(self, counts: NDArray[np.integer]) -> int:
        """The number itself, from histograms [cell, type]."""
        x = counts[:, self.about :].sum(axis=1)[np.array(self.pairs, dtype=np.int64)]
        if self.part == ABOVE:
            return int((x >= np.array(self.needs)).sum())
        return int({WHOLE: x, HIGHER: x.max(axis=1), LOWER: x.min(axis=1)}[self.part].sum())


def needs_of(size: int) -> tuple[int, ...]:
    """How many respondents of a cell each share means: each number once; what is not counted is one more than there are."""
    found: list[int] = []
    for share in SHARES_OF_CELLS:
        need = max(ceil(share * size), 1)
        found.append(size + 1 if need in found else need)
    return tuple(found)


def middle_of(types: int) -> int:
    """The cut whose spread is asked about."""
    return types // 2


def questions(key_set: KeySet, types: int, strata: Sequence[str] = (), *, kinds: bool = False) -> tuple[Question, ...]:
    """Every question, stratum by stratum, also about kinds of cells if wanted; refuses cells that are too few to learn from."""
    missing = [name for name in strata if name not in key_set.columns]
    if missing or QUESTION in strata or len(set(strata)) != len(strata):
        raise InputError(
            "The strata are not key columns of the plan",
            found=", ".join(strata),
            allowed=", ".join(key_set.columns),
            remedy="name key columns, each once",
        )
    found: list[Question] = []
    for stratum, places in sorted(by_stratum(key_set, strata).items()):
        found += _of_stratum(stratum, places, key_set, types, kinds)
    return tuple(found)


def by_stratum(key_set: KeySet, strata: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
    """The places of the cells of each stratum."""
    at = [key_set.columns.index(name) for name in strata]
    found: dict[tuple[str, ...], list[int]] = {}
    for place, cell in enumerate(key_set.cells):
        found.setdefault(tuple(cell[i] for i in at), []).append(place)
    return found


def _of_stratum(stratum: tuple[str, ...], places: list[int], key_set: KeySet, types: int, kinds: bool) -> Iterator[Question]:
    pairs = _pairs(places, key_set)
    turns = [*range(1, types), middle_of(types), *([KINDS] * TURNS_OF_KINDS if kinds else [])]
    if len(pairs) < FEWEST_PAIRS * len(turns):
        where = f" of {' / '.join(stratum)}" if stratum else ""
        raise InputError(
            f"There are too few cells{where} to learn a prior from",
            found=f"{len(places)} cells, {2 * len(pairs)} of them of 1 to {LARGEST_ASKED:,} respondents and in pairs",
            allowed=f"at least {2 * FEWEST_PAIRS * len(turns)} cells for {types} types",
            remedy="use fewer strata or smaller cells, or bring a prior",
        )
    sizes = key_set.sizes
    counted = tuple(pair for i, pair in enumerate(pairs) if turns[i % len(turns)] == KINDS)
    for k, share in enumerate(SHARES_OF_CELLS if kinds else ()):
        needs = tuple((needs_of(sizes[a])[k], needs_of(sizes[b])[k]) for a, b in counted)
        yield Question(stratum, middle_of(types), ABOVE, counted, 2 * len(counted), share, needs)
    for about in range(1, types):
        mine = tuple(pair for i, pair in enumerate(pairs) if turns[i % len(turns)] == about)
        more, less = (
            sum(max(sizes[a], sizes[b]) for a, b in mine),
            sum(min(sizes[a], sizes[b]) for a, b in mine),
        )
        if about == middle_of(types):
            yield Question(stratum, about, HIGHER, mine, more)
            yield Question(stratum, about, LOWER, mine, less)
        else:
            yield Question(stratum, about, WHOLE, mine, more + less)


def _pairs(places: list[int], key_set: KeySet) -> list[tuple[int, int]]:
    """Cells in pairs of nearly one size, whatever the order of the key set; a last one that is alone is not asked."""
    small = [place for place in places if key_set.sizes[place] <= LARGEST_ASKED]
    ordered = sorted(small, key=lambda place: (key_set.sizes[place], _hash(key_set.cells[place])))
    return list(zip(ordered[::2], ordered[1::2], strict=False))


def _hash(cell: tuple[str, ...]) -> bytes:
    return hashlib.sha256("\0".join(cell).encode()).digest()


def learning_cells(asked: Sequence[Question], strata: Sequence[str]) -> KeySet:
    """The questions as the cells of a release; the size of each is the largest number that it can have."""
    return KeySet((*strata, QUESTION), tuple(q.key for q in asked), tuple(q.largest for q in asked))


def answers(asked: Sequence[Question], counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Histograms [question, 2] that count mechanisms read, from histograms [cell, type]."""
    return np.array([(q.largest - value, value) for q in asked for value in (q.answer(counts),)], dtype=np.int64)
