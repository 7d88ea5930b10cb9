"""Small files that ask the checker for endless work or memory: refused before it begins, never a crash, never "refuted"."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.files.mechanism import mechanism_document
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.summary import LinearSummary

GIGABYTES = 3


def small() -> dict[str, Any]:
    """A small honest mechanism: a closed form on a sum of two respondents."""
    problem = discreet.problem(respondents=2, values=["0", "1"], probabilities=["1/2", "1/2"], actions="real", epsilon="1").problem
    return mechanism_document(geometric_mechanism(problem, LinearSummary((0, 1))))


def asking(respondents: Any, summary: dict[str, Any], types: int = 2, neighbours: str = "replace-one") -> dict[str, Any]:
    """The same with a table of two states on another world."""
    document = copy.deepcopy(small())
    data, prior = document["problem"]["data"], document["problem"]["prior"]
    data |= {"respondents": respondents, "values": [str(t) for t in range(types)], "neighbours": neighbours}
    prior["probabilities"] = [f"1/{types}"] * types
    if neighbours == "add-remove-one":
        prior["size"] = "uniform"
    document["summary"] = summary
    document["kernel"] = {
        "family": "table",
        "states": ["0", "1"],
        "outputs": [{"label": "x"}],
        "weights": [["1", "1"]],
        "denominator": "1",
        "edges": [[0, 1]],
    }
    document["guarantee"]["neighbours"] = neighbours
    return document


ENDLESS = {
    "scattered totals": asking(1, {"kind": "linear", "weights": [0, 15_000_000_001, 15_000_000_000]}, 3),
    "dense totals": asking(1_000, {"kind": "linear", "weights": [0, 1, 300_000]}, 3),
    "many weights": asking(200, {"kind": "linear", "weights": [k * k for k in range(900)]}, 900),
    "60 respondents of 12 types": asking(60, {"kind": "histogram"}, 12),
    "two respondents of 700 types": asking(2, {"kind": "histogram"}, 700),
    "databases of 30 respondents": asking(30, {"kind": "database"}),
    "a clipped sum of a billion": asking(10**9, {"kind": "linear", "weights": [0, 1], "low": 0, "high": 1}),
    "more respondents than people": asking(10**30, {"kind": "linear", "weights": [0, 1]}),
    "up to a billion": asking({"from": 0, "to": 10**9}, {"kind": "linear", "weights": [0, 1]}, 2, "add-remove-one"),
}


def certified_in_little_memory(path: Path) -> subprocess.CompletedProcess[str]:
    program = f"'{sys.executable}' -c 'from discreet.cli.main import main; main()' certify '{path}'"
    limited = f"export OPENBLAS_NUM_THREADS=1; ulimit -v {GIGABYTES * 1_000_000}; exec {program}"
    return subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_work_is_refused_in_words(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(ENDLESS[name]), encoding="utf-8")
    done = certified_in_little_memory(path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Too large" in done.stderr or "more respondents than people" in done.stderr, done.stderr


def test_totals_that_are_far_apart_are_listed_by_their_unit(tmp_path: Path) -> None:
    """Near-miss: the same weights with a common unit have two states, and are proved."""
    document = asking(1, {"kind": "linear", "weights": [0, 15_000_000_000]})
    document["kernel"]["states"] = ["0", "15000000000"]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    done = certified_in_little_memory(path)
    assert done.returncode == 0 and "Proved" in done.stdout, done.stdout + done.stderr
