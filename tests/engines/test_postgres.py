"""PostgreSQL as a source, on a private cluster that lives as long as this module's tests."""

from __future__ import annotations

import numpy as np
import pytest
from tables_of_people import COLUMNS, KEY, KEY_SET, plan, random_rows

from discreet.engines import DuckEngine, Engine, ReferenceEngine, histograms
from discreet.engines.cells import fitted
from discreet.engines.reference import count_rows
from discreet.errors import InputError
from discreet.model.plan import Plan, Source

psycopg = pytest.importorskip("psycopg", reason="discreet[postgres] is not installed")
pytestmark = pytest.mark.needs_postgres

ENGINES: list[Engine] = [DuckEngine(threads=1), ReferenceEngine()]


@pytest.fixture(scope="module")
def database(postgres_cluster: str) -> str:
    """A connection string for the private cluster, reached through a socket only."""
    return f"host={postgres_cluster} user=tester dbname=postgres"


@pytest.fixture
def source(database: str, monkeypatch: pytest.MonkeyPatch) -> Source:
    """A table under an unpleasant name, holding the usual trouble."""
    monkeypatch.setenv("PEOPLE_DB", database)
    with psycopg.connect(database) as link:
        link.execute('DROP TABLE IF EXISTS "odd ""; name"')
        link.execute(f'CREATE TABLE "odd ""; name" ({", ".join(f"{name} text" for name in COLUMNS)})')
        with link.cursor() as cursor:
            cursor.executemany('INSERT INTO "odd ""; name" VALUES (%s, %s, %s, %s)', random_rows(seed=5, count=250))
    return Source("postgres", "PEOPLE_DB", 'odd "; name')


def truth(used: Plan, rows: list[tuple[object, ...]]) -> np.ndarray:
    """By the reference, from Python tuples."""
    return fitted(used, KEY_SET, count_rows(used, KEY_SET, rows, KEY), KEY)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize("rule", ["bounds", "bins", "values"])
def test_a_table_of_texts(engine: Engine, rule: str, source: Source) -> None:
    used = plan(rule, "household", 2, source)
    found = histograms(used, KEY_SET, key=KEY, engine=engine)
    assert (found == truth(used, random_rows(seed=5, count=250))).all()  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_a_table_of_numbers(engine: Engine, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEOPLE_DB", database)
    values = [0, 1, 2, None, float("nan"), float("inf"), -5, 0.5, 1.999, 7.5]
    rows = [("north", [1, 2, 7, None][i % 4], values[i % 10], i % 13) for i in range(120)]
    with psycopg.connect(database) as link:
        link.execute("CREATE SCHEMA IF NOT EXISTS s")
        link.execute("DROP TABLE IF EXISTS s.people")
        link.execute("CREATE TABLE s.people (region text, block int, children float8, household bigint)")
        with link.cursor() as cursor:
            cursor.executemany("INSERT INTO s.people VALUES (%s, %s, %s, %s)", rows)
    for rule in ("bounds", "bins", "values"):
        used = plan(rule, "household", 4, Source("postgres", "PEOPLE_DB", "s.people"))
        assert (histograms(used, KEY_SET, key=KEY, engine=engine) == truth(used, rows)).all()


def test_what_is_computed_when_read_is_refused(source: Source, database: str) -> None:
    """Views, foreign tables, virtual columns; near-miss: what a materialized view holds is read."""
    with psycopg.connect(database) as link:
        body = "CREATE TABLE planted (x int); SELECT ''1''"
        link.execute(f"CREATE OR REPLACE FUNCTION f() RETURNS text LANGUAGE sql AS '{body}'")
        chosen = "SELECT 'north' AS region, '1' AS block, '2' AS children, 'u' AS household"
        link.execute(f"CREATE OR REPLACE VIEW sly AS {chosen.replace(chr(39) + '2' + chr(39), 'f()')}")
        link.execute(f"DROP MATERIALIZED VIEW IF EXISTS held; CREATE MATERIALIZED VIEW held AS {chosen}")
    with pytest.raises(InputError, match=r"computed when it is read.*a view"):
        histograms(plan(source=Source("postgres", "PEOPLE_DB", "sly")), KEY_SET, key=KEY)
    assert histograms(plan(source=Source("postgres", "PEOPLE_DB", "held")), KEY_SET, key=KEY)[0, 2] == 1


def test_a_user_who_sees_only_some_rows_is_refused(source: Source, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row-level security leaves rows out in silence."""
    with psycopg.connect(database) as link:
        link.execute("DROP TABLE IF EXISTS secured; DROP ROLE IF EXISTS narrow; CREATE ROLE narrow LOGIN")
        link.execute(f"CREATE TABLE secured ({', '.join(f'{name} text' for name in COLUMNS)})")
        link.execute("ALTER TABLE secured ENABLE ROW LEVEL SECURITY; GRANT SELECT ON secured TO narrow")
        link.execute("CREATE POLICY north ON secured FOR SELECT USING (region = 'north')")
    used = plan(source=Source("postgres", "PEOPLE_DB", "secured"))
    assert histograms(used, KEY_SET, key=KEY).sum() == sum(KEY_SET.sizes)
    monkeypatch.setenv("PEOPLE_DB", database.replace("user=tester", "user=narrow"))
    with pytest.raises(InputError, match="row-level security"):
        histograms(used, KEY_SET, key=KEY)


def test_what_is_wrong_is_said_without_the_connection(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"(?i)did you mean 'children'"):
        used = plan(source=source)
        from dataclasses import replace

        histograms(replace(used, recoding=replace(used.recoding, column="childern")), KEY_SET, key=KEY)
    with pytest.raises(InputError, match="error 42P01"):
        histograms(plan(source=Source("postgres", "PEOPLE_DB", "nothing")), KEY_SET, key=KEY)
    monkeypatch.setenv("PEOPLE_DB", "host=nowhere.invalid password=secret-4711")
    with pytest.raises(InputError, match="could not be read") as refused:
        histograms(plan(source=source), KEY_SET, key=KEY)
    assert "4711" not in str(refused.value)
    monkeypatch.delenv("PEOPLE_DB")
    with pytest.raises(InputError, match="no environment variable PEOPLE_DB"):
        histograms(plan(source=source), KEY_SET, key=KEY)
