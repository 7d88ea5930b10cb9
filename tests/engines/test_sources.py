"""Every kind of source gives the same histograms; what a source declares may be refused, in words without data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tables_of_people import COLUMNS, KEY, KEY_SET, Row, as_arrow, plan, random_rows, write_csv, write_parquet

from discreet.engines import DuckEngine, Engine, ReferenceEngine, SparkEngine, engine_named, histograms
from discreet.engines.cells import fitted
from discreet.engines.reference import count_rows
from discreet.engines.writer import write_parquet as write_columns
from discreet.errors import InputError, MissingExtra, TooLarge
from discreet.model.plan import Plan, Source

ENGINES: list[Engine] = [DuckEngine(threads=1), ReferenceEngine()]


def truth(used: Plan, rows: list[Row]) -> np.ndarray:
    """By the reference, from Python tuples."""
    return fitted(used, KEY_SET, count_rows(used, KEY_SET, rows, KEY), KEY)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize("kind", ["arrow", "polars", "pandas", "pandas objects"])
def test_frames(engine: Engine, kind: str) -> None:
    rows = random_rows(seed=1, count=300)
    if kind == "arrow":
        frame: Any = as_arrow(rows)
    elif kind == "polars":
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame(rows, schema=dict.fromkeys(COLUMNS, polars.String), orient="row")
    else:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(rows, columns=list(COLUMNS), dtype=object if kind.endswith("objects") else None)
    used = plan("bins", "household", 2)
    assert (histograms(used, KEY_SET, key=KEY, frame=frame, engine=engine) == truth(used, rows)).all()


def test_a_late_surprise_in_a_column_of_objects_does_not_stop_the_count() -> None:
    """A frame is not sniffed: thousands of numbers and one text at the end are all texts."""
    pandas = pytest.importorskip("pandas")
    values = [1] * 5000 + ["surprise", 2.5, None]
    frame = pandas.DataFrame({"region": "north", "block": "1", "children": pandas.Series(values, dtype=object)})
    roomy = replace(KEY_SET, sizes=(6000,) * len(KEY_SET))
    used = plan("bounds")
    found = histograms(replace(used, recoding=replace(used.recoding, absent=2)), roomy, key=KEY, frame=frame)
    assert found[0].tolist() == [0, 5000, 6000 - 5002, 1, 1]


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_tables_and_views_in_a_duckdb_file(engine: Engine, tmp_path: Path) -> None:
    import duckdb

    rows = random_rows(seed=2, count=200)
    path = tmp_path / "it's data.duckdb"
    with duckdb.connect(str(path)) as con:
        columns = ", ".join(f"{name} TEXT" for name in COLUMNS)
        con.execute(f'CREATE SCHEMA "s"; CREATE TABLE "s"."odd "" name" ({columns})')
        con.executemany('INSERT INTO "s"."odd "" name" VALUES (?, ?, ?, ?)', rows)
    before = path.read_bytes()
    used = plan("values", "household", 1, Source("duckdb", str(path), 's.odd " name'))
    assert (histograms(used, KEY_SET, key=KEY, engine=engine) == truth(used, rows)).all()
    assert path.read_bytes() == before


def test_a_folder_of_parquet_files_is_one_table(tmp_path: Path) -> None:
    rows = random_rows(seed=3, count=200)
    folder = tmp_path / "parts"
    folder.mkdir()
    write_parquet(folder / "a.parquet", rows[:70])
    write_parquet(folder / "b.parquet", rows[70:])
    used = plan("bounds", "household", 2, Source("parquet", str(folder)))
    assert (histograms(used, KEY_SET, key=KEY) == truth(used, rows)).all()


def test_numbers_are_written_to_parquet_and_read_back(tmp_path: Path) -> None:
    import duckdb

    write_columns(tmp_path / "t.parquet", {'a "b"': [1, 2, 3], "c": ["x", None, "z"], "d": np.array([0.5, 1, 2])})
    found = duckdb.sql(f"SELECT * FROM '{tmp_path / 't.parquet'}'").fetchall()
    assert found == [(1, "x", 0.5), (2, None, 1.0), (3, "z", 2.0)]
    assert [p.name for p in tmp_path.iterdir()] == ["t.parquet"]
    with pytest.raises(InputError):
        write_columns(tmp_path / "u.parquet", {"a": [1], "b": [1, 2]})


@pytest.mark.parametrize(("change", "words"), [
    ({"keys": ("region", "blok")}, "did you mean 'block'"),
    ({"source": Source("csv", "no such file.csv")}, "not a file"),
    ({"source": Source("csv", "*.csv")}, "not a file"),
    ({"source": Source("parquet", "s3://bucket/x.parquet")}, "not a file"),
    ({"source": Source("frame")}, "none was handed over"),
])  # fmt: skip
def test_what_a_source_lacks_is_said(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    used = replace(plan(source=write_csv(tmp_path / "rows.csv", random_rows(1, 5))), **change)
    listed = replace(KEY_SET, columns=used.keys)
    for engine in ENGINES:
        with pytest.raises(InputError, match=f"(?i){words}"):
            histograms(used, listed, key=KEY, engine=engine)


def test_columns_of_unusable_types_are_refused_by_their_declaration(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    table = as_arrow(random_rows(4, 5))
    assert isinstance(table, pyarrow.Table)
    pyarrow.parquet.write_table(table.set_column(1, "block", pyarrow.array([1.5] * 5)), tmp_path / "f.parquet")
    pyarrow.parquet.write_table(table.set_column(2, "children", pyarrow.array([[1]] * 5)), tmp_path / "l.parquet")
    for name in ("f.parquet", "l.parquet"):
        with pytest.raises(InputError, match="type that cannot be used") as refused:
            histograms(plan(source=Source("parquet", str(tmp_path / name))), KEY_SET, key=KEY)
        assert "1.5" not in str(refused.value)


def test_a_key_set_for_other_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not for the plan's key columns"):
        histograms(plan(), replace(KEY_SET, columns=("block", "region")), key=KEY)


def test_public_membership_must_be_as_listed(tmp_path: Path) -> None:
    listed = zip(KEY_SET.cells, KEY_SET.sizes, strict=True)
    rows: list[Row] = [(region, block, "1", None) for (region, block), size in listed for _ in range(size)]
    open_plan = plan(
        padding=False, public_membership=("region", "block"), protects="values",
        source=write_csv(tmp_path / "rows.csv", rows),
    )  # fmt: skip
    assert (histograms(open_plan, KEY_SET, key=KEY).sum(axis=1) == KEY_SET.sizes).all()
    with pytest.raises(InputError, match="1 of 12 cells differ"):
        histograms(replace(open_plan, source=write_csv(tmp_path / "r2.csv", rows[1:])), KEY_SET, key=KEY)


def test_rows_beyond_the_limit_wait_in_parts_and_are_counted_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousandth of the memory, parts of seven rows: numbers, texts and missing units."""
    from discreet.engines import duck, tables

    monkeypatch.setattr(tables, "PART", 7)
    monkeypatch.setattr(duck, "SHARE", 2_000_000)
    for seed, units in ((11, 40), (12, 3)):
        rows = random_rows(seed=seed, count=300, units=units)
        mixed: list[Row] = [(*row[:3], row[3].replace("u", "") if row[3] and i % 2 else row[3]) for i, row in enumerate(rows)]
        for source in (write_csv(tmp_path / "rows.csv", mixed), write_parquet(tmp_path / "rows.parquet", mixed)):
            used = plan("bounds", "household", 2, source)
            assert (histograms(used, KEY_SET, key=KEY) == truth(used, mixed)).all()


