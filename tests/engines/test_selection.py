"""Who stays when there are too many: apportionment of long cells, bounding of units, and their Lipschitz lemmas."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables_of_people import KEY, KEY_SET, edges_between, plan

from discreet.engines.reference import count_rows, kept
from discreet.engines.selection import apportioned, cut, offsets, siphash
from discreet.engines.units import Order

Cut = Callable[[np.ndarray, np.ndarray], np.ndarray]


def padded(counts: np.ndarray, size: int, choose: Cut) -> np.ndarray:
    """A cell's histogram with one more entry: how many are absent."""
    kept = choose(counts[None, :], np.array([size]))[0]
    return np.append(kept, size - kept.sum())


def by_key(counts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The rule in use."""
    return cut(counts, sizes, KEY)


def by_position(counts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """A near-miss: sort the rows by type and keep fixed positions, every other one first."""
    kept = counts.copy()
    for cell in range(len(counts)):
        total = int(counts[cell].sum())
        if total > sizes[cell]:
            order = [*range(0, total, 2), *range(1, total, 2)][: sizes[cell]]
            rows = np.repeat(np.arange(counts.shape[1]), counts[cell])
            kept[cell] = np.bincount(rows[order], minlength=counts.shape[1])
    return kept


def steps(counts: np.ndarray) -> list[np.ndarray]:
    """Every way to add, remove or change one row."""
    unit = np.eye(len(counts), dtype=int)
    moves = [*unit, *-unit, *(a - b for a, b in product(unit, unit))]
    return [counts + move for move in moves if (counts + move >= 0).all()]


def longest_step(choose: Cut, types: int, most: int, size: int) -> int:
    """The most replacements that one row can cause, over all counts up to `most`."""
    worst = 0
    for counts in product(range(most + 1), repeat=types):
        here = padded(np.array(counts), size, choose)
        for there in steps(np.array(counts)):
            worst = max(worst, int(np.abs(here - padded(there, size, choose)).sum()) // 2)
    return worst


@pytest.mark.parametrize("size", [1, 2, 4, 7])
def test_one_row_moves_a_cell_by_at_most_one_replacement_exhaustively(size: int) -> None:
    assert longest_step(by_key, types=3, most=5, size=size) == 1


def test_keeping_fixed_positions_would_move_it_further() -> None:
    assert longest_step(by_position, types=4, most=2, size=3) > 1


@settings(max_examples=150)
@given(st.lists(st.integers(0, 3000), min_size=2, max_size=6), st.integers(1, 4000), st.binary(max_size=4), st.data())
def test_one_row_moves_a_large_cell_by_at_most_one_replacement(
    counts: list[int], size: int, key: bytes, data: st.DataObject
) -> None:
    there = data.draw(st.sampled_from(steps(np.array(counts))))
    choose: Cut = lambda c, s: cut(c, s, key)  # noqa: E731
    assert np.abs(padded(np.array(counts), size, choose) - padded(there, size, choose)).sum() <= 2


@settings(max_examples=100)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=5), st.integers(1, 50))
def test_the_largest_ranks_stay(counts: list[int], size: int) -> None:
    """Against sorting all ranks, one by one."""
    a = np.array([counts])
    if a.sum() <= size:
        return
    d = offsets(np.array([3]), len(counts), KEY)
    ranks = sorted(
        ((-(many / (j + float(d[0, t]))), t) for t, many in enumerate(counts) for j in range(many)),
    )[:size]
    expected = np.bincount([t for _, t in ranks], minlength=len(counts))
    assert (apportioned(a, np.array([size]), d)[0] == expected).all()


def test_every_type_keeps_its_share_on_average() -> None:
    """5 rare rows of 50 in 20,000 cells cut to 30: 3 stay on average, within six standard errors (below 1e-8)."""
    counts = np.tile([40, 5, 5], (20_000, 1))
    kept = cut(counts, np.full(20_000, 30), KEY)
    assert (kept.sum(axis=1) == 30).all() and (kept <= counts).all()
    for t, share in enumerate((24, 3, 3)):
        error = kept[:, t].std() / 20_000**0.5
        assert abs(kept[:, t].mean() - share) < 6 * max(error, 1e-9) + 0.02


def test_cells_that_fit_are_left_alone_and_huge_ones_are_quick() -> None:
    counts = np.array([[3, 0, 1], [10**12, 7, 10**11]])
    kept = cut(counts, np.array([4, 1000]), KEY)
    assert kept[0].tolist() == [3, 0, 1] and kept[1].sum() == 1000


def test_siphash_meets_its_published_vector() -> None:
    """Key 00..0f, message 00..0e (Aumasson & Bernstein 2012, appendix A)."""
    keys = int.from_bytes(bytes(range(8)), "little"), int.from_bytes(bytes(range(8, 16)), "little")
    word = np.array([int.from_bytes(bytes(range(8)), "little")])
    last = int.from_bytes(bytes(range(8, 15)) + b"\x0f", "little")
    assert int(siphash(keys, [word], last)[0]) == 0xA129CA6149BE45E5


def test_a_unit_keeps_at_most_k_rows_and_all_when_it_has_no_more() -> None:
    dice, order = random.Random(4), Order(KEY, 4, 3)
    for _ in range(300):
        held = [(dice.randrange(4), dice.randrange(3)) for _ in range(dice.randrange(1, 9))]
        most = dice.randrange(1, 6)
        stay = Counter(kept(held, "u", most, order))
        assert sum(stay.values()) == min(most, len(held))
        assert stay <= Counter(held)


def test_how_many_rows_of_a_unit_stay_in_each_cell_does_not_depend_on_values() -> None:
    dice, order = random.Random(5), Order(KEY, 4, 3)
    for _ in range(200):
        cells = [dice.randrange(4) for _ in range(7)]
        quotas = [Counter(cell for cell, _ in kept([(cell, dice.randrange(3)) for cell in cells], "u", 3, order)) for _ in range(5)]
        assert all(quota == quotas[0] for quota in quotas)


def test_one_changed_value_of_a_unit_moves_one_row_and_the_choice_reads_that_unit_alone() -> None:
    dice, order = random.Random(6), Order(KEY, 3, 4)
    for _ in range(500):
        held = [(dice.randrange(3), dice.randrange(4)) for _ in range(9)]
        most = dice.randrange(1, 9)
        changed = list(held)
        where = dice.randrange(9)
        changed[where] = (held[where][0], dice.randrange(4))
        before, after = Counter(kept(held, "u", most, order)), Counter(kept(changed, "u", most, order))
        assert sum((before - after).values()) <= 1
    rows = [("north", "1", "1", f"u{i}") for i in range(6)]
    alone = count_rows(plan("bounds", "household", 2), KEY_SET, rows[:1] * 5, KEY)
    together = count_rows(plan("bounds", "household", 2), KEY_SET, [*rows[:1] * 5, *rows[1:]], KEY)
    assert (together - alone).sum() == 5 and (together >= alone).all()


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_whole_unit_costs_what_the_promise_says(most: int) -> None:
    """k edges when its values change or it goes, 2k when it does anything at all: never more, and reached."""
    from discreet.engines.cells import fitted

    dice = random.Random(most)
    used = plan("bounds", "household", most)
    reached = {"values": 0, "presence": 0, "moves": 0}

    def state(rows: list[tuple[str, str, str, str]]) -> np.ndarray:
        return fitted(used, KEY_SET, count_rows(used, KEY_SET, rows, KEY), KEY)

    def some(unit: str, many: int) -> list[tuple[str, str, str, str]]:
        return [(*dice.choice(KEY_SET.cells), dice.choice(["0", "1", "2", ""]), unit) for _ in range(many)]  # type: ignore[misc]

    for _ in range(300):
        others = [row for i in range(10) for row in some(f"u{i}", dice.randrange(4))]
        mine = some("me", dice.randrange(1, 6))
        values = [(*row[:2], dice.choice(["0", "1", "2", ""]), row[3]) for row in mine]
        here = state([*others, *mine])
        for kind, other in (("values", values), ("presence", []), ("moves", some("me", dice.randrange(1, 6)))):
            there = state([*others, *other])
            exposed = used._exposure(kind)
            assert np.abs(here - there).sum(axis=1).max() <= 2 * exposed.rows
            reached[kind] = max(reached[kind], edges_between(here, there))
            assert edges_between(here, there) <= exposed.rows * exposed.cells
    # Type 0 is absent here, so replacing by it is an edge only half of the time; presence and values reach k.
    assert reached["presence"] == most and reached["values"] == most and reached["moves"] > most
