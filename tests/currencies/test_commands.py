"""`discreet profile` and `discreet convert` on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.cli import progress
from discreet.cli.main import run
from discreet.files import write_mechanism
from discreet.model.mechanism import Mechanism


@pytest.fixture
def mechanism_file(tmp_path: Path, geometric: Callable[..., Mechanism]) -> str:
    path = tmp_path / "X.mechanism.json"
    write_mechanism(path, geometric(6, Fraction(1, 2)))
    return str(path)


def test_profile_has_every_currency(mechanism_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["profile", mechanism_file, "--json", "--epsilon", "0.5", "--delta", "1e-3", "--times", "10"]
    assert run(line) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"epsilon", "delta", "rho", "renyi", "tradeoff", "mi", "witness"} <= set(found)
    assert found["epsilon"] == pytest.approx(0.6931471805599453) and found["ratio"] == "2"
    assert found["delta"][0] == pytest.approx([0.0, 1 / 3]) and found["delta"][-1][1] == 0.0
    assert found["mi"][0] <= found["mi"][1] and found["tradeoff"][0] == [0.0, 1.0]
    at, low, high = found["delta_for_epsilon"][0]
    assert at == "0.5" and 0 < low <= high < 1 / 3
    assert found["composition"]["releases"] == 10
    assert found["witness"]["epsilon"]["edge"] is not None and len(found["witness"]["mi"]["inputs"]) == 2


def test_profile_tells_how_far_it_is(
    mechanism_file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0)
    assert run(["profile", mechanism_file]) == 0
    told = capsys.readouterr().err
    assert all(stage in told for stage in ("every edge", "tight ε", "zCDP", "mutual information", "attacks", "Rényi"))


def test_profile_for_a_person(mechanism_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["profile", mechanism_file, "--group", "2", "--delta", "0.01"]) == 0
    text = capsys.readouterr().out
    assert "groups of 2" in text and "1.38629437" in text and "At δ = 0.01" in text and "mutual information" in text


def test_convert_shows_the_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "mi=0.1", "approximate,epsilon=1", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["results"]
    assert found["kind"] == "approximate" and len(found["steps"]) == 2 and not found["tight"]
    assert run(["convert", "epsilon=1"]) == 0
    text = capsys.readouterr().out
    assert "ε·tanh(ε/2)" in text and "(tight)" in text and "CY" in text
    assert run(["convert", "--table", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["conversions"]) > 20


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["convert", "eps=1"], "Did you mean epsilon"),
        (["convert", "epsilon"], "name=value"),
        (["convert", "epsilon=one"], "epsilon"),
        (["convert", "epsilon=1", "kl2"], "no such currency"),
        (["convert", "tv=0.1", "mi"], "finite alphabet"),
        (["profile", "nothing.json"], "No such file"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(line: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line) == 2
    assert words in capsys.readouterr().err