def test_too_little_memory_is_said_in_words(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "wide.parquet"
    duckdb.sql(
        f"""COPY (SELECT 'north' AS region, repeat('x', 200) || i AS block, '1' AS children, '' AS household
        FROM range(400000) AS t(i)) TO '{path}' (FORMAT parquet)"""
    )
    used = plan("bounds", source=Source("parquet", str(path)))
    try:
        histograms(used, KEY_SET, key=KEY, engine=DuckEngine("8MB", threads=1))
    except TooLarge as refused:
        assert "memory" in str(refused)


def test_engines_by_name() -> None:
    assert isinstance(engine_named("duckdb"), DuckEngine) and isinstance(engine_named("spark"), SparkEngine)
    assert isinstance(engine_named("reference"), ReferenceEngine)
    with pytest.raises(InputError, match="no such engine"):
        engine_named("excel")


@pytest.mark.parametrize(("engine", "module"), [(SparkEngine(), "pyspark.sql"), (DuckEngine(), "psycopg")])
def test_a_missing_extra_names_its_command(engine: Engine, module: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    monkeypatch.setitem(sys.modules, module, None)
    source = Source("postgres", "DB", "t") if module == "psycopg" else write_csv(tmp_path / "rows.csv", [])
    with pytest.raises(MissingExtra, match="pip install"):
        histograms(plan(source=source), KEY_SET, key=KEY, engine=engine)
