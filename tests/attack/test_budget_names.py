"""One population has one budget, however its name is typed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.ledger import open_ledger


@pytest.mark.parametrize(
    ("population", "unit"),
    [
        ("household\u0065\u0301 2026", "household"),
        ("Householdé 2026", "household"),
        (" householdé  2026 ", "household"),
        ("householdé\u00a02026", "Household"),
        ("ｈouseholdé 2026", "household"),
    ],
)
def test_a_second_way_of_writing_a_name_gets_no_second_budget(tmp_path: Path, population: str, unit: str) -> None:
    with open_ledger(str(tmp_path / "ledger.db"), create=True) as book:
        book.init("pure")
        book.declare("householdé 2026", "household", Fraction(2))
        with pytest.raises(InputError):
            book.declare(population, unit, Fraction(2))
        book.declare("householdé 2027", "household", Fraction(1))
        assert book.verify() is None
