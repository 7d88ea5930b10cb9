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
            "Columns of a table have different lengths, or there are none", found=f"lengths {sorted(lengths)}",
            allowed="one length for all", remedy="complete the columns",
        )
    arrays = {f"c{i}": np.asarray(column) for i, column in enumerate(columns.values())}
    arrays = {name: a.astype(object) if a.dtype.kind == "U" else a for name, a in arrays.items()}
    chosen = ", ".join(f"c{i} AS {sql.identifier(name)}" for i, name in enumerate(columns))
    try:
        with private_folder(path.parent) as folder, connection(folder, "2GB", None) as con:
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
            f"{path} could not be written", found=type(error).__name__,
            allowed="a folder that exists, can be written to and has room",
            remedy="choose another place; nothing was left behind",
        ) from None


def read_parquet(path: Path) -> dict[str, Any]:
    """The columns of a Parquet file as arrays, rows in order; missing numbers are NaN."""
    import duckdb

    try:
        with private_folder(None) as folder, connection(folder, "2GB", None) as con:
            con.execute("SET preserve_insertion_order = true")
            found = con.execute(f"SELECT * FROM read_parquet({sql.literal(str(path))})").fetchnumpy()
    except (duckdb.Error, OSError) as error:
        raise InputError(
            f"{path} could not be read", found=type(error).__name__, allowed="a Parquet file", remedy="check the file"
        ) from None
    return {
        name: column.filled(np.nan) if np.ma.isMaskedArray(column) and column.dtype.kind == "f" else np.asarray(column)
        for name, column in found.items()
    }
