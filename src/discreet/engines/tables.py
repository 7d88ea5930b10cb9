"""Sources as tables in DuckDB: Parquet, CSV, DuckDB files, PostgreSQL, and frames in memory.

A table is a piece of SQL to select from, with the plan's columns under names of our own (c0, c1, … in the order of
`columns_of`), so that no name in the data can meet one in a query. What a source declares (its columns and their types)
may be refused in words; what its rows say may not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.engines import postgres, rows, sql
from discreet.engines.blocks import csv_lines
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
    source = plan.source
    names = columns_of(plan)
    if source.kind == "csv":
        yield from _csv_tables(con, file_of(source), names)
        return
    if source.kind == "postgres":
        yield from _copied_tables(con, source, names)
        return
    if source.kind == "parquet":
        files = ", ".join(map(sql.literal, _parquet_files(source)))
        text = f"read_parquet([{files}], hive_partitioning = false)"
    elif source.kind == "duckdb":
        con.execute(f"ATTACH {sql.literal(str(file_of(source)))} AS data (READ_ONLY)")
        text = f"data.{_table_name(source.table)}"
    else:
        if frame is None:
            raise InputError(
                "The plan reads a frame, and none was handed over", found="nothing",
                allowed="a pandas, Polars or Arrow table", remedy="pass it as `frame`",
            )
        con.register("frame", frame)
        text = "frame"
    described = con.execute(f"DESCRIBE SELECT * FROM {text}").fetchall()
    declared = [str(row[0]) for row in described]
    types = {name: str(described[rows.place(declared, name)][1]) for name in names}
    kinds = [sql.kind_of(name, types[name], identity=name != plan.recoding.column) for name in names]
    chosen = ", ".join(f"{sql.identifier(name)} AS c{j}" for j, name in enumerate(names))
    yield Table(f"(SELECT {chosen} FROM {text})", kinds)


def file_of(source: Source) -> Path:
    """The file of a source, which must be there and mean itself: no patterns, no addresses."""
    path = Path(source.location).resolve()
    if not path.is_file() or set(str(path)) & set("*?[]{}"):
        raise InputError(
            "The source is not a file", found=source.location, allowed="the path of a file, without patterns",
            remedy="check source.path",
        )
    return path


def _parquet_files(source: Source) -> list[str]:
    path = Path(source.location)
    if path.is_dir():
        found = sorted(str(file.resolve()) for file in path.glob("*.parquet") if not set(str(file)) & set("*?[]{}"))
        if found:
            return found
    return [str(file_of(source))]


def _table_name(table: str) -> str:
    """`table` or `schema.table`, each part quoted."""
    return ".".join(map(sql.identifier, table.split(".", 1)))


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
    types = {"integer": "TRY_CAST({} AS HUGEINT)", "number": "TRY_CAST({} AS DOUBLE)", "text": "coalesce({}, '')"}
    chosen = ", ".join(
        f"{types[kind].format(f'f[{place + 1}]')} AS c{j}"
        for j, (place, kind) in enumerate(zip(places, kinds, strict=True))
    )
    return Table(f"(SELECT {chosen} FROM (SELECT string_split(line, chr(0)) AS f FROM lines))", kinds)
