"""`read`, `limits` and `choose` as they are typed: text for people, JSON for programs, refusals in words."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from problem_texts import ANY_NUMBER, small_count
from small_worlds import counting, listed, summing

from discreet.cli.main import run
from discreet.files import write_mechanism
from discreet.interpret import choose, posterior
from discreet.model.priors import IidPrior
from discreet.views.choice import choice_view

PROBLEM = small_count(12, probabilities="0.75, 0.25", decision=ANY_NUMBER, privacy='epsilon = 1.0\nunit = "household"')


@pytest.fixture
def count(tmp_path: Path) -> Path:
    """A mechanism file: twelve respondents, a quarter of them expected to count."""
    path = tmp_path / "count.mechanism.json"
    write_mechanism(path, counting(12, Fraction(1, 4)))
    return path


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, object]:
    """The JSON object that a command line prints."""
    assert run([str(word) for word in words] + ["--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def refusal(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The complaint of a command line that ends with 2."""
    assert run([str(word) for word in words]) == 2
    return capsys.readouterr().err


def test_read_gives_the_posterior(count: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "read", count, "5", "--level", "0.8")
    truth = posterior(counting(12, Fraction(1, 4)), 5)
    assert found["mean"] == found["action"] == pytest.approx(truth.mean())
    assert found["probability"] == pytest.approx(truth.probability)
    assert found["interval"] == [int(x) for x in truth.interval(0.8)]
    law = found["posterior"]
    assert isinstance(law, dict) and law["values"] == list(range(13))
    assert law["probabilities"] == pytest.approx(truth.probabilities.tolist())


def test_read_shows_what_face_value_would_cost(count: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "read", count, "9")
    naive, truth = found["naive"], posterior(counting(12, Fraction(1, 4)), 9)
    assert isinstance(naive, dict) and naive["bias"] == pytest.approx(9 - truth.mean())
    assert naive["expected_loss_of_best_action"] == pytest.approx(truth.variance())
    assert naive["expected_loss"] == pytest.approx(truth.variance() + naive["bias"] ** 2)


def test_limits_say_when_databases_are_not_connected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "apart.json"
    law = np.array([[0.5, 0.4, 0.9], [0.5, 0.6, 0.1]])
    write_mechanism(path, listed(3, [(0, 1)], law, np.full(3, 1 / 3)))
    found = answer(capsys, "limits", path)
    own = found["mechanism"]
    assert isinstance(own, dict) and own["components"] == 2 and "Remark 7" in own["remedy"]
    assert found["any_model"]["d_star_star"] == "infinity"  # type: ignore[index]
    assert run(["limits", str(path)]) == 0
    assert "2 components" in capsys.readouterr().out


