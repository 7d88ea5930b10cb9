"""Readers against an automaton, and one record against all others, on random malformed files.

A few hundred here; `python tools/fuzz_readers.py --spark --postgres 10000` does a hundred thousand.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from scripts import tool

ROOT = Path(__file__).resolve().parents[2]
fuzz = tool("fuzz_readers")
FILES = 400
SAID: list[str] = []


def test_every_reader_reads_malformed_files_alike_and_one_record_moves_one_respondent() -> None:
    fuzz.files(FILES, seed=20260101, say=SAID.append)
    assert "agree" in SAID[-2]


def test_a_reader_whose_quotes_span_lines_is_caught() -> None:
    """Near-miss: Python's own reader of CSV, which one open quote leads through all records after it."""
    import csv
    import io

    def quoting(data: bytes) -> list[tuple[str, ...]]:
        text = io.StringIO(data.decode("utf-8", "replace").replace("\0", "?"), newline="")
        return [tuple([*record, "", "", ""][:3]) for record in list(csv.reader(text))[1:]]

    usual = b"s,v,u\n" + b"s0,1,u\n" * 6
    with pytest.raises(SystemExit, match="moved the histograms by"):
        fuzz.must_be_near(quoting(usual), quoting(usual.replace(b"s0,1,u", b's0,"', 1)), "an open quote")


@pytest.mark.slow
@pytest.mark.needs_java
def test_spark_reads_malformed_records_as_the_automaton_does(spark_session: Any) -> None:
    pytest.importorskip("pyspark", reason="discreet[spark] is not installed")
    dice = random.Random(5)
    fuzz.spark([fuzz.some_record(dice) for _ in range(4000)], spark_session, say=SAID.append)


@pytest.mark.needs_postgres
def test_postgresql_gives_every_row_as_it_was_put_in(postgres_cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    psycopg = pytest.importorskip("psycopg", reason="discreet[postgres] is not installed")
    database = f"host={postgres_cluster} user=tester dbname=postgres"
    monkeypatch.setenv("ROWS_DB", database)
    with psycopg.connect(database, autocommit=True) as link:
        fuzz.postgres(60, 3, link)
