"""Plan files and key sets: the TOML that a person writes before publishing, and the CSV that lists every cell.

A plan is hashed as it is written, with its relative paths; `located` resolves them against the plan's folder. A key set
is a CSV file in UTF-8 whose header names the key columns of the plan and the column of sizes, in any order, and whose
lines are the cells: all of this is public, so messages may name lines.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import tomllib
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from discreet.errors import InputError
from discreet.files.atomic import read_bytes
from discreet.files.bulk import in_bulk
from discreet.files.canonical import document_hash
from discreet.files.shape import Exact, Integer, Shape, Text, read_shape
from discreet.model.key_set import KeySet
from discreet.model.plan import Learning, Plan, Source, Unit
from discreet.model.recoding import Bins, Bounds, Recoding, Rule, Values
from discreet.numerics.exact import format_exact

LARGEST_PLAN = 16 << 20


class SourceShape(Shape):
    """Where the rows are."""

    kind: Literal["parquet", "csv", "duckdb", "postgres", "frame"]
    path: Text | None = None
    table: Text | None = None
    environment: Text | None = None


class CellsShape(Shape):
    """Which cells there are, and what is public about them."""

    keys: list[Text]
    key_set: Text
    size: Text = "size"
    padding: bool = True
    public_membership: list[Text] = Field(default_factory=list)


class RecodingShape(Shape):
    """From a column's values to types."""

    column: Text
    kind: Literal["values", "bins", "bounds"]
    values: list[list[Text | Integer]] | None = None
    edges: list[Exact] | None = None
    low: Integer | None = None
    high: Integer | None = None
    types: Integer | None = None
    missing: Integer
    outside: Integer
    absent: Integer | None = None


class UnitShape(Shape):
    """Who is protected, and against what."""

    name: Text
    column: Text | None = None
    at_most: Integer = 1
    protects: Literal["values", "presence", "moves"] = "values"


class BudgetShape(Shape):
    """Whose budget is spent, and how much at most."""

    population: Text
    ledger: Text | None = None
    most: Exact | None = None


class LearningShape(Shape):
    """Pooled numbers to learn a prior from are published, rather than cells."""

    strata: list[Text] = Field(default_factory=list)
    kinds: bool = False


class PlanShape(Shape):
    """plan.toml."""

    dataset: Text
    mechanism: Text
    source: SourceShape
    cells: CellsShape
    recoding: RecodingShape
    unit: UnitShape
    budget: BudgetShape
    learning: LearningShape | None = None
    learned: Text | None = None


def read_plan(path: str | Path, *, made: str | None = None) -> Plan:
    """The plan in a TOML file, with paths as they are written there; `made` is its mechanism where none is written."""
    data = read_bytes(Path(path), "the plan")
    if len(data) > LARGEST_PLAN:
        raise InputError(
            "The plan is too large",
            found=f"{len(data):,} bytes",
            allowed=f"{LARGEST_PLAN:,} bytes",
            remedy="check that this is the right file",
        )
    try:
        document = tomllib.loads(data.decode("utf-8"), parse_float=Decimal)
    except UnicodeDecodeError:
        raise InputError(
            "The plan is not text", found="bytes that are not UTF-8", allowed="a TOML file", remedy="check it"
        ) from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise InputError(
            "The plan is not valid TOML",
            found=str(error)[:200] or type(error).__name__,
            allowed="a TOML file with [source], [cells], [recoding], [unit] and [budget]",
            remedy="compare it with the example in the documentation",
        ) from None
    return plan_from_document(document if made is None else {"mechanism": made, **document})


