"""Both stores under one roof: every test of a ledger runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.ledger import Ledger, open_ledger


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs_postgres)],
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a fresh ledger goes."""
    if request.param == "sqlite":
        yield str(tmp_path / "ledger.db")
        return
    import psycopg

    folder = request.getfixturevalue("postgres_cluster")
    name = f"ledger_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(f"host={folder} user=tester dbname=postgres", autocommit=True) as link:
        link.execute(f"CREATE DATABASE {name}")
    yield f"postgresql:///{name}?host={folder}&user=tester"


@pytest.fixture
def ledger(place: str) -> Iterator[Ledger]:
    """A ledger of pure ε with a budget of 2 for the households."""
    with open_ledger(place, create=True) as book:
        book.init("pure")
        book.declare("households", "household", Fraction(2))
        yield book
