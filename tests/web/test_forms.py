"""The form says what the file says: examples survive the way there and back, and odd text does not become another problem."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serving import SMALL, Visitor

from discreet.files.problem import problem_from_text
from discreet.web.examples import EXAMPLES
from discreet.web.forms import FIELDS, fields_of, toml_of


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_a_problem_and_survives_the_form(name: str) -> None:
    text = EXAMPLES[name].text
    fields = fields_of(text)
    assert fields is not None
    assert problem_from_text(toml_of(fields), "x") == problem_from_text(text, "x")


def test_what_the_form_cannot_say_is_left_to_the_file() -> None:
    assert fields_of(SMALL.replace("[0.7, 0.3]", "[0.7, 0.3]\nsize = [1]")) is None
    assert fields_of("[data") is None
    assert fields_of("x = 1") is None


@given(st.dictionaries(st.sampled_from(sorted(FIELDS)), st.text(max_size=12)))
@settings(max_examples=150, deadline=None)
def test_whatever_is_typed_becomes_toml_with_the_same_sections(typed: dict[str, str]) -> None:
    document = tomllib.loads(toml_of({**FIELDS, **typed}))
    assert set(document) - {"name"} == {"data", "prior", "statistic", "decision", "privacy"}


def test_a_form_is_checked_while_it_is_filled_in(visitor: Visitor) -> None:
    good = visitor.post("/problem/check", {**FIELDS, "unit": "child"}).json
    assert "unit: child" in good["promise"] and sum(good["prior_of_statistic"]["probabilities"]) > 0.99
    bad = visitor.post("/problem/check", {**FIELDS, "probabilities": "0.5, 0.2, 0.1"}).json
    assert "sum" in bad["error"]


def test_a_problem_is_kept_exported_and_shown(visitor: Visitor) -> None:
    name = visitor.keep(SMALL)
    assert visitor.get(f"/problem/{name}.toml").text == SMALL
    assert visitor.get(f"/problem/{name}.json").json["toml"] == SMALL
    assert 'value="pupil"' in visitor.get(f"/problem/{name}").text
    assert visitor.get("/problem/0123456789abcdef.json").status == 404
