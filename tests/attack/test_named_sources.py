"""What is read is what was named: folders with other things in them, names that look like patterns, views.

The adversary is silence: a file that is skipped, or read although nobody meant it, by one engine and not by another.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from discreet.engines import DuckEngine, Engine, ReferenceEngine, SparkEngine, histograms
from discreet.engines.sources import source_files
from discreet.engines.writer import write_parquet
from discreet.errors import InputError
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan, Source, Unit
from discreet.model.recoding import Bounds, Recoding

LISTED = KeySet(("s",), (("s0",),), (100,))
PLAIN: list[Engine] = [ReferenceEngine(), DuckEngine(threads=1)]
NAMES = ["p[1].parquet", "p1.parquet", "a*b.parquet", "axb.parquet", "q?.parquet", "{x}.parquet", "UPPER.PARQUET", "ü b,c.parquet"]


def plan(source: Source) -> Plan:
    """Values 0..2."""
    return Plan(
        dataset="d", source=source, keys=("s",), key_set="k", population="p", mechanism="m", protects="presence",
        recoding=Recoding("v", Bounds(0, 2), 4, missing=3, outside=3, absent=3), unit=Unit("row"),
    )  # fmt: skip


def folder_of(path: Path, names: list[str]) -> Path:
    """One row in every file."""
    path.mkdir()
    for name in names:
        write_parquet(path / name, {"s": ["s0"], "v": [1]})
    return path


def counted(engine: Engine, path: Path) -> int:
    """How many rows were read."""
    return int(histograms(plan(Source("parquet", str(path))), LISTED, key=b"k", engine=engine)[0, 1])


@pytest.mark.parametrize("engine", PLAIN, ids=lambda e: e.name)
def test_every_file_is_read_once_whatever_it_is_called(engine: Engine, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "all[1]", NAMES)
    for marker in ("_SUCCESS", "._SUCCESS.crc", "_metadata"):
        (folder / marker).write_bytes(b"")
    assert counted(engine, folder) == len(NAMES)
    for name in NAMES:
        assert counted(engine, folder / name) == 1
    assert [file.name for file in source_files(Source("parquet", str(folder)))] == sorted(NAMES)


@pytest.mark.parametrize("strange", ["sub/", ".hidden.parquet", "_x.parquet", "part.parq", "part.parquet.gz", "notes.txt", "x.csv"])
@pytest.mark.parametrize("engine", PLAIN, ids=lambda e: e.name)
def test_what_is_no_parquet_file_is_refused_by_name(engine: Engine, strange: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "f", ["a.parquet"])
    if strange.endswith("/"):
        (folder / strange).mkdir()
    else:
        write_parquet(folder / strange, {"s": ["s0"], "v": [1]})
    with pytest.raises(InputError, match=rf"no Parquet file.*{strange.rstrip('/')}"):
        counted(engine, folder)


@pytest.mark.slow
@pytest.mark.needs_java
def test_spark_reads_the_same_files(tmp_path: Path, spark_session: Any) -> None:
    pytest.importorskip("pyspark", reason="discreet[spark] is not installed")
    engine = SparkEngine(spark_session)
    folder = folder_of(tmp_path / "all[1]", NAMES)
    assert counted(engine, folder) == len(NAMES) and counted(engine, folder / NAMES[0]) == 1
    write_parquet(tmp_path / "_x.parquet", {"s": ["s0"], "v": [1]})
    with pytest.raises(InputError, match="begins with"):
        counted(engine, tmp_path / "_x.parquet")
    (folder / "sub").mkdir()
    with pytest.raises(InputError, match="no Parquet file"):
        counted(engine, folder)


@pytest.mark.parametrize("engine", PLAIN, ids=lambda e: e.name)
def test_views_and_generated_columns_are_refused(engine: Engine, tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE t AS SELECT 's0' AS s, 1 AS v; CREATE VIEW w AS SELECT s, CAST(random() * 2 AS INT) AS v FROM t")
        con.execute("CREATE TABLE g (s TEXT, x TEXT, v INT GENERATED ALWAYS AS (CAST(x AS INT)))")
        con.execute("INSERT INTO g (s, x) VALUES ('s0', '1')")
    for table, words in (("w", "a view"), ("g", "a generated column"), ("nothing", "not in the DuckDB file")):
        with pytest.raises(InputError, match=words):
            histograms(plan(Source("duckdb", str(path), table)), LISTED, key=b"k", engine=engine)
    assert histograms(plan(Source("duckdb", str(path), "main.t")), LISTED, key=b"k", engine=engine)[0, 1] == 1


def test_frames_that_compute_their_rows_are_refused() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"s": ["s0"], "v": [1]})
    assert histograms(plan(Source("frame")), LISTED, key=b"k", frame=frame)[0, 1] == 1
    for lazy in (frame.lazy(), iter([]), {"s": ["s0"]}):
        with pytest.raises(InputError, match="collect a lazy one"):
            histograms(plan(Source("frame")), LISTED, key=b"k", frame=lazy)
