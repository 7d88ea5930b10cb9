"""Wrong priors: two roads agree, exact values confirm them, break-evens separate, hedges hold where the design breaks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import exp
from pathlib import Path
from typing import Any

import design_worlds as worlds
import numpy as np
import pytest

from discreet.certify import privacy
from discreet.certify.value.expected import expected_payoff
from discreet.design import Design, design
from discreet.design.comparison.behaviour import behaviour
from discreet.design.comparison.evaluation import recommended
from discreet.design.comparison.outcome import mixed
from discreet.design.comparison.plain_noise import noise_on_the_statistic, plain_noise
from discreet.design.comparison.truths import ListedWorld, SummedWorld, world
from discreet.design.questions.family import design_family
from discreet.design.questions.hedge import NEVER, hedge, must_be_hedgeable, with_actions
from discreet.design.questions.regret import must_be_valued, under
from discreet.design.questions.reliance import reliance, share_moved, tilt_to
from discreet.design.questions.robust import robust_design
from discreet.errors import InputError, TooLarge
from discreet.model.certificate import Counterexample
from discreet.model.mechanism import Mechanism
from discreet.model.priors import IidPrior
from discreet.model.statistic import SumStatistic

VISITS = [".25", *[str(Fraction(1, 20) * Fraction(3, 4)) for _ in range(20)]]
"""Twenty-one types: no visit for a quarter of people, one to twenty visits equally likely otherwise."""

OF_ANY_SIZE = {"kind": "iid", "probabilities": ["1/2", "1/3", "1/6"], "size": ["1/4"] * 4}
OF_THEIR_OWN = {"kind": "independent", "probabilities": [["1/2", "1/3", "1/6"], ["1/3"] * 3, ["1/6", "1/3", "1/2"]]}

SQUARED = {"kind": "squared-error", "actions": "real"}


def found(document: worlds.Document, **options: Any) -> Design:
    return design(worlds.problem(document), compare=False, **options)


def school(respondents: int = 12, **changes: Any) -> Design:
    return found(worlds.document(respondents, prior=(".89", ".09", ".02"), **changes), gap=1e-4)


@lru_cache
def visits(respondents: int = 100) -> Design:
    return found(worlds.document(respondents, range(21), VISITS, SQUARED), gap=0.05, seconds=5.0)


def on_the_sum(document: worlds.Document) -> Mechanism:
    made = noise_on_the_statistic(worlds.problem(document))
    assert made is not None
    return made


# ---- truths ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["squared-error", "absolute-error", "match"])
def test_a_truth_is_what_the_exact_value_says_under_that_prior(kind: str) -> None:
    mechanism = school(6, decision={"kind": kind, "actions": "integer"}).mechanism
    truth = (Fraction(4, 5), Fraction(1, 20), Fraction(3, 20))
    factors = np.array([float(q / p) for p, q in zip(mechanism.problem.prior.probabilities, truth, strict=True)])  # type: ignore[union-attr]
    outcome = ListedWorld(mechanism).by_type(factors)
    there = replace(mechanism, problem=replace(mechanism.problem, prior=IidPrior(truth)))
    low, high = expected_payoff(there)
    assert float(low) - 1e-9 <= -outcome.loss <= float(high) + 1e-9
    assert outcome.mean == pytest.approx(6 * 0.35)


def test_both_roads_agree_on_a_weighted_sum() -> None:
    mechanism = on_the_sum(worlds.document(40, prior=(".89", ".09", ".02"), decision=SQUARED))
    listed, summed = ListedWorld(mechanism), SummedWorld(mechanism)
    for theta in (-0.4, 0.0, 0.7):
        one, two = listed.tilted(theta), summed.tilted(theta)
        assert (one.mean, one.loss, one.bias) == pytest.approx((two.mean, two.loss, two.bias), rel=1e-7, abs=1e-7)
    factors = share_moved(mechanism.problem, 2, 0.5)
    assert factors is not None
    assert listed.by_type(factors).loss == pytest.approx(summed.by_type(factors).loss, rel=1e-7)
    assert listed.replies([-0.3, 0.3]) == pytest.approx(summed.replies([-0.3, 0.3]), rel=1e-6)


GROWING = {"kind": "iid", "probabilities": [".5", ".3", ".2"], "size": [".1", ".2", ".3", ".4"]}
OWN_LAWS = {"kind": "independent", "probabilities": [[f"{k + 1}/12", "1/4", f"{8 - k}/12"] for k in range(6)]}


@pytest.mark.parametrize(
    "document",
    [
        worlds.document({"from": 5, "to": 8}, (0, 1, 3), GROWING, SQUARED, neighbours="add-remove-one"),
        worlds.document(6, (-1, 0, 2), OWN_LAWS, SQUARED),
    ],
)
def test_both_roads_agree_on_sizes_that_vary_and_respondents_with_laws_of_their_own(document: worlds.Document) -> None:
    mechanism = on_the_sum(document)
    listed, summed = ListedWorld(mechanism), SummedWorld(mechanism)
    assert summed.exact and listed.variance == pytest.approx(summed.variance)
    for theta in (-0.4, 0.0, 0.7):
        one, two = listed.tilted(theta), summed.tilted(theta)
        assert (one.mean, one.loss, one.bias) == pytest.approx((two.mean, two.loss, two.bias), rel=1e-7, abs=1e-7)
        assert listed.mean_at(theta) == pytest.approx(one.mean) == summed.mean_at(theta)


@pytest.mark.parametrize("other", [{"probabilities": [".2", ".3", ".5"]}, {"concentration": ["2", "3", "5"]}])
def test_kinds_of_cells_are_told_about_where_none_is_listed(other: dict[str, object]) -> None:
    """A mixture of 100,000 respondents ended in an assertion: no parts were known of it."""
    kinds = [{"weight": "2/3", "probabilities": [".89", ".09", ".02"]}, {"weight": "1/3", **other}]
    mechanism = on_the_sum(worlds.document(30, (0, 1, 2), {"kind": "mixture", "components": kinds}, SQUARED))
    listed, summed = ListedWorld(mechanism), SummedWorld(mechanism)
    near = 1e-7 if summed.exact else 0.05
    assert summed.exact == ("probabilities" in other) and listed.variance == pytest.approx(summed.variance, rel=near)
    one, two = listed.tilted(0.0), summed.tilted(0.0)
    assert (one.mean, one.loss, one.bias) == pytest.approx((two.mean, two.loss, two.bias), rel=near, abs=near)
    assert summed.mean_at(-0.4) < summed.mean_at(0.0) < summed.mean_at(0.7)


def test_cells_drawn_from_a_dirichlet_are_near_and_say_that_they_are_drawn() -> None:
    prior = {"kind": "exchangeable", "concentration": ["8", "1.4", "0.6"]}
    mechanism = on_the_sum(worlds.document(60, prior=prior, decision=SQUARED))
    shrunk = hedge_reading(mechanism)
    listed, summed = ListedWorld(shrunk), SummedWorld(shrunk)
    assert listed.exact and not summed.exact
    assert summed.variance == pytest.approx(listed.variance, rel=0.05)
    one, two = listed.tilted(0.0), summed.tilted(0.0)
    assert (one.mean, one.loss) == pytest.approx((two.mean, two.loss), rel=0.05)
    assert summed.tilted(0.3).mean > two.mean > summed.tilted(-0.3).mean


def hedge_reading(mechanism: Mechanism) -> Mechanism:
    """Read half-way between what is shown and the mean, so that the loss depends on the law of ω."""
    numbers = [Fraction(a) for a in mechanism.kernel.recommended or () if isinstance(a, Fraction)]
    return with_actions(mechanism, [(a + 20) / 2 for a in numbers])


def test_an_estimate_of_another_loss_is_near_and_says_that_it_is_one() -> None:
    absolute = {"kind": "absolute-error", "actions": "real"}
    mechanism = on_the_sum(worlds.document(60, (0, 1, 3), (".5", ".3", ".2"), absolute))
    one, two = ListedWorld(mechanism).tilted(0.1), SummedWorld(mechanism).tilted(0.1)
    assert one.exact and not two.exact
    assert two.loss == pytest.approx(one.loss, rel=0.01)


def test_tilts_reach_the_mean_that_is_asked_for_and_no_further_than_the_range() -> None:
    seen = world(school().mechanism)
    theta = tilt_to(seen, seen.tilted(0).mean, 2.5)
    assert theta is not None and seen.tilted(theta).mean == pytest.approx(2.5)
    assert tilt_to(seen, seen.tilted(0).mean, 24.5) is None


def test_cells_that_differ_are_a_mixture() -> None:
    seen = world(school().mechanism)
    up, down = seen.tilted(0.5), seen.tilted(-0.5)
    assert mixed([up, down]).loss == pytest.approx((up.loss + down.loss) / 2)


# ---- plain noise -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "power"), [("squared-error", 2), ("absolute-error", 1)])
def test_plain_noise_is_what_the_noise_weighs(kind: str, power: int) -> None:
    problem = worlds.problem(worlds.document(9, (0, 2, 6), decision={"kind": kind, "actions": "real"}))
    ratio = exp(-1 / 3)  # a lattice of unit 2 on which one respondent moves three places
    z = np.arange(-400, 401)
    pmf = (1 - ratio) / (1 + ratio) * ratio ** np.abs(z)
    assert plain_noise(problem) == pytest.approx(float(pmf @ np.abs(2.0 * z) ** power))


def test_plain_noise_of_a_named_action_or_at_no_budget_is_not_known() -> None:
    assert plain_noise(worlds.problem(worlds.document(decision={"kind": "match", "actions": "integer"}))) is None
    assert plain_noise(worlds.problem(worlds.document(epsilon=0))) is None


# ---- break-even --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_break_even_separates_where_noise_is_better() -> None:
    told = reliance(visits().mechanism)
    assert told.plain is not None and told.own.loss < told.plain
    higher = next(m for m in told.mistakes if m.name == "higher")
    assert higher.break_even is not None and 0 < higher.break_even < 0.5
    seen = world(visits().mechanism)
    for factor, better in ((0.98, True), (1.1, False)):
        theta = tilt_to(seen, told.own.mean, told.own.mean * (1 + factor * higher.break_even))
        assert theta is not None
        assert (seen.tilted(theta).loss <= told.plain) is better
    assert {"higher", "lower", "cells differ"} <= {m.name for m in told.mistakes}


@pytest.mark.slow
def test_the_bias_of_counting_households_shows_when_there_are_more_children() -> None:
    seen = world(found(worlds.school(40, "real"), gap=1e-4).mechanism)
    outcome = seen.by_type(np.array([1.0, 5 / 9, 3.0]))  # (.89, .05, .06)
    assert outcome.bias == pytest.approx(-1.6, abs=0.05)
    assert outcome.loss == pytest.approx(6.87, abs=0.02)


@pytest.mark.parametrize(
    "document",
    [
        worlds.document(5, (-1, 0, 1), ("1/4", "1/2", "1/4")),
        worlds.document(4, (0, 1, 2), ("1/2", "1/2", "0")),
        worlds.document(4, prior={"kind": "exchangeable", "concentration": ["4", "1", "1"]}),
        worlds.document({"from": 1, "to": 4}, neighbours="add-remove-one", prior=OF_ANY_SIZE),
        worlds.document(4, decision={"kind": "match", "actions": "integer"}),
        worlds.document(3, prior=OF_THEIR_OWN),
        worlds.document(3, epsilon=0),
    ],
)  # fmt: skip
def test_every_kind_of_problem_hears_about_wrong_priors(document: worlds.Document) -> None:
    made = found(document, gap=1e-3)
    told = reliance(made.mechanism)
    assert told.own.loss == pytest.approx(float(made.loss), rel=1e-6, abs=1e-9)
    assert any(m.name == "cells differ" for m in told.mistakes)
    assert all(np.isfinite(o.loss) for m in told.mistakes for _, o in m.points)


# ---- hedges ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("make", [school, visits])
def test_a_hedge_holds_where_the_design_breaks(make: Any) -> None:
    made = make()
    hedged = hedge(made.mechanism, made.certificate, never=None)
    assert not isinstance(privacy(hedged.mechanism), Counterexample)
    assert hedged.price >= -made.loss / 1000  # a hedge may close what the search left open
    assert hedged.certificate.optimality is not None and hedged.certificate.optimality.bound == made.bound
    assert hedged.worst <= hedged.worst_unhedged
    assert hedged.noise is not None and hedged.worst <= NEVER * hedged.noise
    assert hedged.losses[4] == pytest.approx(float(hedged.loss), rel=1e-6)


@pytest.mark.slow
def test_without_a_hedge_that_neighbourhood_is_lost() -> None:
    hedged = hedge(visits().mechanism, visits().certificate)
    assert hedged.noise is not None and hedged.worst_unhedged > 2 * hedged.noise


def test_hedges_that_cannot_be_are_refused_before_any_work() -> None:
    made = school(4)
    with pytest.raises(InputError, match="share of the prior's mean"):
        hedge(made.mechanism, made.certificate, Fraction(5))
    unbiased = worlds.problem(worlds.document(4, decision={**SQUARED, "unbiased": "nearby"}))
    with pytest.raises(InputError, match="need not be unbiased"):
        must_be_hedgeable(unbiased)


OPEN = {"kind": "table", "actions": ["open", "shut"], "payoff": [[str(k - 3) for k in range(9)], ["0"] * 9]}
BUS = {"kind": "expression", "actions": {"from": "0.1", "to": 4}, "payoff": "-omega/a - 0.5*a"}
SEVERAL = [{**SQUARED, "weight": "1"}, {"kind": "pinball", "quantile": "0.9", "actions": "real", "weight": "2"}]
THRESHOLD = {"kind": "expression", "actions": [0, 1], "payoff": "a*(omega-9)"}


@pytest.mark.parametrize("decision", [SEVERAL, [*SEVERAL, THRESHOLD], OPEN, BUS], ids=["two", "three", "names", "bus"])
def test_whatever_decides_is_hedged_by_its_own_replies(decision: Any) -> None:
    """Several decision makers, names, thresholds and formulas: the weighted sum of their losses over the neighbourhood."""
    document = worlds.document(8, (0, 1), (".7", ".3"), decision) if decision is BUS else worlds.document(4, decision=decision)
    made = found(document, gap=0.3, seconds=2.0)
    hedged = hedge(made.mechanism, made.certificate, never=None)
    assert not isinstance(privacy(hedged.mechanism), Counterexample)
    safe, bare = np.array(hedged.losses), np.array(hedged.unhedged)
    assert (safe - bare).max() <= (bare - safe).max() + 1e-9  # what it regrets at worst is less than what it saves there
    assert hedged.losses[4] == pytest.approx(float(hedged.loss), rel=1e-6, abs=1e-6)
    for i, maker in enumerate(made.mechanism.problem.decisions):
        assert all(a in maker.actions for a in recommended(hedged.mechanism, i))


@pytest.mark.parametrize("decision", [SEVERAL, THRESHOLD, BUS], ids=["two", "threshold", "bus"])
def test_replies_without_a_list_lose_hardly_more_than_those_with_one(decision: Any) -> None:
    values, prior = ((0, 1), (".7", ".3")) if decision is BUS else ((0, 1, 2), (".5", ".3", ".2"))
    mechanism = on_the_sum(worlds.document(12, values, prior, decision))
    listed, summed, tilts = ListedWorld(mechanism), SummedWorld(mechanism), [-0.4, 0.0, 0.4]
    best, near = (
        mixed([listed.reading(with_actions(mechanism, w.replies(tilts))).tilted(t) for t in tilts]) for w in (listed, summed)
    )
    assert best.loss <= near.loss + 1e-9 and near.loss <= best.loss + 0.02 * abs(best.loss)


def test_a_reading_whose_value_no_law_can_prove_is_passed_over() -> None:
    """800 respondents of four types in cells that differ: the hedge ended with "too many likely values"."""
    prior = {"kind": "exchangeable", "concentration": ["5", "2", "1", "1/2"]}
    made = found(worlds.document(800, (0, 1, 2, 9), prior, SQUARED), gap=0.5, seconds=0.5)
    hedged = hedge(made.mechanism, made.certificate, Fraction(1, 10))
    assert not isinstance(privacy(hedged.mechanism), Counterexample)
    assert hedged.noise is not None and hedged.worst <= NEVER * hedged.noise


def test_a_hedge_for_one_of_two_decision_makers_is_not_one_for_both() -> None:
    """Each reads the draws for itself: the readings differ, and the sum is what is guarded."""
    made = found(worlds.document(12, (0, 1, 2), (".89", ".09", ".02"), SEVERAL), gap=0.3, seconds=2.0)
    hedged = hedge(made.mechanism, made.certificate)
    mean, high = (np.array([float(a) for a in recommended(hedged.mechanism, i)]) for i in (0, 1))
    assert (high >= mean - 1e-9).all() and (high > mean + 0.1).any()
    assert hedged.noise is not None and hedged.worst <= NEVER * hedged.noise


def test_every_member_of_a_family_is_hedged_and_told_about(tmp_path: Path) -> None:
    problem = worlds.problem(worlds.document(6, prior=(".89", ".09", ".02"), decision=SQUARED))
    plain = design_family(problem, [3, 6], gap=1e-3, folder=tmp_path, workers=1)
    safe = design_family(problem, [3, 6], gap=1e-3, folder=tmp_path, workers=1, hedged=Fraction(1, 2))
    assert all(m.reliance is not None and m.reliance.mistakes for m in (*plain.made, *safe.made))
    for one, other in zip(plain.family.members, safe.family.members, strict=True):
        assert not isinstance(privacy(other.mechanism), Counterexample)
        assert other.mechanism.provenance["reduction"] == "hedge" != one.mechanism.provenance["reduction"]


# ---- other readers, and how actions behave, without a list of states -----------------------------------------------------------


@pytest.fixture
def unlisted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no states could be listed."""
    monkeypatch.setattr("discreet.design.comparison.evaluation.MOST_STATES", 1)


