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
