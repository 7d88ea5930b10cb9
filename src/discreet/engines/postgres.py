"""PostgreSQL as a source: one COPY of the columns that the plan names, into a file of our own.

The connection string is taken from an environment variable, so that no plan holds a password. Names are quoted by
psycopg, the transaction is read-only, and nothing is written on the server.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from discreet.errors import InputError, MissingExtra, UnreadableRows, suggest
from discreet.model.plan import Source

INTEGERS = {"int2", "int4", "int8"}
NUMBERS = {"float4", "float8", "numeric"}
TEXTS = {"text", "varchar", "bpchar", "bool", "date", "uuid", "name"}


def copy_table(source: Source, columns: Sequence[str], target: Path) -> list[str]:
    """Copy columns of a table to a CSV file; the kind of each column."""
    try:
        import psycopg
        from psycopg import sql
    except ImportError:
        raise MissingExtra("postgres", needed_for="reading PostgreSQL") from None
    given = os.environ.get(source.location)
    if not given:
        raise InputError(
            "The connection to PostgreSQL is not given", found=f"no environment variable {source.location}",
            allowed="a variable that holds a connection string", remedy="set it, or correct source.environment",
        )
    table = sql.Identifier(*source.table.split(".", 1))
    try:
        with psycopg.connect(given, options="-c client_encoding=UTF8 -c default_transaction_read_only=on") as link:
            declared = link.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(table)).description or []
            types = {column.name: _type_name(link.adapters.types.get(column.type_code)) for column in declared}
            kinds = [_kind(name, types) for name in columns]
            as_text = {True: "to_char({}, 'YYYY-MM-DD')", False: "CAST({} AS text)"}
            chosen = sql.SQL(", ").join(
                sql.SQL(as_text[types[name] == "date"]).format(sql.Identifier(name)) for name in columns
            )
            query = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)").format(chosen, table)
            with target.open("wb") as file:
                try:
                    with link.cursor().copy(query) as copy:
                        for block in copy:
                            file.write(block)
                except psycopg.Error:
                    raise UnreadableRows from None
    except psycopg.Error as error:
        raise InputError(
            "The table in PostgreSQL could not be read", found=f"error {error.sqlstate or 'without a code'}",
            allowed="a table that this user may read", remedy="check source.environment and source.table",
        ) from None
    return kinds


def _type_name(info: object) -> str:
    return str(getattr(info, "name", "an unknown type"))


def _kind(name: str, types: dict[str, str]) -> str:
    if name not in types:
        near = suggest(name, types)
        raise InputError(
            "The source lacks a column", found=f"no column {name!r}", allowed=f"{len(types)} columns",
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
        f"Column {name!r} has a type that cannot be used here", found=declared,
        allowed="numbers, texts, booleans, dates", remedy="convert the column before publishing",
    )

