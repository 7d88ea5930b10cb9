"""The embedded engine: counts by DuckDB, within a memory limit, whatever the number of rows, and without a file.

Unit = row: rows are joined to the key set and counted by cell and type, so that memory depends on the key set alone.

Units of several rows: the same rows are fetched part by part as (unit, code of cell and type). All are counted; then the
surplus of units with more than k rows is taken off again (`discreet.engines.units`). A number tells its unit exactly. Other
texts are first represented by DuckDB's 64-bit hash; only where a hash has more than k rows, the source is read once more for
these, with 128 bits of SHA-256. Should the source change in between, every unit still counts at most k rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines import sql
from discreet.engines.roll import Roll
from discreet.engines.selection import Counts
from discreet.engines.spill import clear_leftovers
from discreet.engines.tables import Table, connection, rows_only, tables
from discreet.engines.tally import Tally
from discreet.engines.units import LONG, Codes, Order, Rows, Words
from discreet.errors import InputError
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan

UNITS_OF_SIZE = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
SHARE = 4
"""Rows in waiting may take this part of the memory limit, beside what DuckDB takes."""


@dataclass(frozen=True)
class DuckEngine:
    """Counts by DuckDB. `memory` is its limit; what of the rows of units is beyond a quarter of it, waits encrypted in a
    file without a name in `folder` (the system's temporary folder if None)."""

    memory: str = "2GB"
    threads: int | None = None
    folder: Path | None = None
    name = "duckdb"

    def counts(self, plan: Plan, key_set: KeySet, key: bytes, frame: object = None) -> Counts:
        """Counts [cell, type] in the order of the key set."""
        clear_leftovers(self.folder)
        limit = size_in_bytes(self.memory) // SHARE
        with connection(self.memory, self.threads) as con:
            if plan.unit.column is None:
                counts = np.zeros((len(key_set), plan.recoding.types), dtype=np.int64)
                for table in _keyed_tables(con, plan, key_set, frame):
                    with rows_only():
                        _by_row(con, plan, table, counts)
                return counts
            tally = Tally(Order(key, len(key_set), plan.recoding.types), plan.unit.at_most)
            roll = partial(Roll, tally.order, tally.most, limit, self.folder)
            return _by_unit(con, plan, key_set, frame, tally, roll)


def size_in_bytes(text: str) -> int:
    """A size such as 2GB or 512 MiB."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?\s*", text, re.IGNORECASE)
    if not found:
        raise InputError("The memory limit is not a size", found=text, allowed="for instance 2GB or 512MiB", remedy="correct it")
    return int(float(found[1]) * (1024 if found[3] else 1000) ** UNITS_OF_SIZE[found[2].lower()])


def _keyed_tables(con: Any, plan: Plan, key_set: KeySet, frame: object) -> Iterator[Table]:
    """The tables of the source, with the table `keys` beside them as their kinds demand."""
    kinds = None
    for table in tables(con, plan, frame):
        if kinds != table.kinds:
            with rows_only():
                _register_keys(con, plan, key_set, table)
            kinds = table.kinds
        yield table


def _register_keys(con: Any, plan: Plan, key_set: KeySet, table: Table) -> None:
    """The table `keys`: each cell, the first of its codes, and its keys in the types of the columns they are compared with.

    A text that is not how an integer is written ("07"), or one that does not fit, is NULL there and matches no row.
    """
    bits = (plan.recoding.types - 1).bit_length()
    columns: dict[str, Any] = {"cell": np.arange(len(key_set), dtype=np.int32)}
    columns["base"] = (columns["cell"].astype(np.int64) << bits).astype(np.uint32)
    for i in range(len(plan.keys)):
        columns[f"k{i}"] = np.array([cell[i] for cell in key_set.cells], dtype=object)
    con.register("listed", columns)
    declared = [row[1] for row in con.execute(f"DESCRIBE SELECT * FROM {table.source}").fetchall()]
    canonical = sql.literal("0|-?[1-9][0-9]{0,18}")
    selected = [
        f"CASE WHEN regexp_full_match(k{i}, {canonical}) THEN TRY_CAST(k{i} AS {declared[i]}) END AS k{i}"
        if table.kinds[i] == "integer"
        else f"CAST(k{i} AS VARCHAR) AS k{i}"
        for i in range(len(plan.keys))
    ]
    con.execute(f"CREATE OR REPLACE TEMP TABLE keys AS SELECT cell, base, {', '.join(selected)} FROM listed")
    con.unregister("listed")


def _matched(plan: Plan) -> str:
    return " AND ".join(f"c{i} = k{i}" for i in range(len(plan.keys)))


def _type(plan: Plan, table: Table) -> str:
    width = len(plan.keys)
    return sql.type_of(plan.recoding, f"c{width}", table.kinds[width])


def _by_row(con: Any, plan: Plan, table: Table, counts: Counts) -> None:
    source, many = table.source, "count(*)"
    if table.small:
        # Equal rows together first: texts are compared with keys and read as numbers once. Memory is that of some lines.
        source, many = f"(SELECT *, count(*) AS equal FROM {table.source} GROUP BY ALL)", "CAST(sum(equal) AS BIGINT)"
    found = con.execute(
        f"SELECT cell, {_type(plan, table)} AS type, {many} AS n FROM {source} JOIN keys ON {_matched(plan)} GROUP BY cell, type"
    ).fetchnumpy()
    np.add.at(counts, (np.asarray(found["cell"]), np.asarray(found["type"])), np.asarray(found["n"]))


def _by_unit(con: Any, plan: Plan, key_set: KeySet, frame: object, tally: Tally, new_roll: Callable[[], Roll]) -> Counts:
    unit, room = f"c{len(plan.keys) + 1}", 63 - tally.order.code_bits
    short, numbers, texts = new_roll(), new_roll(), new_roll()
    for table, part in _parts(con, plan, key_set, frame):
        looked = _short(_number(unit, table.kinds[-1]), room, tally.order.code_bits)
        fitting = _fetched(con, plan, table, part, looked)["short"]
        rest = bool(len(fitting)) and fitting.min() < 0
        rows = (fitting[fitting >= 0] if rest else fitting).view(np.uint64)
        tally.add(rows)
        short.add(rows)
        if not rest:
            continue
        looked = _long(_number(unit, table.kinds[-1]), unit, table.kinds[-1], room)
        found = _fetched(con, plan, table, part, looked)
        number, text = (~np.ma.getmaskarray(found[name]) for name in ("number", "hash"))
        for roll, name, here in ((numbers, "number", number), (texts, "hash", text)):
            rows = _rows(np.asarray(found[name])[here].view(np.uint64), 0, found["code"][here])
            tally.add(rows)
            roll.add(rows)
        tally.add_missing(found["code"][~number & ~text])
    tally.hold(short)
    tally.hold(numbers)
    tally.hold_missing()
    suspects = np.concatenate([tally.order.crowded_words(blocks, tally.most) for blocks in texts.parts()])
    if len(suspects):
        con.register("suspects", {"hash": suspects})
        exact = new_roll()
        for table, part in _parts(con, plan, key_set, frame):
            looked = _digests(unit, _number(unit, table.kinds[-1]), tally.order.prefix)
            found = _fetched(con, plan, table, part, looked)
            exact.add(_rows(found["word"], found["check"] | np.uint64(1), found["code"]))
        tally.hold(exact)
    return tally.counts()


def _parts(con: Any, plan: Plan, key_set: KeySet, frame: object) -> Iterator[tuple[Table, str]]:
    for table in _keyed_tables(con, plan, key_set, frame):
        for part in table.parts():
            yield table, part


def _rows(words: Words, checks: Words | int, codes: Codes) -> Rows:
    rows = np.empty(len(codes), LONG)
    rows["word"], rows["check"], rows["code"] = words, checks, codes
    return rows


def _fetched(con: Any, plan: Plan, table: Table, part: str, looked: str) -> dict[str, NDArray[Any]]:
    """Columns that say whose each row of a listed cell is, and its code."""
    code = f"base + CAST({_type(plan, table)} AS UINTEGER)"
    with rows_only():
        rows = f"{part} JOIN keys ON {_matched(plan)}"
        return dict(con.execute(looked.format(code=code, rows=rows)).fetchnumpy())


def _number(unit: str, kind: str) -> str:
    """A unit that is a number of 64 bits, or how one is written; else NULL."""
    tried = f"TRY_CAST({unit} AS BIGINT)"
    return f"CAST({unit} AS BIGINT)" if kind == "integer" else f"CASE WHEN CAST({tried} AS VARCHAR) = {unit} THEN {tried} END"


def _short(number: str, room: int, code_bits: int) -> str:
    """Number and code in one, where both fit; else −1."""
    fits = f"CASE WHEN number BETWEEN 0 AND {2**room - 1} THEN number * {2**code_bits} + code ELSE -1 END"
    return f"SELECT {fits} AS short FROM (SELECT {number} AS number, {{code}} AS code FROM {{rows}})"


def _long(number: str, unit: str, kind: str, room: int) -> str:
    """The other rows: larger numbers, hashes of texts, and what is missing."""
    hashed = "CAST(NULL AS UBIGINT)" if kind == "integer" else "CASE WHEN number IS NULL AND u <> '' THEN hash(u) END"
    return (
        f"SELECT number, {hashed} AS hash, code FROM (SELECT {unit} AS u, {number} AS number, {{code}} AS code FROM {{rows}}) "
        f"WHERE number IS NULL OR number NOT BETWEEN 0 AND {2**room - 1}"
    )


def _digests(unit: str, number: str, prefix: str) -> str:
    """Of texts whose hash is a suspect: 128 bits of SHA-256."""
    return (
        f"SELECT CAST('0x' || s[1:16] AS UBIGINT) AS word, CAST('0x' || s[17:32] AS UBIGINT) AS check, code FROM "
        f"(SELECT sha256({sql.literal(prefix)} || {unit}) AS s, {{code}} AS code FROM {{rows}} "
        f"JOIN suspects ON suspects.hash = hash({unit}) WHERE {unit} <> '' AND {number} IS NULL)"
    )