def plan_from_document(document: Any) -> Plan:
    """The plan that a document of dicts and lists describes."""
    shape = read_shape(PlanShape, document, "The plan")
    return Plan(
        dataset=shape.dataset,
        source=_source(shape.source),
        keys=tuple(shape.cells.keys),
        key_set=shape.cells.key_set,
        recoding=_recoding(shape.recoding),
        unit=Unit(shape.unit.name, shape.unit.column, shape.unit.at_most),
        mechanism=shape.mechanism,
        population=shape.budget.population,
        padding=shape.cells.padding,
        protects=shape.unit.protects,
        public_membership=tuple(shape.cells.public_membership),
        size_column=shape.cells.size,
        ledger=shape.budget.ledger or "",
        most=shape.budget.most,
        learning=None if shape.learning is None else Learning(tuple(shape.learning.strata), shape.learning.kinds),
        learned=shape.learned or "",
    )


def plan_document(plan: Plan) -> dict[str, Any]:
    """The exact document of a plan: what is hashed, and read back by `plan_from_document`."""
    source: dict[str, Any] = {"kind": plan.source.kind}
    if plan.source.location:
        source["environment" if plan.source.kind == "postgres" else "path"] = plan.source.location
    if plan.source.table:
        source["table"] = plan.source.table
    budget: dict[str, Any] = {"population": plan.population}
    if plan.ledger:
        budget["ledger"] = plan.ledger
    if plan.most is not None:
        budget["most"] = format_exact(plan.most)
    unit: dict[str, Any] = {"name": plan.unit.name, "at_most": plan.unit.at_most, "protects": plan.protects}
    if plan.unit.column is not None:
        unit["column"] = plan.unit.column
    learned: dict[str, Any] = {"learned": plan.learned} if plan.learned else {}
    if plan.learning is not None:
        learned["learning"] = {"strata": list(plan.learning.strata), **({"kinds": True} if plan.learning.kinds else {})}
    return learned | {
        "dataset": plan.dataset,
        "mechanism": plan.mechanism,
        "source": source,
        "cells": {
            "keys": list(plan.keys), "key_set": plan.key_set, "size": plan.size_column, "padding": plan.padding,
            "public_membership": list(plan.public_membership),
        },
        "recoding": _recoding_document(plan.recoding),
        "unit": unit,
        "budget": budget,
    }  # fmt: skip


def plan_hash(plan: Plan) -> str:
    """SHA-256 of the plan's document."""
    return document_hash(plan_document(plan))


def located(plan: Plan, folder: str | Path) -> Plan:
    """The plan with its relative paths taken from `folder`, where its file lies."""
    base = Path(folder)
    source = plan.source
    if source.on_disk:
        source = replace(source, location=str(base / source.location))
    return replace(
        plan,
        source=source,
        key_set=str(base / plan.key_set),
        mechanism=str(base / plan.mechanism),
        ledger=str(base / plan.ledger) if plan.ledger and "://" not in plan.ledger else plan.ledger,
        learned=str(base / plan.learned) if plan.learned else "",
    )


def read_key_set(path: str | Path, plan: Plan) -> KeySet:
    """The cells of a plan, from a CSV file."""
    return key_set_from_text(key_set_text(path), plan)


def key_set_text(path: str | Path) -> str:
    """The text of a CSV file of cells."""
    try:
        return read_bytes(Path(path), "the key set").decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(
            "The key set is not text",
            found="bytes that are not UTF-8",
            allowed="a CSV file in UTF-8",
            remedy="check it",
        ) from None


