"""Respondents of some types unknown, all others told: never above the optimum; what does not fit is refuted."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import comb
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from forger import change, places
from mutation import limited, unexplained

import discreet
from discreet.certify.bounds import told
from discreet.certify.bounds.quotient import quotient_upper_bound
from discreet.certify.bounds.set_aside import set_aside_upper_bound, work_of
from discreet.certify.bounds.told import among, told_upper_bound
from discreet.certify.optimality import upper_bound
from discreet.design import design
from discreet.design.ladder.bounds.groupings import fitting, quotient
from discreet.design.ladder.bounds.set_aside import fitting_program, set_aside_bound
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.schedule import counted
from discreet.errors import DiscreetError, InputError, Refuted, TooLarge
from discreet.files.certificate import certificate_document, certificate_from_document
from discreet.files.problem import problem_from_document
from discreet.model.certificate import (
    Certificate,
    OptimalityClaim,
    PrivacyProof,
    QuotientWitness,
    SetAsideWitness,
    ToldWitness,
)
from discreet.model.problem import Problem

TOLD = Path(discreet.__file__).parent / "certify" / "bounds" / "told.py"
ALL = ((1e-3, 0.12),)


def asked(respondents: int = 6, kind: str = "squared-error", actions: Any = "real", **more: Any) -> Problem:
    return problem_from_document(
        {
            "data": {"respondents": respondents, "values": more.get("values", [0, 1, 3, 4])},
            "prior": more.get("prior", {"kind": "iid", "probabilities": more.get("chances", ["0.5", "0.2", "0.2", "0.1"])}),
            "statistic": {"kind": "sum"},
            "decision": {"kind": kind, "actions": actions, **more.get("decision", {})},
            "privacy": {"epsilon": more.get("epsilon", "1"), "unit": "person"},
        }
    )


def aside(problem: Problem, types: tuple[int, ...], number: int) -> SetAsideWitness:
    """What is proved of so many respondents of these types, by the count and the sum of all but the first."""
    reader = Reader(among(problem, types, number))
    values = {t: Fraction(v) for t, v in zip(reader.law.types, reader.law.values, strict=True)}
    forms = [(0, 0) if t == types[0] else (1, int(values[t] - min(values[s] for s in types[1:]))) for t in sorted(types)]
    with counted():
        fitted = fitting_program(reader, forms, 7.0, 1e4, ALL)
        assert fitted is not None
        return set_aside_bound(reader, fitted, 7.0, 1e-4, 1e4).witness


def grouped(problem: Problem, types: tuple[int, ...], number: int) -> QuotientWitness:
    reader = Reader(among(problem, types, number))
    with counted():
        program = fitting(reader, None, 100.0)
        assert program is not None
        return quotient(reader, program, 2.0, 1e-4, 100.0).witness


def witness_of(problem: Problem, types: tuple[int, ...] = (0, 3, 2), numbers: tuple[int, ...] = (3, 4, 6)) -> ToldWitness:
    return ToldWitness(types, numbers, tuple(aside(problem, types, number) for number in numbers))


@pytest.fixture(scope="module")
def whole() -> tuple[Problem, ToldWitness, Fraction]:
    """A problem, a witness for it and what its best mechanism loses."""
    problem = asked()
    found = design(problem, gap=1e-4, compare=False)
    assert found.loss is not None
    return problem, witness_of(problem), Fraction(found.loss)


def test_never_above_the_optimum_and_near_it(whole: tuple[Problem, ToldWitness, Fraction]) -> None:
    problem, witness, best = whole
    proved = -told_upper_bound(problem, witness)
    assert Fraction(13, 20) * best < proved < best
    assert upper_bound(problem, witness) == -proved


def test_who_has_all_types_is_told_nothing() -> None:
    """All respondents and all types: the same program as without, up to what floats lose of a sure event."""
    problem = asked()
    inner = aside(problem, (0, 1, 2, 3), 6)
    one = -told_upper_bound(problem, ToldWitness((0, 3, 2, 1), (6,), (inner,)))
    other = -set_aside_upper_bound(problem, inner)
    assert 0 <= other - one < Fraction(1, 10**9) * other


def test_numbers_prove_the_mean_over_how_many_there_are(whole: tuple[Problem, ToldWitness, Fraction]) -> None:
    """What more respondents hide counts as often as there are so many: as if all were there it is more than the best loses."""
    problem, witness, best = whole
    share = Fraction(4, 5)
    losses = [
        -set_aside_upper_bound(among(problem, witness.types, m), one) for m, one in zip(witness.numbers, witness.each, strict=True)
    ]  # type: ignore[arg-type]
    assert losses == sorted(losses) and losses[0] > 0
    chances = [sum(comb(6, k) * share**k * (1 - share) ** (6 - k) for k in range(m, 7)) for m in witness.numbers]
    mean = sum(c * (b - a) for c, a, b in zip(chances, [Fraction(0), *losses], losses, strict=False))
    proved = -told_upper_bound(problem, witness)
    assert 0 <= mean - proved < Fraction(1, 10**9)
    turned = replace(witness, numbers=witness.numbers[::-1], each=witness.each[::-1])
    assert -told_upper_bound(problem, turned) == proved
    alone = [
        -told_upper_bound(problem, ToldWitness(witness.types, (m,), (one,)))
        for m, one in zip(witness.numbers, witness.each, strict=True)
    ]
    assert max(alone) < proved <= best


def test_near_misses_of_the_theorem_prove_more_than_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """The adversary: everybody is there for sure, or chances that are those of a larger share."""
    problem = asked(6, chances=["0.3", "0.5", "0.1", "0.1"], values=[0, 0, 3, 4])
    best = design(problem, gap=1e-4, compare=False).loss
    assert best is not None
    witness = witness_of(problem, numbers=(2, 6))
    assert -told_upper_bound(problem, witness) < best
    monkeypatch.setattr(told, "chance_at_least", lambda *_: Fraction(1))
    assert -told_upper_bound(problem, witness) > best


@pytest.mark.parametrize(
    ("kind", "actions", "more"),
    [("absolute-error", "real", {}), ("pinball", "real", {"quantile": "0.9"}), ("squared-error", "integer", {})],
)
def test_other_errors_and_listed_actions(kind: str, actions: str, more: dict[str, str]) -> None:
    """By quotients for errors that are not squared; programs with real actions bound listed ones."""
    problem = asked(5, kind, actions, decision=more)
    best = design(problem, gap=1e-4, compare=False).loss
    assert best is not None
    each = tuple(grouped(problem, (0, 3, 2), m) for m in (2, 4))
    proved = -told_upper_bound(problem, ToldWitness((0, 3, 2), (2, 4), each))
    assert Fraction(1, 4) * Fraction(best) < proved < best
    inner = among(problem, (0, 3, 2), 4)
    assert inner.universe.largest == 4 and float(-quotient_upper_bound(inner, each[1])) > 0  # type: ignore[union-attr]


def test_the_smaller_problem_has_the_law_of_its_types() -> None:
    problem = asked(chances=["1/2", "1/4", "1/6", "1/12"])
    inner = among(problem, (2, 0), 3)
    assert inner.prior.probabilities == (Fraction(3, 4), 0, Fraction(1, 4), 0)  # type: ignore[union-attr]
    assert inner.epsilon == problem.epsilon and inner.decision.loss == problem.decision.loss
    mean = problem_from_document(
        {
            "data": {"respondents": 6, "values": [0, 1, 3, 4]},
            "prior": {"kind": "iid", "probabilities": ["1/2", "1/4", "1/6", "1/12"]},
            "statistic": {"kind": "mean"},
            "decision": {"kind": "squared-error", "actions": "real", "weight": 36},
            "privacy": {"epsilon": 1, "unit": "person"},
        }
    )
    assert among(mean, (2, 0), 3).universe.values[3] == Fraction(4, 6)  # type: ignore[union-attr]
    numbers = (3, 5)
    of_sum = -told_upper_bound(problem, witness_of(problem, numbers=numbers))
    of_mean = -told_upper_bound(mean, ToldWitness((0, 3, 2), numbers, tuple(scaled(mean, m) for m in numbers)))
    assert float(of_mean) == pytest.approx(float(of_sum), rel=1e-2)


def scaled(problem: Problem, number: int) -> SetAsideWitness:
    reader = Reader(among(problem, (0, 3, 2), number))
    with counted():
        fitted = fitting_program(reader, [(0, 0), (1, 0), (1, 1)], 7.0, 1e4, ALL)
        assert fitted is not None
        return set_aside_bound(reader, fitted, 7.0, 1e-4, 1e4).witness


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"types": (0, 5)}, Refuted, "no respondent has"), ({"types": (0, -1)}, Refuted, "no respondent has"),
        ({"types": (0, 4)}, Refuted, "no respondent has"), ({"numbers": (3, 4, 7)}, Refuted, "7 of 6"),
        ({"types": (0, 0)}, InputError, "names these once"), ({"types": (0,)}, InputError, "names these once"),
        ({"numbers": (3, 4)}, InputError, "2 numbers"), ({"numbers": (0, 4, 6)}, InputError, "numbers from 1"),
        ({"numbers": (), "each": ()}, InputError, "0 numbers"), ({"types": (0, 1)}, Refuted, ""),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refuted(
    whole: tuple[Problem, ToldWitness, Fraction], wrong: dict[str, Any], error: type[DiscreetError], words: str
) -> None:
    problem, witness, best = whole
    if not words:  # types that the programs are not for: refuted, or still no more than is true
        try:
            assert -told_upper_bound(problem, replace(witness, **wrong)) <= best
        except DiscreetError:
            return
        return
    with pytest.raises(error, match=words):
        told_upper_bound(problem, replace(witness, **wrong))


def test_conditions_are_checked_and_work_is_bounded(
    whole: tuple[Problem, ToldWitness, Fraction], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, witness, _ = whole
    given = asked(prior={"kind": "exchangeable", "concentration": ["4", "1", "1", "1"]})
    with pytest.raises(Refuted, match="a condition of the bound for respondents of some types"):
        told_upper_bound(given, witness)
    known = asked(chances=["0.5", "0.3", "0.2", "0"])
    with pytest.raises(Refuted, match="no respondent has"):
        told_upper_bound(known, witness)
    many = ToldWitness(witness.types, (3,) * 18, witness.each[:1] * 18)
    with pytest.raises(TooLarge, match="18 numbers"):
        told_upper_bound(problem, many)
    first = witness.each[0]
    assert isinstance(first, SetAsideWitness)
    each = work_of([first.weights[t] for t in sorted(witness.types)], len(first.states), len(first.multipliers))
    monkeypatch.setattr("discreet.certify.bounds.set_aside.MOST_WORK", each)
    with pytest.raises(TooLarge):  # each alone may be checked, all together may not
        told_upper_bound(problem, ToldWitness(witness.types, (3,) * 17, witness.each[:1] * 17))
    told_upper_bound(problem, ToldWitness(witness.types, (3,), witness.each[:1]))


def test_long_numbers_are_named_briefly_and_other_witnesses_are_refused(whole: tuple[Problem, ToldWitness, Fraction]) -> None:
    problem, witness, _ = whole
    for wrong in (replace(witness, types=(0, 10**4000)), replace(witness, numbers=(10**4000, *witness.numbers[1:]))):
        with pytest.raises(Refuted) as refuted:
            told_upper_bound(problem, wrong)
        assert len(str(refuted.value)) < 400
    with pytest.raises(InputError, match="respondents of some types"):
        replace(witness, each=(witness,) * 3)  # type: ignore[arg-type]


def written(problem: Problem, witness: ToldWitness) -> dict[str, Any]:
    privacy = PrivacyProof(problem.promise, Fraction(1), Fraction(1), None, None, 0, 0)
    claim = OptimalityClaim(Fraction(-9), told_upper_bound(problem, witness), witness)
    return json.loads(json.dumps(certificate_document(Certificate("0" * 64, privacy, claim))))  # type: ignore[no-any-return]


def test_a_witness_is_written_and_read(whole: tuple[Problem, ToldWitness, Fraction]) -> None:
    problem, witness, _ = whole
    document = written(problem, witness)
    found = certificate_from_document(document).optimality
    assert found is not None and found.witness == witness and upper_bound(problem, found.witness) == found.bound
    own = document["optimality"]["witness"]
    for key in ("types", "numbers", "each"):
        held = own.pop(key)
        with pytest.raises(InputError, match="lacks a key"):
            certificate_from_document(document)
        own[key] = held
    with pytest.raises(InputError, match="another kind"):
        certificate_from_document(document | {"optimality": document["optimality"] | {"witness": own | {"boxes": []}}})
    for other in ({"kind": "theorem", "theorem": "chain"}, {"kind": "told", "types": [0, 2], "numbers": [1], "each": []}):
        own["each"][0] = other
        with pytest.raises(InputError, match="holds quotients and set-aside bounds"):
            certificate_from_document(document)


def test_no_forged_witness_proves_more_than_is_true(whole: tuple[Problem, ToldWitness, Fraction]) -> None:
    """Any digit, entry or multiplier changed: refused, refuted, or still below the optimum."""
    problem, witness, best = whole
    document, rng, kept = written(problem, witness), Random(7), 0
    for _ in range(120):
        forged = copy.deepcopy(document)
        own = forged["optimality"]["witness"]
        for _ in range(rng.choice((1, 1, 2))):
            change(own, rng.choice([way for way in places(own) if "action" not in way or rng.random() < 0.1]), rng)
        try:
            claim = certificate_from_document(forged).optimality
            assert claim is not None
            proved = -upper_bound(problem, claim.witness)
        except DiscreetError:
            continue
        kept += 1
        assert proved <= best
    assert kept > 5


def test_no_comparison_of_the_bound_can_change_unnoticed(whole: tuple[Problem, ToldWitness, Fraction]) -> None:
    problem, witness, _ = whole
    one, last = ToldWitness(witness.types, (3,), witness.each[:1]), ToldWitness(witness.types, (6,), witness.each[2:])
    quotients = ToldWitness((0, 3, 2), (3,), (grouped(problem, (0, 3, 2), 3),))
    cases: list[tuple[Problem, ToldWitness]] = [
        (problem, witness), (problem, one), (problem, last), (problem, quotients), (problem, replace(one, types=(0, 2, 5))),
        (problem, replace(one, numbers=(7,))), (asked(prior={"kind": "exchangeable", "concentration": ["4", "1", "1", "1"]}), one),
        (asked(chances=["0.5", "0.3", "0.2", "0"]), one), (asked(actions="integer"), one),
        (problem, ToldWitness((0, 3, 2, 1), (3,), (aside(problem, (0, 1, 2, 3), 3),))),
    ]  # fmt: skip
    questions: list[Callable[[ModuleType], Any]] = [lambda module, case=case: module.told_upper_bound(*case) for case in cases]
    questions += [
        lambda module, most=most: limited(module, "MOST_NUMBERS", most, lambda inner: inner.told_upper_bound(problem, witness))
        for most in (2, 3, 4)
    ]
    assert unexplained(TOLD, questions, {}) == []
