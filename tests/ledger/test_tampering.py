"""Whoever edits, deletes, reorders or cuts the ledger's rows is found out, or was stopped by the store itself."""

from __future__ import annotations

import json
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.ledger import Cost, Ledger, Signer, open_ledger
from discreet.ledger.chain import Entry, entry_hash


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.db"
    with open_ledger(str(path), create=True) as ledger:
        ledger.init("pure", Signer.create(tmp_path / "key.pem"))
        ledger.declare("households", "household", Fraction(5))
        name = ledger.commit(
            "households", "household", Cost(Fraction(1)), {}, Signer.read(tmp_path / "key.pem"), {"statement": "public data only"}
        ).hash
        for _ in range(3):
            held = ledger.reserve(name).hash
            ledger.spend(held)
            ledger.release(held, "d" * 64)
    return path


def edited(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as link:
        link.execute("DROP TRIGGER no_change")
        link.execute("DROP TRIGGER no_removal")
        for statement in statements:
            link.execute(statement)


def test_the_store_itself_refuses_changes(written: Path) -> None:
    with sqlite3.connect(written) as link:
        for statement in ("UPDATE entries SET time = '2000'", "DELETE FROM entries WHERE sequence = 3"):
            with pytest.raises(sqlite3.IntegrityError):
                link.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        'UPDATE entries SET event = replace(event, \'"cap":"5"\', \'"cap":"50"\')',
        "UPDATE entries SET time = '2000-01-01T00:00:00' WHERE sequence = 4",
        "DELETE FROM entries WHERE sequence = 5",
        "UPDATE entries SET sequence = 100 WHERE sequence = 5",
        "UPDATE entries SET hash = substr(hash, 2) || substr(hash, 1, 1) || 'x' WHERE sequence = 6",
    ],
    ids=["raised cap", "back-dated", "deleted", "reordered", "forged hash"],
)
def test_edits_are_found(written: Path, statement: str) -> None:
    edited(written, statement)
    with open_ledger(str(written)) as ledger:
        found = ledger.verify()
    assert found is not None


def test_cutting_the_end_is_found_only_with_a_head_kept_elsewhere(written: Path) -> None:
    with open_ledger(str(written)) as ledger:
        kept = ledger.head(Signer.read(written.parent / "key.pem"))
    edited(written, "DELETE FROM entries WHERE sequence >= 9")
    with open_ledger(str(written)) as ledger:
        assert ledger.verify() is None
        found = ledger.verify([kept])
    assert found is not None and "cut" in found.words


def _rewritten(ledger: Ledger, change: dict[int, dict[str, object]]) -> list[Entry]:
    """The whole chain made anew with some events changed and every hash recomputed: what an owner of the file can do."""
    last: Entry | None = None
    entries = []
    renamed: dict[str, str] = {}
    for entry in ledger.history():
        event = json.loads(json.dumps(dict(entry.event)))
        event |= change.get(entry.sequence, {})
        for key in ("commitment", "reservation"):
            if key in event:
                event[key] = renamed.get(event[key], event[key])
        new = Entry.after(last, entry.time, event)
        renamed[entry.hash] = new.hash
        entries.append(new)
        last = new
    return entries


def test_a_chain_made_anew_is_found_by_kept_heads_and_by_signatures(written: Path) -> None:
    with open_ledger(str(written)) as ledger:
        kept = ledger.head()
        forged = _rewritten(ledger, {2: {"attested": {"statement": "anything"}}})
    with sqlite3.connect(written) as link:
        link.executescript("DROP TRIGGER no_change; DROP TRIGGER no_removal; DELETE FROM entries;")
        link.executemany(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?)",
            [
                (e.sequence, e.previous, e.time, json.dumps(dict(e.event), sort_keys=True, separators=(",", ":")), e.hash)
                for e in forged
            ],
        )
    assert all(e.hash == entry_hash(e.sequence, e.previous, e.time, e.event) for e in forged)
    with open_ledger(str(written)) as ledger:
        unsigned = ledger.verify()
        rewritten = ledger.verify([kept])
    assert unsigned is not None and "signed" in unsigned.words
    assert rewritten is not None
