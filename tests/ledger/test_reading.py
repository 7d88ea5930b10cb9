"""A ledger that is opened to be read alone: every store shows the same, and nothing is written, not even beside it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.ledger import Cost, Ledger, open_ledger

UNIT = ("households", "household")


def test_what_is_read_alone_is_read_whole_and_cannot_be_written(ledger: Ledger, place: str) -> None:
    ledger.reserve(ledger.commit(*UNIT, Cost(Fraction(1, 2)), {}).hash)
    with open_ledger(place, read_only=True) as seen:
        assert seen.remaining(*UNIT) == Fraction(3, 2) and seen.verify() is None
        with pytest.raises(InputError, match="Nothing was recorded"):
            seen.reserve(next(iter(seen.state.commitments)))
        ledger.reserve(next(iter(ledger.state.commitments)))  # others go on meanwhile
        assert ledger.remaining(*UNIT) == 1
    with open_ledger(place, read_only=True) as seen:
        assert seen.remaining(*UNIT) == 1


@pytest.mark.parametrize("crashed", [False, True])
def test_reading_leaves_every_byte_and_no_new_file(tmp_path: Path, crashed: bool) -> None:
    """Near-miss: opened as usual, SQLite takes a log in and removes it, and with mode=ro it leaves an index behind."""
    (tmp_path / "disk").mkdir()
    with open_ledger(str(tmp_path / "disk" / "ledger.db"), create=True) as book:
        book.init("pure")
        book.declare(*UNIT, Fraction(2))
        if crashed:  # what lies there when a publisher is killed: the newest entries are in the log
            kept = {path.name: path.read_bytes() for path in (tmp_path / "disk").iterdir() if not path.name.endswith("-shm")}
    if crashed:
        for name, content in kept.items():
            (tmp_path / "disk" / name).write_bytes(content)
    before = _everything(tmp_path / "disk")
    assert len(before) == 1 + crashed
    with open_ledger(str(tmp_path / "disk" / "ledger.db"), read_only=True) as seen:
        assert seen.remaining(*UNIT) == 2 and len(list(seen.history())) == 2
        assert _everything(tmp_path / "disk") == before
    assert _everything(tmp_path / "disk") == before


def test_a_file_that_changes_while_it_is_copied_is_copied_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import discreet.ledger.sqlite_store as sqlite_store

    place = str(tmp_path / "ledger.db")
    with open_ledger(place, create=True) as book:
        book.init("pure")
    copy, times = sqlite_store.shutil.copyfile, []

    def disturbed(source: Path, target: Path) -> None:
        copy(source, target)
        times.append(source)
        if len(times) == 1:
            with open_ledger(place) as other:
                other.declare(*UNIT, Fraction(2))

    monkeypatch.setattr(sqlite_store.shutil, "copyfile", disturbed)
    with open_ledger(place, read_only=True) as seen:
        assert seen.remaining(*UNIT) == 2 and len(times) > 1


def _everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
