"""The standalone verifier in a process of its own: what it proves, refutes and cannot read; families; hashes."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from the_verifier import SCRIPT, raise_weight, run, verifier

from discreet import files
from discreet.files.canonical import document_hash
from discreet.files.mechanism import mechanism_from_document


def test_it_is_short_and_stands_alone() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 610, "one sitting"
    assert "discreet." not in text and "import numpy" not in text


def test_the_geometric_table_is_proved_in_a_bare_process(geometric: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "x.mechanism.json"
    files.write_mechanism(path, mechanism_from_document(geometric))
    done = run(path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert files.mechanism_hash(files.read_mechanism(path)) in done.stdout
    _, low, high, _, _ = verifier.verify(path.read_text(encoding="utf-8"))
    assert 1 - Fraction(1, 10**12) < low <= high <= 1


@pytest.mark.parametrize(("output", "state", "neighbour"), [(0, 1, 2), (40, 39, 38), (7, 20, 21)])
def test_one_unit_beyond_is_refuted_with_that_edge(
    geometric: dict[str, Any], tmp_path: Path, output: int, state: int, neighbour: int
) -> None:
    path = tmp_path / "x.mechanism.json"
    path.write_text(json.dumps(raise_weight(copy.deepcopy(geometric), output, state, neighbour, 1)), encoding="utf-8")
    done = run(path)
    assert done.returncode == 1
    assert f"output {output} is more than exp(1) times as likely at {state} as at {neighbour}" in done.stdout
    path.write_text(json.dumps(raise_weight(copy.deepcopy(geometric), output, state, neighbour, 0)), encoding="utf-8")
    assert run(path).returncode == 0


def test_a_bare_process_says_why_it_cannot_read(tmp_path: Path) -> None:
    for text in ("", "{", "[]", "{}", '{"format": 1, "format": 1}', "[" * 100_000, '"' + "x" * 100 + '"', "\\u0000"):
        path = tmp_path / "bad.json"
        path.write_text(text, encoding="utf-8")
        done = run(path)
        assert done.returncode in (1, 2) and done.stderr == "", (text[:20], done.stderr)
    assert run(tmp_path / "missing.json").returncode == 2


def test_the_hash_is_the_one_of_the_files(geometric: dict[str, Any]) -> None:
    assert verifier.verify(json.dumps(geometric))[-1] == document_hash(geometric)


def test_every_member_of_a_family_is_proved_and_one_bad_one_refutes_it(geometric: dict[str, Any], tmp_path: Path) -> None:
    bad = raise_weight(copy.deepcopy(geometric), 7, 20, 21, 1)
    path = tmp_path / "x.family.json"
    for second, code, words in ((geometric, 0, "PROVED for cells of 35 to 40"), (bad, 1, "REFUTED: output 7")):
        members = [{"from": 35, "to": 40, "mechanism": geometric}, {"from": 40, "to": 40, "mechanism": second}]
        path.write_text(json.dumps({"format": "discreet-family/1", "members": members}), encoding="utf-8")
        done = run(path)
        assert done.returncode == code and words in done.stdout, done.stdout
        assert done.stdout.count("PROVED") == (0 if code else 2)


@pytest.mark.parametrize(("low", "high"), [(35, 41), (41, 40), (0, 40), (40, 39)])
def test_a_member_for_other_sizes_than_its_mechanism_is_refuted(
    geometric: dict[str, Any], tmp_path: Path, low: int, high: int
) -> None:
    path = tmp_path / "x.family.json"
    family = {"format": "discreet-family/1", "members": [{"from": low, "to": high, "mechanism": geometric}]}
    path.write_text(json.dumps(family), encoding="utf-8")
    assert run(path).returncode == 1
    path.write_text(json.dumps({"format": "discreet-family/1", "members": []}), encoding="utf-8")
    assert run(path).returncode == 1
