"""The Spark engine: the same counts, cell by cell, on a cluster; no row ever reaches the driver.

The key set is broadcast and joined, types are computed where the rows are, units are held to k rows by the choice of
`discreet.engines.selection`, and only counts by cell and type are collected. Needs `discreet[spark]` and Java.
Sources: Parquet, CSV, and frames (of Spark or pandas).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from discreet.engines import rows
from discreet.engines.frames import chosen
from discreet.engines.selection import Counts
from discreet.engines.sources import source_files
from discreet.engines.spark_rows import csv_frame
from discreet.engines.spark_units import counted, nothing_done
from discreet.engines.spill import clear_leftovers, folder_of_this_process
from discreet.engines.sql import FIRST_DAY, LAST_DAY
from discreet.engines.tables import columns_of, connection, types_in_parquet
from discreet.engines.units import Order, whole_number
from discreet.errors import InputError, MissingExtra, UnreadableRows
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan
from discreet.model.recoding import GAP, NUMBER, Bins, Bounds, Recoding, Values

INTEGERS = {"tinyint", "smallint", "int", "bigint"}
TEXTS = {"string", "boolean", "date"}


@dataclass(frozen=True)
class SparkEngine:
    """Counts by Spark. `session` is used as it is; without one a local session is taken or started."""

    session: Any = None
    name = "spark"

    def counts(self, plan: Plan, key_set: KeySet, key: bytes, frame: object = None) -> Counts:
        """Counts [cell, type] in the order of the key set."""
        clear_leftovers()
        session = self.session or _session()
        order = Order(key, len(key_set), plan.recoding.types)
        flat = np.zeros(order.cells << order.type_bits, dtype=np.int64)
        if plan.unit.column is not None:
            with _without_words(_not_equipped()):
                session.range(1).mapInArrow(nothing_done, "id long").collect()
        with _without_words(_not_opened()):
            found = _counted(session, plan, key_set, _opened(session, plan, frame), order)
        with _without_words(UnreadableRows()):
            for code, many in found.collect():
                flat[code] += many
        return np.ascontiguousarray(flat.reshape(order.cells, -1)[:, : order.types])


def _session() -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("spark", needed_for="counting with Spark") from None
    return SparkSession.getActiveSession() or started_session()


def started_session(**more: str) -> Any:
    """A local session of discreet's own, with `more` settings."""
    from pyspark.sql import SparkSession

    # Workers run the Python that has discreet, not the first one on the path, unless somebody chose another.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # What Spark spills and shuffles goes, encrypted, to a private folder that is gone when this program ends.
    folder = str(folder_of_this_process())
    settings: dict[str, Any] = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.local.dir": folder,
        "spark.sql.warehouse.dir": folder, "spark.io.encryption.enabled": "true",
    } | more  # fmt: skip
    session = SparkSession.builder.appName("discreet").config(map=settings).getOrCreate()
    # Spark's log repeats plans and rows; nothing of it may leave the cluster through us.
    session.sparkContext.setLogLevel("OFF")
    return session


def _opened(session: Any, plan: Plan, frame: object) -> list[Any]:
    """The source as Spark frames with the plan's columns alone, named c0, c1, …; together they hold its rows."""
    source, names = plan.source, columns_of(plan)
    if source.kind in ("parquet", "csv"):
        files = source_files(source)
        hidden = next((file.name for file in files if file.name[0] in "._"), None)
        if hidden is not None:
            raise InputError(
                "Spark passes over a file whose name begins with '.' or '_'",
                found=hidden,
                allowed="another name",
                remedy="rename it, or use the DuckDB engine",
            )
        if source.kind == "csv":
            return [csv_frame(session, files[0].path, names)]
        return [_parquet(session, paths, names) for paths in _alike(plan, [str(file.path) for file in files])]
    if source.kind == "frame" and frame is not None:
        if hasattr(frame, "sparkSession"):
            return [_chosen(frame, names)]
        return [session.createDataFrame(chosen(frame, names))]
    raise InputError(
        "Spark does not read this source",
        found=f"source.kind = {source.kind!r}",
        allowed="'parquet', 'csv', or 'frame' with a frame",
        remedy="use the DuckDB engine, or export to Parquet",
    )


