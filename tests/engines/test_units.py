"""Units at once against units one by one; rows that wait in a file; and what of it a stranger can find."""

from __future__ import annotations

import os
import random
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from discreet.engines import units
from discreet.engines.reference import kept
from discreet.engines.roll import Roll
from discreet.engines.tally import Tally
from discreet.engines.units import LONG, Order, whole_number
from discreet.errors import TooLarge

SECRET = np.uint64(0x5345435245545F5F)


def expected(order: Order, most: int, held: list[tuple[int, int, int, int]]) -> Counter[tuple[int, int]]:
    """The rows that go, by the definition."""
    of_unit = defaultdict(list)
    for word, check, cell, type_ in held:
        of_unit[word, check].append((cell, type_))
    gone: Counter[tuple[int, int]] = Counter()
    for (word, check), rows in of_unit.items():
        gone.update(sorted(rows, key=lambda row: order.place(word, check, *row))[most:])
    return gone


def blocks_of(order: Order, held: list[tuple[int, int, int, int]], pieces: int, *, short: bool) -> list[units.Rows]:
    """The rows as arrays, cut into pieces."""
    rows = np.zeros(len(held), LONG)
    for i, (word, check, cell, type_) in enumerate(held):
        rows[i] = word, check, cell << order.type_bits | type_
    if short:
        rows = rows["word"] << np.uint64(order.code_bits) | rows["code"]
    return np.array_split(rows, pieces)


