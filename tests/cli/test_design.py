"""`discreet design` as it is typed: the promised JSON, the table for a person, restrictions, regret, refusals."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from office import problem_text, shell

PROGRAM = [sys.executable, "-c", "from discreet.cli.main import main; main()"]


def write(folder: Path, name: str = "places.toml", households: int = 10, prior: str = "[0.89, 0.09, 0.02]") -> str:
    values = "[0, 1]" if prior.count(",") == 1 else "[0, 1, 2]"
    text = problem_text(households, values=values, prior=prior)
    (folder / name).write_text(text, encoding="utf-8")
    return name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("design")
    write(made)
    return made


def test_json_holds_everything_promised(folder: Path) -> None:
    done = shell(folder, "design", "places.toml", "-o", "places.mechanism.json", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["loss"] == pytest.approx(1.0888108, abs=1e-5) and result["value"] == -result["loss"]
    assert result["lower_bound"] == -result["bound"] <= result["loss"]
    assert 0 <= result["relative_gap"] <= 1e-6 and result["epsilon"] == "1"
    assert result["reduction"] == "histogram program" and result["theorem"] == "SY Prop. 5"
    assert result["states"] > 1 and result["outputs"] > 1
    assert {"solve", "certify"} <= set(result["seconds"])
    assert result["baselines"]["geometric"]["loss"] == pytest.approx(1.2822756, abs=1e-6)
    assert result["baselines"]["geometric"]["value"] == -result["baselines"]["geometric"]["loss"]
    assert Path(result["mechanism"]).name == "places.mechanism.json" and (folder / "places.certificate.json").exists()
    kept = json.loads((folder / result["record"]).read_text(encoding="utf-8"))["records"][0]
    assert len(kept["steps"]) == len(result["steps"]) and kept["behaviour"]["slope"] is not None
    assert {b["name"] for b in kept["baselines"]} == set(result["baselines"])
    checked = json.loads(shell(folder, "certify", "places.mechanism.json", "--json").stdout)
    assert checked["proved"] is True and float(checked["relative_gap"]) <= 1e-6


def test_a_person_sees_the_design_beside_what_people_do_today(folder: Path) -> None:
    done = shell(folder, "design", "places.toml")
    assert done.returncode == 0, done.stderr
    told = ("this design", "geometric", "best oblivious", "no purely ε-private mechanism", "household", "Proposition 5")
    for words in told:
        assert words in done.stdout
    assert "To add up, use discreet total" in " ".join(done.stdout.split())


def test_a_restriction_shows_its_price(folder: Path) -> None:
    result = json.loads(shell(folder, "design", "places.toml", "--within", "oblivious", "--json").stdout)
    assert result["within"] == "oblivious" and result["price"] == pytest.approx(0.1632, abs=1e-3)


def test_regret_for_another_prior_and_for_a_neighbourhood(folder: Path) -> None:
    write(folder, "other.toml", prior="[0.89, 0.05, 0.06]")
    words = ["design", "places.toml", "--alternative", "other.toml", "--radius", "0.1", "--json"]
    result = json.loads(shell(folder, *words).stdout)
    assert result["alternative"]["regret"] > 0 and result["alternative"]["bias"] < 0
    regrets = [corner["regret"] for corner in result["neighbourhood"]["corners"]]
    assert len(regrets) == 3 and regrets == sorted(regrets, reverse=True)


def test_a_theorem_serves_a_town(folder: Path) -> None:
    write(folder, "town.toml", 600, "[0.89, 0.11]")
    result = json.loads(shell(folder, "design", "town.toml", "--json").stdout)
    assert result["theorem"] == "SY Thm 3" and result["relative_gap"] < 1e-9


def test_rungs_of_the_ladder_are_shown_and_their_certificate_proves_itself(folder: Path) -> None:
    text = problem_text(20, values="[0, 1, 2, 3, 4, 5]", prior="[0.8, 0.1, 0.05, 0.03, 0.015, 0.005]")
    (folder / "six.toml").write_text(text, encoding="utf-8")
    done = shell(folder, "design", "six.toml", "--seconds", "1", "-o", "six.mechanism.json", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["rungs"][0]["name"] == "clipped sum"  # how many follow depends on the time
    assert result["lower_bound"] == pytest.approx(max(rung["lower_bound"] for rung in result["rungs"]), rel=1e-6)
    assert result["loss"] == pytest.approx(min(rung["loss"] for rung in result["rungs"]), rel=1e-6)
    assert shell(folder, "certify", "six.mechanism.json").returncode == 0
    told = shell(folder, "design", "six.toml", "--seconds", "0.5").stdout
    assert "rung" in told and "clipped sum" in told and "lower bound" in told
    assert json.loads(shell(folder, "design", "places.toml", "--json").stdout)["rungs"] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["missing.toml"], "missing.toml"),
        (["places.toml", "--gap", "2"], "gap"),
        (["places.toml", "--within", "everything"], "oblivious"),
        (["places.toml", "--radius", "3"], "radius"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(folder: Path, words: list[str], said: str) -> None:
    done = shell(folder, "design", *words)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