def _alike(plan: Plan, paths: list[str]) -> list[list[str]]:
    """Files that declare the same types together, as each declares its own."""
    with connection("1GB", 1) as con:
        alike: dict[tuple[str, ...], list[str]] = {}
        for path in paths:
            alike.setdefault(types_in_parquet(con, path, columns_of(plan)), []).append(path)
    return list(alike.values())


def _parquet(session: Any, paths: list[str], names: list[str]) -> Any:
    # Days are read as they are written: to count them by another calendar may stop at a value.
    read = session.read.options(datetimeRebaseMode="CORRECTED", int96RebaseMode="CORRECTED")
    return _chosen(read.parquet(*(re.sub(r"[{}\[\]*?\\]", r"\\\g<0>", path) for path in paths)), names)


def _chosen(found: Any, names: list[str]) -> Any:
    for name in names:
        rows.place(found.columns, name)
    return found.select([found[_quoted(name)].alias(f"c{j}") for j, name in enumerate(names)])


def _counted(session: Any, plan: Plan, key_set: KeySet, sources: list[Any], order: Order) -> Any:
    """Counts by code: cell and type in one."""
    from pyspark.sql import functions as F  # noqa: N812

    joined = [_joined(plan, _keys(session, plan, key_set, source), source, order.type_bits) for source in sources]
    if plan.unit.column is None:
        return reduce(lambda a, b: a.unionAll(b), joined).groupBy("code").count()
    if len({dict(frame.dtypes)["u"] for frame in joined}) > 1:
        joined = [frame.select(F.col("u").cast("string"), "code") for frame in joined]
    return counted(reduce(lambda a, b: a.unionAll(b), joined), order, plan.unit.at_most)


def _keys(session: Any, plan: Plan, key_set: KeySet, source: Any) -> Any:
    """The cells with their keys as a source has them: whole numbers as numbers, NULL where a text is not how one is written."""
    from pyspark.sql import functions as F  # noqa: N812

    whole = [dict(source.dtypes)[f"c{i}"] in INTEGERS for i in range(len(plan.keys))]
    schema = ", ".join(["cell int", *(f"k{i} {'bigint' if number else 'string'}" for i, number in enumerate(whole))])
    listed = [
        (i, *(whole_number(text) if number else text for text, number in zip(cell, whole, strict=True)))
        for i, cell in enumerate(key_set.cells)
    ]
    return F.broadcast(session.createDataFrame(listed, schema=schema))


def _joined(plan: Plan, keys: Any, source: Any, type_bits: int) -> Any:
    """The rows of listed cells as their codes, and with the unit where the plan has one."""
    from pyspark.sql import functions as F  # noqa: N812

    kinds = dict(source.dtypes)
    width = len(plan.keys)
    for j, name in enumerate([*plan.keys, *([plan.unit.column] if plan.unit.column else [])]):
        _identity(name, kinds[f"c{j if j < width else width + 1}"])
    compared = [
        F.col(f"c{i}").cast("bigint") if kinds[f"c{i}"] in INTEGERS else _text(F, f"c{i}", kinds[f"c{i}"]) for i in range(width)
    ]
    match = reduce(lambda a, b: a & b, [column == F.col(f"k{i}") for i, column in enumerate(compared)])
    value = _text(F, f"c{width}", "date") if kinds[f"c{width}"] == "date" else F.col(f"c{width}")
    type_ = _type_of(plan.recoding, value, _kind(plan.recoding.column, kinds[f"c{width}"]))
    code = (F.shiftleft(F.col("cell").cast("bigint"), type_bits) + type_).alias("code")
    joined = source.join(keys, on=match, how="inner")
    if plan.unit.column is None:
        return joined.select(code)
    name = f"c{width + 1}"
    unit = F.col(name).cast("bigint") if kinds[name] in INTEGERS else _text(F, name, kinds[name])
    return joined.select(unit.alias("u"), code)