@pytest.mark.parametrize("kind", ["small numbers", "large numbers", "texts"])
@pytest.mark.parametrize("many", ["few rows", "many chunks"])
def test_the_surplus_is_that_of_the_definition(kind: str, many: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Buckets that fill by chance, units within and beyond the limit, blocks of all sizes."""
    if many == "many chunks":
        monkeypatch.setattr(units, "CHUNK", 16)
        monkeypatch.setattr(units, "ENOUGH", 50)
        monkeypatch.setattr(units, "SAMPLED", 4)
    dice = random.Random(f"{kind} {many}")
    for _ in range(150):
        order = Order(dice.randbytes(4), dice.randrange(1, 40), dice.randrange(1, 9))
        most, size = dice.randrange(1, 6), dice.randrange(300)
        names = [dice.randrange(2**64 if kind != "small numbers" else 2**40) for _ in range(dice.randrange(1, 120))]
        # Texts whose first halves are equal are still different units.
        check = (lambda: dice.choice((1, 3))) if kind == "texts" else (lambda: 0)
        held = [(dice.choice(names), check(), dice.randrange(order.cells), dice.randrange(order.types)) for _ in range(size)]
        blocks = blocks_of(order, held, dice.randrange(1, 4), short=kind == "small numbers")
        found = [int(code) for codes in order.surplus(most, blocks) for code in codes]
        pairs = Counter((code >> order.type_bits, code & (1 << order.type_bits) - 1) for code in found)
        assert pairs == expected(order, most, held)


def test_places_are_one_to_one_and_found_again() -> None:
    dice = random.Random(3)
    for cells, types in ((1, 1), (1, 3), (7, 1), (13, 5), (64, 8)):
        order = Order(b"k", cells, types)
        for word, check in [(dice.getrandbits(64), dice.choice((0, 5))) for _ in range(20)]:
            pairs = [(cell, type_) for cell in range(cells) for type_ in range(types)]
            places = [order.place(word, check, *pair) for pair in pairs]
            assert len(set(places)) == len(pairs) and max(places) < 2**order.code_bits
            codes = np.array([cell << order.type_bits | type_ for cell, type_ in pairs], dtype=np.uint32)
            seeds = order.seeds(np.full(len(codes), word, np.uint64), np.full(len(codes), check, np.uint64))
            assert order.places(seeds, codes).tolist() == places
            assert (order.codes(seeds, order.places(seeds, codes)) == codes).all()


def test_every_cell_and_every_type_has_its_turn() -> None:
    """Of two cells, or two types, each goes first for half of 20,000 units: within six standard errors (below 1e-8)."""
    order = Order(b"k", 5, 3)
    for pair in (((0, 0), (1, 0)), ((1, 2), (3, 2)), ((2, 0), (2, 1)), ((4, 1), (4, 2))):
        first = sum(kept(list(pair), str(unit), 1, order) == [pair[0]] for unit in range(20_000))
        assert abs(first - 10_000) < 6 * 20_000**0.5 / 2
    for three in ([(2, 0), (2, 1), (2, 2)], [(0, 0), (1, 0), (4, 0)]):
        chosen = Counter(
            kept(three, f"text {unit}", 1, Order(bytes([unit % 50]), 5, 3))[0] for unit in range(20_000)
        )  # fmt: skip
        assert all(0.30 < many / 20_000 < 0.39 for many in chosen.values()), "not exactly a third, but near"


def test_a_number_is_its_unit_however_it_is_stored() -> None:
    assert [whole_number(text) for text in ("0", "-1", "9223372036854775807")] == [0, -1, 2**63 - 1]
    strange = ("-0", "007", "+1", "1.0", " 1", "", "-", "9223372036854775808", "\u0661", "1" * 30)
    assert all(whole_number(text) is None for text in strange)


def test_a_bucket_that_overflows_hides_nobody() -> None:
    """256 rows of a unit are 0 in a byte."""
    rows = np.zeros(2256, LONG)
    rows["word"] = np.concatenate([np.full(256, 7), np.arange(1000, 3000)])
    order = Order(b"k", 4, 2)
    for most, crowded in ((2, [7]), (255, [7]), (256, [])):
        assert order.crowded_words([rows], most).tolist() == crowded
        assert sum(map(len, order.surplus(most, [rows]))) == max(256 - most, 0)


def test_tables_that_no_code_can_number_are_refused() -> None:
    with pytest.raises(TooLarge, match="cells"):
        Order(b"k", 20_000_000, 10_000)


def rows_of(order: Order, words: np.ndarray, codes: np.ndarray, *, long: bool) -> units.Rows:
    """Short or long rows; the check of a long one follows from its word."""
    if not long:
        return words << np.uint64(order.code_bits) | codes.astype(np.uint64)
    rows = np.zeros(len(words), LONG)
    rows["word"], rows["check"], rows["code"] = words, words + np.uint64(1), codes
    return rows


@pytest.mark.parametrize("long", [False, True])
def test_rows_that_wait_come_back_with_their_units_together(long: bool, tmp_path: Path) -> None:
    dice, order = np.random.default_rng(5), Order(b"k", 4, 1)
    for limit in (10**9, 1000, 30_000):
        roll = Roll(order, 2, limit, tmp_path)
        given: Counter[bytes] = Counter()
        for size in (0, 700, 1, 900, 64):
            words, codes = dice.integers(0, 300, size, dtype=np.uint64), dice.integers(0, 4, size)
            rows = rows_of(order, words, codes, long=long)
            given.update(row.tobytes() for row in rows)
            roll.add(rows)
        found: Counter[bytes] = Counter()
        seen: set[int] = set()
        for blocks in roll.parts():
            for rows in blocks:
                found.update(row.tobytes() for row in rows)
            here = {int(word) for rows in blocks for word in (rows["word"] if long else rows >> np.uint64(order.code_bits))}
            assert not here & seen
            seen |= here
        thinned = sum(len(codes) for codes in roll.gone)
        assert found <= given and found.total() + thinned == given.total()
        assert all(found[row] >= min(many, 2) for row, many in given.items()), "of equal rows two may stay"


def test_one_unit_with_more_rows_than_memory_is_thinned() -> None:
    order = Order(b"k", 3, 2)
    tally, roll = Tally(order, 2), Roll(order, 2, 1000)
    for _ in range(50):
        rows = rows_of(order, np.full(100, 9, np.uint64), np.arange(100) % 6, long=False)
        tally.add(rows)
        roll.add(rows)
    tally.hold(roll)
    assert sum(len(codes) for codes in roll.gone) > 4000
    assert tally.counts().sum() == 2


def test_what_waits_in_a_file_has_no_name_and_cannot_be_read(tmp_path: Path) -> None:
    """Near-miss: in memory the same rows can be found."""
    order = Order(b"k", 5000, 1)
    roll = Roll(order, 2, 1000, tmp_path)
    roll.add(rows_of(order, np.full(5000, SECRET), np.arange(5000), long=True))
    assert roll.file is not None and list(tmp_path.iterdir()) == []
    written = os.pread(roll.file.file.fileno(), 10**6, 0)
    assert len(written) >= 5000 * 20 and SECRET.tobytes() not in written
    assert len(set(written)) == 256 and len({written[i : i + 16] for i in range(0, 48_000, 16)}) == 3000
    [rows] = [blocks[0] for blocks in roll.parts() if blocks]
    assert SECRET.tobytes() in rows.tobytes()


def test_a_temporary_folder_without_room_is_said_in_words(tmp_path: Path) -> None:
    order = Order(b"k", 1, 1)
    with pytest.raises(TooLarge, match="temporary folder"):
        Roll(order, 2, 10, tmp_path / "nowhere").add(np.full(5000, SECRET))
