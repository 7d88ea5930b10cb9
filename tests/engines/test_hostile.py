"""Hostile input: names and values that are SQL, files that are broken, rows that nobody would expect."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables_of_people import KEY, KEY_SET, Row, plan, random_rows, write_csv, write_parquet

from discreet.engines import DuckEngine, Engine, ReferenceEngine, SparkEngine, histograms
from discreet.errors import InputError, UnreadableRows
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan, Source, Unit
from discreet.model.recoding import Recoding, Values

ENGINES: list[Engine] = [DuckEngine(threads=1), ReferenceEngine()]
EVIL = [
    'a"; DROP TABLE keys; --', "'; SELECT 1; --", "a`b", "a b", "SELECT", "", "é\u202e", "x;y", "{0}", "%s", "?", "$1",
    "a.b", "\\'", "/*", "count(*)", "rowid", "a\vb", "*", "cell", "type", "c0", "k0", "u", "n", "g0", "keys", "CELL",
]  # fmt: skip
SECRET = "secret-4711"


def both(used: Plan, listed: KeySet) -> np.ndarray:
    """What both engines count, which must be the same."""
    found = [histograms(used, listed, key=KEY, engine=engine) for engine in ENGINES]
    assert (found[0] == found[1]).all()
    return found[0]


@pytest.mark.parametrize("evil", [name for name in EVIL if name])
def test_names_and_values_are_never_read_as_sql(evil: str, tmp_path: Path) -> None:
    import csv

    names = [evil, evil + "2", evil + "3"]
    path = tmp_path / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([[evil, evil, "u"], [evil, "other", "v"], ["else", evil, "w"], [evil, evil, "u"]])
    used = Plan(
        dataset="d", source=Source("csv", str(path)), keys=(names[0],), key_set="k",
        recoding=Recoding(names[1], Values(((evil,),)), 3, missing=2, outside=1, absent=2),
        unit=Unit("u", names[2], 1), mechanism="m", population="p",
    )  # fmt: skip
    assert both(used, KeySet((names[0],), ((evil,),), (5,))).tolist() == [[1, 1, 3]]


def test_formulas_nul_and_mixed_encodings_are_values_like_any_other(tmp_path: Path) -> None:
    lines = [
        b"region,block,children,household", b"north,1,=1+1,a", b"north,1,@SUM(A1),b", b"north,1,\x00,c",
        b"north,1,\xff\xfe,d", b"north,1,caf\xe9,e", b"n\xf6rth,1,1,f", b"north,1,1,g", b"north,1",
        b"north,1,2,h,extra,fields", b"", b'north,1,"2,i',
    ]  # fmt: skip
    path = tmp_path / "rows.csv"
    path.write_bytes(b"\r\n".join(lines))
    listed = KeySet(("region", "block"), (("north", "1"),), (20,))
    used = plan("bounds", source=Source("csv", str(path)))
    # Five unreadable values are outside, one record is too short (missing), 1, 2, and an open quote that is outside.
    assert both(replace(used, recoding=replace(used.recoding, absent=0)), listed).tolist() == [[11, 1, 1, 1, 6]]


@settings(max_examples=12)
@given(data=st.lists(
    st.tuples(
        st.sampled_from(["north", "süd", "x"]), st.sampled_from(["1", "2", "7", "9"]),
        st.one_of(st.text(max_size=8), st.sampled_from(["0", "1", "2", "1e1", "-3", "+2", "2.5"])), st.text(max_size=2),
    ), max_size=25,
))  # fmt: skip
def test_whatever_text_a_value_or_a_unit_is(data: list[tuple[str, str, str, str]]) -> None:
    """No text stops a count, and both engines read it alike; cells keep their sizes."""
    with tempfile.TemporaryDirectory() as folder:
        rows: list[Row] = [(r, b, v.replace("\0", ""), u.replace("\0", "")) for r, b, v, u in data]
        for rule in ("bounds", "values"):
            source = write_csv(Path(folder) / "rows.csv", rows)
            assert (both(plan(rule, "household", 1, source), KEY_SET).sum(axis=1) == KEY_SET.sizes).all()


@settings(max_examples=25)
@given(st.lists(st.binary(max_size=30), max_size=12))
def test_whatever_bytes_a_file_is(lines: list[bytes]) -> None:
    """Bytes after a good header are records of some kind; nothing raises, and both engines agree."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_bytes(b"region,block,children,household\nnorth,1,1,a\n" + b"\n".join(lines))
        both(plan("bounds", "household", 1, Source("csv", str(path))), KEY_SET)


