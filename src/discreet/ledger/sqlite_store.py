"""The ledger in one SQLite file: write-ahead log, synchronous FULL, `BEGIN IMMEDIATE` so that one writer at a time decides.

Triggers refuse changes and deletions, which stops accidents; the hash chain shows intent. Writers that find the file busy try
again after a short random time, every one of them at the same pace: with SQLite's own pauses, which grow, those who have waited
longest try least often and can starve. A ledger where nothing can be written, on read-only media or in another's folder, or that is
opened to be read alone, is read as it is; its write-ahead log, which holds the newest entries, is read with it. Nothing is written
then, not even beside it.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

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
WAIT_SECONDS = 300.0
PAUSE_SECONDS = 0.004
"""The longest pause between two tries."""
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class SqliteStore:
    """One file, safe for many processes on one machine."""

    def __init__(self, path: str | Path, *, create: bool = False, read_only: bool = False) -> None:
        self.path = Path(path)
        self.folder: Path | None = self.path.parent
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        if not create and not self.path.exists():
            raise InputError(
                "There is no ledger here",
                found=str(path),
                allowed="a file made by discreet ledger init",
                remedy="check the path, or make one",
            )
        self.writable = create or (not read_only and _writable(self.path))
        try:
            self.connection = _connected(str(self.path)) if self.writable else self._read_only()
            if not create:  # look before anything is written: this may be somebody else's file
                self._execute("SELECT 1 FROM entries LIMIT 1")
            if self.writable:
                self._execute("PRAGMA journal_mode = WAL")
                self._execute("PRAGMA synchronous = FULL")
            if create:
                self._make()
        except (sqlite3.Error, OSError) as error:
            self.close()
            raise _unusable(self.path, error) from None

    def _make(self) -> None:
        """The table and its triggers, all or nothing."""
        self._execute("BEGIN IMMEDIATE")
        for statement in SCHEMA.strip().split(";\n"):
            self._execute(statement)
        self._execute("COMMIT")

    def _read_only(self) -> sqlite3.Connection:
        """A connection that writes nothing, not even beside the file: through the log's index where somebody is at work, else from
        a copy of file and log that did not change meanwhile (SQLite itself would make an index for its log here)."""
        log, index = (self.path.with_name(f"{self.path.name}{end}") for end in ("-wal", "-shm"))
        until = time.monotonic() + WAIT_SECONDS
        self._copy = tempfile.TemporaryDirectory(prefix="discreet-ledger-")
        while time.monotonic() < until:
            found = self._beside_a_writer() if index.exists() else None
            if found is not None:
                return found
            before = [_stamp(each) for each in (self.path, log)]
            for each in (self.path, log):
                copied = Path(self._copy.name) / each.name
                copied.unlink(missing_ok=True)
                with suppress(FileNotFoundError):
                    shutil.copyfile(each, copied)
            if [_stamp(each) for each in (self.path, log)] == before:
                return _connected(str(Path(self._copy.name) / self.path.name))
        raise OSError("it changed whenever it was read")

    def _beside_a_writer(self) -> sqlite3.Connection | None:
        """SQLite's own reading of a file that is open elsewhere; None where that needs an index that cannot be written."""
        found = _connected(f"file:{quote(str(self.path.resolve()))}?mode=ro")
        try:
            found.execute("SELECT 1 FROM entries LIMIT 1")
        except sqlite3.OperationalError:
            found.close()
            return None
        return found

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one statement, patiently."""
        until = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                return self.connection.execute(statement, values)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in BUSY or time.monotonic() > until:
                    raise
            time.sleep(random.uniform(0, PAUSE_SECONDS))

    @contextmanager
    def turn(self) -> Iterator[SqliteStore]:
        """An immediate transaction: committed and on disk at the end, undone on any error."""
        if not self.writable:
            raise InputError(
                "The ledger cannot be written to",
                found=f"{self.path} can only be read",
                allowed="a ledger file in a folder that can be written to, opened for more than reading",
                remedy="nothing was recorded; use the ledger itself, not a copy on read-only media",
            )
        try:
            self._execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from None
        try:
            yield self
            self._execute("COMMIT")
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
            chosen = f"SELECT {COLUMNS} FROM entries WHERE sequence >= ? ORDER BY sequence"
            rows = self._execute(chosen, (since,)).fetchall()
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from None
        for row in rows:
            yield entry_of(row)

    def append(self, entry: Entry) -> None:
        """Add one entry within a turn."""
        self._execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", row_of(entry))

    def close(self) -> None:
        """Let go of the file."""
        if hasattr(self, "connection"):
            self.connection.close()
        if self._copy is not None:
            self._copy.cleanup()


def _connected(place: str) -> sqlite3.Connection:
    """Texts come as bytes: whether they are text is for `entry_of` to say."""
    found = sqlite3.connect(place, timeout=0, isolation_level=None, uri=place.startswith("file:"))
    found.text_factory = bytes
    return found


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file does; None where there is none."""
    try:
        seen = path.stat()
    except FileNotFoundError:
        return None
    return seen.st_ino, seen.st_size, seen.st_mtime_ns


def _writable(path: Path) -> bool:
    """Whether the file and the folder of its log can be written to; on read-only media not even by root."""
    return os.access(path, os.W_OK) and os.access(path.resolve().parent, os.W_OK)


def _unusable(path: Path, error: Exception) -> InputError:
    return InputError(
        "The ledger cannot be used",
        found=f"{path}: {error}",
        allowed="a ledger file in a folder that can be written to and has room",
        remedy="nothing was recorded; check the file, the disk and who may write to it",
    )
