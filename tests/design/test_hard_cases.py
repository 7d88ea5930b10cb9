"""Priors with zeros, odd payoffs, extreme ε, tiny and huge problems, several decision makers, cancelling.

Executes SY fn 12.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from design_worlds import Document, document, loss_table, optimum, problem, school, world

from discreet import files
from discreet.certify import privacy
from discreet.certify.optimality import optimality
from discreet.design import Design, design
from discreet.design.program.listed import programmed
from discreet.errors import InputError
from discreet.model.certificate import Certificate, DualWitness, OptimalityClaim

REAL = {"kind": "squared-error", "actions": "real"}


def certified(doc: Document, **options: Any) -> Design:
    found = design(problem(doc), **options)
    assert isinstance(privacy(found.mechanism), Certificate)
    assert isinstance(optimality(found.mechanism, found.claim), OptimalityClaim)
    assert found.value <= found.bound
    return found


def best(doc: Document) -> float:
    listed = world(doc)
    return optimum(listed, loss_table(doc, listed.omegas), float(Fraction(doc["privacy"]["epsilon"])))


# ---- priors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prior",
    [
        {"kind": "table", "probabilities": {"0,0": "1/2", "2,1": "1/2"}},
        ("1/2", "1/2", "0"),
        {"kind": "exchangeable", "histogram": {"2,0,0": "1/3", "0,1,1": "2/3"}},
    ],
    ids=["table", "iid", "histogram"],
)
def test_a_prior_with_zeros_is_designed_for_and_mentioned(prior: Any) -> None:
    doc = document(2, range(3), prior)
    found = certified(doc)
    assert float(found.loss) == pytest.approx(best(doc), abs=1e-6)
    assert any("gives no probability" in note for note in found.notes)


@pytest.mark.parametrize("decision", [None, REAL], ids=["integer", "real"])
def test_nothing_is_lost_when_everything_is_known(decision: Document | None) -> None:
    assert certified(document(4, range(3), ("0", "1", "0"), decision)).value == 0


def test_truncation_ends_where_nothing_more_can_be_kept() -> None:
    """Losses that are nothing but rounding once made the box be chosen again for ever."""
    known = problem(document(4, range(3), ("0", "1", "0"), {"kind": "squared-error", "actions": "integer"}))
    assert programmed(known, 1e-6).status == "optimal"


# ---- payoffs --------------------------------------------------------------------------------------------


def test_an_action_without_a_finite_payoff_is_refused_by_name() -> None:
    pole = {"kind": "expression", "actions": ["0", "1"], "payoff": "-omega/a"}
    with pytest.raises(InputError, match=r"divides by zero.*a = 0"):
        design(problem(document(decision=pole)))


def test_a_range_of_real_actions_with_a_pole_is_refused() -> None:
    pole = {"kind": "expression", "actions": {"from": "-1", "to": "1"}, "payoff": "-omega/a"}
    with pytest.raises(InputError, match="no finite value"):
        problem(document(decision=pole))


def test_huge_payoffs_are_designed_like_small_ones() -> None:
    def choice(prize: str) -> Document:
        rows = [[prize, "0", "0", "0", "0"], ["0", prize, "0", "0", "0"]]
        return document(2, decision={"kind": "table", "actions": ["x", "y"], "payoff": rows})

    huge, small = certified(choice("1e30")), certified(choice("1"))
    assert float(huge.value) / 1e30 == pytest.approx(float(small.value), rel=1e-5)
    assert huge.relative_gap <= 1e-6


def test_a_value_of_either_sign_and_near_zero() -> None:
    thin = {"kind": "table", "actions": ["x", "y"], "payoff": [["1", "-1", "0", "0", "0"], ["0"] * 5]}
    doc = document(2, decision=thin)
    found = certified(doc)
    assert float(found.loss) == pytest.approx(best(doc), abs=1e-7) and found.value > 0


def test_a_single_action_leaves_nothing_to_design() -> None:
    only = {"kind": "table", "actions": ["x"], "payoff": [["1", "2", "3", "4", "5"]]}
    found = certified(document(2, decision=only))
    assert float(found.value) == pytest.approx(7 / 3, rel=1e-12) and found.relative_gap < 1e-11


@pytest.mark.parametrize("epsilon", ["0", "1e-6", "1", "8"])
def test_real_actions_of_an_expression_with_three_types(epsilon: str) -> None:
    bus = {"kind": "expression", "actions": {"from": "1/10", "to": "5"}, "payoff": "-omega/a - a/10"}
    found = certified(document(decision=bus, epsilon=epsilon), gap=1e-4)
    listed = certified(document(decision=bus | {"actions": {"from": "1/10", "to": "5", "step": "1/10"}}, epsilon=epsilon))
    assert listed.value <= found.bound and found.relative_gap < 1e-3


# ---- ε --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", [None, REAL], ids=["integer", "real"])
@pytest.mark.parametrize("epsilon", ["0", "1e-6"])
def test_next_to_no_epsilon_is_next_to_no_information(epsilon: str, decision: Document | None) -> None:
    found = certified(document(3, decision=decision, epsilon=epsilon))
    nothing = found.baselines["no information"].loss
    assert nothing is not None and float(found.loss) == pytest.approx(nothing, rel=1e-5)
    assert found.relative_gap <= 1e-6
    if epsilon == "0":
        assert found.certificate.privacy.tight_high == 0


@pytest.mark.parametrize("decision", [None, REAL], ids=["integer", "real"])
def test_epsilon_20_is_next_to_the_truth(decision: Document | None) -> None:
    found = certified(document(3, decision=decision, epsilon="20"))
    assert 0 < float(found.loss) < 1e-7 and found.relative_gap <= 1e-5


def test_an_absurd_epsilon_still_gives_a_private_mechanism() -> None:
    found = certified(document(3, epsilon="700"))
    assert 0 <= float(found.loss) < 1e-8


# ---- size -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", [None, REAL], ids=["integer", "real"])
def test_one_respondent(decision: Document | None) -> None:
    doc = document(1, (0, 1, 5), decision=decision)
    found = certified(doc)
    assert found.relative_gap <= 1e-6
    if decision is None:
        assert float(found.loss) == pytest.approx(best(doc), rel=1e-6)


def test_a_constant_statistic_needs_no_data() -> None:
    assert certified(document(2, ("2", "2", "2"))).value == 0


def test_components_without_edges_between_them() -> None:
    """c stands alone, so its truth may be told; a and b are neighbours."""
    doc = {
        "data": {"neighbours": {"states": ["a", "b", "c"], "edges": [["a", "b"]]}},
        "prior": {"kind": "table", "probabilities": {"a": "1/2", "b": "1/4", "c": "1/4"}},
        "statistic": {"kind": "table", "values": {"a": "0", "b": "1", "c": "5"}},
        "decision": REAL,
        "privacy": {"epsilon": "1"},
    }
    found = certified(doc)
    alone = certified(doc | {"decision": {"kind": "squared-error", "actions": {"from": "0", "to": "5", "step": "1/100"}}})
    assert found.relative_gap <= 1e-6 and float(found.loss) == pytest.approx(float(alone.loss), abs=3e-5)


@pytest.mark.slow
def test_too_many_histograms_are_served_by_the_ladder() -> None:
    p = (".30", ".18", ".14", ".11", ".09", ".07", ".05", ".03", ".018", ".009", ".003")
    doc = document(100, (0, 1, 2, 3, 5, 8, 12, 20, 35, 60, 100), p, REAL)
    found = design(problem(doc), seconds=20)
    assert isinstance(privacy(found.mechanism), Certificate)
    assert found.reduction == "ladder" and any("histograms are more than" in step.reason for step in found.steps)
    geometric = found.baselines["geometric"].loss
    assert geometric is not None and geometric > 1.3 * float(found.loss) > 0
    assert 0 < float(found.lower_bound) <= float(found.loss)


# ---- several decision makers ----------------------------------------------------------------------------


def two_makers() -> Document:
    return document(
        2, decision=[
            {"kind": "squared-error", "actions": "integer", "name": "places"},
            {"kind": "table", "actions": ["go", "wait"], "payoff": [["0", "1", "2", "3", "4"], ["2"] * 5], "weight": "3/2"},
        ]
    )  # fmt: skip


def test_several_decision_makers_are_served_together() -> None:
    """Outputs recommend a pair; the optimum is that of the program over all pairs."""
    doc = two_makers()
    found, listed = certified(doc), world(doc)
    one, two = (loss_table(doc, listed.omegas, d) for d in doc["decision"])
    pairs = np.array([x + y for x, y in product(one, two)])
    assert float(found.loss) == pytest.approx(optimum(listed, pairs, 1.0), abs=1e-6)
    assert found.relative_gap <= 1e-6
    assert all(isinstance(o.action, tuple) and len(o.action) == 2 for o in found.mechanism.outputs)
    assert isinstance(found.claim.witness, DualWitness)
    assert all(isinstance(m.action, tuple) for m in found.claim.witness.multipliers)


def test_pairs_of_actions_survive_the_files(tmp_path: Any) -> None:
    found = certified(two_makers())
    path = tmp_path / "pair.mechanism.json"
    files.write_mechanism(path, found.mechanism)
    files.write_certificate(files.certificate_path(path), found.certificate)
    read, claims = files.read_mechanism(path), files.read_certificate(files.certificate_path(path))
    assert claims == found.certificate and claims.optimality is not None
    assert isinstance(optimality(read, claims.optimality), OptimalityClaim)


def test_two_makers_with_the_same_decision_are_one_of_twice_the_weight() -> None:
    same = {"kind": "squared-error", "actions": "integer"}
    one, two = certified(document(2)), certified(document(2, decision=[same, same]))
    assert 2 * one.value <= two.bound and two.value <= 2 * one.bound


def test_real_actions_of_several_makers_have_a_certified_sum_and_an_honest_bound() -> None:
    found, one = certified(document(decision=[REAL, REAL])), certified(document(decision=REAL))
    assert 2 * one.value <= found.bound, "nobody does better for both than each for himself"
    assert found.value <= 2 * one.bound and found.value > 2 * certified(document(decision=REAL, epsilon="1/1000")).value


# ---- stopping -------------------------------------------------------------------------------------------


class Impatient:
    """Cancels after some reports."""

    def __init__(self, after: int) -> None:
        self.left = after

    def report(self, **told: Any) -> None:
        self.left -= 1

    def cancelled(self) -> bool:
        return self.left <= 0


@pytest.mark.parametrize("after", [0, 1, 5, 20])
@pytest.mark.parametrize("actions", ["integer", "real"])
def test_cancelling_returns_a_certified_mechanism(after: int, actions: str) -> None:
    found = design(problem(school(12, actions)), Impatient(after), compare=False)
    assert isinstance(privacy(found.mechanism), Certificate)
    assert isinstance(optimality(found.mechanism, found.claim), OptimalityClaim)
    assert float(found.lower_bound) <= 1.21 and float(found.loss) >= 1.1, "the optimum lies between, however wide"


def test_the_time_limit_is_kept() -> None:
    found = design(problem(school(60)), seconds=0.5, compare=False)
    assert isinstance(privacy(found.mechanism), Certificate)


@pytest.mark.parametrize("gap", [0, 1, -1])
def test_a_gap_that_is_none_is_refused(gap: float) -> None:
    with pytest.raises(InputError, match="gap"):
        design(problem(document()), gap=gap)


def test_rows_of_a_payoff_table_are_never_reordered() -> None:
    """Numeric actions out of order would part the rows of the table from their actions, so they are refused."""
    rows = [["0", "1", "2", "3", "4"], ["2"] * 5]
    problem(document(2, decision={"kind": "table", "actions": ["1", "2"], "payoff": rows}))
    with pytest.raises(InputError, match="ascending order"):
        problem(document(2, decision={"kind": "table", "actions": ["2", "1"], "payoff": rows}))
