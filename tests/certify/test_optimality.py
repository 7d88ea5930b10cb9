"""Claims of value and bound are computed again: real witnesses hold, forged ones are refuted, by library and command."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from office import shell

from discreet import certify, files
from discreet.certify.optimality import upper_bound
from discreet.certify.value.expected import expected_payoff
from discreet.design import design
from discreet.errors import InputError, Refuted
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import (
    Certificate,
    Counterexample,
    DualWitness,
    Multipliers,
    OptimalityClaim,
    TheoremWitness,
)
from discreet.model.decision import Decision
from discreet.model.kernel import GeometricKernel
from discreet.model.losses import FormulaLoss, SquaredLoss, TableLoss
from discreet.model.mechanism import Claims, Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import CountStatistic, SumStatistic
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

SKEWED = (Fraction(89, 100), Fraction(9, 100), Fraction(2, 100))


def problem(respondents: int, decision: Decision | None = None, chances: tuple[Fraction, ...] = SKEWED) -> Problem:
    values = tuple(map(Fraction, range(len(chances))))
    top = respondents * (len(chances) - 1)
    decision = decision or Decision(SquaredLoss(), ListedActions(tuple(map(Fraction, range(top + 1)))))
    return Problem(
        Universe.of(respondents, values), ReplaceOne(), IidPrior(chances), SumStatistic(), (decision,), PurePromise(Fraction(1))
    )


def designed(of: Problem) -> tuple[Mechanism, Certificate]:
    """A mechanism and its certificate from the design package."""
    found = design(of)
    return found.mechanism, found.certificate


@pytest.fixture(scope="module", params=["six", "ten", "real", "two types"])
def made(request: pytest.FixtureRequest) -> tuple[Mechanism, Certificate]:
    """Small designs: with a program's multipliers, with chords for real actions, with a theorem."""
    return designed({
        "six": lambda: problem(6),
        "ten": lambda: problem(10),
        "real": lambda: problem(6, Decision(SquaredLoss(), RealActions())),
        "two types": lambda: problem(10, chances=(Fraction(7, 10), Fraction(3, 10))),
    }[request.param]())  # fmt: skip


def claim_of(made: tuple[Mechanism, Certificate]) -> OptimalityClaim:
    claim = made[1].optimality
    assert claim is not None
    return claim


def test_a_real_witness_holds(made: tuple[Mechanism, Certificate]) -> None:
    mechanism, certificate = made
    assert isinstance(certify.privacy(mechanism), Certificate)
    assert certify.optimality(mechanism, claim_of(made)) == certificate.optimality
    assert 0 <= claim_of(made).relative_gap < 1e-4


@pytest.mark.parametrize("by", [Fraction(1, 10**5), Fraction(1, 10)])
def test_a_better_claim_is_refuted(made: tuple[Mechanism, Certificate], by: Fraction) -> None:
    mechanism, claim = replace(made[0], claims=Claims()), claim_of(made)
    better = certify.optimality(mechanism, replace(claim, value=claim.value + by * abs(claim.value)))
    assert isinstance(better, Counterexample) and better.claim == "value"
    tighter = certify.optimality(mechanism, replace(claim, bound=claim.bound - by * abs(claim.bound)))
    assert isinstance(tighter, Counterexample) and tighter.claim == "bound"
    humbler = replace(claim, value=claim.value - 1, bound=claim.bound + 1)
    assert certify.optimality(mechanism, humbler) == humbler


def test_other_numbers_than_the_file_claims_are_refuted(made: tuple[Mechanism, Certificate]) -> None:
    claim = claim_of(made)
    for claims in (Claims(claim.value - 1, claim.bound), Claims(claim.value, claim.bound + 1)):
        found = certify.optimality(replace(made[0], claims=claims), claim)
        assert isinstance(found, Counterexample) and found.claim == "claims"


