"""The gap: one definition, the same for exact numbers and floats, and held by nobody else."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

import discreet
from discreet.model.gap import reached, relative_gap


def test_a_gap_is_relative_to_what_is_attained() -> None:
    assert relative_gap(2.0, 1.5) == 0.25 == relative_gap(Fraction(2), Fraction(3, 2))
    assert relative_gap(-2.0, -2.5) == 0.2, "a payoff of 2 where 2.5 may be possible"
    assert relative_gap(0.0, 0.0) == 0.0 == relative_gap(Fraction(0), Fraction(0))
    assert relative_gap(0.0, -3.0) == 1.0 and relative_gap(1.0, -1.0) == 2.0


@pytest.mark.parametrize("unit", [1e-300, 1e-30, 1e-12, 1e15, 1e300])
def test_a_gap_has_no_units(unit: float) -> None:
    """The adversary: losses of 1e-18 that any absolute threshold calls equal."""
    assert relative_gap(2.0 * unit, 1.5 * unit) == pytest.approx(0.25)
    assert not reached(2.0 * unit, 1.5 * unit, 0.2) and reached(2.0 * unit, 1.5 * unit, 0.26)


def test_reached_agrees_with_the_gap() -> None:
    assert reached(2.0, 1.5, 0.25) and not reached(2.0, 1.5, 0.2499)


def test_nobody_else_divides_by_what_is_attained() -> None:
    formula = re.compile(r"max\(\s*(1e-12|Fraction\(1, 10\*\*12\)),\s*abs\(|max\(abs\([^)]*\),\s*(1e-12|Fraction\(1, 10\*\*12\))")
    source = Path(discreet.__file__).parent
    found = [path.name for path in source.rglob("*.py") if formula.search(path.read_text(encoding="utf-8"))]
    assert found == []
