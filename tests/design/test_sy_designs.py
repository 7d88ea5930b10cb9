"""The designs that SY's theorems and examples speak of, by their numbers (computed independently).

One near miss for each theorem whose conditions decide the answer.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from design_worlds import World, document, loss_table, optimum, problem, world

from discreet.certify.optimality import optimality
from discreet.design import Design, design
from discreet.errors import InputError
from discreet.model.certificate import OptimalityClaim, TheoremWitness
from discreet.model.kernel import GeometricKernel

THIRDS = ("1/3", "1/3", "1/3")
BUS = {"kind": "expression", "actions": {"from": "1/100", "to": "40"}, "payoff": "-omega/a - 1/10*a"}


def made(doc: dict, **options: object) -> Design:
    found = design(problem(doc), **options)  # type: ignore[arg-type]
    assert isinstance(optimality(found.mechanism, found.claim), OptimalityClaim)
    return found


def test_theorem_1_adding_noise_is_not_enough_for_a_sum_of_three_types() -> None:
    doc = document(2, range(3), THIRDS)
    best, noisy = made(doc), made(doc, within="oblivious")
    assert float(best.value) == pytest.approx(-1.12568051260, rel=2e-6)
    assert float(noisy.value) == pytest.approx(-1.15329883373, rel=2e-6)
    assert noisy.within == "oblivious" and noisy.mechanism.summary.kind == "linear"
    assert noisy.price == pytest.approx(1.15329883373 - 1.12568051260, abs=1e-5)
    assert float(noisy.bound) == pytest.approx(-1.12568051260, rel=2e-6), "the bound covers every private mechanism"


def test_theorem_1_a_particular_payoff_may_show_no_gap() -> None:
    """The near miss: with integer actions, (.89, .09, .02) and ε = 1/2, reading ω alone costs nothing."""
    doc = document(2, range(3), (".89", ".09", ".02"), epsilon="1/2")
    assert made(doc, within="oblivious").price == pytest.approx(0.0, abs=1e-6)


def test_theorem_3_two_types() -> None:
    found = made(document(4, range(2), (".7", ".3")))
    assert float(found.value) == pytest.approx(-0.625136476853, rel=1e-11)
    assert found.reduction == "geometric" and found.theorem == "SY Thm 3"
    assert isinstance(found.claim.witness, TheoremWitness) and isinstance(found.mechanism.kernel, GeometricKernel)


@pytest.mark.parametrize(("cost", "value"), [("1/10", -1.30273145644), ("1", -4.11959858188)])
def test_buses_with_real_actions(cost: str, value: float) -> None:
    bus = BUS | {"payoff": f"-omega/a - {cost}*a"}
    found = made(document(40, range(2), (".89", ".11"), bus))
    assert float(found.value) == pytest.approx(value, rel=1e-10) and found.theorem == "SY Thm 3"


def test_central_or_extreme_is_not_supermodular() -> None:
    """SY Figs 5-7: a payoff for telling the middle from the ends needs another mechanism than the geometric."""
    prior = {"kind": "table", "probabilities": {"0,0": "1/3", "0,1": "1/6", "1,0": "1/6", "1,1": "1/3"}}
    payoff = [["1/2", "0", "1/2"], ["0", "1", "0"]]
    doc = document(2, range(2), prior, {"kind": "table", "actions": ["extreme", "central"], "payoff": payoff})
    found = made(doc)
    assert float(found.value) == pytest.approx(0.487372385753, rel=2e-6)
    assert found.baselines["geometric"].value == pytest.approx(0.430704585230, rel=1e-9)
    assert "the payoff is not supermodular" in found.explain()


def test_appendix_a_correlated_respondents_need_the_whole_database() -> None:
    """θ2 and θ3 agree but for a share δ = 1/100: reading only the sum earns nothing, reading everything earns 0.0668."""
    doc = appendix_a()
    found, listed = made(doc), world(doc)
    assert float(found.value) == pytest.approx(0.0668079047978, rel=1e-6)
    assert found.reduction == "database program"
    sums = World(
        [(w,) for w in range(4)],
        np.bincount([int(w) for w in listed.omegas], listed.prior),
        [Fraction(w) for w in range(4)],
        [(0, 1), (1, 2), (2, 3)],
    )
    assert optimum(sums, loss_table(doc, sums.omegas), 1.0) == pytest.approx(0.0, abs=1e-9)


def appendix_a() -> dict:
    """(θ1, θ2) agree with probability 2/3, θ3 = θ2 with probability 99/100; u(x, ·) = (0, −e², 1, 0), u(z, ·) = 0."""
    chances = {
        f"{i},{j},{k}": str(Fraction(99 if j == k else 1, 300 if i == j else 600)) for i in (0, 1) for j in (0, 1) for k in (0, 1)
    }
    payoff = [["0", f"-{exp(2):.15f}", "1", "0"], ["0"] * 4]
    return document(
        3, range(2), {"kind": "table", "probabilities": chances}, {"kind": "table", "actions": ["x", "z"], "payoff": payoff}
    )


def test_proposition_4_two_respondents_of_two_types_under_any_prior() -> None:
    prior = {"kind": "table", "probabilities": {"0,0": "1/2", "0,1": "3/10", "1,0": "1/20", "1,1": "3/20"}}
    doc = document(2, range(2), prior)
    found = made(doc)
    listed = world(doc)
    assert float(found.loss) == pytest.approx(optimum(listed, loss_table(doc, listed.omegas), 1.0), abs=1e-8)
    assert found.reduction.startswith("anonymous-pair") and found.mechanism.summary.kind == "linear"


def test_proposition_4_does_not_reach_three_respondents() -> None:
    """The near miss: with a third respondent the same kind of prior may need the whole database, and gets it."""
    found = made(appendix_a())
    assert "anonymous-pair did not apply: there are not exactly two respondents of two types" in found.explain()


def test_a_count_of_independent_respondents_is_merged_to_two_types() -> None:
    prior = {"kind": "independent", "probabilities": [[".5", ".3", ".2"]] * 4}
    doc = document(4, range(3), prior, statistic={"kind": "count", "of": [1, 2]})
    found = made(doc)
    listed = world(doc)
    assert found.reduction.startswith("merged-count") and found.theorem == "SY Thm 3"
    assert float(found.loss) == pytest.approx(optimum(listed, loss_table(doc, listed.omegas), 1.0), abs=1e-8)


def test_a_count_of_dependent_respondents_is_not() -> None:
    doc = document(
        4,
        range(3),
        {"kind": "exchangeable", "concentration": ["1/2", "1/2", "1/2"]},
        statistic={"kind": "count", "of": [1, 2]},
    )
    found = made(doc)
    assert "merged-count did not apply" in found.explain()
    listed = world(doc)
    assert float(found.loss) == pytest.approx(optimum(listed, loss_table(doc, listed.omegas), 1.0), rel=1e-6)


@pytest.mark.parametrize("within", ["oblivious", "permutation-invariant"])
def test_a_class_that_holds_the_optimum_costs_nothing(within: str) -> None:
    found = made(document(2, (0, 1, 5), THIRDS), within=within)
    assert found.within == within and found.price == pytest.approx(0.0, abs=2e-6)


def test_classes_are_refused_where_they_make_no_sense() -> None:
    ordered = document(2, range(3), {"kind": "independent", "probabilities": [["1/2", "1/4", "1/4"], list(THIRDS)]})
    with pytest.raises(InputError, match="exchangeable prior"):
        design(problem(ordered), within="permutation-invariant")
    with pytest.raises(InputError, match="class of mechanisms is not known"):
        design(problem(ordered), within="linear")
