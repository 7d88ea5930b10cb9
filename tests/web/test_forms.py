"""The form says what the file says: examples survive the way there and back, and odd text does not become another problem."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learners import make
from serving import SMALL, Visitor, running

from discreet.errors import InputError
from discreet.files.problem import problem_from_text
from discreet.publish.learned import read_learned
from discreet.web.examples import EXAMPLES
from discreet.web.forms import FIELDS, counts_of, fields_of, learned_text, toml_of


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
@settings(max_examples=150)
def test_whatever_is_typed_becomes_toml_with_the_same_sections(typed: dict[str, str]) -> None:
    try:
        document = tomllib.loads(toml_of({**FIELDS, **typed}))
    except InputError:  # a table of counts that does not fit the values
        assert len(typed["counts"].splitlines()) > 1
        return
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


@pytest.fixture(scope="module")
def learners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """A workbench over a folder in which a prior was learned, by town."""
    county = make(tmp_path_factory.mktemp("learned") / "county")
    county.learn(until="learn", strata=("town",))
    with running(county.folder) as found:
        yield found


def test_a_prior_is_taken_from_a_learning_release(learners: Visitor) -> None:
    release = next(item["name"] for item in learners.get("/releases.json").json["releases"])
    assert f'value="{release}"' in learners.get("/problem").text
    found = learners.get(f"/problem/learned.json?from={release}&of_stratum=1").json
    assert found["chosen"]["stratum"] == ["town 1"] and len(found["priors"]) == 2
    folder = read_learned(learners.served.bench.folder / "out" / "learned")
    mine = folder.priors()[("town 1",)]
    lines = learned_text(found["chosen"]["prior"])
    typed = {**FIELDS, "values": "0, 1", "prior": "release", "learned": lines}
    assert problem_from_text(toml_of(typed), "x").prior == mine
    assert fields_of(toml_of(typed)) == {**typed, "probabilities": "", "name": ""}
    said = learners.post("/problem/check", typed).json
    assert said["prior"] == "release" and said["prior_of_statistic"]["probabilities"]
    wider = learners.get(f"/problem/learned.json?from={release}&change=0.5").json["chosen"]["prior"]
    assert wider["change"] == "0.5" and wider["release"] == folder.digest
    assert learners.get(f"/problem/learned.json?from={release}&change=11").status == 422
    assert learners.get("/problem/learned.json?from=0123456789abcdef").status == 404


def test_no_prior_follows_from_a_learning_release_that_was_changed(learners: Visitor) -> None:
    place = learners.served.bench.folder / "out" / "learned" / "release.csv"
    kept = place.read_text(encoding="utf-8")
    release = next(item["name"] for item in learners.get("/releases.json").json["releases"])
    place.write_text(kept.replace("\n", "\n\n", 1), encoding="utf-8")
    try:
        refused = learners.get(f"/problem/learned.json?from={release}")
        assert refused.status == 422 and "changed after it was published" in refused.json["error"]
        assert str(learners.served.bench.folder) not in refused.text
    finally:
        place.write_text(kept, encoding="utf-8")


def test_public_counts_come_from_a_table(visitor: Visitor) -> None:
    table = "answer,households\n1,160\n0,600\n0.0,40\n"
    assert counts_of(table, "0, 1") == "640, 160" and counts_of("640, 160", "0, 1") == "640, 160"
    typed = {**FIELDS, "values": "0, 1", "prior": "reference", "counts": table, "source": "a public survey", "pseudo_count": "1/2"}
    assert problem_from_text(toml_of(typed), "x").prior.counts == (640, 160)  # type: ignore[union-attr]
    assert visitor.post("/problem/check", typed).json["prior"] == "reference"
    odd = visitor.post("/problem/check", {**typed, "counts": "answer,households\n7,1\n"})
    assert odd.status == 200 and "does not fit the values" in odd.json["error"]
    bad = visitor.post("/problem/check", {**typed, "counts": "answer,households\n0,many\n1,2\n"}).json
    assert "counts" in bad["error"]


def test_other_promises_and_unbiased_actions_are_fields() -> None:
    typed = {**FIELDS, "promise": "rho", "epsilon": "1/2", "unbiased": "everywhere", "values": "0, 1", "probabilities": "0.9, 0.1"}
    problem = problem_from_text(toml_of(typed), "x")
    assert str(problem.promise) == "ρ = 0.5" and problem.decisions[0].unbiased == "everywhere"
    assert fields_of(toml_of(typed)) == typed
