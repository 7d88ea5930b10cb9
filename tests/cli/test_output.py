"""JSON that loses no digit, and text without colours where there is no terminal."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.output import show
from discreet.views.plain import json_text, plain


@dataclass(frozen=True)
class Pair:
    """Something with fields."""

    left: Fraction
    right: int


def test_exact_numbers_stay_exact() -> None:
    result = {"epsilon": Fraction(1, 3), "weight": 2**64, "small": 7, "pair": Pair(Fraction(1, 2), 3)}
    assert json.loads(json_text(result)) == {
        "epsilon": "1/3",
        "weight": "18446744073709551616",
        "small": 7,
        "pair": {"left": "1/2", "right": 3},
    }


@given(st.fractions() | st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_comes_back(number: Fraction | int | float) -> None:
    back = json.loads(json_text({"x": number}))["x"]
    assert (Fraction(back) if isinstance(back, str) else back) == number


def test_infinity_has_a_word_and_nan_is_a_defect() -> None:
    assert plain(float("inf")) == "infinity" and plain(float("-inf")) == "-infinity"
    with pytest.raises(TypeError):
        plain(float("nan"))
    with pytest.raises(TypeError):
        plain(object())


def test_paths_sets_and_tuples_have_a_form() -> None:
    assert plain({"a": (1, 2), "b": {"y", "x"}, "c": Path("x") / "y"}) == {
        "a": [1, 2],
        "b": ["x", "y"],
        "c": "x/y",
    }


def test_show_prints_one_object_or_lets_a_person_look(capsys: pytest.CaptureFixture[str]) -> None:
    show({"a": 1}, as_json=True, person=lambda console: console.print("never"))
    assert json.loads(capsys.readouterr().out) == {"a": 1}
    show({"a": 1}, as_json=False, person=lambda console: console.print("[bold]seen[/bold]"))
    assert capsys.readouterr().out == "seen\n"
