"""Promises that nobody could break are refused: relations without neighbours, sums of nameless databases, another unit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from discreet import verify_standalone as verifier
from discreet.errors import DiscreetError
from discreet.files.mechanism import mechanism_from_document

NOISE = {"family": "geometric", "from": -5, "to": 5, "step": 1, "ratio": "1/2"}


def document(data: dict[str, Any], relation: str, kernel: dict[str, Any] | None = None) -> dict[str, Any]:
    problem = {
        "data": data,
        "prior": {"kind": "iid", "probabilities": ["1/2", "1/2"]},
        "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": "real"},
        "privacy": {"epsilon": "1", "unit": "respondent"},
    }
    summary = {"kind": "linear", "weights": [0, 1]} if kernel is None else {"kind": "histogram"}
    return {
        "format": "discreet-mechanism/1",
        "problem": problem,
        "summary": summary,
        "kernel": kernel or NOISE,
        "guarantee": {"epsilon": "1", "neighbours": relation, "unit": "respondent"},
        "claims": {},
        "provenance": {},
    }


def revealing() -> dict[str, Any]:
    return {
        "family": "table",
        "states": ["2,0", "1,1", "0,2"],
        "outputs": [{"label": "x"}, {"label": "y"}],
        "weights": [["2", "0", "2"], ["0", "2", "0"]],
        "denominator": "2",
        "edges": [],
    }


def values(respondents: Any, neighbours: Any) -> dict[str, Any]:
    return {"respondents": respondents, "values": ["0", "1"], "neighbours": neighbours}


ONE_SIZE = document(values({"from": 2, "to": 2}, "add-remove-one"), "add-remove-one", revealing())
NO_SIZE = document(values({"from": 3, "to": 2}, "add-remove-one"), "add-remove-one")
NOBODY = document(values(0, "replace-one"), "replace-one")
TRUTH = document(values(True, "replace-one"), "replace-one")
NAMED = document(values({"from": 0, "to": 2}, {"states": ["p", "q"], "edges": [["p", "q"]]}), "given")


@pytest.mark.parametrize("forged", [ONE_SIZE, NO_SIZE, NOBODY, TRUTH, NAMED])
def test_relations_that_protect_nobody_are_refused_by_both_checkers(forged: dict[str, Any]) -> None:
    with pytest.raises(verifier.Refuted):
        verifier.verify(json.dumps(forged))
    with pytest.raises(DiscreetError):
        mechanism_from_document(forged)


def test_the_promise_names_the_unit_of_its_problem() -> None:
    forged = document(values(2, "replace-one"), "replace-one")
    verifier.verify(json.dumps(forged))
    forged["guarantee"]["unit"] = "household"
    with pytest.raises(verifier.Refuted):
        verifier.verify(json.dumps(forged))
    with pytest.raises(DiscreetError):
        mechanism_from_document(forged)
