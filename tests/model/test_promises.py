"""Promises: what they say, how they grow, which keeps which, and how files state them."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_texts import small_count

from discreet.errors import InputError
from discreet.files.mechanism import mechanism_document, mechanism_from_document
from discreet.files.problem import problem_from_text
from discreet.files.problem_document import problem_document
from discreet.model.kernel import Output, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.promises import (
    PROMISES,
    ApproximatePromise,
    ConcentratedPromise,
    Promise,
    PurePromise,
    promise_of,
    pure_epsilon,
)
from discreet.model.summary import LinearSummary

HALF = Fraction(1, 2)
EACH: list[Promise] = [PurePromise(HALF), ConcentratedPromise(HALF), ApproximatePromise(HALF, Fraction(1, 10**6))]


def problem(privacy: str) -> Problem:
    """A count of two respondents under the given lines of [privacy]."""
    return problem_from_text(small_count(2, probabilities="0.5, 0.5", privacy=privacy), "two")


@pytest.mark.parametrize("promise", EACH)
def test_each_promise_is_read_as_it_is_written(promise: Promise) -> None:
    assert promise_of(promise.numbers, "privacy") == promise
    asked = problem("\n".join(f'{key} = "{text}"' for key, text in promise.document().items()))
    assert asked.promise == promise
    document = problem_document(asked)
    assert document["privacy"] == promise.document() | {"unit": "respondent"}
    kernel = TableKernel(("0", "1", "2"), (Output("x"),), ((1, 1, 1),), 1)
    mechanism = Mechanism(asked, LinearSummary((0, 1)), kernel, asked.guarantee)
    written = mechanism_document(mechanism)
    assert mechanism_document(mechanism_from_document(written)) == written
    assert mechanism_from_document(written).guarantee == asked.guarantee


@pytest.mark.parametrize("promise", EACH)
def test_each_promise_says_its_numbers(promise: Promise) -> None:
    words = str(promise)
    assert all(text in words for text in promise.document().values()) and promise.letter in words
    said = promise.meaning({key: f"<{key}>" for key in promise.keys})
    assert all(f"<{key}>" in said for key in promise.keys)
    assert promise.constraint and promise.kind


def test_kinds_and_keys_are_each_promises_own() -> None:
    assert len({form.kind for form in PROMISES}) == len({form.keys for form in PROMISES}) == len(PROMISES)


@pytest.mark.parametrize(
    ("privacy", "words"),
    [
        ("epsilon = 1\nrho = 0.5", "privacy.epsilon and privacy.rho"),
        ("", "neither privacy.epsilon nor privacy.rho"),
        ("delta = 0.1", "privacy.delta"),
        ("rho = 0.5\ndelta = 0.1", "privacy.delta and privacy.rho"),
        ("rho = 0", "above 0"),
        ('rho = "0/7"', "above 0"),
        ("rho = -1", "from 0 on"),
        ("rho = 1e9", "up to 10000"),
        ("epsilon = 1e9", "0 to 10000"),
        ('rho = "sqrt(2)"', "privacy.rho is not a number"),
        ('rho = "π/2"', "privacy.rho is not a number"),
        ("rho = inf", "privacy.rho is not a number"),
        ("rh = 1", "did you mean 'rho'"),
        ("epsilon = 1\ndelta = 1", "between 0 and 1"),
    ],
)
def test_a_promise_that_is_none_is_refused_in_words(privacy: str, words: str) -> None:
    with pytest.raises(InputError, match=re.compile(re.escape(words), re.IGNORECASE)):
        problem(privacy)


def test_epsilon_is_only_for_pure_promises() -> None:
    assert problem("epsilon = 2").epsilon == 2 == pure_epsilon(PurePromise(Fraction(2)))
    for other in ('rho = "1/2"', "epsilon = 1\ndelta = 1e-6"):
        with pytest.raises(InputError, match="pure ε"):
            assert problem(other).epsilon


@given(st.sampled_from([PurePromise, ConcentratedPromise]), st.fractions(0, 9), st.fractions(0, 9))
def test_less_keeps_more_and_never_across_kinds(form: type[Promise], one: Fraction, other: Fraction) -> None:
    assert form(one).keeps(form(other)) == (one <= other)  # type: ignore[call-arg]
    for strange in EACH:
        assert isinstance(strange, form) or not form(one).keeps(strange)  # type: ignore[call-arg]


def test_both_numbers_of_an_approximate_promise_count() -> None:
    base = ApproximatePromise(HALF, Fraction(1, 100))
    assert base.keeps(base) and ApproximatePromise(HALF, Fraction(1, 101)).keeps(base)
    assert not base.keeps(ApproximatePromise(HALF, Fraction(1, 101)))
    assert not base.keeps(ApproximatePromise(Fraction(49, 100), Fraction(1, 100)))


@given(st.fractions(0, 3), st.integers(1, 5), st.integers(1, 2))
def test_rho_grows_with_the_square_of_rows(level: Fraction, rows: int, cells: int) -> None:
    assert PurePromise(level).over(rows, cells).epsilon == cells * rows * level
    assert ConcentratedPromise(level).over(rows, cells).rho == cells * rows**2 * level
