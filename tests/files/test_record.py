"""Records of designs: every number comes back, strangers are refused, and a record about another mechanism says nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf, isnan, nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import RECORD

from discreet.errors import InputError
from discreet.files import read_records, record_path, write_records
from discreet.files.record import record_beside, record_document, record_from_document
from discreet.model.record import Baseline, Behaviour, Reached

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite, finite, finite)
def test_every_number_comes_back(a: float, b: float, c: float) -> None:
    given_record = replace(
        RECORD, baselines={"x": Baseline("x", a, "words")}, rungs=(Reached("r", b, c, abs(a)),), behaviour=Behaviour(a, b, c, a, b)
    )
    back = record_from_document(json.loads(json.dumps(record_document(given_record))))
    assert back.baselines["x"].value == a and (back.rungs[0].loss, back.rungs[0].lower_bound) == (b, c)
    assert back.behaviour is not None and back.behaviour.__dict__ == Behaviour(a, b, c, a, b).__dict__


def test_a_file_holds_the_record_of_each_mechanism(tmp_path: Path) -> None:
    other = replace(RECORD, mechanism="77aa", within=None, price=None, behaviour=None)
    write_records(tmp_path / "x.record.json", [RECORD, other])
    found = read_records(tmp_path / "x.record.json")
    assert list(found) == ["5f3c", "77aa"]
    assert found["5f3c"].steps == RECORD.steps and found["5f3c"].baselines == RECORD.baselines
    assert found["5f3c"].notes == RECORD.notes and found["5f3c"].price == 0.5 and found["77aa"].behaviour is None
    assert record_beside(tmp_path / "x.mechanism.json", "77aa") is not None
    assert record_beside(tmp_path / "x.mechanism.json", "another") is None, "a record of another mechanism says nothing"
    assert record_beside(tmp_path / "y.mechanism.json", "5f3c") is None


def test_what_was_not_finite_stays_so() -> None:
    odd = replace(RECORD, rungs=(Reached("r", inf, -inf, nan),), behaviour=Behaviour(nan, nan, nan, nan, None))
    back = record_from_document(record_document(odd))
    assert (back.rungs[0].loss, back.rungs[0].lower_bound) == (inf, -inf)
    assert back.behaviour is not None and isnan(back.behaviour.slope) and back.behaviour.unbiased_variance is None


@pytest.mark.parametrize(
    ("file", "beside"),
    [
        ("x.mechanism.json", "x.record.json"),
        ("x.family.json", "x.family.record.json"),
        ("x.json", "x.record.json"),
    ],
)
def test_a_record_stands_beside_its_file(file: str, beside: str) -> None:
    assert record_path(Path("f") / file) == Path("f") / beside


@pytest.mark.parametrize("change", [{"format": "discreet-record/2"}, {"records": [{}]}, {"more": 1}])
def test_a_file_that_is_no_record_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    (tmp_path / "x.record.json").write_text(json.dumps({"format": "discreet-record/1", "records": []} | change), encoding="utf-8")
    with pytest.raises(InputError):
        read_records(tmp_path / "x.record.json")
