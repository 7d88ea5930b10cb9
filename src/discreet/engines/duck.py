"""The embedded engine: counts by DuckDB, within a memory limit, whatever the number of rows.

Unit = row: one GROUP BY over keys and type, then the groups are joined to the key set, so that rows are touched once.

Units of several rows: the rows of listed cells are written once, as (unit, cell, type), into a private database; parts
of it, split by a hash of the unit, are then counted one after the other. Within a part, units that keep to k rows are
simply counted; for the others the choice of `discreet.engines.selection` is made on groups (unit, cell, type), of
which a unit has at most cells × types however many rows it sends.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.engines import sql
from discreet.engines.selection import Counts, unit_prefix
from discreet.engines.spill import private_folder
from discreet.engines.tables import Table, connection, rows_only, tables
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan

ROWS_AT_ONCE = 4_000_000
"""Rows of one part when units are held to k rows."""


@dataclass(frozen=True)
class DuckEngine:
    """Counts by DuckDB. `memory` is its limit, `folder` where it may spill (the system's temporary folder if None)."""

    memory: str = "2GB"
    threads: int | None = None
    folder: Path | None = None
    name = "duckdb"

    def counts(self, plan: Plan, key_set: KeySet, key: bytes, frame: object = None) -> Counts:
        """Counts [cell, type] in the order of the key set."""
        counts = np.zeros((len(key_set), plan.recoding.types), dtype=np.int64)
        with private_folder(self.folder) as folder, connection(folder, self.memory, self.threads) as con:
            first, kinds = True, None
            for table in tables(con, plan, frame):
                with rows_only():
                    if kinds != table.kinds:
                        _register_keys(con, plan, key_set, table)
                        kinds = table.kinds
                    if plan.unit.column is None:
                        _by_row(con, plan, table, counts)
                    else:
                        _listed(con, plan, table, folder, first=first)
                    first = False
            if plan.unit.column is not None and not first:
                with rows_only():
                    _by_unit(con, plan, counts, key)
        return counts


def _register_keys(con: Any, plan: Plan, key_set: KeySet, table: Table) -> None:
    """The table `keys`: the position of each cell and its keys, texts or, for columns of integers, integers.

    A text that is not how an integer is written ("07") is NULL there and matches no row.
    """
    columns: dict[str, Any] = {"cell": np.arange(len(key_set), dtype=np.int32)}
    for i in range(len(plan.keys)):
        columns[f"k{i}"] = np.array([cell[i] for cell in key_set.cells], dtype=object)
    con.register("listed", columns)
    canonical = sql.literal("0|-?[1-9][0-9]{0,37}")
    chosen = [
        f"CASE WHEN regexp_full_match(k{i}, {canonical}) THEN TRY_CAST(k{i} AS HUGEINT) END AS k{i}"
        if table.kinds[i] == "integer"
        else f"CAST(k{i} AS VARCHAR) AS k{i}"
        for i in range(len(plan.keys))
    ]
    con.execute(f"CREATE OR REPLACE TEMP TABLE keys AS SELECT cell, {', '.join(chosen)} FROM listed")
    con.unregister("listed")


def _key(table: Table, i: int) -> str:
    """A key column as it is compared and grouped."""
    return f"c{i}" if table.kinds[i] == "integer" else f"CAST(c{i} AS VARCHAR)"


def _by_row(con: Any, plan: Plan, table: Table, counts: Counts) -> None:
    width = len(plan.keys)
    keys = ", ".join(f"{_key(table, i)} AS g{i}" for i in range(width))
    groups = ", ".join(f"g{i}" for i in range(width))
    match = " AND ".join(f"g{i} = k{i}" for i in range(width))
    type_ = sql.type_of(plan.recoding, f"c{width}", table.kinds[width])
    found = con.execute(
        f"WITH grouped AS (SELECT {keys}, {type_} AS type, count(*) AS n FROM {table.source} GROUP BY {groups}, type) "
        f"SELECT cell, type, CAST(sum(n) AS BIGINT) AS n FROM grouped JOIN keys ON {match} GROUP BY cell, type"
    ).fetchnumpy()
    _add(counts, found)


def _listed(con: Any, plan: Plan, table: Table, folder: Path, *, first: bool) -> None:
    """Write the rows of listed cells as (unit, cell, type) into a database of our own."""
    width = len(plan.keys)
    unit = f"c{width + 1}"
    unit = f"NULLIF(CAST({unit} AS VARCHAR), '')"
    match = " AND ".join(f"{_key(table, i)} = k{i}" for i in range(width))
    type_ = sql.type_of(plan.recoding, f"c{width}", table.kinds[width])
    if first:
        con.execute(f"ATTACH {sql.literal(str(folder / 'units.duckdb'))} AS units")
    con.execute(
        f"{'CREATE TABLE units.listed AS' if first else 'INSERT INTO units.listed'} "
        f"SELECT CAST(hash(u) % 1024 AS SMALLINT) AS slot, u, cell, type FROM "
        f"(SELECT {unit} AS u, cell, {type_} AS type FROM {table.source} JOIN keys ON {match})"
    )


def _by_unit(con: Any, plan: Plan, counts: Counts, key: bytes) -> None:
    rows = con.execute("SELECT count(*) FROM units.listed").fetchone()[0]
    parts = min(1024, max(1, -(-rows // ROWS_AT_ONCE)))
    for part in range(parts):
        low, high = part * 1024 // parts, (part + 1) * 1024 // parts
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE part AS SELECT u, cell, type FROM units.listed "
            f"WHERE slot >= {low} AND slot < {high}"
        )
        _add(counts, con.execute(_bounded(plan.unit.at_most, unit_prefix(key))).fetchnumpy())
    con.execute("DROP TABLE IF EXISTS part")


def _bounded(most: int, prefix: str) -> str:
    """Counts by cell and type of the table `part` after every unit was held to `most` rows."""
    hashed = f"sha256({sql.literal(prefix)} || cell || '|' || {{}} || '|' || coalesce(CAST(u AS VARCHAR), ''))"
    return f"""
    WITH over AS (SELECT u FROM part GROUP BY u HAVING count(*) > {most}),
    within AS (
        SELECT cell, type, count(*) AS n FROM part
        WHERE NOT EXISTS (SELECT 1 FROM over WHERE over.u IS NOT DISTINCT FROM part.u) GROUP BY cell, type
    ),
    grouped AS (
        SELECT part.u AS u, cell, type, least(count(*), {most}) AS n FROM part
        JOIN over ON over.u IS NOT DISTINCT FROM part.u GROUP BY part.u, cell, type
    ),
    numbered AS (
        SELECT u, cell, unnest(range(1, CAST(least(sum(n), {most}) AS BIGINT) + 1)) AS number
        FROM grouped GROUP BY u, cell
    ),
    ranked AS (
        SELECT u, cell, row_number() OVER (PARTITION BY u ORDER BY {hashed.format("number")}, cell, number) AS place
        FROM numbered
    ),
    quota AS (SELECT u, cell, count(*) AS q FROM ranked WHERE place <= {most} GROUP BY u, cell),
    ordered AS (
        SELECT grouped.cell AS cell, grouped.type AS type, grouped.n AS n, q,
            coalesce(CAST(sum(grouped.n) OVER (
                PARTITION BY grouped.u, grouped.cell ORDER BY h, grouped.type
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS BIGINT), 0) AS before
        FROM (SELECT *, {hashed.format("'type ' || type")} AS h FROM grouped) AS grouped
        JOIN quota ON quota.u IS NOT DISTINCT FROM grouped.u AND quota.cell = grouped.cell
    ),
    chosen AS (SELECT cell, type, sum(greatest(0, least(n, q - before))) AS n FROM ordered GROUP BY cell, type)
    SELECT cell, type, CAST(n AS BIGINT) AS n FROM within
    UNION ALL SELECT cell, type, CAST(n AS BIGINT) AS n FROM chosen
    """


def _add(counts: Counts, found: dict[str, Any]) -> None:
    np.add.at(counts, (np.asarray(found["cell"]), np.asarray(found["type"])), np.asarray(found["n"]))
