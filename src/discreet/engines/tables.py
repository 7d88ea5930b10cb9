"""Sources as tables in DuckDB: Parquet, CSV, DuckDB files, PostgreSQL, and frames in memory.

A table is a piece of SQL to select from, with the plan's columns under names of our own (c0, c1, … in the order of
`columns_of`), so that no name in the data can meet one in a query. What a source declares (its columns and their types)
may be refused in words; what its rows say may not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from discreet.engines import postgres, rows, sql
from discreet.engines.blocks import csv_lines
from discreet.engines.frames import chosen
from discreet.engines.sources import file_of, source_files
from discreet.errors import InputError, TooLarge, UnreadableRows
from discreet.model.plan import Plan, Source

PART = 1 << 22
"""Rows that are fetched at once where units are told apart."""
Column = tuple[str, str]
"""A column's kind, and the expression that reads it."""


@dataclass(frozen=True)
class Table:
    """What to select c0, c1, … from, the kind of each, the same in parts of not too many rows, and whether it is one itself."""

    source: str
    kinds: list[str]
    parts: Callable[[], Iterable[str]]
    small: bool = False


def columns_of(plan: Plan) -> list[str]:
    """The columns that a plan reads: keys, the recoded one, the unit."""
    return [*plan.keys, plan.recoding.column, *([plan.unit.column] if plan.unit.column else [])]


