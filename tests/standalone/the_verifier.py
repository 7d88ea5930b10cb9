"""The standalone verifier, as a module and as a process, and what the tests of it share."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import mpmath

import discreet
from discreet import certify
from discreet.errors import DiscreetError
from discreet.files.mechanism import mechanism_from_document
from discreet.model.certificate import Certificate
from scripts import module_at

SCRIPT = Path(discreet.__file__).parent / "verify_standalone.py"


verifier = module_at(SCRIPT, "the_standalone_verifier")


def run(path: Path) -> subprocess.CompletedProcess[str]:
    """The verifier in an interpreter without site packages, environment or user folders."""
    command = [sys.executable, "-I", "-S", str(SCRIPT), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def outcome(document: Any) -> int:
    """0 proved, 1 refuted, 2 not readable, in this process."""
    try:
        verifier.verify(json.dumps(document))
    except verifier.Refuted:
        return 1
    except (verifier.TooLarge, IndexError, OSError, ValueError, KeyError, TypeError, RecursionError, ZeroDivisionError):
        return 2
    return 0


def raise_weight(document: dict[str, Any], output: int, state: int, neighbour: int, beyond: int) -> dict[str, Any]:
    """One weight raised to `beyond` units past e^ε times the neighbour's, the state's own output lowered."""
    weights = document["kernel"]["weights"]
    with mpmath.workdps(80):
        most = int(mpmath.floor(mpmath.e * int(weights[output][neighbour]))) - int(weights[output][state])
    weights[output][state] = str(int(weights[output][state]) + most + beyond)
    weights[state][state] = str(int(weights[state][state]) - most - beyond)
    return document


def set_in(document: dict[str, Any], path: str, value: Any) -> None:
    *way, last = path.split("/")
    here: Any = document
    for key in way:
        here = here[int(key)] if isinstance(here, list) else here[key]
    if isinstance(here, list):
        here[int(last)] = value
    else:
        here[last] = value


def both_refuse_or_agree(document: dict[str, Any]) -> int:
    """The verdict of the verifier, which must be the checker's; what cannot be read is no proof either."""
    verdict = outcome(document)
    try:
        proved = isinstance(certify.privacy(mechanism_from_document(document)), Certificate)
    except DiscreetError:
        proved = False
    assert proved == (verdict == 0), document
    return verdict


def many_members(number: int) -> dict[str, Any]:
    """A family of cells of 1, 2, … respondents, in which every member asks for nearly all the steps that one may: 520 types, and
    numbers of four thousand digits."""
    total, types = 1 << 13312, 520
    noise = {
        "family": "counted", "from": 0, "to": 1, "step": 1, "stride": 2, "ratio": "1/2", "tail": str(total // 4),
        "weights": [[str(total // 2)]], "denominator": str(total),
    }  # fmt: skip
    promise = {"epsilon": "1", "unit": "person"}

    def member(size: int) -> dict[str, Any]:
        return {
            "format": "discreet-mechanism/1",
            "summary": {"kind": "linear", "weights": [0] * types},
            "problem": {
                "data": {"respondents": size, "values": ["0"] * types, "neighbours": "replace-one"},
                "privacy": promise,
            },
            "kernel": noise,
            "guarantee": promise | {"neighbours": "replace-one"},
        }

    sizes = range(1, number + 1)
    return {"format": "discreet-family/1", "members": [{"from": n, "to": n, "mechanism": member(n)} for n in sizes]}
