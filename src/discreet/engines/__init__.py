"""Microdata to one histogram of types for each cell: DuckDB by default, Spark, and a plain-Python reference.

`histograms(plan, key_set, key=…)` returns counts [cell, type] in the order of the key set, every cell with exactly its
declared size. Every row of a listed cell is one respondent; no value can drop a row, raise an error or leave a trace in
a message. The rules and their proofs: docs/engines.md.
"""

from __future__ import annotations

from typing import Protocol

from discreet.engines.cells import check_key_set, fitted
from discreet.engines.duck import DuckEngine
from discreet.engines.plain import ReferenceEngine
from discreet.engines.selection import Counts
from discreet.engines.spark import SparkEngine
from discreet.errors import InputError
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan

__all__ = ["DuckEngine", "Engine", "ReferenceEngine", "SparkEngine", "engine_named", "fitted", "histograms"]


class Engine(Protocol):
    """What counts rows by cell and type, units held to their limit."""

    @property
    def name(self) -> str:
        """How the command line calls it."""
        ...

    def counts(self, plan: Plan, key_set: KeySet, key: bytes, frame: object = None) -> Counts:
        """Counts [cell, type] in the order of the key set."""
        ...


def histograms(plan: Plan, key_set: KeySet, *, key: bytes, frame: object = None, engine: Engine | None = None) -> Counts:
    """Histograms [cell, type] of the plan's source, each of its declared size.

    `key` decides which rows stay where there are too many; fix it with the commitment, before the data is opened.
    """
    check_key_set(plan, key_set)
    return fitted(plan, key_set, (engine or DuckEngine()).counts(plan, key_set, key, frame), key)


def engine_named(name: str) -> Engine:
    """The engine of that name, with its defaults."""
    engines: dict[str, type[DuckEngine] | type[SparkEngine] | type[ReferenceEngine]] = {
        "duckdb": DuckEngine, "spark": SparkEngine, "reference": ReferenceEngine
    }  # fmt: skip
    if name not in engines:
        raise InputError("There is no such engine", found=name, allowed=list(engines), remedy="choose one of these")
    return engines[name]()
