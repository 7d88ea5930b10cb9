"""Invariants: the graph keeps every fixed count, what it leaves is proved, and what is given away is said.

The adversaries: a reader who tells components apart, a forger who moves weight in one, a file that claims invariants for itself.
Executes BG Def. 3.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from discreet import files
from discreet.certify import privacy
from discreet.currencies import by_component, tight_epsilon
from discreet.design import design
from discreet.errors import DiscreetError, InputError, Refuted
from discreet.files.problem import problem_from_document
from discreet.model.certificate import Certificate
from discreet.model.invariants import classes_of, protection
from discreet.model.kernel import TableKernel
from discreet.model.mechanism import Mechanism
from discreet.numerics.brackets import compare_ratio_exp

UNALIKE = [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]]
ROOT = Path(__file__).resolve().parents[2]


def document(invariants: object, respondents: int = 3, prior: object = None, **data: object) -> dict:
    return {
        "data": {"respondents": respondents, "values": [0, 1, 2], "invariants": invariants, **data},
        "prior": prior or {"kind": "iid", "probabilities": ["1/2", "3/10", "1/5"]},
        "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": "real"},
        "privacy": {"epsilon": 1, "unit": "household"},
    }


@pytest.fixture(scope="module")
def mechanism() -> Mechanism:
    return design(problem_from_document(document([[0]])), compare=False).mechanism


def histogram(database: tuple[int, ...]) -> str:
    return ",".join(str(database.count(t)) for t in range(3))


@pytest.mark.parametrize("fixed", [[0], [2], [0, 2]])
def test_neighbours_are_the_databases_that_differ_in_one_record_and_in_no_fixed_count(fixed: list[int]) -> None:
    wanted = set()
    for one in product(range(3), repeat=3):
        for place, t in product(range(3), range(3)):
            other = (*one[:place], t, *one[place + 1 :])
            counted = [sum(x in fixed for x in database) for database in (one, other)]
            if histogram(one) != histogram(other) and counted[0] == counted[1]:
                wanted.add(frozenset((histogram(one), histogram(other))))
    found = problem_from_document(document([fixed]))
    assert {frozenset(edge) for edge in found.neighbours.edges} == wanted
    assert sum(p for _, p in found.prior.table) == 1


def test_the_design_gives_away_the_count_and_keeps_epsilon_within_each_component(mechanism: Mechanism) -> None:
    assert isinstance(privacy(mechanism), Certificate)
    parts = by_component(mechanism)
    assert [len(p.states) for p in sorted(parts, key=lambda p: len(p.states))] == [1, 2, 3, 4]
    for part in parts:
        assert len({label.split(",")[0] for label in part.states}) == 1, "a component has one number of type 0"
        assert part.ratio is not None and compare_ratio_exp(part.ratio.numerator, part.ratio.denominator, Fraction(1)) <= 0
    assert tight_epsilon(mechanism).ratio == max(part.ratio for part in parts if part.ratio)
    # The near miss: between components an output is possible on one side alone, so no ε holds for plain replacement.
    labels = mechanism.space.labels
    columns = [mechanism.probabilities[:, labels.index(label)] for label in ("1,2,0", "2,1,0")]
    assert any((a > 0) != (b > 0) for a, b in zip(*columns, strict=True))


def test_a_unit_of_weight_too_many_within_a_component_is_refuted(mechanism: Mechanism) -> None:
    kernel = mechanism.kernel
    assert isinstance(kernel, TableKernel)
    first, second = (mechanism.space.labels.index(label) for label in ("1,2,0", "1,1,1"))
    weights = [list(row) for row in kernel.weights]
    row = max(range(len(weights)), key=lambda y: weights[y][first])
    taken = weights[row][second] // 2
    weights[row][second] -= taken
    weights[max(range(len(weights)), key=lambda y: (y != row) * weights[y][second])][second] += taken
    forged = replace(mechanism, kernel=replace(kernel, weights=tuple(map(tuple, weights))))
    assert not isinstance(privacy(forged), Certificate)


def test_the_file_holds_the_graph_and_both_checkers_prove_it(mechanism: Mechanism, tmp_path: Path) -> None:
    place = tmp_path / "fixed.mechanism.json"
    files.write_mechanism(place, mechanism)
    written = json.loads(place.read_text(encoding="utf-8"))
    assert "invariants" not in written["problem"]["data"] and len(written["problem"]["data"]["neighbours"]["edges"]) == 6
    assert isinstance(privacy(files.read_mechanism(place)), Certificate)
    alone = [sys.executable, "-I", str(ROOT / "src" / "discreet" / "verify_standalone.py"), str(place)]
    assert subprocess.run(alone, capture_output=True, text=True, check=False).returncode == 0
    written["problem"]["data"]["invariants"] = [[0]]
    place.write_text(json.dumps(written), encoding="utf-8")
    with pytest.raises((InputError, Refuted)):
        files.read_mechanism(place)


def test_what_is_not_protected_is_said() -> None:
    found = problem_from_document(document([[0]]))
    assert any("how many respondents have 0 is public" in note for note in found.notes)
    assert any("Not protected at all: having 0" in note for note in found.notes)
    assert any("Protected: which of 1 or 2" in note for note in found.notes)
    asked = problem_from_document({**document(None), "data": {"respondents": 3, "values": [0, 1, 2]}})
    assert protection(asked, [(0,)]).components == 4
    assert classes_of(4, [(0, 1), (1, 2)]) == ((0,), (1,), (2,), (3,)) and classes_of(4, [(0, 1)]) == ((0, 1), (2, 3))


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (document([[0], [1]]), "nothing is protected"),
        (document([[3]]), "numbered from 0"),
        (document([[]]), "numbered from 0"),
        (document([[0, 0]]), "numbered from 0"),
        (document([[0]], neighbours="add-remove-one"), "respondents"),
        (document([[0]], prior={"kind": "independent", "probabilities": UNALIKE}), "order does not matter"),
        (document([[0]], respondents=200), "too many histograms"),
    ],
)
def test_what_cannot_be_kept_is_refused(bad: dict, words: str) -> None:
    with pytest.raises(DiscreetError, match=words):
        problem_from_document(bad)
