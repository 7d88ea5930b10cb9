"""Where entries live. A store appends under a lock: read the last entry and the balances, decide, write, all or nothing.

Two stores keep the same promise and pass the same tests: SQLite in one file, PostgreSQL for several machines.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from discreet.ledger.chain import Entry


class Turn(Protocol):
    """An exclusive turn at the ledger: nobody else appends until it ends, and nothing is kept if it fails."""

    def last(self) -> Entry | None:
        """The newest entry."""
        ...

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
