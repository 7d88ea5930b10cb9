"""Slopes of the optimum, regret surfaces, and what several decision makers pay."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from design_worlds import document, loss_table, optimum, problem, school, world

from discreet.design import Design, design
from discreet.design.questions.decision_makers import prices, shared_design
from discreet.design.questions.regret import under
from discreet.design.questions.regret_surface import corners, drawn_around, surface
from discreet.design.questions.sensitivity import epsilon_slope, prior_slopes, sensitivity
from discreet.errors import InputError
from discreet.model.priors import IidPrior


@pytest.fixture(scope="module")
def found() -> Design:
    return design(problem(school(4)), compare=False)


def least(doc: dict[str, object], epsilon: float) -> float:
    states = world(doc, histograms=True)
    return optimum(states, loss_table(doc, states.omegas), epsilon)


@pytest.mark.parametrize("actions", ["integer", "real"])
def test_the_slope_in_epsilon_agrees_with_finite_differences(actions: str) -> None:
    best = design(problem(school(4, actions=actions)), compare=False)
    step = Fraction(1, 200)
    slope = sensitivity(best, prove=True, step=step, workers=1)[0]
    assert slope.low is not None and slope.high is not None and slope.low <= slope.high < 0
    assert epsilon_slope(best) == pytest.approx((slope.low + slope.high) / 2, rel=0.05)


def test_the_bracket_holds_the_true_average_slope(found: Design) -> None:
    step = Fraction(1, 50)
    slopes = {s.of: s for s in sensitivity(found, prove=True, step=step, workers=1)}
    base = least(school(4), 1.0)
    truth = (least(school(4), 1.02) - base) / 0.02
    assert slopes["epsilon"].low - 1e-5 <= truth <= slopes["epsilon"].high + 1e-5  # type: ignore[operator]
    moved = [str(Fraction(49, 50) * Fraction(p) + Fraction(1, 50) * (t == 1)) for t, p in enumerate((".89", ".09", ".02"))]
    truth = (least(document(4, range(3), moved), 1.0) - base) / 0.02
    assert slopes["type 1"].low - 1e-5 <= truth <= slopes["type 1"].high + 1e-5  # type: ignore[operator]


def test_the_slope_towards_a_type_is_the_derivative_at_fixed_mechanism(found: Design) -> None:
    p, k = (Fraction(89, 100), Fraction(9, 100), Fraction(2, 100)), Fraction(1, 10**6)
    here = under(found.mechanism, found.mechanism.problem).followed
    for t, slope in enumerate(prior_slopes(found)):
        moved = IidPrior(tuple((1 - k) * x + k * (s == t) for s, x in enumerate(p)))
        there = under(found.mechanism, replace(found.mechanism.problem, prior=moved)).followed
        assert slope == pytest.approx((there - here) / float(k), rel=1e-3, abs=1e-5)


def test_a_closed_form_has_a_slope_too() -> None:
    best = design(problem(school(10, actions="real", types=2)), compare=False)
    assert best.theorem == "SY Thm 3" and epsilon_slope(best) < 0


def test_slopes_towards_types_need_an_iid_prior() -> None:
    other = design(problem(document(2, prior={"kind": "exchangeable", "concentration": ["1", "1", "1"]})), compare=False)
    assert [s.of for s in sensitivity(other)] == ["epsilon"]
    with pytest.raises(InputError, match="iid prior"):
        prior_slopes(other)


def test_regret_grows_with_the_share_and_is_enclosed(found: Design) -> None:
    regrets = surface(found.mechanism, corners(found.mechanism.problem, [Fraction(1, 50), Fraction(1, 10)]), workers=1)
    assert len(regrets.places) == 6 and all(0 <= p.low <= p.high for p in regrets.places)
    near, far = regrets.places[2], regrets.places[5]
    assert near.towards == far.towards == 2 and near.high < far.low
    assert regrets.worst.radius == 0.1
    place = regrets.places[5]
    doc = document(4, range(3), [str(p) for p in place.prior])
    assert place.least - 1e-6 <= least(doc, 1.0) <= place.reached + 1e-6


def test_draws_around_counts_repeat_with_their_seed(found: Design) -> None:
    first, second, other = (drawn_around(found.mechanism.problem, 3, seed, counts=(89, 9, 2)) for seed in (7, 7, 8))
    assert first == second != other
    assert surface(found.mechanism, first, workers=1).kind == "around counts"
    with pytest.raises(InputError, match="no reference counts"):
        drawn_around(found.mechanism.problem, 3, seed=7)


def test_decision_makers_who_agree_pay_nothing() -> None:
    doc = school(3)
    same = problem(doc | {"decision": [doc["decision"], doc["decision"] | {"weight": "2", "name": "twin"}]})
    shared = shared_design(same, workers=1)
    assert [s.name for s in shared.shares] == ["decision 1", "twin"]
    assert all(abs(s.price) < 1e-4 for s in shared.shares)


def test_the_price_of_a_common_mechanism() -> None:
    # one wants to know whether the sum is extreme, the other whether it is high: no mechanism serves both best
    table = [["1", "0", "1"], ["0", "2", "0"]]
    other = [["0", "0", "3"], ["1", "1", "0"]]
    doc = document(2, range(2), ("1/2", "1/2"))
    two = problem(
        doc
        | {
            "decision": [
                {"kind": "table", "actions": ["far", "near"], "payoff": table},
                {"kind": "table", "actions": ["act", "wait"], "payoff": other},
            ]
        }
    )
    shared = shared_design(two, gap=1e-6, workers=1)
    assert sum(s.price for s in shared.shares) > 0.01
    assert all(s.price >= -1e-6 and s.price_reread <= s.price + 1e-9 for s in shared.shares)
    total = sum(float(s.weight) * s.followed for s in shared.shares)
    assert total == pytest.approx(float(shared.design.loss), abs=1e-9)


def test_a_single_decision_maker_pays_no_price(found: Design) -> None:
    with pytest.raises(InputError, match="only one decision maker"):
        prices(found)
