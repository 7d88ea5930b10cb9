"""What accuracy costs, for reports: a picture, or the reason why there is none."""

from __future__ import annotations

from discreet.files.problem import problem_from_document
from discreet.model.problem import Problem
from discreet.present.accuracy import accuracy_section


def places(epsilon: str) -> Problem:
    return problem_from_document(
        {
            "data": {"respondents": 5, "values": [0, 1]},
            "prior": {"kind": "iid", "probabilities": ["0.7", "0.3"]},
            "statistic": {"kind": "sum"},
            "decision": {"kind": "squared-error", "actions": "integer"},
            "privacy": {"epsilon": epsilon},
        }
    )


def test_a_picture_of_five_levels() -> None:
    body = accuracy_section(places("1")).body
    assert "<svg" in body and "5 levels from 0.5 to 2" in body


def test_without_levels_the_reason_is_told() -> None:
    body = accuracy_section(places("0")).body
    assert "Not computed" in body and "<svg" not in body
