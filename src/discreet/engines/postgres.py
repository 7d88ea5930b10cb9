"""PostgreSQL as a source: one COPY of the columns that the plan names, read as it comes, line by line.

In COPY's text format a row is one line, whatever its values: tabs, line breaks and backslashes in them are escaped. So
what a line becomes depends on that line alone. Values travel in the database's own encoding, since a conversion by the
server may stop at a value; they are read here, and what is no text in that encoding is U+FFFD, as in CSV. Longer texts
than `LONGEST_TEXT` are cut short by the server, by one character less than would make them readable.

The connection string is taken from an environment variable, so that no plan holds a password. Names are quoted by
psycopg, the transaction is read-only, and nothing is written on the server.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from discreet.engines import rows
from discreet.engines.blocks import copied_lines
from discreet.engines.sql import FIRST_DAY, LAST_DAY
from discreet.errors import InputError, MissingExtra, UnreadableRows, suggest
from discreet.model.plan import Source

INTEGERS = {"int2", "int4", "int8"}
NUMBERS = {"float4", "float8", "numeric"}
TEXTS = {"text", "varchar", "bpchar", "bool", "date", "uuid", "name"}
SETTINGS = {
    "default_transaction_read_only": "on", "datestyle": "ISO", "extra_float_digits": "1", "client_encoding": "UTF8",
}  # fmt: skip
ESCAPES = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)


def fields(line: bytes, encoding: str) -> list[str]:
    """The values of one line of COPY; NULL is empty."""
    return [
        "" if field == rb"\N" else rows.value(_ESCAPE.sub(lambda m: ESCAPES.get(m[1], m[1]), field), encoding)
        for field in line.split(b"\t")
    ]


@contextmanager
def copied(source: Source, columns: Sequence[str]) -> Iterator[tuple[list[str], Iterator[list[str]]]]:
    """The kind of each column, and the table's rows in blocks of lines in which NUL separates the values."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("postgres", needed_for="reading PostgreSQL") from None
    given = os.environ.get(source.location)
    if not given:
        raise InputError(
            "The connection to PostgreSQL is not given",
            found=f"no environment variable {source.location}",
            allowed="a variable that holds a connection string",
            remedy="set it, or correct source.environment",
        )
    options = " ".join(f"-c {name}={setting}" for name, setting in SETTINGS.items())
    try:
        with psycopg.connect(given, options=options) as link:
            kinds, query = _query(link, source.table, columns)
            encoding = _own_encoding(link)
            try:
                with link.cursor().copy(query.encode(encoding)) as copy:
                    yield kinds, _blocks(copy, encoding)
            except psycopg.Error:
                raise UnreadableRows from None
    except psycopg.Error as error:
        raise InputError(
            "The table in PostgreSQL could not be read",
            found=f"error {error.sqlstate or 'without a code'}",
            allowed="a table that this user may read",
            remedy="check source.environment and source.table",
        ) from None


def _query(link: Any, table: str, columns: Sequence[str]) -> tuple[list[str], str]:
    """The kind of each column, and what copies them."""
    from psycopg import sql

    named = sql.Identifier(*table.split(".", 1))
    _must_hold_rows(link, named.as_string(link), columns)
    declared = link.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(named)).description or []
    types = {column.name: _type_name(link.adapters.types.get(column.type_code)) for column in declared}
    kinds = [_kind(name, types) for name in columns]
    chosen = sql.SQL(", ").join(sql.SQL(WRITTEN.get(types[name], TEXT)).format(sql.Identifier(name)) for name in columns)
    return kinds, sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(chosen, named).as_string(link)


