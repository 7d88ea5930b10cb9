"""A design's certificate proves what it claims and nothing more: forgeries are refuted, each for its own reason."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from design_worlds import document, problem, school

from discreet import files
from discreet.certify.bounds.dual import dual_upper_bound
from discreet.certify.optimality import optimality
from discreet.certify.verdict import of_file, of_mechanism
from discreet.design import Design, design
from discreet.errors import Refuted
from discreet.model.certificate import (
    Counterexample,
    DualWitness,
    Multipliers,
    OptimalityClaim,
    TheoremWitness,
)

LITTLE = Fraction(1, 100_000)


@pytest.fixture(scope="module")
def listed() -> Design:
    return design(problem(school(10)), compare=False)


@pytest.fixture(scope="module")
def real() -> Design:
    return design(problem(document(3, decision={"kind": "squared-error", "actions": "real"})), compare=False)


@pytest.fixture(scope="module")
def theorem() -> Design:
    return design(problem(document(20, range(2), (".89", ".11"))), compare=False)


@pytest.fixture(params=["listed", "real", "theorem"])
def found(request: pytest.FixtureRequest) -> Design:
    return request.getfixturevalue(request.param)


def bare(found: Design, claim: OptimalityClaim) -> OptimalityClaim | Counterexample:
    """The claim checked against the mechanism without its own stated numbers."""
    from discreet.model.mechanism import Claims

    return optimality(replace(found.mechanism, claims=Claims()), claim)


def test_an_honest_claim_is_proved(found: Design) -> None:
    assert optimality(found.mechanism, found.claim) == found.claim


def test_a_value_better_by_one_in_a_hundred_thousand_is_refuted(found: Design) -> None:
    refuted = bare(found, replace(found.claim, value=found.value + LITTLE, bound=found.bound + LITTLE))
    assert isinstance(refuted, Counterexample) and refuted.claim == "value"


def test_a_bound_tighter_by_one_in_a_hundred_thousand_is_refuted(found: Design) -> None:
    refuted = bare(found, replace(found.claim, bound=found.bound - LITTLE))
    assert isinstance(refuted, Counterexample) and refuted.claim == "bound"


def test_the_mechanism_must_claim_what_its_certificate_claims(found: Design) -> None:
    refuted = optimality(found.mechanism, replace(found.claim, bound=found.bound + 1))
    assert isinstance(refuted, Counterexample) and refuted.claim == "claims"


def dual(found: Design) -> DualWitness:
    assert isinstance(found.claim.witness, DualWitness)
    return found.claim.witness


@pytest.mark.parametrize("factor", [0, 2, 10])
def test_scaled_multipliers_prove_a_weaker_bound(listed: Design, factor: int) -> None:
    witness = dual(listed)
    forged = tuple(Multipliers(m.action, tuple((i, j, factor * flow) for i, j, flow in m.flows)) for m in witness.multipliers)
    refuted = bare(listed, replace(listed.claim, witness=replace(witness, multipliers=forged)))
    assert isinstance(refuted, Counterexample) and refuted.claim == "bound"


def test_multipliers_where_no_edge_is_are_refuted(listed: Design) -> None:
    witness = dual(listed)
    forged = (replace(witness.multipliers[0], flows=((0, len(listed.mechanism.space) - 1, 1),)), *witness.multipliers[1:])
    with pytest.raises(Refuted, match="no edge"):
        dual_upper_bound(listed.mechanism.problem, replace(witness, multipliers=forged))


def test_repeated_and_foreign_actions_are_refuted(listed: Design) -> None:
    witness = dual(listed)
    for extra in (witness.multipliers[0], Multipliers(Fraction(999), ()), Multipliers((Fraction(0), Fraction(1)), ())):
        with pytest.raises(Refuted, match="repeats an action or names one"):
            dual_upper_bound(listed.mechanism.problem, replace(witness, multipliers=(*witness.multipliers, extra)))


def test_nodes_must_ascend_and_reach_over_the_whole_range(real: Design) -> None:
    witness = dual(real)
    asked = real.mechanism.problem
    with pytest.raises(Refuted, match="leave out actions"):
        dual_upper_bound(asked, replace(witness, multipliers=witness.multipliers[1:]))
    with pytest.raises(Refuted, match="not ascending"):
        dual_upper_bound(asked, replace(witness, multipliers=witness.multipliers[::-1]))


def test_a_chord_proves_nothing_about_listed_actions(listed: Design, real: Design) -> None:
    for one, other in ((listed, real), (real, listed)):
        with pytest.raises(Refuted, match="does not speak about these actions"):
            dual_upper_bound(one.mechanism.problem, dual(other))


def test_fewer_nodes_prove_less(real: Design) -> None:
    """The near miss: only the two ends, with their own multipliers, leave a hole in the middle."""
    witness = dual(real)
    ends = (witness.multipliers[0], witness.multipliers[-1])
    assert dual_upper_bound(real.mechanism.problem, replace(witness, multipliers=ends)) > real.bound + LITTLE


def test_the_certificate_of_another_problem_is_refuted(listed: Design) -> None:
    other = design(problem(school(10, epsilon="1/2")), compare=False)
    for mine, theirs in ((listed, other), (other, listed)):
        claim = replace(mine.claim, witness=theirs.claim.witness)
        assert isinstance(bare(mine, claim), Counterexample)


def test_a_smaller_box_drops_states_at_their_least_loss_only(listed: Design) -> None:
    """Forging the box away: multipliers then stand on other edges or prove less."""
    witness = dual(listed)
    assert witness.box is not None
    refuted = bare(listed, replace(listed.claim, witness=replace(witness, box=None)))
    assert isinstance(refuted, Counterexample)


@pytest.mark.parametrize(
    ("witness", "words"),
    [
        (TheoremWitness("SY Thm 3"), "more than two types"),
        (TheoremWitness("SY Thm 99"), "not known"),
        (TheoremWitness("SY Thm 3", (("reduction", "merged-count"),)), "does not apply"),
        (TheoremWitness("SY Thm 3", (("reduction", "magic"),)), "does not exist"),
    ],
)
def test_a_theorem_that_does_not_apply_is_refuted(listed: Design, witness: TheoremWitness, words: str) -> None:
    refuted = bare(listed, replace(listed.claim, witness=witness))
    assert isinstance(refuted, Counterexample) and words in refuted.words


def test_a_shifted_payoff_cannot_hide_an_action_from_the_checker() -> None:
    """Contenders are judged by the size of their terms: a constant of 10^15 in every payoff must not blind the floats."""
    plain = [["1", "-2", "0", "3", "-1"], ["0", "2", "-3", "1", "1"]]
    moved = [[str(Fraction(u) + 10**15) for u in row] for row in plain]
    table = {"kind": "table", "actions": ["x", "y"]}
    one = design(problem(document(2, decision=table | {"payoff": plain})), compare=False)
    other = problem(document(2, decision=table | {"payoff": moved}))
    witness = one.claim.witness
    assert isinstance(witness, DualWitness)
    assert dual_upper_bound(other, witness) - 10**15 == dual_upper_bound(one.mechanism.problem, witness)


def test_a_mechanism_of_one_route_with_the_bound_of_another_is_certified_as_it_is_checked() -> None:
    """The ladder finds geometric noise, Theorem 3 the bound: the value must be what the checker finds by that theorem's sums."""
    asked = problem(document(4, (0, 1), ("1161/1250", "89/1250"), epsilon="0.8"))
    found = design(asked, gap=0.003125, compare=False)
    assert of_mechanism(found.mechanism, found.certificate).proved


def test_a_forged_file_is_refuted(listed: Design, tmp_path: Path) -> None:
    path = tmp_path / "places.mechanism.json"
    forged = replace(listed.claim, bound=listed.bound - LITTLE)
    files.write_mechanism(path, listed.mechanism)
    files.write_certificate(files.certificate_path(path), replace(listed.certificate, optimality=forged))
    assert of_file(path).proved is False
    files.write_certificate(files.certificate_path(path), listed.certificate)
    assert of_file(path).proved is True
