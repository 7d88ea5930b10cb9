"""Errors: four parts in plain words, exit codes, safe text, and pickling."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

from discreet.cli.failures import explain
from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    InputError,
    MissingExtra,
    Refuted,
    TooLarge,
    stopped,
    suggest,
)

EXAMPLES = [
    InputError("The probabilities do not sum to one", found="0.99", allowed="a sum of one", remedy="Add 0.01"),
    TooLarge("the number of databases", size=10**9, fits=10**6, remedy="Use histograms"),
    MissingExtra("spark", needed_for="reading with Spark"),
    Refuted("the mechanism is not private", {"edge": ("3", "4"), "output": "2"}),
    BudgetExceeded(Fraction(3, 2), Fraction(1, 2)),
]


@pytest.mark.parametrize(("error", "code"), [*zip(EXAMPLES, [2, 2, 2, 1, 1], strict=True)])
def test_exit_codes(error: DiscreetError, code: int) -> None:
    assert error.exit_code == code


@pytest.mark.parametrize("error", EXAMPLES)
def test_errors_survive_pickling(error: DiscreetError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_input_error_has_four_parts() -> None:
    assert str(EXAMPLES[0]) == ("The probabilities do not sum to one. Found: 0.99. Allowed: a sum of one. Add 0.01.")


def test_allowed_words_are_listed() -> None:
    assert "Allowed: iid, table." in str(InputError("Unknown kind", found="idd", allowed=["iid", "table"]))
    assert "Allowed: a, b." in str(InputError("Unknown kind", allowed={"b", "a"}))


def test_both_amounts_of_a_budget_are_carried() -> None:
    error = BudgetExceeded(Fraction(3, 2), Fraction(1, 2))
    assert (error.requested, error.remaining) == (Fraction(3, 2), Fraction(1, 2))
    assert "3/2" in str(error) and "1/2" in str(error)


def test_the_missing_extra_comes_with_its_command() -> None:
    assert 'pip install "discreet[spark]"' in str(MissingExtra("spark", needed_for="Spark"))


def test_a_refutation_shows_its_counterexample() -> None:
    assert "Counterexample: {'edge': ('3', '4'), 'output': '2'}" in str(EXAMPLES[3])


def test_a_long_or_unprintable_value_is_cut_and_cleaned() -> None:
    text = str(InputError("The name is too long", found="x" * 10_000 + "\x1b[31m"))
    assert len(text) < 400 and "10005 characters" in text
    assert "\x1b" not in str(InputError("The name is odd", found="\x1b[31mred\x00"))


def test_an_integer_too_long_to_print_does_not_break_its_own_message() -> None:
    assert "too long to show" in str(InputError("The denominator is too large", found=10**5000))


def test_a_structure_nested_too_deep_does_not_break_its_own_message() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert "too long to show" in str(InputError("The expression is nested too deep", found=deep))
    while deep:
        deep = deep.pop()  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("epsilonn", "epsilon"),
        ("Squared_Error", "squared-error"),
        ("sqared-error", "squared-error"),
        ("zzz", None),
        ("", None),
        ("x" * 100_000, None),
    ],
)
def test_suggest(word: str, near: str | None) -> None:
    assert suggest(word, ["epsilon", "squared-error", "match"]) == near


@pytest.mark.parametrize("reason", ["It does not fit", "Too large: this. Would fit: that.", "Is it?"])
def test_what_a_reason_ends_with_is_not_said_twice(reason: str) -> None:
    """The adversary: a reason that is a sentence already."""
    error = InputError(f"Not computed: {reason}")
    assert stopped(stopped(reason)) == stopped(reason) and not str(error).endswith(("..", "?."))
    assert explain(MemoryError(reason))[0].count("..") == 0
