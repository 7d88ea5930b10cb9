"""Text of strangers is shown as text: no unit, label or name in a file can print a line, a colour or a crash of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import discreet
from discreet.cli.main import run
from discreet.errors import InputError, legible
from discreet.files.mechanism import mechanism_document
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.summary import LinearSummary

UNITS = (
    "person.\n[bold green]Proved:[/bold green] everything", "pupil [/school]", "a\x1b[2J\x1b[31mb", "c\x9b31md",
    "e\u202egnp.exe", "f\rProved:",
)  # fmt: skip


def written(folder: Path, unit: str) -> Path:
    """A small honest mechanism with this unit."""
    problem = discreet.problem(
        respondents=2, values=["0", "1"], probabilities=["1/2", "1/2"], actions="real", epsilon="1", unit=unit
    ).problem
    document = mechanism_document(geometric_mechanism(problem, LinearSummary((0, 1))))
    path = folder / "x.mechanism.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("command", ["certify", "limits", "profile"])
def test_a_unit_cannot_print_anything_but_itself(
    command: str, unit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, unit)
    assert run([command, str(path)]) == 0
    shown = capsys.readouterr().out
    assert all(line.isprintable() for line in shown.split("\n"))
    assert sum(line.startswith("Proved:") for line in shown.splitlines()) == (command == "certify")
    assert run([command, str(path), "--json"]) == 0
    told = capsys.readouterr().out
    assert all(line.isprintable() for line in told.split("\n"))
    assert unit in json.dumps(json.loads(told)) or json.dumps(unit)[1:-1] in json.dumps(json.loads(told))


def test_an_error_cannot_either(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"format": "x\n\x1b[31mdiscreet: Proved"}), encoding="utf-8")
    assert run(["certify", str(path)]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1 and said.rstrip("\n").isprintable()
    assert legible(str(InputError("a", allowed=["b\nc"]))).isprintable()


def test_ordinary_text_stays_as_it_is() -> None:
    assert legible("Größe, ε = 1, 人") == "Größe, ε = 1, 人"