def test_a_hundred_thousand_columns(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    names = [f"c{i}" for i in range(100_000)]
    names[99_998:] = ["region", "block"]
    names[50_000] = "children"
    row = ["7"] * 100_000
    row[99_998:] = ["north", "1"]
    row[50_000] = "1"
    path.write_text("\n".join([",".join(names), ",".join(row), ""]), encoding="utf-8")
    listed = KeySet(("region", "block"), (("north", "1"),), (2,))
    assert both(plan("bounds", source=Source("csv", str(path))), listed).tolist() == [[1, 1, 0, 0, 0]]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.97])
def test_a_parquet_file_cut_short_is_refused_without_a_word_of_data(share: float, tmp_path: Path) -> None:
    rows: list[Row] = [("north", "1", SECRET, SECRET)] * 3000
    source = write_parquet(tmp_path / "rows.parquet", rows)
    whole = Path(source.location).read_bytes()
    Path(source.location).write_bytes(whole[: int(len(whole) * share)])
    for engine in ENGINES:
        with pytest.raises(InputError, match="could not be read") as refused:
            histograms(plan(source=source), KEY_SET, key=KEY, engine=engine)
        assert SECRET not in str(refused.value)
        assert refused.value.__cause__ is None and refused.value.__suppress_context__


def test_a_broken_duckdb_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    path.write_bytes(b"DUCK" + SECRET.encode() * 1000)
    with pytest.raises(InputError, match="could not be read") as refused:
        histograms(plan(source=Source("duckdb", str(path), "t")), KEY_SET, key=KEY)
    assert SECRET not in str(refused.value)


def test_duplicate_units_are_one_unit_and_missing_units_are_one_too(tmp_path: Path) -> None:
    rows: list[Row] = [("süd", "7", "1", "same")] * 10 + [("süd", "7", "1", None)] * 5 + [("süd", "7", "1", "")] * 5
    used = plan("bounds", "household", 3, write_csv(tmp_path / "rows.csv", rows))
    assert both(used, KEY_SET)[5].tolist() == [24, 6, 0, 0, 0]


def test_one_unit_with_very_many_rows(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "many.parquet"
    duckdb.sql(
        f"""COPY (SELECT 'north' AS region, CAST(i % 9 AS INTEGER) AS block, CAST(i % 5 AS INTEGER) AS children,
        'one' AS household FROM range(1000000) AS t(i)) TO '{path}' (FORMAT parquet)"""
    )
    used = plan("bounds", "household", 2, Source("parquet", str(path)))
    found = histograms(used, KEY_SET, key=KEY, engine=DuckEngine("300MB", threads=1))
    assert found[:, 1:].sum() <= 2 and (found.sum(axis=1) == KEY_SET.sizes).all()


def test_an_empty_file_lacks_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"")
    for engine in ENGINES:
        with pytest.raises(InputError, match="lacks a column"):
            histograms(plan(source=Source("csv", str(path))), KEY_SET, key=KEY, engine=engine)


def test_a_column_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"region,block,children,children\nnorth,1,1,2\n")
    for engine in ENGINES:
        with pytest.raises(InputError, match="occurs twice"):
            histograms(plan(source=Source("csv", str(path))), KEY_SET, key=KEY, engine=engine)


