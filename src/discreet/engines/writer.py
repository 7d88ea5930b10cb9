"""Columns to a Parquet file and back, with DuckDB: no other library is needed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from discreet.engines import sql
from discreet.engines.spill import private_folder
from discreet.engines.tables import connection
from discreet.errors import InputError


def write_parquet(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns of equal length, arrays or lists, as one Parquet file, zstd-compressed, rows in order.

    The file appears whole or not at all: it is written under another name, flushed to disk and moved into place.
    """
    import duckdb

    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        raise InputError(
            "Columns of a table have different lengths, or there are none",
            found=f"lengths {sorted(lengths)}",
            allowed="one length for all",
            remedy="complete the columns",
        )
    arrays = {f"c{i}": np.asarray(column) for i, column in enumerate(columns.values())}
    arrays = {name: a.astype(object) if a.dtype.kind == "U" else a for name, a in arrays.items()}
    chosen = ", ".join(f"c{i} AS {sql.identifier(name)}" for i, name in enumerate(columns))
    try:
        with private_folder(path.parent) as folder, connection("2GB", None) as con:
            con.register("columns", arrays)
            con.execute("SET preserve_insertion_order = true")
            part = folder / "part.parquet"
            target = sql.literal(str(part))
            con.execute(f"COPY (SELECT {chosen} FROM columns) TO {target} (FORMAT parquet, COMPRESSION zstd)")
            with part.open("rb") as file:
                os.fsync(file.fileno())
            part.replace(path)
    except (duckdb.Error, OSError) as error:
        raise InputError(
            f"{path} could not be written",
            found=type(error).__name__,
            allowed="a folder that exists, can be written to and has room",
            remedy="choose another place; nothing was left behind",
        ) from None


def read_parquet(path: Path, like: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The columns of a Parquet file as arrays, rows in order; missing numbers are NaN.

    `like` is for files of strangers: one with other columns, rows or lengths of text than these is refused before it is
    unpacked, since a few kilobytes can stand for gigabytes.
    """
    import duckdb

    try:
        with connection("2GB" if like is None else "1GB", None) as con:
            con.execute("SET preserve_insertion_order = true")
            if like is not None:
                _must_be_like(con, path, like)
            found = con.execute(f"SELECT * FROM read_parquet({sql.literal(str(path))})").fetchnumpy()
    except (duckdb.Error, OSError) as error:
        raise InputError(
            f"{path} could not be read", found=type(error).__name__, allowed="a Parquet file", remedy="check the file"
        ) from None
    return {
        name: column.filled(np.nan) if np.ma.isMaskedArray(column) and column.dtype.kind == "f" else np.asarray(column)
        for name, column in found.items()
    }


def _must_be_like(con: Any, path: Path, like: Mapping[str, Any]) -> None:
    """Names, types and rows as the footer states them, then how long the texts are; nothing is unpacked before it fits."""
    name_of_file = sql.literal(str(path))
    source = f"read_parquet({name_of_file})"
    rows = len(next(iter(like.values())))
    [(stated,)] = con.execute(f"SELECT num_rows FROM parquet_file_metadata({name_of_file})").fetchall()
    grouped = f"SELECT sum(row_group_num_rows) FROM parquet_metadata({name_of_file}) WHERE column_id = 0"
    [(listed,)] = con.execute(grouped).fetchall()
    kinds = {name: kind for name, kind, *_ in con.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
    wanted = {name: _kind(column) for name, column in like.items()}
    if kinds != wanted or list(kinds) != list(wanted) or {stated, listed} != {rows}:
        raise _another_table(path)
    texts = [name for name, kind in wanted.items() if kind == "VARCHAR"]
    lengths = ", ".join(f"coalesce(sum(strlen({sql.identifier(name)})), 0)" for name in texts)
    found = con.execute(f"SELECT {lengths} FROM {source}").fetchone() if texts else ()
    if [int(n) for n in found] != [sum(len(text.encode()) for text in like[name]) for name in texts]:
        raise _another_table(path)


def _kind(column: Any) -> str:
    """The type that `write_parquet` gives a column."""
    kind = np.asarray(column).dtype.kind
    return {"f": "DOUBLE", "i": "BIGINT", "u": "UBIGINT"}.get(kind, "VARCHAR")


def _another_table(path: Path) -> InputError:
    return InputError(
        f"{path} holds another table than expected",
        found="other columns, rows or lengths of text",
        allowed="the table that was written",
        remedy="check where the file comes from",
    )
