"""Sentences follow from their arguments: every number in them is one of these, rounded to the side on which it stays true."""

from __future__ import annotations

import re
from fractions import Fraction
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.files.problem import problem_from_document
from discreet.model.guarantee import Guarantee
from discreet.model.promises import ApproximatePromise, PurePromise, promise_of
from discreet.numerics.exact import exact
from discreet.views import words

NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:[eE][+-]?\d+)?")
PERCENT = re.compile(r"([\d.]+) %")
losses = st.floats(1e-3, 1e4)


def numbers(sentence: str) -> list[float]:
    """Every number in a sentence."""
    return [float(found.rstrip(".,").replace(",", "")) for found in NUMBER.findall(sentence)]


def problem(**changes: object) -> object:
    document = {
        "data": {"respondents": 40, "values": [0, 1, 2]},
        "prior": {"kind": "iid", "probabilities": ["0.89", "0.09", "0.02"]},
        "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": "integer"},
        "privacy": {"epsilon": "1", "unit": "household"},
    }
    return problem_from_document({**document, **changes})


@given(losses, losses)
def test_a_gain_is_the_share_of_the_two_losses(own: float, other: float) -> None:
    sentence = words.gain_words(own, other, "the usual noise")
    told = numbers(sentence)
    assert told[0] == pytest.approx(own, rel=1e-3) and told[1] == pytest.approx(other, rel=1e-3)
    if own >= other:
        assert "less" not in sentence
    elif "less than 0.1" not in sentence and "more than 99.9" not in sentence:
        assert told[2] / 100 == pytest.approx(1 - own / other, abs=0.0051)


@given(losses, st.floats(0, 0.5))
def test_a_proof_never_claims_more_than_its_bound(loss: float, gap: float) -> None:
    lower = loss * (1 - gap)
    sentence = words.proof_words(loss, lower)
    told = numbers(sentence)
    assert told[0] <= lower and told[0] == pytest.approx(lower, rel=1e-8)
    found = (loss - lower) / loss
    if found <= 0:
        assert "is the best possible" in sentence
    elif found < 0.01:
        assert told[1] <= 1 / Fraction(found) * Fraction(1 + 1e-9) and told[1] == pytest.approx(1 / found, rel=1e-6, abs=1)
    else:
        assert found <= told[1] / 100 + 1e-9 and told[1] / 100 - found < 0.0011


@given(st.fractions(0, 10), st.fractions(0, 1))
def test_the_tight_level_is_bracketed_outward(low: Fraction, width: Fraction) -> None:
    told = [Fraction(found.rstrip(".")) for found in NUMBER.findall(words.tight_words(low, low + width))]
    assert told[0] <= low and low + width <= told[-1]


@given(st.floats(0, 50), st.floats(0.01, 0.99))
def test_an_attacker_becomes_as_sure_as_the_odds_allow(epsilon: float, sure: float) -> None:
    sentence = words.attacker_words(Guarantee(PurePromise(exact(epsilon)), "replace-one", "household"), sure)
    before, after = (float(found) / 100 for found in PERCENT.findall(sentence))
    odds = sure / (1 - sure) * exp(epsilon)
    assert before == pytest.approx(sure)
    assert odds / (1 + odds) - 1e-15 <= after < odds / (1 + odds) + 0.0011
    assert ("at most" in sentence) == (epsilon > 0)


def test_the_sentence_for_one_person() -> None:
    assert words.attacker_words(Guarantee(PurePromise(Fraction(1)), "replace-one", "household")) == (
        "Someone who is 50 % sure today of a yes-or-no fact about one household can become at most 73.2 % sure, if others' "
        "answers say nothing about this one's."
    )
    there = words.attacker_words(Guarantee(PurePromise(Fraction(1)), "add-remove-one", "household"))
    assert "sure today that one household is in the data" in there and there.endswith("if others say nothing about this one.")
    which = words.attacker_words(Guarantee(PurePromise(Fraction(1)), "given", "household"))
    assert which.endswith("which of two databases is true that are one step apart can become at most 73.2 % sure.")
    leaky = words.attacker_words(Guarantee(ApproximatePromise(Fraction(1), Fraction(1, 100)), "replace-one", "household"))
    assert "no limit" in leaky and "%" not in leaky


@given(st.floats(-1, 3))
def test_slopes_are_told_with_their_direction(slope: float) -> None:
    sentence = words.adding_words(slope)
    if abs(slope - 1) < 0.05:
        assert numbers(sentence) == []
        return
    assert numbers(sentence) == [pytest.approx(slope, abs=0.0051)]
    assert ("exaggerated" in sentence) == (slope > 1) and ("too low" in sentence) == (slope < 1)


@given(
    st.fractions(0, 20),
    st.sampled_from(["replace-one", "add-remove-one", "given"]),
    st.sampled_from([Fraction(0), Fraction(1, 100)]),
)
def test_a_promise_names_level_relation_and_unit(epsilon: Fraction, neighbours: str, delta: Fraction) -> None:
    sentence = words.guarantee_words(Guarantee(promise_of({"epsilon": epsilon, "delta": delta}, "it"), neighbours, "person"))
    assert f"ε = {words.number(epsilon)}" in sentence and ("δ = 0.01" in sentence) == (delta > 0)
    assert ("person" in sentence) == (neighbours != "given")


def test_problems_in_words() -> None:
    said = words.problem_words(problem())  # type: ignore[arg-type]
    assert said.startswith("A cell has 40 households; each has one of the values 0, 1 and 2. The statistic is the sum")
    assert "a whole number from 0 to 80" in said and "squared distance" in said
    counted = words.problem_words(problem(data={"respondents": 9, "values": [0, 5, 7]}, statistic={"kind": "count", "of": [1, 2]}))  # type: ignore[arg-type]
    assert "how many of them have the value 5 or 7" in counted
    late = words.problem_words(problem(decision={"kind": "pinball", "quantile": "0.9", "actions": "real"}))  # type: ignore[arg-type]
    assert "chooses a number; being too low costs 0.9 a unit, too high 1 − 0.9" in late


@pytest.mark.parametrize(
    ("unit", "many"), [("household", "households"), ("city", "cities"), ("day", "days"), ("business", "businesses")]
)
def test_plurals(unit: str, many: str) -> None:
    assert words.plural(unit) == many


def test_lists_and_theorems() -> None:
    assert words.listed(["a"]) == "a" and words.listed(["a", "b"]) == "a and b"
    assert words.listed(["a", "b", "c"], "or") == "a, b or c"
    assert words.listed([str(i) for i in range(12)]) == "0, 1, 2, …, 11"
    assert words.theorem_words("SY Prop. 5") == "Schmutte and Yoder (2024), Proposition 5"
    assert words.theorem_words("Lemma 1") == "Lemma 1" and "chains" in words.theorem_words("chain bound")