def shrinking(respondents: int = 12) -> Mechanism:
    return hedge_reading(on_the_sum(worlds.document(respondents, prior=(".5", ".3", ".2"), decision=SQUARED)))


def test_actions_behave_the_same_by_sums(unlisted: None, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = shrinking()
    summed = behaviour(mechanism)
    monkeypatch.undo()
    listed = behaviour(mechanism)
    for name in ("slope", "average_bias", "spread"):
        assert getattr(summed, name) == pytest.approx(getattr(listed, name), rel=1e-7), name
    assert listed.slope < 0.6 and np.isnan(summed.worst_risk)


def test_another_reader_is_valued_the_same_by_sums(unlisted: None, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = shrinking()
    other = replace(mechanism.problem, prior=IidPrior((Fraction(1, 4), Fraction(1, 4), Fraction(1, 2))))
    summed = under(mechanism, other)
    monkeypatch.undo()
    listed = under(mechanism, other)
    assert (summed.followed, summed.reread, summed.bias) == pytest.approx((listed.followed, listed.reread, listed.bias), rel=1e-6)
    assert summed.reread < summed.followed


def test_what_cannot_be_valued_is_refused_before_any_design(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum of many respondents is valued by its law; a statistic without weights needs its states listed."""
    many = worlds.problem(worlds.document(1_000, range(11), ["1/11"] * 11, SQUARED))
    must_be_valued(many)
    monkeypatch.setattr(SumStatistic, "weights", lambda *_: None)
    with pytest.raises(TooLarge, match="more than 10"):
        robust_design(many, (many.prior, IidPrior((Fraction(1, 2), *[Fraction(1, 20)] * 10))))
