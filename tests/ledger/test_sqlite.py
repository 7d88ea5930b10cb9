"""What SQLite brings with it: ledgers on read-only media, logs beside them, many writers, and damaged rows."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest

import discreet.ledger.sqlite_store as sqlite_store
from discreet.errors import DiscreetError, InputError, Refuted
from discreet.ledger import Cost, Ledger, open_ledger

UNIT = ("households", "household")


def filled(folder: Path) -> Ledger:
    """An open ledger whose newest entries lie in the write-ahead log."""
    book = open_ledger(str(folder / "ledger.db"), create=True)
    book.init("pure")
    book.declare(*UNIT, Fraction(2))
    book.reserve(book.commit(*UNIT, Cost(Fraction(1, 2)), {}).hash)
    return book


@pytest.fixture(params=["closed", "left open"])
def media(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A copy of a ledger on a medium that cannot be written to; "left open": with its log beside it, as after a crash."""
    (tmp_path / "disk").mkdir()
    target = tmp_path / "media"
    with filled(tmp_path / "disk") as book:
        if request.param == "left open":
            shutil.copytree(tmp_path / "disk", target, ignore=shutil.ignore_patterns("*-shm"))
        book.close()
    if request.param == "closed":
        shutil.copytree(tmp_path / "disk", target)
    mounted = subprocess.run(["mount", "--bind", target, target], check=False, capture_output=True).returncode == 0
    if mounted:
        subprocess.run(["mount", "-o", "remount,ro,bind", target], check=True)
    for path in (*target.iterdir(), target):
        if not mounted:
            path.chmod(0o555 if path.is_dir() else 0o444)
    if os.access(target, os.W_OK):
        pytest.skip("this user can write anywhere and may not mount")
    yield target
    if mounted:
        subprocess.run(["umount", target], check=True)
    else:
        target.chmod(0o755)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_ledger_on_read_only_media_is_read_whole_and_not_written(media: Path, tmp_path: Path, read_only: bool) -> None:
    """The reservation is in the log: whoever read the file alone would see a budget that was not touched."""
    with open_ledger(str(media / "ledger.db"), read_only=read_only) as book:
        assert book.remaining(*UNIT) == Fraction(3, 2) and book.verify() is None
        assert book.export(tmp_path / "out.jsonl") == 4
        with pytest.raises(InputError, match="cannot be written to"):
            book.reserve(next(iter(book.state.commitments)))
        assert book.remaining(*UNIT) == Fraction(3, 2)


def test_a_ledger_that_others_write_to_is_read_as_it_is_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An auditor who may not write looks at a ledger at work."""
    with filled(tmp_path) as book:
        monkeypatch.setattr(sqlite_store, "_writable", lambda _path: False)
        with open_ledger(str(tmp_path / "ledger.db")) as seen:
            assert seen.remaining(*UNIT) == Fraction(3, 2)
            book.reserve(next(iter(book.state.commitments)))
            assert seen.remaining(*UNIT) == 1


def test_a_writer_who_has_waited_long_tries_as_often_as_one_who_came_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Near-miss: SQLite's own pauses grow to a tenth of a second, and with many writers "database is locked" was the answer."""
    pauses: list[float] = []
    with filled(tmp_path) as book, sqlite3.connect(tmp_path / "ledger.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 500:
                other.execute("ROLLBACK")

        monkeypatch.setattr(sqlite_store.time, "sleep", pause)
        book.reserve(next(iter(book.state.commitments)))
        assert len(pauses) == 500 and max(pauses) <= sqlite_store.PAUSE_SECONDS < 0.01
        assert book.remaining(*UNIT) == 1


def test_twenty_four_writers_all_get_their_turn(tmp_path: Path) -> None:
    filled(tmp_path).close()

    def declare(writer: int) -> None:
        with open_ledger(str(tmp_path / "ledger.db")) as mine:
            for turn in "ab":
                mine.declare(f"population {writer}{turn}", "household", Fraction(1))

    with ThreadPoolExecutor(24) as pool:
        list(pool.map(declare, range(24)))
    with open_ledger(str(tmp_path / "ledger.db")) as book:
        assert len(book.state.budgets) == 49 and book.verify() is None


DAMAGES = {
    "not JSON": ("event", "{"),
    "bytes that are no text": ("event", b"\xff\xfe"),
    "a list": ("event", "[]"),
    "another way of writing it": ("event", '{"kind": "init"}'),
    "a key twice": ("event", '{"kind":"init","kind":"init"}'),
    "deep": ("event", "[" * 50_000),
    "a float": ("event", '{"kind":1.5}'),
    "a long number": ("event", f'{{"kind":{"9" * 5000}}}'),
    "no kind": ("event", "{}"),
    "a number": ("event", 7),
    "a time that is none": ("time", b"\x00\xff"),
    "an empty hash": ("hash", ""),
    "a previous of another kind": ("previous", 3.25),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("sequence", [0, 2, 3])
def test_a_damaged_row_refutes_the_ledger(tmp_path: Path, damage: str, sequence: int) -> None:
    filled(tmp_path).close()
    column, value = DAMAGES[damage]
    with sqlite3.connect(tmp_path / "ledger.db") as link:
        link.execute("DROP TRIGGER no_change")
        link.execute(f"UPDATE entries SET {column} = ? WHERE sequence = ?", (value, sequence))
    with open_ledger(str(tmp_path / "ledger.db")) as book:
        assert book.verify() is not None
        with pytest.raises(Refuted):
            book.remaining(*UNIT)


EVENTS: dict[str, str] = {
    "budget": '{"cap":[],"kind":"budget","population":"x","unit":"y"}',
    "no cap": '{"kind":"budget","population":"x","unit":"y"}',
    "huge cap": '{"cap":"1e99999999","kind":"budget","population":"x","unit":"y"}',
    "commit": '{"cost":7,"kind":"commit","population":"households","unit":"household"}',
    "members": '{"cost":{"epsilon":"1"},"kind":"commit","members":{},"population":"households","unit":"household"}',
    "reserve": '{"commitment":{},"kind":"reserve"}',
    "spend": '{"kind":"spend"}',
    "key": '{"by":"zz","kind":"key","public":"zz","signature":"zz"}',
    "revoke": '{"by":[],"fingerprint":[],"kind":"revoke","signature":1}',
    "approve": '{"by":null,"kind":"approve"}',
    "unknown": '{"kind":"gift"}',
    "init again": '{"currency":"pure","kind":"init"}',
    "keys": '{"currency":"pure","keys":7,"kind":"init"}',
}


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_that_makes_no_sense_refutes_the_ledger(tmp_path: Path, event: str) -> None:
    """In a chain whose hashes fit."""
    import json

    from discreet.ledger.chain import Entry
    from discreet.ledger.store import row_of

    with filled(tmp_path) as book:
        last = list(book.history())[-1]
    with sqlite3.connect(tmp_path / "ledger.db") as link:
        entry = Entry.after(last, last.time, json.loads(EVENTS[event]))
        link.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", row_of(entry))
    with open_ledger(str(tmp_path / "ledger.db")) as book:
        assert book.verify() is not None
        with pytest.raises(Refuted):
            book.remaining(*UNIT)


def test_a_broken_file_is_told(tmp_path: Path) -> None:
    filled(tmp_path).close()
    data = bytearray((tmp_path / "ledger.db").read_bytes())
    data[4096:4200] = b"\xff" * 104
    (tmp_path / "ledger.db").write_bytes(data)
    with pytest.raises(DiscreetError), open_ledger(str(tmp_path / "ledger.db")) as book:
        book.remaining(*UNIT)
