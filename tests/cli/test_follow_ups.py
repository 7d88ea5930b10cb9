"""Whatever `design` can design, its follow-ups take or refuse in words. (All of it, at every size: `bench/follow_ups.py`.)

Every kind of problem is asked a quarter of the questions, so that every question meets several kinds.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from discreet.cli.main import run
from discreet.design.schedule import counted

ROOT = Path(__file__).parents[2]
THREE = (".89", ".09", ".02")
SECONDS = 0.5
GROWING = {"kind": "iid", "probabilities": list(THREE), "size": ["1/5"] * 5}


@pytest.fixture(scope="module")
def bench() -> Any:
    """The bench, whose questions and judgement these are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "bench")
        return importlib.import_module("follow_ups")


def kinds(bench: ModuleType) -> dict[str, dict[str, Any]]:
    """A small problem of every kind."""
    problem, whole = bench.problem, bench.WHOLE
    graph = next(document for name, document in bench.zoo() if name == "graph 3")
    makers = [{**whole, "weight": "1"}, {"kind": "pinball", "quantile": "0.9", "actions": "real", "weight": "2"}]
    bus = {"kind": "expression", "actions": {"from": "0.1", "to": 40}, "payoff": "-omega/a - 0.1*a"}
    return {
        "iid, real actions": problem(5, (0, 1, 2), THREE),
        "cells that differ": problem(5, (0, 1, 2), {"kind": "exchangeable", "concentration": ["8", "1.4", "0.6"]}),
        "respondents who differ": problem(3, (0, 1), {"kind": "independent", "probabilities": [[".9", ".1"]] * 3}, whole),
        "a graph": graph,
        "added or removed": problem({"from": 0, "to": 4}, (0, 1, 2), GROWING, whole, neighbours="add-remove-one"),
        "two makers": problem(4, (0, 1, 2), THREE, makers),
        "a threshold": problem(5, (0, 1, 2), THREE, {"kind": "expression", "actions": [0, 1], "payoff": "a*(omega-1)"}),
        "a match": problem(4, (0, 1, 2), THREE, {"kind": "match", "actions": "integer"}),
        "a bus": problem(8, (0, 1), (".89", ".11"), bus),
        "values of 1e-12": problem(4, (0, "1e-12", "3e-12"), THREE),
        "values of 1e15": problem(4, (0, "1e15", "3e15"), THREE, bench.SQUARED),
        "next to no ε": problem(5, (0, 1, 2), THREE, epsilon="1e-6"),
        "much ε": problem(5, (0, 1, 2), THREE, whole, epsilon="30"),
        "ρ": {**problem(4, (0, 1, 2), THREE, whole), "privacy": {"rho": "1/2"}},
    }


@pytest.mark.parametrize("number", range(14))
def test_follow_ups_answer_or_refuse(
    number: int, bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, document = list(kinds(bench).items())[number]
    monkeypatch.chdir(tmp_path)
    wrong, answered = [], 0
    for place, (question, (words, _)) in enumerate(bench.questions(document, SECONDS).items()):
        if question != "design" and (place + number) % 4:
            continue
        if words[1].endswith(".json") and not Path(words[1]).exists():
            continue
        asked = [bench.middle_code(Path(words[1])) if word == "CODE" else word for word in words]
        with counted():
            code = run(asked)
        out, err = capsys.readouterr()
        answered += code == 0
        if bad := bench.judged({"code": code, "cpu": 0.0, "said": out + err}, 1.0):
            wrong.append(f"{name}, {question}: {bad}")
    assert not wrong and answered >= 1
