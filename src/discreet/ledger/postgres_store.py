"""The ledger in PostgreSQL, for several machines: a row lock on the head serialises every turn.

Snapshot isolation alone lets two spenders both see the last unit; `SELECT … FOR UPDATE` on the one head row does not. The
isolation level is set here and not left to the server, its databases and roles. Where nothing can be written, it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.errors import InputError, MissingExtra
from discreet.ledger.chain import Entry
from discreet.ledger.store import COLUMNS, entry_of, row_of

SCHEMA = """
CREATE TABLE IF NOT EXISTS discreet_entries (
    sequence BIGINT PRIMARY KEY, previous TEXT NOT NULL, time TEXT NOT NULL, event TEXT NOT NULL, hash TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS discreet_head (one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one));
INSERT INTO discreet_head VALUES (TRUE) ON CONFLICT DO NOTHING;
CREATE OR REPLACE FUNCTION discreet_append_only() RETURNS trigger AS $$
    BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$ LANGUAGE plpgsql;
DROP TRIGGER IF EXISTS discreet_no_change ON discreet_entries;
CREATE TRIGGER discreet_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON discreet_entries
    FOR EACH STATEMENT EXECUTE FUNCTION discreet_append_only();
"""


class PostgresStore:
    """One database; the connection string may hold a password, so it never appears in a message."""

    folder: Path | None = None

    def __init__(self, address: str, *, create: bool = False, read_only: bool = False) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingExtra("postgres", needed_for="a shared ledger in PostgreSQL") from None
        self._errors: type[Exception] = psycopg.Error
        try:
            self.connection: Any = psycopg.connect(address, autocommit=True)
            # Whatever is usual on the server: under snapshots those who waited for the lock would see an old chain.
            self.connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
            self.connection.execute("SET synchronous_commit = on")
            if read_only and not create:  # from here on the server itself refuses every change
                self.connection.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
            if create:
                self.connection.execute(SCHEMA)
            self.connection.execute("SELECT 1 FROM discreet_entries LIMIT 1")
        except psycopg.Error as error:
            raise _unusable(error) from None

    @contextmanager
    def turn(self) -> Iterator[PostgresStore]:
        """A transaction that holds the head's row lock."""
        try:
            with self.connection.transaction():
                self.connection.execute("SELECT one FROM discreet_head FOR UPDATE")
                yield self
        except self._errors as error:
            raise _unusable(error) from None

    def entries(self, since: int = 0) -> Iterator[Entry]:
        """Entries in order."""
        try:
            rows = self.connection.execute(
                f"SELECT {COLUMNS} FROM discreet_entries WHERE sequence >= %s ORDER BY sequence", (since,)
            ).fetchall()
        except self._errors as error:
            raise _unusable(error) from None
        for row in rows:
            yield entry_of(row)

    def append(self, entry: Entry) -> None:
        """Add one entry within a turn."""
        self.connection.execute(
            "INSERT INTO discreet_entries VALUES (%s, %s, %s, %s, %s)",
            row_of(entry),
        )

    def close(self) -> None:
        """Let go of the connection."""
        self.connection.close()


def _unusable(error: Exception) -> InputError:
    return InputError(
        "The ledger cannot be used",
        found=type(error).__name__,
        allowed="a PostgreSQL database that can be reached and written to",
        remedy="nothing was recorded; check the address, the server and who may write",
    )
