"""Pure ε and ρ beside each other: equals that promise no more, losses that obey what one promise implies of the other."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from discreet.cli.main import run
from discreet.design.concentrated.equal_promises import PLACES, equal_levels, implied_epsilon, implied_rho
from discreet.design.questions import frontier as frontiers
from discreet.design.questions.frontier import frontier
from discreet.design.questions.smallest_epsilon import smallest_epsilon
from discreet.design.questions.two_promises import TwoPromises, levels_for, two_promises
from discreet.errors import InputError
from discreet.files.problem import problem_from_document
from discreet.model.problem import Problem
from discreet.model.promises import ConcentratedPromise, Promise, PurePromise
from discreet.present import two_promises_figure
from discreet.views.schema import schema
from discreet.views.two_promises import two_promises_view

LEVELS = [Fraction(1, 4), Fraction(1)]


def asked(privacy: dict[str, str], **decision: str) -> Problem:
    return problem_from_document(
        {
            "data": {"respondents": 3, "values": [0, 1]},
            "prior": {"kind": "iid", "probabilities": ["0.7", "0.3"]},
            "statistic": {"kind": "sum"},
            "decision": {"kind": "squared-error", "actions": "integer", **decision},
            "privacy": privacy,
        }
    )


@pytest.fixture(scope="module")
def found() -> TwoPromises:
    return two_promises(asked({"rho": "1/4"}), LEVELS, workers=1)


@pytest.mark.parametrize(
    "promise",
    [ConcentratedPromise(Fraction(r)) for r in ("1/20", "0.4621171572600098", "7")]
    + [PurePromise(Fraction(e)) for e in ("1/10", "3")],
    ids=str,
)
def test_an_equal_promises_no_more_and_the_next_decimal_does(promise: Promise) -> None:
    equal = equal_levels(promise)
    other = ConcentratedPromise if isinstance(promise, PurePromise) else PurePromise
    step = Fraction(1, PLACES)
    assert implied_rho(other(equal.same_rho)) <= equal.rho < implied_rho(other(equal.same_rho + step))
    assert implied_epsilon(other(equal.same_epsilon)) <= equal.epsilon + Fraction(1, 10**9)
    assert implied_epsilon(other(equal.same_epsilon + Fraction(1, 10**6))) > equal.epsilon


def test_what_pure_epsilon_implies_is_never_better_than_what_rho_allows(found: TwoPromises) -> None:
    """Whoever keeps the ε of the same ρ keeps ρ: no pure mechanism there loses less than the bound under ρ."""
    assert [equal.level for equal, *_ in found.rows] == LEVELS
    for _, own, by_rho, by_epsilon in found.rows:
        assert own.lower_bound <= by_rho.loss + 1e-12
        assert own.loss < by_rho.lower_bound  # at equal ρ noise that is not purely private is better here
        assert by_epsilon.loss < own.lower_bound  # and at equal (ε, δ) pure ε is
    facts = two_promises_view(found).facts["beside"]
    assert [row["same_rho"]["loss"] for row in facts["levels"]] == pytest.approx([p.loss for _, _, p, _ in found.rows])


def test_the_words_claim_only_what_both_sides_prove(found: TwoPromises) -> None:
    told = " ".join(str(getattr(block, "text", "")) for block in two_promises_view(found).told)
    assert "At equal ρ, proved: ρ allows less loss at 2 of 2 levels." in told
    assert "At equal (ε, δ = 1e-06), proved: pure ε allows less loss at 2 of 2 levels." in told
    loose = TwoPromises(
        frontiers.Frontier(found.own.problem, tuple(map(unproved, found.own.points)), 0.0), found.other, found.equals
    )
    blunt = " ".join(str(getattr(block, "text", "")) for block in two_promises_view(loose).told)
    assert "At equal (ε, δ = 1e-06) neither promise is proved" in blunt


def unproved(point: frontiers.Point) -> frontiers.Point:
    return frontiers.Point(point.level, point.value, Fraction(0), {}, 0.0, point.level, point.level)


def test_the_picture_has_both_panels_and_marks(found: TwoPromises) -> None:
    figure = two_promises_figure(found, [("mine", 0.5, 4.0, 0.3)])
    assert len(figure.body["hconcat"]) == 2 and "At equal ρ" in figure.alt and "mine stands at 0.5" in figure.alt
    for panel in figure.body["hconcat"]:
        assert {row["way"] for row in panel["layer"][0]["data"]["values"]} == {"best under ρ (zCDP)", "best under pure ε"}


def test_levels_of_other_promises_are_met_at_both_equals() -> None:
    problem = asked({"rho": "1/4"})
    equal = equal_levels(PurePromise(Fraction(1)))
    levels = levels_for(problem, [problem.promise, PurePromise(Fraction(1))])
    assert levels == sorted({Fraction(1, 4), equal.same_rho, equal.same_epsilon})


@pytest.mark.parametrize(
    ("privacy", "decision", "levels"),
    [({"epsilon": "1"}, {"unbiased": "everywhere", "actions": "real"}, [Fraction(1)]), ({"epsilon": "1"}, {}, [Fraction(0)]),
     ({"rho": "1"}, {}, []), ({"epsilon": "1"}, {}, [Fraction(1, 10**7)])],
)  # fmt: skip
def test_what_the_other_promise_cannot_serve_is_refused_before_any_design(
    privacy: dict[str, str], decision: dict[str, str], levels: list[Fraction], monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("work began")

    monkeypatch.setattr(frontiers, "design", forbidden)
    with pytest.raises(InputError):
        two_promises(asked(privacy, **decision), levels, workers=1)


def test_the_smallest_rho_for_a_loss_stands_between_proved_sides() -> None:
    problem = asked({"rho": "1/2"})
    reach = smallest_epsilon(problem, 0.4, gap=1e-3, tolerance=0.05)
    assert reach.below is not None and reach.below < reach.above and reach.design.loss <= 0.4
    assert reach.design.mechanism.guarantee.promise == ConcentratedPromise(reach.above)
    low = frontier(problem, [reach.below], compare=False, workers=1).points[0]
    assert low.lower_bound > 0.4


def test_the_command_line_shows_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        '[data]\nrespondents = 2\nvalues = [0, 1]\n[prior]\nkind = "iid"\nprobabilities = [0.7, 0.3]\n[statistic]\nkind = "sum"\n'
        '[decision]\nkind = "squared-error"\nactions = "integer"\n[privacy]\n'
    )
    places = {name: tmp_path / name for name in ("rho.toml", "pure.toml", "rho.mechanism.json", "pure.mechanism.json", "b.svg")}
    places["rho.toml"].write_text(text + 'rho = "1/2"\n', encoding="utf-8")
    places["pure.toml"].write_text(text + "epsilon = 1\n", encoding="utf-8")

    def answer(*words: object) -> dict[str, Any]:
        assert run([str(places.get(str(word), word)) for word in words] + ["--json"]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    shown = answer("frontier", "rho.toml", "--rho", "1/2", "--rho", "1", "--against", "none", "--workers", 1, "--figure", "b.svg")
    jsonschema.validate(shown, schema("frontier"))
    assert [p["rho"] for p in shown["points"]] == ["1/2", "1"] and len(shown["beside"]["levels"]) == 2
    assert "At equal ρ" in shown["alt"] and places["b.svg"].is_file()
    alone = answer("frontier", "pure.toml", "--epsilon", "1", "--against", "none", "--workers", 1)
    assert "beside" not in alone
    for name in ("rho", "pure"):
        answer("design", f"{name}.toml", "-o", f"{name}.mechanism.json")
    compared = answer("compare", "rho.mechanism.json", "pure.mechanism.json", "--both", "--workers", 1, "--figure", "b.svg")
    jsonschema.validate(compared, schema("compare"))
    assert len(compared["beside"]["levels"]) == 3 and "pure stands at" in compared["alt"]
    assert run(["frontier", str(places["rho.toml"]), "--epsilon", "1"]) == 2
    assert "Use --rho" in capsys.readouterr().err
