"""What accuracy costs, for reports: a picture, or the reason why there is none."""

from __future__ import annotations

import pytest

from discreet.files.problem import problem_from_document
from discreet.model.problem import Problem
from discreet.present import accuracy
from discreet.present.accuracy import accuracy_section


def places(epsilon: str, key: str = "epsilon", respondents: int = 5) -> Problem:
    return problem_from_document(
        {
            "data": {"respondents": respondents, "values": [0, 1]},
            "prior": {"kind": "iid", "probabilities": ["0.7", "0.3"]},
            "statistic": {"kind": "sum"},
            "decision": {"kind": "squared-error", "actions": "integer"},
            "privacy": {key: epsilon},
        }
    )


def test_a_picture_of_five_levels() -> None:
    body = accuracy_section(places("1")).body
    assert "<svg" in body and "5 levels from 0.5 to 2" in body


def test_under_rho_pure_designs_stand_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy, "SHARES", accuracy.FEW)
    body = accuracy_section(places("1/2", "rho", 2)).body
    assert body.count("<svg") == 2 and "At equal ρ, proved:" in body and "At equal (ε, δ = 1e-06)" in body
    assert "3 levels from 0.25 to 1" in body


def test_without_levels_the_reason_is_told() -> None:
    body = accuracy_section(places("0")).body
    assert "Not computed" in body and "<svg" not in body
