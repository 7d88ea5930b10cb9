"""What is asked of cells: one respondent moves one number by at most one, whatever the data."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.learning.questions import (
    ABOVE,
    FEWEST_PAIRS,
    HIGHER,
    LARGEST_ASKED,
    LOWER,
    SHARES_OF_CELLS,
    answers,
    learning_cells,
    needs_of,
    questions,
)
from discreet.model.key_set import KeySet


def cells(sizes: list[int], strata: int = 1) -> KeySet:
    return KeySet(("town", "street"), tuple((f"t{i % strata}", f"s{i}") for i in range(len(sizes))), tuple(sizes))


@pytest.mark.parametrize(("types", "strata"), [(2, 1), (3, 1), (4, 2)])
def test_one_respondent_moves_one_number_by_at_most_one(types: int, strata: int) -> None:
    """The adversary: every replacement of every respondent, from several databases."""
    random = np.random.default_rng(types)
    key_set = cells([1 + i % 3 for i in range(2 * FEWEST_PAIRS * (types + 1) * strata)], strata)
    asked = questions(key_set, types, ("town",) if strata > 1 else ())
    for _ in range(5):
        counts = np.array([random.multinomial(n, np.full(types, 1 / types)) for n in key_set.sizes])
        before = answers(asked, counts)
        for cell, (old, new) in itertools.product(range(len(counts)), itertools.permutations(range(types), 2)):
            if counts[cell, old]:
                moved = counts.copy()
                moved[cell, old] -= 1
                moved[cell, new] += 1
                change = np.abs(answers(asked, moved)[:, 1] - before[:, 1])
                assert change.sum() <= 1


@pytest.mark.parametrize("types", [2, 3])
def test_one_respondent_moves_one_number_of_cells_by_at_most_one(types: int) -> None:
    """Kinds of cells: in cells of one to nine, where several shares mean as many respondents."""
    random = np.random.default_rng(types)
    key_set = cells([1 + i % 9 for i in range(2 * FEWEST_PAIRS * (types + 3))])
    asked = questions(key_set, types, kinds=True)
    assert sum(q.part == ABOVE for q in asked) == len(SHARES_OF_CELLS)
    counts = np.array([random.multinomial(n, np.full(types, 1 / types)) for n in key_set.sizes])
    before = answers(asked, counts)
    moves = 0
    for cell, (old, new) in itertools.product(range(len(counts)), itertools.permutations(range(types), 2)):
        if counts[cell, old]:
            moved = counts.copy()
            moved[cell, old] -= 1
            moved[cell, new] += 1
            change = np.abs(answers(asked, moved)[:, 1] - before[:, 1])
            assert change.sum() <= 1
            moves += int(change[: len(SHARES_OF_CELLS)].sum())
    assert moves > 0


def test_two_shares_that_mean_as_many_respondents_would_move_twice() -> None:
    """A near miss: in a cell of four both 1/20 and 1/8 mean one respondent; counted for both, one respondent moves both."""
    assert needs_of(4) == (1, 5, 5, 2, 3)
    key_set = cells([4] * 24)
    first, second = [q for q in questions(key_set, 2, kinds=True) if q.part == ABOVE][:2]
    naive = replace(second, needs=first.needs)
    none, one = np.array([(4, 0)] * 24), np.array([(4, 0)] * 24)
    one[first.pairs[0][0]] = (3, 1)
    assert sum(q.answer(one) - q.answer(none) for q in (first, second)) == 1
    assert sum(q.answer(one) - q.answer(none) for q in (first, naive)) == 2


def test_a_cell_in_two_pairs_would_move_twice() -> None:
    """A near miss: were a cell in two pairs, one respondent would move a number by two."""
    key_set = cells([4] * 12)
    higher = next(q for q in questions(key_set, 2) if q.part == HIGHER)
    (a, b), *_ = higher.pairs
    counts = np.zeros((12, 2), dtype=np.int64)
    counts[:, 0] = 4
    moved = counts.copy()
    moved[a] = (3, 1)
    twice = replace(higher, pairs=((a, b), (a, b)))
    assert twice.answer(moved) - twice.answer(counts) == 2


def test_every_cell_answers_at_most_one_question_and_every_number_fits() -> None:
    key_set = cells([1 + i % 5 for i in range(61)])
    asked = questions(key_set, 3)
    places = [place for q in asked if q.part != LOWER for pair in q.pairs for place in pair]
    assert len(places) == len(set(places)) == 60
    most = np.zeros((61, 3), dtype=np.int64)
    for t in range(3):
        full = most.copy()
        full[:, t] = key_set.sizes
        assert all(0 <= value <= q.largest for q, (_, value) in zip(asked, answers(asked, full), strict=True))
    assert learning_cells(asked, ()).cells == (("at least 1, higher",), ("at least 1, lower",), ("at least 2",))


def test_which_cells_are_asked_does_not_depend_on_the_order_of_the_key_set() -> None:
    key_set = cells([1 + i % 4 for i in range(40)])
    other = KeySet(key_set.columns, key_set.cells[::-1], key_set.sizes[::-1])
    named = [{key_set.cells[p] for pair in q.pairs for p in pair} for q in questions(key_set, 3)]
    assert named == [{other.cells[p] for pair in q.pairs for p in pair} for q in questions(other, 3)]


@pytest.mark.parametrize(
    ("sizes", "strata", "words"),
    [([4] * 5, (), "too few cells"), ([LARGEST_ASKED + 1] * 50, (), "too few cells"), ([4] * 50, ("street",), "too few cells"),
     ([4] * 50, ("planet",), "not key columns")],
)  # fmt: skip
def test_cells_that_nothing_can_be_learned_from_are_refused(sizes: list[int], strata: tuple[str, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        questions(cells(sizes), 2, strata)
