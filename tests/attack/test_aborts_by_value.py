"""No abort depends on a value: an attacker whose own value would stop the count, and so show that it is there.

Every case failed before on some engine. Where a source breaks its own format, so that no engine can go on, the budget
is spent: to be given it back would make an oracle that costs nothing.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.engines import DuckEngine, Engine, ReferenceEngine, histograms
from discreet.errors import UnreadableRows
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan, Source, Unit
from discreet.model.recoding import Bounds, Recoding, Values

pyarrow = pytest.importorskip("pyarrow", reason="discreet[frames] is not installed")
pytest.importorskip("pyarrow.parquet")

LISTED = KeySet(("s",), (("s0",), ("7",)), (10, 10))
PLAIN: list[Engine] = [ReferenceEngine(), DuckEngine(threads=1)]


def plan(source: Source, rule: Any = None, unit: str | None = None) -> Plan:
    """Type 0..2 by the rule, 3 missing, 4 outside, 5 absent."""
    return Plan(
        dataset="d", source=source, keys=("s",), key_set="k", population="p", mechanism="m", protects="presence",
        recoding=Recoding("v", rule or Bounds(0, 2), 6, missing=3, outside=4, absent=5), unit=Unit("row", unit),
    )  # fmt: skip


def types(engine: Engine, used: Plan, frame: object = None) -> list[int]:
    """How many respondents of each type the first cell has, absent ones left out."""
    return [int(n) for n in histograms(used, LISTED, key=b"k", frame=frame, engine=engine)[0][:5]]


def parquet(path: Path, values: Any, keys: Any = None, **columns: Any) -> Source:
    """A file of the given values in the cell s0."""
    keys = pyarrow.array(["s0"] * len(values)) if keys is None else keys
    pyarrow.parquet.write_table(pyarrow.table({"s": keys, "v": values, **columns}), path)
    return Source("parquet", str(path))


def test_texts_of_two_million_characters(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("s,v\n" + "s0,1\n" * 3 + "s0," + "9" * 2_000_000 + "\n" + "x" * 2_000_000 + ",1\n")
    assert types(engine, plan(Source("csv", str(path)))) == [0, 3, 0, 0, 1]


def test_files_of_a_folder_that_declare_different_types(engine: Engine, tmp_path: Path) -> None:
    """Each is read as it declares; keys and units are compared as texts across files."""
    folder = tmp_path / "f"
    folder.mkdir()
    households = {"u": pyarrow.array([7, 8], pyarrow.int64())}
    parquet(folder / "a.parquet", pyarrow.array([1, 0], pyarrow.int8()), **households)
    parquet(folder / "b.parquet", pyarrow.array([300, 1], pyarrow.int64()), u=pyarrow.array(["7", "9"]))
    parquet(folder / "c.parquet", pyarrow.array(["1", "?"]), u=pyarrow.array([7, None], pyarrow.int32()))
    parquet(folder / "d.parquet", pyarrow.array([0.5, None]), u=pyarrow.array(["", "x"]))
    source = Source("parquet", str(folder))
    assert types(engine, plan(source)) == [2, 3, 1, 1, 1]
    held = types(engine, plan(source, unit="u"))
    assert sum(held) == 5, "five units: 7, 8, 9, x and the one that is missing"
    assert held == types(ReferenceEngine(), plan(source, unit="u"))


@pytest.mark.parametrize("engine", PLAIN, ids=lambda e: e.name)
def test_huge_integers(engine: Engine, tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE t (s TEXT, v UHUGEINT, k UHUGEINT)")
        for v, k in ((2**128 - 1, 2**128 - 1), (2**127, 7), (1, 1), ("NULL", "NULL")):
            con.execute(f"INSERT INTO t VALUES ('s0', {v}, {k})")
    used = plan(Source("duckdb", str(path), "t"))
    assert types(engine, replace(used, recoding=replace(used.recoding, rule=Bounds(-1, 1)))) == [0, 0, 3, 1, 0]
    listing = Values((("1",), (str(2**126),), (str(2**128 - 1),)))
    assert types(engine, replace(used, recoding=replace(used.recoding, rule=listing))) == [1, 0, 1, 1, 1]
    keyed = replace(used, keys=("k",), recoding=replace(used.recoding, column="v", rule=Bounds(0, 2)))
    listed = KeySet(("k",), ((str(2**128 - 1),), ("7",)), (3, 3))
    assert histograms(keyed, listed, key=b"k", engine=engine).tolist() == [[0, 0, 1, 0, 0, 2], [0, 0, 1, 0, 0, 2]]


def test_differences_of_small_integers(engine: Engine, tmp_path: Path) -> None:
    """Found while looking for more: 100 − (−100) does not fit into the eight bits of its column."""
    used = plan(parquet(tmp_path / "t.parquet", pyarrow.array([100, -100, 127, -128, 5, None], pyarrow.int8())))
    used = replace(used, recoding=Recoding("v", Bounds(-100, 110), 220, missing=218, outside=219, absent=217))
    found = histograms(used, LISTED, key=b"k", engine=engine)[0]
    assert {int(i): int(n) for i, n in enumerate(found) if n} == {0: 2, 105: 1, 200: 1, 210: 1, 218: 1, 217: 4}


def test_days_that_no_calendar_has(engine: Engine, tmp_path: Path) -> None:
    days = pyarrow.array([0, 2_932_896, 2_932_897, 2**31 - 1, -(2**31) + 1, -(2**31), 106_751_992, -719_163, None], pyarrow.int32())
    source = parquet(tmp_path / "t.parquet", days.cast(pyarrow.date32()))
    used = plan(source, Values((("1970-01-01",), ("9999-12-31",), ("0001-01-01", "10000-01-01", "infinity"))))
    assert types(engine, used) == [1, 1, 0, 1, 6]
    units = parquet(tmp_path / "u.parquet", pyarrow.array([1] * 9), u=days.cast(pyarrow.date32()))
    assert types(engine, plan(units, unit="u")) == [0, 4, 0, 0, 0]


@pytest.mark.parametrize("engine", PLAIN, ids=lambda e: e.name)
def test_objects_and_texts_of_frames_that_cannot_be_written(engine: Engine) -> None:
    pandas = pytest.importorskip("pandas")

    class Silent:
        def __str__(self) -> str:
            raise ValueError("no words")

    values = ["1", "\ud800", "a\ud800b", Silent(), 1, 2.0, True, None, float("nan"), b"1", pandas.NaT]
    keys = pandas.Series(["s0"] * 10 + ["\udfff"], dtype=object)
    frame = pandas.DataFrame({"s": keys, "v": pandas.Series(values, dtype=object)})
    assert types(engine, plan(Source("frame")), frame) == [0, 2, 1, 2, 5]
    raw = pyarrow.array([b"1", b"\xff", None], pyarrow.binary())
    texts = pyarrow.Array.from_buffers(pyarrow.string(), 3, raw.buffers())
    assert types(engine, plan(Source("frame")), pyarrow.table({"s": ["s0"] * 3, "v": texts})) == [0, 1, 0, 1, 1]


@pytest.mark.parametrize("engine", PLAIN, ids=lambda e: e.name)
def test_what_breaks_its_own_format_is_spent_on_every_engine(engine: Engine, tmp_path: Path) -> None:
    """A text column with bytes that are no text stops DuckDB's reader of Parquet; nobody gets the budget back for it."""
    raw = pyarrow.array([b"1", b"\xff\xfe"] * 5, pyarrow.binary())
    texts = pyarrow.Array.from_buffers(pyarrow.string(), 10, raw.buffers())
    with pytest.raises(UnreadableRows):
        types(engine, plan(parquet(tmp_path / "t.parquet", texts)))