@pytest.mark.parametrize("trouble", [b"\n\xff,1,1,z\n", b'\n"a"b,1,1,z\n', b"\nnorth,1\n", b"\nnorth,1,1,z,9,9\n"])
def test_one_odd_line_changes_nothing_about_the_others(trouble: bytes, tmp_path: Path) -> None:
    """The fast reader gives up on such a file; the careful one counts every other row as before."""
    rows = random_rows(seed=6, count=100)
    source = write_csv(tmp_path / "rows.csv", rows)
    used = plan("bounds", source=source)
    before = both(used, KEY_SET)
    data = Path(source.location).read_bytes()
    Path(source.location).write_bytes(data.rstrip(b"\r\n") + trouble)
    after = both(used, KEY_SET)
    assert np.abs(after - before).sum() <= 2


@pytest.mark.slow
@pytest.mark.needs_java
def test_spark_reads_hostile_names_and_odd_lines_like_the_others(tmp_path: Path, spark_session: Any) -> None:
    lines = [
        b"region,a`b.c \" '; DROP,children,household", b"north,1,=1+1,a", b"north,1,\xff\xfe,d", b"north,1,caf\xe9,e",
        b"north,1,1,g", b"north,1", b"north,1,2,h,extra,fields", b'north,1,"a ""b"", c",i', b'north,1,"x\ny",j', b"",
    ]  # fmt: skip
    path = tmp_path / "rows.csv"
    path.write_bytes(b"\n".join(lines))
    name = "a`b.c \" '; DROP"
    used = replace(plan("bounds", "household", 1, Source("csv", str(path))), keys=("region", name))
    listed = replace(KEY_SET, columns=used.keys)
    found = histograms(used, listed, key=KEY, engine=SparkEngine(spark_session))
    assert (found == both(used, listed)).all()
    import duckdb

    target = tmp_path / "rows.parquet"
    duckdb.sql(f"COPY (SELECT 'north' AS region, '1' AS \"{name.replace(chr(34), chr(34) * 2)}\", '2' AS children, 'u' AS "
               f"household FROM range(5)) TO '{target}' (FORMAT parquet)")  # fmt: skip
    used = replace(used, source=Source("parquet", str(target)))
    assert (histograms(used, listed, key=KEY, engine=SparkEngine(spark_session)) == both(used, listed)).all()
    target.write_bytes(target.read_bytes()[:60])
    with pytest.raises(InputError, match="could not be read"):
        histograms(used, listed, key=KEY, engine=SparkEngine(spark_session))


@pytest.mark.slow
@pytest.mark.needs_java
def test_a_session_of_our_own_encrypts_its_files_and_runs_the_python_that_has_discreet(spark_session: Any) -> None:
    """Near-miss: without a choice Spark runs the first `python3` on the path, which ends at once here."""
    context = spark_session.sparkContext
    decoy = context._jvm.System.getenv("PATH").split(os.pathsep)[0]
    assert subprocess.run([f"{decoy}/python3"], check=False).returncode == 1
    assert context.pythonExec == sys.executable
    assert context.range(1).map(lambda _: sys.prefix).collect() == [sys.prefix]
    assert context.getConf().get("spark.io.encryption.enabled") == "true"


@pytest.mark.slow
@pytest.mark.needs_java
def test_workers_that_lack_discreet_are_refused_before_any_row_is_read(
    tmp_path: Path, spark_session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Near-miss: it failed while rows were read, which costs the budget."""
    venv.create(tmp_path / "bare", symlinks=True, with_pip=False)
    monkeypatch.setattr(spark_session.sparkContext, "pythonExec", str(tmp_path / "bare" / "bin" / "python"))
    used = plan("bounds", "household", 1, write_csv(tmp_path / "rows.csv", random_rows(seed=1, count=5)))
    with pytest.raises(InputError, match="workers cannot run") as refused:
        histograms(used, KEY_SET, key=KEY, engine=SparkEngine(spark_session))
    assert not isinstance(refused.value, UnreadableRows)
