"""What must not change the answer, and what may change it in one direction only."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations, product
from random import Random

import pytest
from design_worlds import Document, document, problem, random_document
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.design import Design, design

TABLE = {
    "kind": "table",
    "actions": ["x", "y", "z"],
    "payoff": [["1", "-2", "0", "3", "-1"], ["0", "2", "-3", "1", "1"], ["-1", "0", "2", "0", "4"]],
}
LOSS = {"kind": "squared-error", "actions": "integer"}


def solved(doc: Document) -> Design:
    return design(problem(doc), compare=False)


def agree(one: Design, two: Design, factor: Fraction = Fraction(1), shift: Fraction = Fraction(0)) -> None:
    """Both enclose one optimum: their intervals, one of them scaled and shifted, overlap, and both are narrow."""
    low, high = factor * one.value + shift, factor * one.bound + shift
    assert low <= two.bound and two.value <= high
    for found in (one, two):
        assert found.relative_gap <= 1e-6


@pytest.mark.parametrize("decision", [LOSS, TABLE], ids=["loss", "table"])
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_relabelling_types_changes_nothing(decision: Document, order: tuple[int, ...]) -> None:
    values, prior = ("0", "1", "2"), ("1/2", "1/3", "1/6")
    plain = solved(document(2, values, prior, decision))
    relabelled = solved(document(2, [values[i] for i in order], [prior[i] for i in order], decision))
    agree(plain, relabelled)


def test_permuting_respondents_changes_nothing() -> None:
    rows = [["1/2", "1/3", "1/6"], ["1/10", "1/10", "8/10"], ["1/3", "1/3", "1/3"]]
    plain = solved(document(3, range(3), {"kind": "independent", "probabilities": rows}))
    for order in permutations(range(3)):
        agree(plain, solved(document(3, range(3), {"kind": "independent", "probabilities": [rows[i] for i in order]})))


@settings(max_examples=15, derandomize=True)
@given(factor=st.fractions("1/100", "100", max_denominator=100), shift=st.fractions(-50, 50, max_denominator=10))
def test_scaling_and_shifting_the_payoff(factor: Fraction, shift: Fraction) -> None:
    moved = TABLE | {"payoff": [[str(factor * Fraction(u) + shift) for u in row] for row in TABLE["payoff"]]}
    plain, other = solved(document(2, decision=TABLE)), solved(document(2, decision=moved))
    low, high = factor * plain.value + shift, factor * plain.bound + shift
    assert low <= other.bound and other.value <= high


@pytest.mark.parametrize("power", [-9, -4, 4, 9])
def test_the_gap_is_reached_at_any_scale(power: int) -> None:
    factor = Fraction(10) ** power
    moved = TABLE | {"payoff": [[str(factor * Fraction(u)) for u in row] for row in TABLE["payoff"]]}
    agree(solved(document(2, decision=TABLE)), solved(document(2, decision=moved)), factor)


def test_weighting_the_only_decision_scales_the_value() -> None:
    plain = solved(document(3))
    weighted = solved(document(3, decision=LOSS | {"weight": "7/3"}))
    agree(plain, weighted, Fraction(7, 3))


@pytest.mark.parametrize("actions", ["integer", "real"])
def test_shifting_every_value_shifts_the_actions_alone(actions: str) -> None:
    decision = {"kind": "squared-error", "actions": actions}
    agree(solved(document(2, ("0", "1", "2"), decision=decision)), solved(document(2, ("5", "6", "7"), decision=decision)))


def test_an_action_under_another_name_adds_nothing() -> None:
    twin = TABLE | {"actions": ["x", "y", "z", "y again"], "payoff": [*TABLE["payoff"], TABLE["payoff"][1]]}
    agree(solved(document(2, decision=TABLE)), solved(document(2, decision=twin)))


def test_a_dominated_action_adds_nothing() -> None:
    worse = [str(Fraction(u) - 1) for u in TABLE["payoff"][1]]
    more = TABLE | {"actions": ["x", "y", "z", "worse"], "payoff": [*TABLE["payoff"], worse]}
    agree(solved(document(2, decision=TABLE)), solved(document(2, decision=more)))


def test_finer_actions_never_hurt_and_real_ones_are_best() -> None:
    losses = []
    for actions in ("integer", {"from": "0", "to": "6", "step": "1/2"}, {"from": "0", "to": "6", "step": "1/4"}, "real"):
        losses.append(float(solved(document(3, decision={"kind": "squared-error", "actions": actions})).loss))
    assert all(finer <= coarser * (1 + 2e-6) for coarser, finer in pairwise(losses))


@pytest.mark.parametrize("seed", range(12))
def test_the_value_never_falls_with_epsilon(seed: int) -> None:
    doc = random_document(Random(5000 + seed))
    found = [solved(doc | {"privacy": {"epsilon": e}}) for e in ("0", "1/10", "1", "3")]
    for tighter, looser in pairwise(found):
        assert tighter.value <= looser.bound, "more freedom is worth no less"
    nothing = design(problem(doc)).baselines["no information"].value
    assert nothing is not None and float(found[0].value) == pytest.approx(nothing, rel=1e-6, abs=1e-9)


def test_an_independent_prior_of_equal_rows_is_the_iid_one() -> None:
    rows = [["1/2", "1/3", "1/6"]] * 3
    agree(solved(document(3)), solved(document(3, prior={"kind": "independent", "probabilities": rows})))


def test_a_table_of_the_iid_prior_is_the_iid_prior() -> None:
    p = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    table = {f"{i},{j}": str(p[i] * p[j]) for i, j in product(range(3), repeat=2)}
    agree(solved(document(2)), solved(document(2, prior={"kind": "table", "probabilities": table})))
