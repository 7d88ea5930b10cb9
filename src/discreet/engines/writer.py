"""Columns to a Parquet file, with DuckDB's writer: no other library is needed."""

from __future__ import annotations

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

    The file appears whole or not at all: it is written under another name and moved into place.
    """
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        raise InputError(
            "Columns of a table have different lengths, or there are none", found=f"lengths {sorted(lengths)}",
            allowed="one length for all", remedy="complete the columns",
        )
    arrays = {f"c{i}": np.asarray(column) for i, column in enumerate(columns.values())}
    arrays = {name: a.astype(object) if a.dtype.kind == "U" else a for name, a in arrays.items()}
    chosen = ", ".join(f"c{i} AS {sql.identifier(name)}" for i, name in enumerate(columns))
    with private_folder(path.parent) as folder, connection(folder, "2GB", None) as con:
        con.register("columns", arrays)
        con.execute("SET preserve_insertion_order = true")
        part = folder / "part.parquet"
        target = sql.literal(str(part))
        con.execute(f"COPY (SELECT {chosen} FROM columns) TO {target} (FORMAT parquet, COMPRESSION zstd)")
        part.replace(path)