@pytest.mark.parametrize("made", ["six", "ten", "real"], indirect=True)
def test_a_forged_dual_is_refuted(made: tuple[Mechanism, Certificate]) -> None:
    mechanism, claim = replace(made[0], claims=Claims()), claim_of(made)
    witness = claim.witness
    assert isinstance(witness, DualWitness)
    first = max(witness.multipliers, key=lambda m: len(m.flows))
    others = tuple(m for m in witness.multipliers if m is not first)
    nowhere = Multipliers(first.action, (*first.flows, (0, 0, witness.scale)))
    heavier = Multipliers(first.action, tuple((a, b, 2 * flow) for a, b, flow in first.flows))
    outside = Multipliers(first.action, ((10**6, 0, 1),))
    forged = [
        replace(witness, multipliers=tuple(sorted((*others, forgery), key=lambda m: witness_order(m))))
        for forgery in (nowhere, heavier, outside)
    ]
    forged += [replace(witness, scale=max(1, witness.scale // 2)), replace(witness, multipliers=())]
    forged += [replace(witness, multipliers=(*witness.multipliers, witness.multipliers[0]))]
    forged += [replace(witness, kind="dual" if witness.kind == "dual-with-chord" else "dual-with-chord")]
    for forgery in forged:
        found = certify.optimality(mechanism, replace(claim, witness=forgery))
        assert isinstance(found, Counterexample), forgery.kind
    with pytest.raises(InputError, match="negative"):
        replace(witness, multipliers=(Multipliers(first.action, ((0, 1, -1),)),))


def witness_order(m: Multipliers) -> Any:
    return m.action if isinstance(m.action, Fraction) else str(m.action)


def test_an_unknown_theorem_proves_nothing(made: tuple[Mechanism, Certificate]) -> None:
    mechanism, claim = replace(made[0], claims=Claims()), claim_of(made)
    found = certify.optimality(mechanism, replace(claim, witness=TheoremWitness("SY Thm 33")))
    assert isinstance(found, Counterexample)


def test_theorem_3_needs_two_types() -> None:
    mechanism, certificate = designed(problem(6))
    claim = certificate.optimality
    assert claim is not None
    found = certify.optimality(replace(mechanism, claims=Claims()), replace(claim, witness=TheoremWitness("SY Thm 3")))
    assert isinstance(found, Counterexample) and "more than two types" in found.words


def test_the_bound_of_another_problem_is_refuted() -> None:
    """A witness for other chances proves less here than it claims."""
    mechanism, _ = designed(problem(6))
    _, other = designed(problem(6, chances=(Fraction(96, 100), Fraction(3, 100), Fraction(1, 100))))
    assert other.optimality is not None
    found = certify.optimality(replace(mechanism, claims=Claims()), other.optimality)
    assert isinstance(found, Counterexample)


@pytest.mark.parametrize("payoff", ["a", "-(a - 10)**2"])
def test_one_node_does_not_speak_for_every_real_action(payoff: str) -> None:
    """Actions from 5 to 10 where ω is at most 1: the nearest action to ω is not the best one."""
    of = problem(1, Decision(FormulaLoss(payoff), RealActions(Fraction(5), Fraction(10))), (Fraction(1, 2),) * 2)
    from discreet.certify.bounds.dual import dual_upper_bound
    from discreet.errors import DiscreetError

    witness = DualWitness("dual-with-chord", None, 1, (Multipliers(Fraction(5), ()),))
    best = Fraction(10) if payoff == "a" else Fraction(0)
    try:
        bound = dual_upper_bound(of, witness)
    except DiscreetError:
        return
    assert bound >= best


@pytest.mark.parametrize("weight", [Fraction(1, 2), Fraction(3)])
def test_a_weighted_decision_has_a_weighted_bound(weight: Fraction) -> None:
    from discreet.certify.bounds.dual import dual_upper_bound

    payoff = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    plain = Decision(TableLoss(payoff), ListedActions((Fraction(0), Fraction(1))))
    half = (Fraction(1, 2),) * 2
    witness = DualWitness("dual", None, 1, ())
    one = dual_upper_bound(problem(1, plain, half), witness)
    assert dual_upper_bound(problem(1, replace(plain, weight=weight), half), witness) == weight * one


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("certify")
    mechanism, certificate = designed(problem(6))
    files.write_mechanism(where / "x.mechanism.json", mechanism)
    files.write_certificate(where / "x.certificate.json", certificate)
    return where


def test_every_claim_is_proved_again(folder: Path) -> None:
    done = shell(folder, "certify", "x.mechanism.json", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert result["proved"] and Fraction(result["value"]) <= Fraction(result["bound"])
    assert result["not_proved"] == []
    shown = shell(folder, "certify", "x.mechanism.json")
    assert "no mechanism with this promise loses less than" in shown.stdout


def test_a_forged_bound_ends_with_one(folder: Path) -> None:
    document = json.loads((folder / "x.certificate.json").read_text(encoding="utf-8"))
    document["optimality"]["bound"] = str(Fraction(document["optimality"]["bound"]) * Fraction(99_999, 100_000))
    (folder / "forged.json").write_text(json.dumps(document), encoding="utf-8")
    done = shell(folder, "certify", "x.mechanism.json", "forged.json", "--json")
    result = json.loads(done.stdout)
    assert done.returncode == 1 and result["proved"] is False
    assert result["counterexample"]["claim"] in ("bound", "claims")


def test_damaged_multipliers_end_with_two(folder: Path) -> None:
    document = json.loads((folder / "x.certificate.json").read_text(encoding="utf-8"))
    document["optimality"]["witness"]["multipliers"][0]["flows"] = "AAAA"
    (folder / "damaged.json").write_text(json.dumps(document), encoding="utf-8")
    done = shell(folder, "certify", "x.mechanism.json", "damaged.json")
    assert done.returncode == 2 and "cannot be unpacked" in done.stderr and "Traceback" not in done.stderr


def test_claims_without_a_certificate_are_named(folder: Path) -> None:
    text = (folder / "x.mechanism.json").read_text(encoding="utf-8")
    (folder / "alone.mechanism.json").write_text(text, encoding="utf-8")
    done = shell(folder, "certify", "alone.mechanism.json", "--json")
    claims = json.loads(text)["claims"]
    assert done.returncode == 0 and json.loads(done.stdout)["not_proved"] == sorted(claims, reverse=True)


# --- a theorem about one mechanism says nothing about another -------------------------------------------------------


@pytest.mark.parametrize("summary", [LinearSummary((1, 0)), LinearSummary((0, 0)), LinearSummary((0, 1), 3, 5)])
def test_the_value_of_theorem_3_is_for_the_count_it_speaks_of(summary: LinearSummary) -> None:
    """The same kernel fed with another number, or with a clipped one, is worth less and may not claim as much."""
    mechanism, certificate = designed(problem(10, chances=(Fraction(7, 10), Fraction(3, 10))))
    claim = certificate.optimality
    assert claim is not None
    assert isinstance(claim.witness, TheoremWitness)
    honest = replace(mechanism, claims=Claims())
    assert certify.optimality(honest, claim) == claim
    misfed = replace(honest, summary=summary)
    assert expected_payoff(misfed)[0] < claim.value
    assert isinstance(certify.optimality(misfed, claim), Counterexample)


def test_the_value_of_a_merged_count_is_for_the_types_it_counts() -> None:
    chances = (Fraction(7, 10), Fraction(2, 10), Fraction(1, 10))
    decision = Decision(SquaredLoss(), ListedActions(tuple(map(Fraction, range(7)))))
    of = replace(problem(6, decision, chances), statistic=CountStatistic((1, 2)))
    mechanism, certificate = designed(of)
    claim = certificate.optimality
    assert claim is not None
    assert isinstance(claim.witness, TheoremWitness)
    for weights in ((1, 0, 0), (0, 1, 0)):
        misfed = replace(mechanism, claims=Claims(), summary=LinearSummary(weights))
        assert isinstance(certify.optimality(misfed, claim), Counterexample)


def test_an_absurd_action_at_an_unlikely_output_is_not_overlooked() -> None:
    """Output 2,000 of a count around 200 has a chance of 10^-780, but its action is worse than that."""
    of = problem(2000, Decision(SquaredLoss(), RealActions()), (Fraction(9, 10), Fraction(1, 10)))
    mechanism, certificate = designed(of)
    claim, kernel = certificate.optimality, mechanism.kernel
    assert claim is not None
    assert isinstance(kernel, GeometricKernel) and kernel.actions is not None and isinstance(claim.witness, TheoremWitness)
    absurd = replace(kernel, actions=(*kernel.actions[:-1], Fraction(10) ** 150))
    forged = replace(mechanism, claims=Claims(), kernel=absurd)
    assert isinstance(certify.optimality(forged, claim), Counterexample)


@pytest.mark.parametrize("name", ["dual", "dual-with-chord", "quotient", "chains", ""])
def test_a_theorem_with_the_name_of_another_kind_is_not_known(name: str) -> None:
    """Every kind is checked by its own file; what calls itself by another's name is refuted, not misread."""
    with pytest.raises(Refuted, match="not known"):
        upper_bound(problem(2), TheoremWitness(name))
