"""`--figure` on the command line: drawn after the work, refused before it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from album import found, mechanism
from problem_texts import ANY_NUMBER, small_count

from discreet.cli.main import run
from discreet.files import write_mechanism


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a mechanism and problems with two and three respondents."""
    write_mechanism(tmp_path / "x.mechanism.json", mechanism())
    write_mechanism(tmp_path / "y.mechanism.json", found(3, 2, Fraction(1, 2)).mechanism)
    for respondents in (2, 3):
        text = small_count(respondents, decision=ANY_NUMBER)
        (tmp_path / f"{respondents}.toml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "title"),
    [
        (["profile", "x.mechanism.json"], "How often an attacker must err"),
        (["limits", "x.mechanism.json"], "What no model can leave"),
        (["noise", "2.toml"], "What may be believed at ε = 1"),
        (["choose", "2.toml", "--limits-only"], "Choosing ε"),
        (["compare", "x.mechanism.json", "y.mechanism.json"], "Relative risks"),
        (["choose", "2.toml", "--epsilons", "0.5,1", "--seconds", "5"], "What the decision loses"),
    ],
)
def test_a_command_draws_what_it_tells(
    place: Path, line: list[str], title: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    assert run([*line, "--figure", "drawn.svg", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["figure"] == "drawn.svg" and len(found["alt"]) > 40
    assert title in (place / "drawn.svg").read_text(encoding="utf-8")
    assert run([*line, "--figure", "drawn.json"]) == 0
    assert "Drawn: drawn.json" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["profile", "x.mechanism.json", "--figure", "a.pdf"], "Pictures are written as"),
        (["limits", "2.toml", "--figure", "a.svg"], "a mechanism's outputs"),
        (["noise", "3.toml", "--figure", "a.svg"], "three values"),
        (["compare", *["x.mechanism.json"] * 3, "--figure", "a.svg"], "two mechanisms"),
        (["choose", "2.toml", "--figure", "a"], "Pictures are written as"),
    ],
)
def test_what_cannot_be_drawn_is_said_before_any_work(
    place: Path, line: list[str], words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    assert run(line) == 2
    assert words in capsys.readouterr().err and not list(place.glob("a.*"))
