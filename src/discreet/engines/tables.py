"""Sources as tables in DuckDB: Parquet, CSV, DuckDB files, PostgreSQL, and frames in memory.

A table is a piece of SQL to select from, with the plan's columns under names of our own (c0, c1, … in the order of
`columns_of`), so that no name in the data can meet one in a query. What a source declares (its columns and their types)
may be refused in words; what its rows say may not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.engines import postgres, rows, sql
from discreet.engines.blocks import csv_lines
from discreet.engines.frames import chosen
from discreet.engines.sources import file_of, source_files
from discreet.errors import InputError, TooLarge, UnreadableRows
from discreet.model.plan import Plan, Source


@dataclass(frozen=True)
class Table:
    """What to select c0, c1, … from, and the kind of each."""

    source: str
    kinds: list[str]


def columns_of(plan: Plan) -> list[str]:
    """The columns that a plan reads: keys, the recoded one, the unit."""
    return [*plan.keys, plan.recoding.column, *([plan.unit.column] if plan.unit.column else [])]


@contextmanager
def connection(folder: Path, memory: str, threads: int | None) -> Iterator[Any]:
    """A DuckDB of one's own that spills into `folder`, loads no extension and answers to no configuration."""
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": memory, "temp_directory": str(folder / "spill"), "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false", "allow_community_extensions": "false",
        "preserve_insertion_order": "false", "pandas_analyze_sample": "0", "python_enable_replacements": "false",
    }  # fmt: skip
    if threads:
        config["threads"] = str(threads)
    opened = duckdb.connect(":memory:", config=config)
    try:
        opened.execute("SET enable_progress_bar = false")
        yield opened
    except duckdb.OutOfMemoryException:
        raise TooLarge(
            "the data for the memory that is allowed", size=f"more than {memory}", fits="more memory or fewer cells",
            remedy="Raise the memory limit.",
        ) from None
    except duckdb.Error:
        # DuckDB's words may repeat a line of the data, so they go no further.
        raise InputError(
            "The source could not be read", allowed="a whole file or table that this user may read",
            remedy="check that it is complete and of the kind that the plan says",
        ) from None
    finally:
        opened.close()


@contextmanager
def rows_only() -> Iterator[None]:
    """What stops DuckDB while rows are read may be a matter of their values: it is spent, and none of its words pass."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error:
        raise UnreadableRows from None


def tables(con: Any, plan: Plan, frame: object) -> Iterator[Table]:
    """The source as tables, one after the other, that hold its rows together."""
    source, names = plan.source, columns_of(plan)
    if source.kind == "csv":
        yield from _csv_tables(con, file_of(source), names)
    elif source.kind == "postgres":
        yield from _copied_tables(con, source, names)
    elif source.kind == "parquet":
        yield from _parquet_tables(con, plan, [str(file.path) for file in source_files(source)])
    elif source.kind == "duckdb":
        yield _stored_table(con, plan)
    else:
        con.register("frame", chosen(frame, names))
        described = con.execute("DESCRIBE SELECT * FROM frame").fetchall()
        yield _table(plan, "frame", [f"c{j}" for j in range(len(names))], [str(row[1]) for row in described])


def types_in_parquet(con: Any, path: str, names: Sequence[str]) -> tuple[str, ...]:
    """The declared types of a Parquet file's columns."""
    return _types(con.execute(f"DESCRIBE SELECT * FROM {_parquet([path])}").fetchall(), names)


def _parquet_tables(con: Any, plan: Plan, paths: Sequence[str]) -> Iterator[Table]:
    """One table for all files that declare the same types: files are read as each declares its columns."""
    names = columns_of(plan)
    alike: dict[tuple[str, ...], list[str]] = {}
    for path in paths:
        alike.setdefault(types_in_parquet(con, path, names), []).append(path)
    ready = [_table(plan, _parquet(some), names, types) for types, some in alike.items()]
    yield from ready


def _parquet(paths: Sequence[str]) -> str:
    files = ", ".join(sql.literal(re.sub(r"[*?\[]", r"[\g<0>]", path)) for path in paths)
    return f"read_parquet([{files}], hive_partitioning = false)"


