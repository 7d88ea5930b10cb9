"""Sources as tables in DuckDB: Parquet, CSV, DuckDB files, PostgreSQL, and frames in memory.

A table is a piece of SQL to select from, with the plan's columns under names of our own (c0, c1, … in the order of
`columns_of`), so that no name in the data can meet one in a query. What a source declares (its columns and their types)
may be refused in words; what its rows say may not.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engines import rows, sql
from discreet.engines.postgres import copy_table
from discreet.errors import InputError, TooLarge
from discreet.model.plan import Plan, Source

WIDEST_FAST = 2000
"""Columns beyond which a CSV file is read by `rows`, not by DuckDB."""


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


def tables(con: Any, plan: Plan, frame: object, folder: Path) -> Iterator[Table]:
    """The source as a table; a second way follows where the first may stumble over what the rows say."""
    source = plan.source
    names = columns_of(plan)
    if source.kind == "csv":
        yield from _csv_tables(file_of(source), names, folder)
        return
    if source.kind == "parquet":
        files = ", ".join(map(sql.literal, _parquet_files(source)))
        text = f"read_parquet([{files}], hive_partitioning = false)"
    elif source.kind == "duckdb":
        con.execute(f"ATTACH {sql.literal(str(file_of(source)))} AS data (READ_ONLY)")
        text = f"data.{_table_name(source.table)}"
    elif source.kind == "postgres":
        kinds = copy_table(source, names, folder / "copied.csv")
        yield _copied(folder / "copied.csv", kinds)
        return
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


def _csv_tables(path: Path, names: Sequence[str], folder: Path) -> Iterator[Table]:
    header = rows.header(path)
    places = [rows.place(header, name) for name in names]
    if len(header) <= WIDEST_FAST and rows.plain_header(path, header):
        yield _csv(path, len(header), places, skip_header=True)
    careful = folder / "careful.csv"
    with careful.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows(rows.records(path, names))
    yield _csv(careful, len(names), list(range(len(names))), skip_header=False)


def _copied(path: Path, kinds: list[str]) -> Table:
    """What PostgreSQL wrote: texts, read back as the numbers that its columns declared."""
    table = _csv(path, len(kinds), list(range(len(kinds))), skip_header=False)
    types = {"integer": "HUGEINT", "number": "DOUBLE", "text": "VARCHAR"}
    chosen = ", ".join(f"TRY_CAST(c{j} AS {types[kind]}) AS c{j}" for j, kind in enumerate(kinds))
    return Table(f"(SELECT {chosen} FROM {table.source})", kinds)


def _csv(path: Path, width: int, places: Sequence[int], *, skip_header: bool) -> Table:
    """A CSV file, all columns as text. Nothing is sniffed, and nothing is split between threads."""
    declared = ", ".join(f"'f{i}': 'VARCHAR'" for i in range(width))
    options = (
        f"header = {str(skip_header).lower()}, delim = ',', quote = '\"', escape = '\"', auto_detect = false, "
        f"strict_mode = true, parallel = false, columns = {{{declared}}}"
    )
    chosen = ", ".join(f"f{place} AS c{j}" for j, place in enumerate(places))
    return Table(f"(SELECT {chosen} FROM read_csv({sql.literal(str(path))}, {options}))", ["text"] * len(places))
