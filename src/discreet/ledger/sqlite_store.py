"""The ledger in one SQLite file: write-ahead log, synchronous FULL, `BEGIN IMMEDIATE` so that one writer at a time decides.

Triggers refuse changes and deletions, which stops accidents; the hash chain shows intent.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import InputError
from discreet.ledger.chain import Entry
from discreet.ledger.store import COLUMNS, entry_of, row_of

SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    sequence INTEGER PRIMARY KEY, previous TEXT NOT NULL, time TEXT NOT NULL, event TEXT NOT NULL, hash TEXT NOT NULL UNIQUE
);
CREATE TRIGGER IF NOT EXISTS no_change BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER IF NOT EXISTS no_removal BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
"""
WAIT_SECONDS = 60.0


class SqliteStore:
    """One file, safe for many processes on one machine."""

    def __init__(self, path: str | Path, *, create: bool = False) -> None:
        self.path = Path(path)
        if not create and not self.path.exists():
            raise InputError(
                "There is no ledger here",
                found=str(path),
                allowed="a file made by discreet ledger init",
                remedy="check the path, or make one",
            )
        try:
            self.connection = sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None)
            if not create:  # look before anything is written: this may be somebody else's file
                self.connection.execute("SELECT 1 FROM entries LIMIT 1")
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = FULL")
            if create:
                self.connection.executescript(SCHEMA)
        except sqlite3.Error as error:
            if hasattr(self, "connection"):
                self.connection.close()
            raise _unusable(self.path, error) from None

    @contextmanager
    def turn(self) -> Iterator[SqliteStore]:
        """An immediate transaction: committed and on disk at the end, undone on any error."""
        try:
            self.connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from None
        try:
            yield self
            self.connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._undo()
            raise _unusable(self.path, error) from None
        except BaseException:
            self._undo()
            raise

    def _undo(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def entries(self, since: int = 0) -> Iterator[Entry]:
        """Entries in order."""
        try:
            rows = self.connection.execute(
                f"SELECT {COLUMNS} FROM entries WHERE sequence >= ? ORDER BY sequence",
                (since,),
            ).fetchall()
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from None
        for row in rows:
            yield entry_of(row)

    def append(self, entry: Entry) -> None:
        """Add one entry within a turn."""
        self.connection.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?)",
            row_of(entry),
        )

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()


def _unusable(path: Path, error: sqlite3.Error) -> InputError:
    return InputError(
        "The ledger cannot be used",
        found=f"{path}: {error}",
        allowed="a ledger file in a folder that can be written to and has room",
        remedy="nothing was recorded; check the file, the disk and who may write to it",
    )
