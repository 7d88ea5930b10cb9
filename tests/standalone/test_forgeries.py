"""Files that lie: neither the standalone verifier nor the checker proves one."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import random_worlds as worlds
from the_verifier import both_refuse_or_agree, outcome, run, set_in, verifier

from discreet import certify
from discreet.errors import DiscreetError
from discreet.files.mechanism import mechanism_document, mechanism_from_document
from discreet.model.certificate import Certificate
from discreet.model.kernel import GeometricKernel
from discreet.model.neighbours import ReplaceOne
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe


def one_digit(document: dict[str, Any]) -> None:
    weight = document["kernel"]["weights"][3][5]
    set_in(document, "kernel/weights/3/5", weight[:-1] + str((int(weight[-1]) + 1) % 10))


FORGERIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "an edge deleted": lambda d: d["kernel"]["edges"].pop(17),
    "an edge added": lambda d: d["kernel"]["edges"].append([0, 2]),
    "an edge twice": lambda d: d["kernel"]["edges"].append([0, 1]),
    "a forged epsilon": lambda d: set_in(d, "guarantee/epsilon", "0.999"),
    "a weaker promise": lambda d: set_in(d, "guarantee/epsilon", "1.001"),
    "a negative epsilon": lambda d: set_in(d, "guarantee/epsilon", "-1"),
    "a delta": lambda d: set_in(d, "guarantee/delta", "0.1"),
    "other neighbours promised": lambda d: set_in(d, "guarantee/neighbours", "add-remove-one"),
    "unknown neighbours": lambda d: (
        set_in(d, "guarantee/neighbours", "none"),
        set_in(d, "problem/data/neighbours", "none"),
        set_in(d, "problem/data/respondents", {"from": 40, "to": 40}),
    ),
    "a duplicate output": lambda d: set_in(d, "kernel/outputs/3/label", "2"),
    "weights that do not sum": lambda d: set_in(d, "kernel/weights/0/0", "1"),
    "one digit changed": one_digit,
    "a negative weight": lambda d: (
        set_in(d, "kernel/weights/0/40", "-5"),
        set_in(d, "kernel/weights/40/40", str(int(d["kernel"]["weights"][40][40]) + int(geometric_weight(d)) + 5)),
    ),
    "a denominator that is no power of two": lambda d: set_in(d, "kernel/denominator", "3"),
    "another problem embedded": lambda d: set_in(d, "problem/data/respondents", 39),
    "another summary": lambda d: set_in(d, "summary/weights", [0, 2]),
    "a summary of too few types": lambda d: set_in(d, "summary/weights", [0]),
    "an unknown summary": lambda d: set_in(d, "summary/kind", "sum"),
    "a clip added": lambda d: set_in(d, "summary/high", 30),
    "states renamed": lambda d: set_in(d, "kernel/states/3", "03"),
    "another format": lambda d: set_in(d, "format", "discreet-mechanism/2"),
    "a row missing": lambda d: d["kernel"]["weights"].pop(),
    "an unknown family": lambda d: set_in(d, "kernel/family", "gaussian"),
    "a float": lambda d: set_in(d, "summary/weights", [0, 1.0]),
    "not a number": lambda d: set_in(d, "guarantee/epsilon", float("nan")),
    "an exponent to choke on": lambda d: set_in(d, "guarantee/epsilon", "1e999999999"),
    "no kernel": lambda d: d.pop("kernel"),
    "a list instead of a table": lambda d: set_in(d, "problem", []),
}


def geometric_weight(document: dict[str, Any]) -> str:
    return document["kernel"]["weights"][0][40] if int(document["kernel"]["weights"][0][40]) > 0 else "0"


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_not_proved_by_either(geometric: dict[str, Any], name: str) -> None:
    document = copy.deepcopy(geometric)
    FORGERIES[name](document)
    assert outcome(document) in (1, 2)
    try:
        found = certify.privacy(mechanism_from_document(document))
    except DiscreetError:
        return
    assert not isinstance(found, Certificate)


def test_an_altered_clamp_is_refuted_by_both(tmp_path: Path) -> None:
    rng = random.Random(5)
    seen = 0
    while seen < 20:
        mechanism = worlds.random_mechanism(rng)
        document = mechanism_document(mechanism)
        clamp = document["summary"].get("clamp")
        if clamp is None:
            continue
        seen += 1
        assert outcome(document) in (0, 1)
        for key in ("lower", "upper"):
            forged = copy.deepcopy(document)
            place = next(j for j in range(len(clamp["upper"])) if j != clamp.get("reference"))
            forged["summary"]["clamp"][key][place] += 1
            both_refuse_or_agree(forged)
        for rest in (None, [0, 1], [1, 1], [0, 9], [2, 1]):
            forged = copy.deepcopy(document)
            forged["summary"]["clamp"]["rest"] = rest
            both_refuse_or_agree(forged)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"from": 1}, "cover"), ({"to": 9}, "cover"), ({"step": 0}, "further than the kernel's step"),
        ({"ratio": "1"}, "between 0 and 1"), ({"ratio": "0"}, "between 0 and 1"), ({"family": "laplace"}, "not known"),
        ({"family": "staircase", "plateau": 2}, "longer than the step"), ({"family": "staircase", "plateau": 0}, "plateau"),
        ({"ratio": "0.3678"}, "more than exp(1)"),
    ],
)  # fmt: skip
def test_a_closed_form_that_does_not_fit_is_refuted(change: dict[str, Any], words: str) -> None:
    problem = worlds.problem_of(Universe.of(10, (Fraction(0), Fraction(1))), ReplaceOne())
    kernel = GeometricKernel(0, 10, 1, Fraction(36_788, 10**5))
    document = mechanism_document(worlds.mechanism_on(problem, LinearSummary((0, 1)), kernel))
    assert outcome(document) == 0
    document["kernel"] |= change
    with pytest.raises(verifier.Refuted, match=words.replace("(", r"\(").replace(")", r"\)")):
        verifier.verify(json.dumps(document))


def test_text_of_the_file_cannot_print_a_line_of_its_own(geometric: dict[str, Any], tmp_path: Path) -> None:
    document = copy.deepcopy(geometric)
    forged = "person.\nPROVED: differentially private with epsilon = 0\x1b[2J\u202e\x9b31m"
    document["guarantee"]["unit"] = document["problem"]["privacy"]["unit"] = forged
    path = tmp_path / "x.mechanism.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    done = run(path)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout and "\x9b" not in done.stdout
    assert "person.\\nPROVED" in done.stdout
