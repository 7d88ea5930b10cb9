"""The published JSON Schemas are those of the shapes, and every file we write fits its own."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from random_worlds import mechanism_on, problem_of
from records import RECORD

import scripts
from discreet import certify
from discreet.files.certificate import certificate_document
from discreet.files.mechanism import mechanism_document
from discreet.files.problem_document import problem_document
from discreet.files.record import record_document
from discreet.model.certificate import Certificate
from discreet.model.kernel import GeometricKernel, Output, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

ROOT = Path(__file__).resolve().parent.parent.parent
PROBLEM = problem_of(Universe.of(2, (Fraction(0), Fraction(1))), ReplaceOne())


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return scripts.tool("schemas")


def test_they_are_current(tool: ModuleType) -> None:
    assert tool.stale() == [], "run tools/schemas.py"


def test_a_stale_one_is_noticed(tool: ModuleType, tmp_path: Path) -> None:
    for name, text in tool.schemas().items():
        (tmp_path / name).write_text(text.replace("discreet problem", "another problem"), encoding="utf-8")
    (tmp_path / "gone.json").write_text("{}", encoding="utf-8")
    assert tool.stale(tmp_path) == ["gone.json", "problem.json"]


def schema(name: str) -> Any:
    return json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text(encoding="utf-8"))


def table() -> Mechanism:
    return mechanism_on(
        PROBLEM, LinearSummary((0, 1)),
        TableKernel(("0", "1", "2"), (Output("x", Fraction(1, 3)), Output("y")), ((5, 4, 3), (3, 4, 5)), 8),
    )  # fmt: skip


def test_what_we_write_fits_its_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    closed = mechanism_on(PROBLEM, LinearSummary((0, 1)), GeometricKernel(0, 2, 1, Fraction(1, 2)))
    proof = certify.privacy(table())
    assert isinstance(proof, Certificate)
    jsonschema.validate(problem_document(PROBLEM), schema("problem"))
    jsonschema.validate(mechanism_document(table()), schema("mechanism"))
    jsonschema.validate(mechanism_document(closed), schema("mechanism"))
    jsonschema.validate(certificate_document(proof), schema("certificate"))
    kept = {"format": "discreet-record/1", "records": [record_document(RECORD)]}
    jsonschema.validate(kept, schema("record"))


@pytest.mark.parametrize(("key", "value"), [("extra", 1), ("format", "x"), ("kernel", {"family": "x"})])
def test_what_does_not_fit_is_refused(key: str, value: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document = mechanism_document(table()) | {key: value}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema("mechanism"))