@pytest.mark.needs_postgres
@pytest.mark.parametrize("engine", PLAIN, ids=lambda e: e.name)
def test_values_of_a_postgresql_table(engine: Engine, postgres_cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    psycopg = pytest.importorskip("psycopg", reason="discreet[postgres] is not installed")
    database = f"host={postgres_cluster} user=tester dbname=postgres"
    with psycopg.connect(database, autocommit=True) as link:
        for name, encoding in (("bytes", "SQL_ASCII"), ("west", "WIN1252")):
            link.execute(f"DROP DATABASE IF EXISTS {name}")
            link.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        link.execute("DROP TABLE IF EXISTS odd")
        link.execute("CREATE TABLE odd (s text, day date, big numeric, many float8)")
        for row in (
            "'294277-01-01', 10^100000::numeric, 'NaN'", "'infinity', 'NaN', '-Infinity'",
            "'0044-03-15 BC', -(10^400::numeric), 1e308", "'9999-12-31', '1.5', 1",
        ):  # fmt: skip
            link.execute(f"INSERT INTO odd VALUES ('s0', {row})")
    monkeypatch.setenv("ROWS_DB", database)
    used = plan(Source("postgres", "ROWS_DB", "odd"))
    days = replace(used.recoding, column="day", rule=Values((("9999-12-31",), ("infinity", "294277-01-01"), ("0044-03-15 BC",))))
    assert types(engine, replace(used, recoding=days)) == [1, 0, 0, 0, 3]
    assert types(engine, replace(used, recoding=replace(used.recoding, column="big"))) == [1, 1, 1, 1, 0]
    assert types(engine, replace(used, recoding=replace(used.recoding, column="many"))) == [1, 1, 1, 1, 0]
    for name, codes, outside in (("bytes", (255, 193), 2), ("west", (129, 228), 2)):
        other = database.replace("dbname=postgres", f"dbname={name}")
        monkeypatch.setenv("ROWS_DB", other)
        with psycopg.connect(f"{other} client_encoding=SQL_ASCII", autocommit=True) as link:
            link.execute("CREATE TABLE odd (s text, v text)")
            link.execute(f"INSERT INTO odd VALUES ('s0', '1'), ('s0', chr({codes[0]})), ('s0', chr({codes[1]}) || '1')")
        assert types(engine, replace(used, recoding=used.recoding)) == [0, 1, 0, 0, outside]
