"""Where entries live. A store appends under a lock: read what is new, decide, write, all or nothing.

Two stores keep the same promise and pass the same tests: SQLite in one file, PostgreSQL for several machines. Both keep an entry
as one row of `COLUMNS`, its event as canonical JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from discreet.errors import DiscreetError, Refuted
from discreet.files.canonical import canonical_bytes, parse_json
from discreet.ledger.chain import Entry

COLUMNS = "sequence, previous, time, event, hash"
Row = tuple[int, str, str, str, str]


def row_of(entry: Entry) -> Row:
    """An entry as a row."""
    return entry.sequence, entry.previous, entry.time, canonical_bytes(dict(entry.event)).decode(), entry.hash


def entry_of(row: Sequence[Any]) -> Entry:
    """The entry in a row; its hash is checked by whoever replays it. A row that holds no entry refutes the ledger."""
    try:
        sequence, *texts = row
        previous, time, event, digest = (text.decode() if isinstance(text, bytes) else text for text in texts)
        if type(sequence) is not int or not all(isinstance(text, str) for text in (previous, time, event, digest)):
            raise TypeError
        document = parse_json(event.encode(), "an entry of the ledger")
        if not isinstance(document, dict) or row_of(Entry(sequence, previous, time, document, digest))[3] != event:
            raise TypeError
    except (DiscreetError, TypeError, ValueError):
        raise Refuted("the ledger was changed", f"row {row[0]!s:.40} does not hold an entry as it was written") from None
    return Entry(sequence, previous, time, document, digest)


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

    folder: Path | None
    """The folder that relative paths in the ledger are taken from, where there is one."""

    def turn(self) -> AbstractContextManager[Turn]:
        """Wait for an exclusive turn."""
        ...

    def entries(self, since: int = 0) -> Iterator[Entry]:
        """Entries in order, without a turn."""
        ...

    def close(self) -> None:
        """Let go of the file or the connection."""
        ...
