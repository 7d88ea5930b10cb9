"""The reference engine on any source: reads rows one by one and hands them to `discreet.engines.reference`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from discreet.engines import rows
from discreet.engines.reference import count_rows
from discreet.engines.selection import Counts
from discreet.engines.sources import file_of
from discreet.engines.tables import columns_of, connection, rows_only, tables
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan

FETCHED = 10_000


@dataclass(frozen=True)
class ReferenceEngine:
    """Counts in plain Python: slow, and easy to believe."""

    name = "reference"

    def counts(self, plan: Plan, key_set: KeySet, key: bytes, frame: object = None) -> Counts:
        """Counts [cell, type] in the order of the key set."""
        if plan.source.kind == "csv":
            return count_rows(plan, key_set, rows.records(file_of(plan.source), columns_of(plan)), key)
        with connection("1GB", 1) as con:
            return count_rows(plan, key_set, _fetched(con, plan, frame), key)


def _fetched(con: Any, plan: Plan, frame: object) -> Iterator[tuple[object, ...]]:
    for table in tables(con, plan, frame):
        chosen = ", ".join(f"c{j}" for j in range(len(table.kinds)))
        with rows_only():
            result = con.execute(f"SELECT {chosen} FROM {table.source}")
            while block := result.fetchmany(FETCHED):
                yield from block
