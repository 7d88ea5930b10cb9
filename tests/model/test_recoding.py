"""What is missing, what is outside, and what a listed text is."""

from __future__ import annotations

import pytest

from discreet.model.recoding import Bounds, Recoding, Values

MISSING, OUTSIDE = 3, 4


@pytest.mark.parametrize("text", ["", " ", "\t ", "NA", " NA", "NA\t"])
def test_blanks_and_na_are_missing(text: str) -> None:
    for rule in (Bounds(0, 2), Values((("no",), ("yes",)))):
        assert Recoding("x", rule, 5, MISSING, OUTSIDE).type_of(text) == MISSING


@pytest.mark.parametrize("text", ["na", "N A", "NA\n", "NAN", "NANA", "\u00a0", "n/a", "-"])
def test_near_misses_are_outside(text: str) -> None:
    assert Recoding("x", Bounds(0, 2), 5, MISSING, OUTSIDE).type_of(text) == OUTSIDE


def test_a_listed_text_is_what_the_list_says() -> None:
    """NA is also Namibia."""
    countries = Recoding("country", Values((("NA",), ("ZA",))), 5, MISSING, OUTSIDE)
    assert [countries.type_of(text) for text in ("NA", "ZA", " NA", "", "BW")] == [0, 1, MISSING, MISSING, OUTSIDE]