def _must_hold_rows(link: Any, named: str, columns: Sequence[str]) -> None:
    """A table (or a materialized view) of this server, its own rows, all of them: nothing that is computed when read."""
    name = "SELECT %s::regclass"
    kinds = link.execute(
        f"WITH RECURSIVE parts(id) AS ({name} UNION SELECT inhrelid FROM pg_inherits JOIN parts ON inhparent = id) "
        "SELECT DISTINCT relkind::text FROM pg_class JOIN parts ON oid = id", [named]
    ).fetchall()  # fmt: skip
    computed = link.execute(
        f"SELECT count(*) FROM pg_attribute WHERE attrelid = ({name}) AND attgenerated = 'v' AND attname = ANY(%s)",
        [named, list(columns)],
    ).fetchone()[0]
    hidden = link.execute(f"SELECT row_security_active(({name}))", [named]).fetchone()[0]
    strange = {kind for (kind,) in kinds} - set(HOLDING)
    if strange or computed or hidden:
        what = "a generated column" if computed else "row-level security" if hidden else ""
        raise InputError(
            "The source is computed when it is read, or shows not all of its rows",
            found=", ".join(RELATIONS.get(kind, f"relation {kind}") for kind in sorted(strange)) or what,
            allowed="a table that holds its rows, read by a user who sees all of them",
            remedy="store it with CREATE TABLE … AS SELECT …, or as a materialized view",
        )


HOLDING = ("r", "p", "m")
RELATIONS = {"v": "a view", "f": "a foreign table", "S": "a sequence", "c": "a type", "i": "an index"}
TEXT = f"left(CAST({{0}} AS text), {rows.LONGEST_TEXT + 1})"
NUMERIC = (
    "CASE WHEN {0} = 'NaN' THEN 'NaN' WHEN {0} > 1e300 THEN 'Infinity' WHEN {0} < -1e300 THEN '-Infinity' "
    "ELSE CAST({0} AS text) END"
)
"""Numbers of more digits than a double can hold are beyond every bound, on either side."""
DATE = (
    f"CASE WHEN {{0}} BETWEEN '{FIRST_DAY}' AND '{LAST_DAY}' THEN CAST({{0}} AS text) "
    f"WHEN {{0}} IS NOT NULL THEN repeat('x', {rows.LONGEST_TEXT + 1}) END"
)
"""A day that not every engine writes alike is too long a text, hence U+FFFD, in whatever encoding."""
WRITTEN = {"numeric": NUMERIC, "date": DATE}


def _own_encoding(link: Any) -> str:
    """Ask for texts as the database holds them; Python's name for that encoding. SQL_ASCII is read as UTF-8."""
    import psycopg

    name = link.execute("SHOW server_encoding").fetchone()[0]
    link.execute("SELECT set_config('client_encoding', %s, false)", [name])
    try:
        return "utf-8" if name == "SQL_ASCII" else str(link.info.encoding)
    except psycopg.NotSupportedError:
        raise InputError(
            "The database has an encoding that cannot be read",
            found=name,
            allowed="UTF8, LATIN1, EUC_JP and the like",
            remedy="export the table to Parquet",
        ) from None


def _blocks(copy: Iterable[Any], encoding: str) -> Iterator[list[str]]:
    definition = partial(fields, encoding=encoding)
    for block in rows.whole_lines(_chunks(copy)):
        recoded = _as_utf8(block, encoding)
        if recoded is None:
            yield ["\0".join(definition(line)) for line in block.split(b"\n")]
        else:
            yield copied_lines(recoded, partial(fields, encoding="utf-8"))


def _as_utf8(block: bytes, encoding: str) -> bytes | None:
    """The block in UTF-8: encodings of databases keep lines apart, so a block is text when its lines are."""
    if encoding == "utf-8":
        return block
    try:
        return block.decode(encoding).encode()
    except UnicodeDecodeError:
        return None


def _chunks(copy: Iterable[Any]) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for data in copy:
        held.append(bytes(data))
        size += len(held[-1])
        if size >= rows.BLOCK:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


def _type_name(info: object) -> str:
    return str(getattr(info, "name", "an unknown type"))


def _kind(name: str, types: dict[str, str]) -> str:
    if name not in types:
        near = suggest(name, types)
        raise InputError(
            "The source lacks a column",
            found=f"no column {name!r}",
            allowed=f"{len(types)} columns",
            remedy=f"did you mean {near!r}?" if near else "check the plan's column names",
        )
    declared = types[name]
    if declared in INTEGERS:
        return "integer"
    if declared in NUMBERS:
        return "number"
    if declared in TEXTS:
        return "text"
    raise InputError(
        f"Column {name!r} has a type that cannot be used here",
        found=declared,
        allowed="numbers, texts, booleans, dates",
        remedy="convert the column before publishing",
    )