@in_bulk()
def key_set_from_text(text: str, plan: Plan) -> KeySet:
    """The cells of a plan, from CSV text."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        wanted = (*plan.keys, plan.size_column)
        if sorted(header) != sorted(wanted):
            raise InputError(
                "The key set's columns are not those of the plan",
                found=", ".join(header) or "nothing",
                allowed=", ".join(wanted),
                remedy="name the key columns and the column of sizes in the first line",
            )
        places = [header.index(name) for name in wanted]
        records = [record for record in reader if record]
    except csv.Error as error:
        raise InputError(
            "The key set is not well-formed CSV",
            found=f"{error} at line {reader.line_num}",
            allowed="a CSV file",
            remedy="correct that line",
        ) from None
    if not records:
        return KeySet(plan.keys, (), ())
    if set(map(len, records)) != {len(header)}:
        line = _line_of(text, lambda record: len(record) != len(header))
        raise InputError(
            "A line of the key set has too few or too many fields",
            found=f"line {line}",
            allowed=f"{len(header)} fields",
            remedy="correct that line",
        )
    # Column by column, since there may be millions of cells and few different sizes.
    columns = list(zip(*records, strict=True))
    written = columns[places[-1]]
    wrong = {size for size in set(written) if not _is_size(size)}
    if wrong:
        line = _line_of(text, lambda record: len(record) == len(header) and record[places[-1]] in wrong)
        raise InputError(
            "A size in the key set is not a whole number",
            found=f"{min(wrong)!r} in line {line}",
            allowed="1, 2, 3, …",
            remedy="correct that line",
        )
    sizes = {size: int(size) for size in set(written)}
    cells = tuple(zip(*(columns[i] for i in places[:-1]), strict=True))
    return KeySet(plan.keys, cells, tuple(map(sizes.__getitem__, written)))


def key_set_hash(key_set: KeySet) -> str:
    """SHA-256 of columns, cells and sizes, in order."""
    # The canonical form, written without another look at every text: a key set holds nothing but texts and integers.
    document = {"cells": key_set.cells, "columns": key_set.columns, "sizes": key_set.sizes}
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _is_size(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 13


def _line_of(text: str, wrong: Callable[[list[str]], bool]) -> int:
    """The line of the first record after the header that is wrong."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    next(reader)
    return next((reader.line_num for record in reader if record and wrong(record)), reader.line_num)


def _source(shape: SourceShape) -> Source:
    located_by = shape.environment if shape.kind == "postgres" else shape.path
    unused = shape.path if shape.kind in ("postgres", "frame") else shape.environment
    if unused is not None:
        raise InputError(
            f"A source of kind {shape.kind!r} does not use this key",
            found=unused,
            allowed="path for files; environment and table for PostgreSQL",
            remedy="remove it",
        )
    return Source(shape.kind, located_by or "", shape.table or "")


def _recoding(shape: RecodingShape) -> Recoding:
    rule = _rule(shape)
    declared = [t for t in (shape.missing, shape.outside, shape.absent) if t is not None]
    types = shape.types if shape.types is not None else max(rule.types, 1 + max(declared), 2)
    return Recoding(shape.column, rule, types, shape.missing, shape.outside, shape.absent)


def _rule(shape: RecodingShape) -> Rule:
    uses = {"values": ("values",), "bins": ("edges",), "bounds": ("low", "high")}
    for kind, names in uses.items():
        for name in names:
            given = getattr(shape, name) is not None
            if given != (kind == shape.kind):
                raise InputError(
                    f"The plan's recoding.kind = {shape.kind!r} and recoding.{name} do not fit",
                    found=f"{'a' if given else 'no'} {name}",
                    allowed=" and ".join(uses[shape.kind]),
                    remedy=f"{'remove' if given else 'add'} recoding.{name}",
                )
    if shape.kind == "values":
        assert shape.values is not None
        return Values(tuple(tuple(str(text) for text in group) for group in shape.values))
    if shape.kind == "bins":
        assert shape.edges is not None
        return Bins(tuple(shape.edges))
    assert shape.low is not None and shape.high is not None
    return Bounds(shape.low, shape.high)


def _recoding_document(recoding: Recoding) -> dict[str, Any]:
    rule = recoding.rule
    document: dict[str, Any] = {
        "column": recoding.column, "kind": rule.kind, "types": recoding.types, "missing": recoding.missing,
        "outside": recoding.outside,
    }  # fmt: skip
    if recoding.absent is not None:
        document["absent"] = recoding.absent
    if isinstance(rule, Values):
        return document | {"values": [list(group) for group in rule.groups]}
    if isinstance(rule, Bins):
        return document | {"edges": [format_exact(edge) for edge in rule.edges]}
    return document | {"low": rule.low, "high": rule.high}