def test_read_under_another_prior(count: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "mine.toml"
    other.write_text('[prior]\nkind = "iid"\nprobabilities = [0.5, 0.5]\n', encoding="utf-8")
    truth = posterior(counting(12), 5, IidPrior((Fraction(1, 2), Fraction(1, 2))))
    assert answer(capsys, "read", count, "5", "--prior", other)["mean"] == pytest.approx(truth.mean())
    whole = tmp_path / "whole.toml"
    whole.write_text(PROBLEM.replace("0.75, 0.25", "0.5, 0.5"), encoding="utf-8")
    assert answer(capsys, "read", count, "5", "--prior", whole)["mean"] == pytest.approx(truth.mean())


def test_read_exactly(count: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "read", count, "5", "--exact")
    truth = posterior(counting(12, Fraction(1, 4)), 5, exact=True)
    assert Fraction(str(found["mean"])) == truth.exact_mean()
    assert sum(Fraction(p) for p in found["posterior"]["probabilities"]) == 1  # type: ignore[index]


@pytest.mark.parametrize("about", ["database", "respondent"])
def test_read_about_other_things(count: Path, about: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "read", count, "5", "--about", about)
    assert sum(found["posterior"]["probabilities"]) == pytest.approx(1)  # type: ignore[index]
    assert run(["read", str(count), "5", "--about", about]) == 0
    assert "%" in capsys.readouterr().out


def test_read_several_values_and_for_people(count: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = answer(capsys, "read", count, "5"), answer(capsys, "read", count, "5", "5")
    assert float(str(two["standard_deviation"])) < float(str(one["standard_deviation"]))
    assert run(["read", str(count), "5"]) == 0
    shown = capsys.readouterr().out
    assert "The published value 5 means" in shown and "█" in shown


def test_read_refuses_in_words(count: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "cannot publish this value" in refusal(capsys, "read", count, "13")
    assert "between 0 and 1" in refusal(capsys, "read", count, "5", "--level", "2")
    assert "could not be read" in refusal(capsys, "read", tmp_path / "none.json", "5")
    three = tmp_path / "three.toml"
    three.write_text('[prior]\nkind = "iid"\nprobabilities = [0.5, 0.25, 0.25]\n', encoding="utf-8")
    assert "one probability for each type" in refusal(capsys, "read", count, "5", "--prior", three)
    three.write_text(PROBLEM.replace("= 12", "= 13"), encoding="utf-8")
    assert "another universe" in refusal(capsys, "read", count, "5", "--prior", three)
    three.write_text("[data\n", encoding="utf-8")
    assert "not valid TOML" in refusal(capsys, "read", count, "5", "--prior", three)
    three.write_text("[other]\nx = 1\n", encoding="utf-8")
    assert "one section" in refusal(capsys, "read", count, "5", "--prior", three)


def test_limits_of_a_mechanism(count: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "limits", count, "--together", "3", "--output", "5")
    attacker = found["attacker"]
    assert isinstance(attacker, dict) and attacker["alone"] == pytest.approx(0.7310585786300049)
    assert "a yes-or-no fact about you can become at most 73.2 % sure, if others' answers" in attacker["sentences"][0]
    assert attacker["sentences"][1].endswith("always answer alike and everybody else's answers say nothing about yours.")
    tests = found["tests"]
    assert isinstance(tests, list) and tests[0]["power_at_most"] == pytest.approx(0.135914091423)
    own = found["mechanism"]
    assert isinstance(own, dict) and own["alone"]["log_odds"] <= 1 + 1e-9
    assert own["everybody"]["log_odds"] <= 12 + 1e-9 and len(own["outputs"]) == 1


def test_limits_do_not_follow_from_a_promise_that_is_not_kept(count: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forged = count.with_name("forged.json")
    document = json.loads(count.read_text(encoding="utf-8"))
    document["guarantee"]["epsilon"] = document["problem"]["privacy"]["epsilon"] = "1/2"
    forged.write_text(json.dumps(document), encoding="utf-8")
    assert run(["limits", str(forged)]) == 1
    told = capsys.readouterr()
    assert "at most" not in told.out and "does not keep ε = 0.5" in told.err and "Counterexample" in told.err
    assert run(["limits", str(forged), "--figure", str(forged.with_suffix(".svg"))]) == 1


def test_limits_of_a_problem_and_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem = tmp_path / "p.toml"
    problem.write_text(PROBLEM.replace("epsilon = 1.0", "epsilon = 0"), encoding="utf-8")
    found = answer(capsys, "limits", problem)
    assert found["any_model"]["posterior_between"] == [0.5, 0.5]  # type: ignore[index]
    mechanism = tmp_path / "m.json"
    write_mechanism(mechanism, summing(4, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))))
    assert run(["limits", str(mechanism)]) == 0
    shown = capsys.readouterr().out
    assert "This mechanism" in shown and "household" not in shown and "respondent" in shown
    assert "no probability" in refusal(capsys, "limits", problem, "--sure", "1.5")
    assert "level lies between" in refusal(capsys, "limits", problem, "--alpha", "0")


def test_limits_of_a_mechanism_too_large_to_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "large.json"
    write_mechanism(path, counting(2001, Fraction(1, 4), Fraction(1, 1000)))
    found = answer(capsys, "limits", path, "--output", "500")["mechanism"]
    assert isinstance(found, dict) and "would fit" in found["note"].lower()
    assert 0 < found["outputs"][0]["at_least"] < found["outputs"][0]["at_most"] < 1
    assert run(["limits", str(path)]) == 0


def test_choose_without_designs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem = tmp_path / "p.toml"
    problem.write_text(PROBLEM, encoding="utf-8")
    found = answer(capsys, "choose", problem, "--limits-only", "--epsilons", "0.5,1")
    rows = found["rows"]
    assert isinstance(rows, list) and [row["epsilon"] for row in rows] == ["1/2", "1"]
    assert rows[1]["attacker"] == pytest.approx(0.7310585786300049) and rows[0]["loss"] is None
    assert run(["choose", str(problem), "--limits-only"]) == 0
    assert "telling" in capsys.readouterr().out
    assert "not a finite number" in refusal(capsys, "choose", problem, "--epsilons", "much")
    assert "range of ε" in refusal(capsys, "choose", problem, "--epsilons", "")


def test_an_upper_limit_is_not_told_as_a_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # "succeeds more than 99.9 % of the time" was printed for a limit of 99.81 %.
    problem = tmp_path / "p.toml"
    problem.write_text(PROBLEM.replace("= 12", "= 40").replace("0.75, 0.25", "0.89, 0.11"), encoding="utf-8")
    found = answer(capsys, "choose", problem, "--limits-only", "--epsilons", "1.5,3,6")
    for row, words in zip(found["rows"], found["words"], strict=True):  # type: ignore[arg-type, call-overload]
        told = words.partition("succeeds ")[2]
        assert told.startswith("at most ") and "more than" not in words
        assert float(told.removeprefix("at most ").partition(" %")[0]) / 100 >= row["power_at_most"]
    assert run(["choose", str(problem), "--limits-only", "--epsilons", "6"]) == 0
    assert ">" not in capsys.readouterr().out


def test_choose_shows_the_losses_of_designs() -> None:
    made = {e: counting(12, Fraction(1, 4), e) for e in (Fraction(1, 2), Fraction(1))}
    losses = [(e, float(1 / e)) for e in made]
    found = choice_view(choose(made[Fraction(1)].problem, list(made), frontier=losses, mechanism_at=made.__getitem__)).facts
    assert [row["loss"] for row in found["rows"]] == [2.0, 1.0]
    assert all(0.05 < row["power"] <= row["power_at_most"] for row in found["rows"])
