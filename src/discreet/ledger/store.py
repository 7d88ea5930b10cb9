"""Where entries live. A store appends under a lock: read what is new, decide, write, all or nothing.

Two stores keep the same promise and pass the same tests: SQLite in one file, PostgreSQL for several machines. Both keep an entry
as one row of `COLUMNS`, its event as canonical JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from discreet.files.canonical import canonical_bytes
from discreet.ledger.chain import Entry

COLUMNS = "sequence, previous, time, event, hash"
Row = tuple[int, str, str, str, str]


def row_of(entry: Entry) -> Row:
    """An entry as a row."""
    return entry.sequence, entry.previous, entry.time, canonical_bytes(dict(entry.event)).decode(), entry.hash


def entry_of(row: Row) -> Entry:
    """The entry in a row; its hash is checked by whoever replays it."""
    sequence, previous, time, event, digest = row
    return Entry(sequence, previous, time, json.loads(event), digest)


class Turn(Protocol):
    """An exclusive turn at the ledger: nobody else appends until it ends, and nothing is kept if it fails."""

    def entries(self, since: int = 0) -> Iterator[Entry]:
        """Entries in order."""
        ...

    def append(self, entry: Entry) -> None:
        """Add one entry; it is durable once the turn has ended."""
        ...


class Store(Protocol):
    """A place for one ledger."""

    def turn(self) -> AbstractContextManager[Turn]:
        """Wait for an exclusive turn."""
        ...

    def entries(self, since: int = 0) -> Iterator[Entry]:
        """Entries in order, without a turn."""
        ...

    def close(self) -> None:
        """Let go of the file or the connection."""
        ...
