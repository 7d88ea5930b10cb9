"""Clamps as a stranger may write them: checker and standalone verifier refuse what is not written in whole numbers.

Bounds of the reference type say nothing, however large: nothing may be computed from them.
"""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.certify import privacy
from discreet.errors import DiscreetError
from discreet.files.mechanism import mechanism_from_document
from discreet.model.certificate import Certificate
from discreet.model.neighbours import ReplaceOne
from discreet.model.states import locate, state_space
from discreet.model.summary import Clamp, HistogramSummary
from discreet.model.universe import Universe
from scripts import module_at

SCRIPT = Path(discreet.__file__).parent / "verify_standalone.py"
verifier = module_at(SCRIPT, "verifier_of_clamps")

REFUSALS = (verifier.Refuted, IndexError, ValueError, KeyError, TypeError)
HONEST = {"lower": [0, 0], "upper": [3, 2], "reference": 0, "rest": [1, 3]}


def document(clamp: Any) -> dict[str, Any]:
    """Two outputs drawn by a fair coin, on the states of the honest clamp."""
    return {
        "format": "discreet-mechanism/1",
        "problem": {
            "data": {"respondents": 3, "values": [0, 1], "neighbours": "replace-one"},
            "prior": {"kind": "iid", "probabilities": ["1/2", "1/2"]},
            "statistic": {"kind": "sum"},
            "decision": {"kind": "squared-error", "actions": "real"},
            "privacy": {"epsilon": "1", "unit": "respondent"},
        },
        "summary": {"kind": "histogram", "clamp": clamp},
        "kernel": {
            "family": "table",
            "states": ["3,0", "2,1", "1,2"],
            "outputs": [{"label": "x"}, {"label": "y"}],
            "weights": [["1"] * 3, ["1"] * 3],
            "denominator": "2",
            "edges": [[0, 1], [1, 2]],
        },
        "guarantee": {"epsilon": "1", "neighbours": "replace-one", "unit": "respondent"},
        "claims": {},
        "provenance": {},
    }


def checked(text: str) -> bool:
    try:
        return isinstance(privacy(mechanism_from_document(json.loads(text))), Certificate)
    except DiscreetError:
        return False


def verified(text: str) -> bool:
    try:
        verifier.verify(text)
    except REFUSALS:
        return False
    return True


def test_the_honest_clamp_is_proved_twice() -> None:
    text = json.dumps(document(HONEST))
    assert checked(text) and verified(text)


@pytest.mark.parametrize(
    "change",
    [
        {"rest": [True, 3]},
        {"rest": ["1", "3"]},
        {"rest": "13"},
        {"rest": [1]},
        {"rest": [1, 3, 3]},
        {"rest": [3, 1]},
        {"rest": [-1, 3]},
        {"rest": [1, None]},
        {"lower": [0, False]},
        {"lower": "00"},
        {"upper": [3, "2"]},
        {"upper": [3]},
        {"reference": None},
        {"reference": 2},
        {"reference": -1},
        {"reference": "0"},
        {"reference": [0]},
    ],
)
def test_other_kinds_of_numbers_are_refused_by_both(change: dict[str, Any]) -> None:
    text = json.dumps(document(copy.deepcopy(HONEST) | change))
    assert not checked(text) and not verified(text)


@pytest.mark.parametrize("nothing", [{}, [], False, 0, ""])
def test_an_empty_clamp_is_no_clamp_left_out(nothing: Any) -> None:
    whole = document(nothing)
    whole["kernel"] |= {"states": ["3,0", "2,1", "1,2", "0,3"], "edges": [[0, 1], [1, 2], [2, 3]], "weights": [["1"] * 4] * 2}
    assert not checked(json.dumps(whole)) and not verified(json.dumps(whole))
    del whole["summary"]["clamp"]
    assert checked(json.dumps(whole)) and verified(json.dumps(whole))


def test_a_reference_named_by_true_is_refused_by_both() -> None:
    mirrored = {"lower": [0, 0], "upper": [2, 3], "reference": True, "rest": [1, 3]}
    whole = document(mirrored)
    whole["kernel"]["states"] = ["0,3", "1,2", "2,1"]
    assert not checked(json.dumps(whole)) and not verified(json.dumps(whole))
    mirrored["reference"] = 1
    assert checked(json.dumps(whole)) and verified(json.dumps(whole))


@pytest.mark.parametrize("absurd", [-(10**30), 10**30, -(2**63)])
def test_bounds_of_the_reference_are_not_computed_with(absurd: int) -> None:
    universe = Universe.of(3, (Fraction(0), Fraction(1)))
    histograms = np.array([[3 - c, c] for c in range(4)])
    found = []
    for bound in (absurd, 0):
        summary = HistogramSummary(Clamp((bound, 0), (bound, 2), 0, (1, 3)))
        found.append(locate(state_space(universe, ReplaceOne(), summary), summary, histograms).tolist())
    assert found[0] == found[1] == [0, 1, 2, 2]