@contextmanager
def connection(memory: str, threads: int | None) -> Iterator[Any]:
    """A DuckDB of one's own that writes no file, loads no extension and answers to no configuration."""
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": memory, "temp_directory": "", "autoinstall_known_extensions": "false",
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
            "the data for the memory that is allowed",
            size=f"more than {memory}",
            fits="more memory or fewer cells",
            remedy="Raise the memory limit.",
        ) from None
    except duckdb.Error:
        # DuckDB's words may repeat a line of the data, so they go no further.
        raise InputError(
            "The source could not be read",
            allowed="a whole file or table that this user may read",
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
        yield _frame_table(con, plan, chosen(frame, names))


def types_in_parquet(con: Any, path: str, names: Sequence[str]) -> tuple[str, ...]:
    """The declared types of a Parquet file's columns."""
    return _types(con.execute(f"DESCRIBE SELECT * FROM {_parquet([path])}").fetchall(), names)


def _parquet_tables(con: Any, plan: Plan, paths: Sequence[str]) -> Iterator[Table]:
    """One table for all files that declare the same types: files are read as each declares its columns."""
    names = columns_of(plan)
    alike: dict[tuple[str, ...], list[str]] = {}
    for path in paths:
        alike.setdefault(types_in_parquet(con, path, names), []).append(path)
    read = {types: _read(plan, names, types) for types in alike}
    if plan.unit.column is not None and len({columns[-1][0] for columns in read.values()}) > 1:
        read = {types: [*others, ("text", f"CAST({unit} AS VARCHAR)")] for types, (*others, (_, unit)) in read.items()}
    for types, some in alike.items():
        yield _made(read[types], _parquet(some), partial(_row_groups, con, some))


def _row_groups(con: Any, paths: Sequence[str]) -> Iterator[str]:
    """The files in stretches of whole row groups, of about `PART` rows or what one row group has."""
    for path in paths:
        groups = con.execute(
            f"SELECT max(row_group_num_rows) FROM parquet_metadata({_escaped(path)}) GROUP BY row_group_id ORDER BY row_group_id"
        ).fetchall()
        start = end = 0
        for (rows_here,) in groups:
            end += rows_here
            if end - start >= PART:
                yield _stretch(path, start, end)
                start = end
        if start == 0:
            yield _parquet([path])
        elif end > start:
            yield _stretch(path, start, end)


def _stretch(path: str, start: int, end: int) -> str:
    numbered = f"read_parquet([{_escaped(path)}], hive_partitioning = false, file_row_number = true)"
    return f"{numbered} WHERE file_row_number >= {start} AND file_row_number < {end}"


def _parquet(paths: Sequence[str]) -> str:
    return f"read_parquet([{', '.join(map(_escaped, paths))}], hive_partitioning = false)"


def _escaped(path: str) -> str:
    """A path that means itself."""
    return sql.literal(re.sub(r"[*?\[]", r"[\g<0>]", path))


def _frame_table(con: Any, plan: Plan, frame: Any) -> Table:
    con.register("frame", frame)
    described = con.execute("DESCRIBE SELECT * FROM frame").fetchall()
    columns = _read(plan, [f"c{j}" for j in range(len(described))], [str(row[1]) for row in described])
    starts = range(0, max(len(frame), 1), PART)
    for start in starts:
        part = frame.iloc[start : start + PART] if hasattr(frame, "iloc") else frame.slice(start, PART)
        con.register(f"frame{start}", part)
    return _made(columns, "frame", lambda: [f"frame{start}" for start in starts])


def _stored_table(con: Any, plan: Plan) -> Table:
    """A table in a DuckDB file; one that holds its rows, since a view may give others at every look."""
    names, source = columns_of(plan), plan.source
    con.execute(f"ATTACH IF NOT EXISTS {sql.literal(str(file_of(source)))} AS data (READ_ONLY)")
    schema, table = source.table.split(".", 1) if "." in source.table else ("main", source.table)
    where = f"database_name = 'data' AND schema_name = {sql.literal(schema)} AND table_name = {sql.literal(table)}"
    computed = {row[0] for row in con.execute(
        f"SELECT column_name FROM duckdb_columns() WHERE {where} AND is_generated"
    ).fetchall()}  # fmt: skip
    held = con.execute(f"SELECT count(*) FROM duckdb_tables() WHERE {where}").fetchall()[0][0]
    views = con.execute(f"SELECT count(*) FROM duckdb_views() WHERE {where.replace('table_name', 'view_name')}").fetchall()[0][0]
    if views or computed & set(names):
        raise InputError(
            "The source is computed when it is read",
            found="a view" if views else "a generated column",
            allowed="a table that holds its rows",
            remedy="store it with CREATE TABLE … AS SELECT …",
        )
    if not held:
        raise InputError(
            "The table is not in the DuckDB file",
            found=source.table,
            allowed="table, or schema.table",
            remedy="check source.table",
        )
    text = f"data.{sql.identifier(schema)}.{sql.identifier(table)}"
    columns = _read(plan, names, _types(con.execute(f"DESCRIBE SELECT * FROM {text}").fetchall(), names))

    def parts() -> list[str]:
        last = con.execute(f"SELECT coalesce(max(rowid), 0) FROM {text}").fetchall()[0][0]
        return [f"{text} WHERE rowid >= {start} AND rowid < {start + PART}" for start in range(0, last + 1, PART)]

    return _made(columns, text, parts)


def _types(described: list[tuple[Any, ...]], names: Sequence[str]) -> tuple[str, ...]:
    declared = [str(row[0]) for row in described]
    return tuple(str(described[rows.place(declared, name)][1]) for name in names)


def _read(plan: Plan, given: Sequence[str], types: Sequence[str]) -> list[Column]:
    """How the columns that are named `given` in a source are read, by their types."""
    width = len(plan.keys)
    return [
        sql.read_as(name, sql.identifier(column), type_, plan.recoding.rule if j == width else None)
        for j, (name, column, type_) in enumerate(zip(columns_of(plan), given, types, strict=True))
    ]


def _made(columns: Sequence[Column], whole: str, parts: Callable[[], Iterable[str]]) -> Table:
    selected = ", ".join(f"{expression} AS c{j}" for j, (_, expression) in enumerate(columns))
    return Table(
        f"(SELECT {selected} FROM {whole})", [kind for kind, _ in columns],
        lambda: [f"(SELECT {selected} FROM {part})" for part in parts()],
    )  # fmt: skip


def _csv_tables(con: Any, path: Path, names: Sequence[str]) -> Iterator[Table]:
    with rows.opened(path) as file:
        header = rows.header(file)
        places = [rows.place(header, name) for name in names]
        repeated = " AND ".join(f"c{j} = {sql.literal(name)}" for j, name in enumerate(names))
        for block in rows.whole_lines(iter(lambda: file.read(rows.BLOCK), b"")):
            # A line that repeats the header holds every name, so most blocks need not be searched for one.
            may_repeat = all(name.encode() in block or '"' in name for name in names)
            yield _lines(con, csv_lines(block), places, ["text"] * len(places), f"WHERE NOT ({repeated})" if may_repeat else "")


def _copied_tables(con: Any, source: Source, names: Sequence[str]) -> Iterator[Table]:
    with postgres.copied(source, names) as (kinds, blocks):
        for lines in blocks:
            yield _lines(con, lines, range(len(kinds)), kinds)


def _lines(con: Any, lines: list[str], places: Sequence[int], kinds: list[str], but: str = "") -> Table:
    """Some lines whose values NUL separates; numbers are read as their columns declare them."""
    con.register("lines", {"line": np.array(lines, dtype=object)})
    types = {"integer": "TRY_CAST({} AS BIGINT)", "number": "TRY_CAST({} AS DOUBLE)", "text": "coalesce({}, '')"}
    selected = ", ".join(
        f"{types[kind].format(f'f[{place + 1}]')} AS c{j}" for j, (place, kind) in enumerate(zip(places, kinds, strict=True))
    )
    fields = f"(SELECT {selected} FROM (SELECT string_split(line, chr(0)) AS f FROM lines))"
    source = f"(SELECT * FROM {fields} {but})"
    return Table(source, kinds, lambda: [source], small=True)
