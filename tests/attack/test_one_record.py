"""One record changes all others: an attacker who writes one line of a CSV file, or one row of a table, in any bytes.

Whoever can make the count of other people's rows move by what their own record says has voided ε. The claim under test:
replacing one record, by whatever bytes without a line break, is one row replaced.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.engines import DuckEngine, Engine, ReferenceEngine, SparkEngine, histograms
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan, Source, Unit
from discreet.model.recoding import Bounds, Recoding

MANY = 1000
LISTED = KeySet(("s",), (("s0",),), (MANY,))
STRANGE = [
    b's0, "', b"s0,\xff", b's0,"', b'"s0', b'"', b"\xff", b"\0", b"s0,\0", b's0,"1" ', b's0," 1', b's0,1"', b's0,""1', b"",
    b"\r", b"s0,1\r\r", b's0,"a\rb"', b"s0,1,2,3,4,5,6", b"s0", b",", b"\xef\xbb\xbfs0,1", b"s,v", b"\xe2\x82", b"\xed\xa0\x80",
    b's0,"' + b'""' * 5000, b"s0," + b"9" * 70_000, b's0,"' + b"x" * 2_100_000 + b'"', b"x" * 2_100_000, b"s0,=1+1", b"#s0,1",
    b"s0;1", b"s0\t1", b"'s0',1", b"s0,\\", b'"s0\\",1', b's0,"1\x1a', b"\x1a", b"\xff\xfes\x000\x00",
]  # fmt: skip


def plan(source: Source, unit: str | None = None) -> Plan:
    """Values 0..2; missing, outside and absent are told apart."""
    return Plan(
        dataset="d", source=source, keys=("s",), key_set="k", population="p", mechanism="m", protects="presence",
        recoding=Recoding("v", Bounds(0, 2), 6, missing=3, outside=4, absent=5), unit=Unit("row", unit),
    )  # fmt: skip


def counted(engine: Engine, path: Path, lines: list[bytes], end: bytes = b"\n") -> np.ndarray:
    """The histogram of the one cell."""
    path.write_bytes(b"s,v\n" + end.join(lines))
    return histograms(plan(Source("csv", str(path))), LISTED, key=b"k", engine=engine)[0]


@pytest.mark.parametrize("usual", [b"s0,1", b's0, "1"', b'"s0","1"', b's0,"1""1"'])
def test_the_first_record_says_nothing_about_the_others(engine: Engine, usual: bytes, tmp_path: Path) -> None:
    before = counted(engine, tmp_path / "t.csv", [usual] * MANY)
    assert before.max() == MANY
    for strange in STRANGE if engine.name != "spark" else STRANGE[:2]:
        after = counted(engine, tmp_path / "t.csv", [strange] + [usual] * (MANY - 1))
        assert after.max() >= MANY - 1 and np.abs(after - before).sum() <= 2, strange[:20]
        assert (before - after).max() <= 1, strange[:20]


def test_nor_does_the_last_one(engine: Engine, tmp_path: Path) -> None:
    for end in (b"\n", b"\r\n"):
        before = counted(engine, tmp_path / "t.csv", [b"s0,1"] * MANY, end)
        for strange in (b's0,"', b's0,1"', b"s0,1\r", b'"s0","1', b"\xff")[: 2 if engine.name == "spark" else None]:
            after = counted(engine, tmp_path / "t.csv", [b"s0,1"] * (MANY - 1) + [strange], end)
            assert np.abs(after - before).sum() <= 2, strange


def test_every_engine_reads_strange_records_alike(tmp_path: Path) -> None:
    """Each strange record alone, so that what it became is seen."""
    engines = [ReferenceEngine(), DuckEngine(threads=1)]
    for strange in STRANGE:
        found = [counted(engine, tmp_path / "t.csv", [b"s0,2", strange]) for engine in engines]
        assert (found[0] == found[1]).all(), strange[:20]


@pytest.mark.slow
@pytest.mark.needs_java
def test_spark_reads_strange_records_alike(tmp_path: Path, spark_session: Any) -> None:
    pytest.importorskip("pyspark", reason="discreet[spark] is not installed")
    dice = random.Random(14)
    letters = [b",", b'"', b'""', b"\r", b"s0", b"1", b"\0", b"\xff", b"\xc3\xa9", b"s0,", b'"s0",', b" ", b'",', b',"']
    lines = STRANGE + [b"".join(dice.choices(letters, k=dice.randrange(9))) for _ in range(MANY * 5)]
    found = [counted(engine, tmp_path / "t.csv", lines) for engine in (ReferenceEngine(), SparkEngine(spark_session))]
    assert found[0][:5].sum() > 100 and (found[0] == found[1]).all()


psycopg = pytest.importorskip("psycopg", reason="discreet[postgres] is not installed")
TEXTS = ["a\rb", "\r", "\n", '"', "\\", "\\N", "\\.", "a\tb", "\x1a", ",", "é", "1\n", "x" * 2_100_000, "9" * 70_000, "", None]


@pytest.mark.needs_postgres
@pytest.mark.parametrize("engine", [ReferenceEngine(), DuckEngine(threads=1)], ids=lambda e: e.name)
def test_one_row_of_a_table_says_nothing_about_the_others(
    engine: Engine, postgres_cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = f"host={postgres_cluster} user=tester dbname=postgres"
    monkeypatch.setenv("ROWS_DB", database)
    with psycopg.connect(database, autocommit=True) as link:
        for text in TEXTS:
            link.execute("DROP TABLE IF EXISTS one_row")
            link.execute("CREATE TABLE one_row (s text, v text, other text)")
            link.execute("INSERT INTO one_row VALUES ('s0', %s, %s), (%s, '1', '')", [text, text, text])
            link.execute("INSERT INTO one_row SELECT 's0', '1', '' FROM generate_series(1, 998)")
            found = histograms(plan(Source("postgres", "ROWS_DB", "one_row")), LISTED, key=b"k", engine=engine)[0]
            assert found.tolist() == [0, 998, 0, 1, 0, 1] if not text else [0, 998, 0, 0, 1, 1], str(text)[:20]
