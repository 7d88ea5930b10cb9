"""Which numbers a learning release holds: every cell answers one question, so that one respondent moves one number by one.

Within a stratum cells are put in order by size, then by a hash of their keys (neighbours in space are no neighbours here), and cut
into pairs. The pairs take turns:

    type t     how many respondents of these cells have type t                          Σ_c h_c(t)
    spread     how far the two cells of a pair are apart, summed over pairs             Σ_(a,b) |h_a(t) − h_b(t)|

Spread asks of each pair about one type t; the types take turns. With two types only type 1 is asked about: type 0 is the rest.

Sensitivity. Replacing one respondent moves one unit of one histogram h_c from type s to type u. Cell c belongs to one question.
A count Σ h_c(t) moves by 1 if t is s or u, else by 0. In a spread one term |h_a(t) − h_b(t)| moves, by at most |Δh_c(t)| ≤ 1. So of
all numbers of a learning release one moves, by at most 1: it is a partition of the cells, and each number may be published with
the whole ε. A unit that moves k rows from some cells to others makes 2k replacements, all of which may meet in one number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.key_set import KeySet

QUESTION = "question"
"""The key column that tells the numbers of a stratum apart."""
SPREAD = "spread"
LARGEST_ASKED = 4096
"""Cells of more respondents are not asked: how they differ is hardly hidden by noise."""
FEWEST_PAIRS = 3
"""Pairs that each question of each stratum needs."""

Pair = tuple[int, int, int]
"""Two places in the key set, and the type that their spread is about."""


@dataclass(frozen=True)
class Question:
    """One number of a learning release: the cells that it is about, and the largest value that it can have."""

    stratum: tuple[str, ...]
    about: int | None
    """The type that is counted; None for the spread."""
    pairs: tuple[Pair, ...]
    largest: int

    @property
    def name(self) -> str:
        """What stands in the column `question`."""
        return SPREAD if self.about is None else f"type {self.about}"

    @property
    def key(self) -> tuple[str, ...]:
        """The question as a cell of the learning release."""
        return (*self.stratum, self.name)

    def answer(self, counts: NDArray[np.integer]) -> int:
        """The number itself, from histograms [cell, type]."""
        a, b, t = np.array(self.pairs, dtype=np.int64).T
        if self.about is not None:
            return int(counts[a, self.about].sum() + counts[b, self.about].sum())
        return int(np.abs(counts[a, t].astype(np.int64) - counts[b, t]).sum())


def asked_types(types: int) -> tuple[int, ...]:
    """The types that are counted: all but type 0, which is the rest."""
    return tuple(range(1, types))


def questions(key_set: KeySet, types: int, strata: Sequence[str] = ()) -> tuple[Question, ...]:
    """Every question, stratum by stratum; refuses cells that are too few to learn from."""
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
        found += _of_stratum(stratum, places, key_set, types)
    return tuple(found)


def by_stratum(key_set: KeySet, strata: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
    """The places of the cells of each stratum."""
    at = [key_set.columns.index(name) for name in strata]
    found: dict[tuple[str, ...], list[int]] = {}
    for place, cell in enumerate(key_set.cells):
        found.setdefault(tuple(cell[i] for i in at), []).append(place)
    return found


def _of_stratum(
    stratum: tuple[str, ...], places: list[int], key_set: KeySet, types: int
) -> Iterator[Question]:
    pairs = _pairs(places, key_set)
    counted = asked_types(types)
    turns = len(counted) + 1
    if len(pairs) < FEWEST_PAIRS * turns:
        where = f" of {' / '.join(stratum)}" if stratum else ""
        raise InputError(
            f"There are too few cells{where} to learn a prior from",
            found=f"{len(places)} cells, {2 * len(pairs)} of them of 1 to {LARGEST_ASKED:,} respondents and in pairs",
            allowed=f"at least {2 * FEWEST_PAIRS * turns} cells for {types} types",
            remedy="use fewer strata or smaller cells, or bring a prior",
        )
    sizes = key_set.sizes
    for turn, about in enumerate((*counted, None)):
        mine = pairs[turn::turns]
        if about is None:
            asked = tuple(
                (a, b, counted[i % len(counted)] if types == 2 else i % types)
                for i, (a, b) in enumerate(mine)
            )
            yield Question(stratum, None, asked, sum(max(sizes[a], sizes[b]) for a, b in mine))
        else:
            yield Question(
                stratum,
                about,
                tuple((a, b, about) for a, b in mine),
                sum(sizes[a] + sizes[b] for a, b in mine),
            )


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
    return np.array(
        [(q.largest - value, value) for q in asked for value in (q.answer(counts),)], dtype=np.int64
    )