def _text(F: Any, name: str, declared: str) -> Any:
    """A key or unit as it is compared; a day that not every engine writes alike is U+FFFD."""
    text = F.col(name).cast("string")
    if declared != "date":
        return text
    usual = F.col(name).between(F.to_date(F.lit(FIRST_DAY)), F.to_date(F.lit(LAST_DAY)))
    return F.when(usual, text).when(F.col(name).isNotNull(), F.lit(rows.UNREADABLE))


def _type_of(recoding: Recoding, column: Any, kind: str) -> Any:
    """`Recoding.type_of` as a Spark expression; casts only try."""
    from pyspark.sql import functions as F  # noqa: N812

    text = column.cast("string")
    missing = column.isNull()
    if kind == "number":
        missing = missing | F.isnan(column.cast("double"))
    elif kind == "text":
        gap = text.rlike(rf"\A{GAP}\z")
        missing = missing | (gap & ~text.isin(*recoding.listed_gaps) if recoding.listed_gaps else gap)
    rule = recoding.rule
    if isinstance(rule, Values):
        listed = {"integer": rule.integers, "number": rule.numbers, "text": rule.texts}[kind]
        compared = {"integer": column, "number": column.cast("double"), "text": text}[kind]
        inner = F.lit(recoding.outside)
        for value, j in reversed(listed):
            inner = F.when(compared == _constant(F, value, kind), F.lit(j)).otherwise(inner)
    elif isinstance(rule, Bounds) and kind == "integer":
        inner = F.greatest(F.lit(rule.low), F.least(F.lit(rule.high), column)) - F.lit(rule.low)
    else:
        number = column.cast("double")
        if kind == "text":
            number = F.when(text.rlike(rf"\A{NUMBER}\z"), text.try_cast("double"))
        inner = _binned(F, rule, number) if isinstance(rule, Bins) else _clipped(F, rule.low, rule.high, number)
        inner = F.coalesce(inner, F.lit(recoding.outside))
    return F.when(missing, F.lit(recoding.missing)).otherwise(inner).cast("int")


def _binned(F: Any, rule: Bins, number: Any) -> Any:
    edges = rule.doubles
    steps = reduce(lambda a, b: a + b, [(number >= edge).cast("int") for edge in edges[1:-1]], F.lit(0))
    return F.when((number >= edges[0]) & (number < edges[-1]), steps)


def _clipped(F: Any, low: int, high: int, number: Any) -> Any:
    whole = F.floor(F.greatest(F.lit(float(low)), F.least(F.lit(float(high)), number)))
    return F.when(number.isNotNull(), whole - F.lit(low)).cast("int")


def _constant(F: Any, value: Any, kind: str) -> Any:
    return F.lit(str(value)).cast("decimal(38,0)") if kind == "integer" else F.lit(value)


def _kind(name: str, declared: str) -> str:
    if declared in INTEGERS or (declared.startswith("decimal") and declared.endswith(",0)")):
        return "integer"
    if declared in TEXTS:
        return "text"
    if declared in ("float", "double") or declared.startswith("decimal"):
        return "number"
    raise InputError(
        f"Column {name!r} has a type that cannot be used here",
        found=declared,
        allowed="numbers, texts, booleans, dates",
        remedy="convert the column before publishing",
    )


def _identity(name: str, declared: str) -> None:
    if declared not in INTEGERS | TEXTS:
        raise InputError(
            f"Column {name!r} has a type that cannot be used here",
            found=declared,
            allowed="whole numbers, texts, booleans, dates",
            remedy="convert the column before publishing",
        )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@contextmanager
def _without_words(instead: InputError) -> Iterator[None]:
    """Spark's words about an error may repeat a line of the data, so they go no further."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError):
        raise instead from None


def _not_equipped() -> InputError:
    return InputError(
        "Spark's workers cannot run what holds units to their rows",
        found="a trial without data that failed",
        allowed="discreet, NumPy and pyarrow in the Python of every worker",
        remedy="install discreet[spark] there, or set PYSPARK_PYTHON to a Python that has it before the session starts",
    )


def _not_opened() -> InputError:
    return InputError(
        "The source could not be read",
        allowed="a whole file or table that this user may read",
        remedy="check that it is complete and of the kind that the plan says",
    )
