"""Wrong priors in view: what is printed without being asked, when it warns, and what a hedge says."""

from __future__ import annotations

from contextvars import Context
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from discreet.design import Design, design
from discreet.design.questions.hedge import hedge
from discreet.design.questions.reliance import Reliance, reliance
from discreet.design.schedule import Until, now
from discreet.errors import TooLarge
from discreet.files.problem import problem_from_document
from discreet.files.sizes import read_sizes
from discreet.numerics.exact import share
from discreet.views.reliance import family_reliance, hedge_advice, hedge_view, reliance_view, relied_on, unknown_view
from discreet.views.view import Grid, Mood, Sentence, View


@pytest.fixture(scope="module")
def school() -> Design:
    document: dict[str, Any] = {
        "data": {"respondents": 8, "values": ["0", "1", "2"]},
        "prior": {"kind": "iid", "probabilities": ["0.89", "0.09", "0.02"]}, "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": "real"}, "privacy": {"epsilon": "1", "unit": "household"},
    }  # fmt: skip
    return design(problem_from_document(document), gap=1e-3, compare=False)


def words(view: View) -> str:
    return " ".join(b.text for b in view.told if isinstance(b, Sentence))


def test_the_mean_and_cells_that_differ_are_always_told(school: Design) -> None:
    view = reliance_view(reliance(school.mechanism))
    grid = next(b for b in view.told if isinstance(b, Grid))
    assert [row[0] for row in grid.rows][:3] == ["higher", "lower", "cells differ"]
    assert "whatever the truth" in words(view)
    assert {m["name"] for m in view.facts["wrong_prior"]["mistakes"]} >= {"type 0 more", "type 2 less"}


@pytest.mark.parametrize(("even", "mood"), [(0.1, Mood.MIND), (0.9, Mood.PLAIN)])
def test_a_near_break_even_is_a_warning_and_a_far_one_is_not(school: Design, even: float, mood: Mood) -> None:
    found = reliance(school.mechanism)
    moved = replace(found, mistakes=(replace(found.mistakes[0], break_even=even),))
    last = reliance_view(moved).told[-1]
    assert isinstance(last, Sentence) and last.mood is mood and "lain noise is better" in last.text


def test_a_break_even_is_rounded_towards_zero(school: Design) -> None:
    found = reliance(school.mechanism)
    view = reliance_view(replace(found, mistakes=(replace(found.mistakes[0], break_even=0.1299),)))
    assert "12 %" in words(view) and "13 %" not in words(view)


def test_advice_holds_both_numbers_and_a_hedge_its_price(school: Design) -> None:
    safe = hedge(school.mechanism, school.certificate)
    assert safe.limit is not None and safe.noise is not None and "1.1 times plain noise" in words(hedge_view(safe))
    assert "at most 8.6" in words(hedge_advice(safe)) and "Whatever the data" in words(hedge_view(safe))
    near = hedge(school.mechanism, school.certificate, never=None)
    assert near.worst < safe.worst and "no limit" in words(hedge_view(replace(near, limit=None)))
    assert "instead of" in words(hedge_advice(safe)) and "--hedge 50%" in words(hedge_advice(safe))
    assert "proved" in words(hedge_view(safe)) and hedge_view(safe).facts["hedge"]["price"] == pytest.approx(float(safe.price))
    useless = replace(safe, losses=safe.unhedged, limit=None)
    assert hedge_advice(useless).told == ()


def test_a_family_names_its_soonest_member(school: Design) -> None:
    one = reliance(school.mechanism)
    members: list[Reliance] = [replace(one, mistakes=(replace(one.mistakes[0], break_even=x),)) for x in (0.4, 0.2)]
    view = family_reliance(members, hedged=False)
    assert "20 % to 40 %" in words(view) and "--hedge" in words(view)
    assert "--hedge" not in words(family_reliance(members, hedged=True))


def test_what_cannot_be_said_is_said() -> None:
    assert "was not computed: too many" in words(unknown_view("too many"))
    assert "was not computed: too many." in words(unknown_view("too many.")) and ".." not in words(unknown_view("too many."))


def test_shares_are_read_as_people_write_them() -> None:
    assert share("50%") == share("0.5") == share("1/2") == share(" 50 % ") == Fraction(1, 2)


def test_sizes_are_read_from_a_key_set(tmp_path: Any) -> None:
    path = tmp_path / "cells.csv"
    path.write_text('region,"size"\n"west, far",12\neast,7\nnorth,12\n', encoding="utf-8")
    assert read_sizes(path).ranges == ((7, 7), (12, 12)) and dict(read_sizes(path).cells) == {7: 1, 12: 2}
    path.write_text("size\n12\n1_0\n", encoding="utf-8")
    with pytest.raises(Exception, match="'1_0' in the column size"):
        read_sizes(path)


def endless(*_: Any, **__: Any) -> Any:
    while True:
        pass


@pytest.mark.parametrize("stage", ["reliance", "hedge"])
def test_what_never_ends_is_left_behind_and_named(school: Design, monkeypatch: pytest.MonkeyPatch, stage: str) -> None:
    """A design is not held up by what is shown beside it: the time is up for that too."""
    place = "discreet.views.reliance.reliance" if stage == "reliance" else "discreet.design.questions.hedge.world"
    monkeypatch.setattr(place, endless)

    def on_the_clock() -> View:
        ends = Until.after(0.5 if stage == "reliance" else 600.0)
        if stage == "hedge":
            monkeypatch.setattr("discreet.views.reliance.reliance", lambda mechanism: _then(ends, reliance(mechanism)))
        return relied_on(school, None, ends)

    view = Context().run(on_the_clock)
    assert "was not computed" in words(view) and ("wrong prior" in words(view)) == (stage == "reliance")


def _then(ends: Until, found: Reliance) -> Reliance:
    """What is next has half a second."""
    ends.ends = now() + 0.5
    return found


def test_a_hedge_without_time_is_refused_and_nothing_is_called_hedged(school: Design) -> None:
    with pytest.raises(TooLarge, match="too short for a hedge"):
        Context().run(lambda: hedge(school.mechanism, school.certificate, watch=Until.after(-1.0)))