def _stored_table(con: Any, plan: Plan) -> Table:
    """A table in a DuckDB file; one that holds its rows, since a view may give others at every look."""
    names, source = columns_of(plan), plan.source
    con.execute(f"ATTACH {sql.literal(str(file_of(source)))} AS data (READ_ONLY)")
    schema, table = source.table.split(".", 1) if "." in source.table else ("main", source.table)
    where = f"database_name = 'data' AND schema_name = {sql.literal(schema)} AND table_name = {sql.literal(table)}"
    computed = {row[0] for row in con.execute(
        f"SELECT column_name FROM duckdb_columns() WHERE {where} AND is_generated"
    ).fetchall()}  # fmt: skip
    held = con.execute(f"SELECT count(*) FROM duckdb_tables() WHERE {where}").fetchone()[0]
    views = con.execute(f"SELECT count(*) FROM duckdb_views() WHERE {where.replace('table_name', 'view_name')}").fetchone()[0]
    if views or computed & set(names):
        raise InputError(
            "The source is computed when it is read", found="a view" if views else "a generated column",
            allowed="a table that holds its rows", remedy="store it with CREATE TABLE … AS SELECT …",
        )
    if not held:
        raise InputError(
            "The table is not in the DuckDB file", found=source.table, allowed="table, or schema.table",
            remedy="check source.table",
        )
    text = f"data.{sql.identifier(schema)}.{sql.identifier(table)}"
    return _table(plan, text, names, _types(con.execute(f"DESCRIBE SELECT * FROM {text}").fetchall(), names))


def _types(described: list[tuple[Any, ...]], names: Sequence[str]) -> tuple[str, ...]:
    declared = [str(row[0]) for row in described]
    return tuple(str(described[rows.place(declared, name)][1]) for name in names)


def _table(plan: Plan, text: str, given: Sequence[str], types: Sequence[str]) -> Table:
    """The columns that are named `given` there, read as their declared types are."""
    width = len(plan.keys)
    read = [
        sql.read_as(name, sql.identifier(column), type_, plan.recoding.rule if j == width else None)
        for j, (name, column, type_) in enumerate(zip(columns_of(plan), given, types, strict=True))
    ]
    selected = ", ".join(f"{expression} AS c{j}" for j, (_, expression) in enumerate(read))
    return Table(f"(SELECT {selected} FROM {text})", [kind for kind, _ in read])


def _csv_tables(con: Any, path: Path, names: Sequence[str]) -> Iterator[Table]:
    with rows.opened(path) as file:
        header = rows.header(file)
        places = [rows.place(header, name) for name in names]
        for block in rows.whole_lines(iter(lambda: file.read(rows.BLOCK), b"")):
            table = _lines(con, csv_lines(block), places, ["text"] * len(places))
            repeated = " AND ".join(f"c{j} = {sql.literal(name)}" for j, name in enumerate(names))
            yield Table(f"(SELECT * FROM {table.source} WHERE NOT ({repeated}))", table.kinds)


def _copied_tables(con: Any, source: Source, names: Sequence[str]) -> Iterator[Table]:
    with postgres.copied(source, names) as (kinds, blocks):
        for lines in blocks:
            yield _lines(con, lines, range(len(kinds)), kinds)


def _lines(con: Any, lines: list[str], places: Sequence[int], kinds: list[str]) -> Table:
    """Some lines whose values NUL separates; numbers are read as their columns declare them."""
    con.register("lines", {"line": np.array(lines, dtype=object)})
    types = {"integer": "TRY_CAST({} AS BIGINT)", "number": "TRY_CAST({} AS DOUBLE)", "text": "coalesce({}, '')"}
    selected = ", ".join(
        f"{types[kind].format(f'f[{place + 1}]')} AS c{j}"
        for j, (place, kind) in enumerate(zip(places, kinds, strict=True))
    )
    return Table(f"(SELECT {selected} FROM (SELECT string_split(line, chr(0)) AS f FROM lines))", kinds)
