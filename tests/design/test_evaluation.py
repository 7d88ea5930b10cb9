"""Bias, risk, totals, unbiased estimators and regret, recomputed database by database.

SY's finding the project builds on: geometric noise on "any child" is nearly optimal in Example 1, and leans on the prior.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from design_worlds import Document, document, problem, school, world

from discreet.design import Design, design
from discreet.design.comparison.evaluation import evaluate
from discreet.design.comparison.evaluation import seen as seen_by
from discreet.design.questions.regret import corner_priors, regret, regrets_around, under
from discreet.errors import InputError
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.mechanism import Mechanism
from discreet.model.priors import IidPrior
from discreet.model.replies import best_replies
from discreet.model.summary import LinearSummary


def by_database(doc: Document, mechanism: Mechanism) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Kernel [output, database], prior, ω and actions, each database summarised on its own."""
    listed = world(doc)
    types = len(doc["data"]["values"])
    rows = []
    for d in listed.states:
        if mechanism.summary.kind == "database":
            state = mechanism.space.index[",".join(map(str, d))]
        else:
            state = int(mechanism.states_of(np.array([[d.count(t) for t in range(types)]]))[0])
        rows.append([float(mechanism.probability(s, state)) for s in range(len(mechanism.outputs))])
    actions = np.array([float(o.action) for o in mechanism.outputs])  # type: ignore[arg-type]
    return np.array(rows).T, listed.prior, np.array([float(w) for w in listed.omegas]), actions


DOCS = [
    document(3, range(3)),
    document(2, (0, 1, 5), decision={"kind": "pinball", "quantile": "3/4", "actions": "integer"}),
    document(2, range(3), {"kind": "independent", "probabilities": [["1/2", "1/4", "1/4"], ["1/10", "1/10", "8/10"]]}),
]


@pytest.mark.parametrize("doc", DOCS, ids=["histograms", "pinball", "databases"])
def test_bias_risk_and_totals(doc: Document) -> None:
    found = design(problem(doc))
    seen = evaluate(found.mechanism)
    kernel, prior, omegas, actions = by_database(doc, found.mechanism)
    decision = problem(doc).decision
    loss = np.array([[-float(decision.payoff(Fraction(a), Fraction(w).limit_denominator(100))) for w in omegas] for a in actions])
    for k, omega in enumerate(seen.omegas):
        at = np.isclose(omegas, omega)
        mass = prior[at].sum()
        assert seen.prior[k] == pytest.approx(mass)
        assert seen.bias[k] == pytest.approx(((actions @ kernel[:, at] - omega) * prior[at]).sum() / mass, abs=1e-9)
        assert seen.risk[k] == pytest.approx(((kernel * loss)[:, at].sum(axis=0) * prior[at]).sum() / mass, abs=1e-9)
    assert (seen.prior * seen.risk).sum() == pytest.approx(float(found.loss), rel=1e-9)
    errors = actions[:, None] - omegas[None, :]
    mean = (kernel * errors * prior).sum()
    variance = (kernel * errors**2 * prior).sum() - mean**2
    assert seen.total_error(50) == pytest.approx(np.sqrt(50 * variance + (50 * mean) ** 2))
    assert seen.worst_risk == pytest.approx(seen.risk.max())
    expected = actions @ kernel
    centred = omegas - prior @ omegas
    assert seen.slope == pytest.approx((prior * expected * centred).sum() / (prior * centred**2).sum())


def test_an_unbiased_estimator_where_one_exists() -> None:
    """Geometric noise on a count of two types can be inverted: E[g(s) | h] = ω(h) at every count."""
    found = design(problem(document(5, range(2), ("3/10", "7/10"))))
    seen = found.evaluation
    assert seen.unbiased is not None and seen.for_adding_up
    kernel, prior, omegas, _ = by_database(document(5, range(2), ("3/10", "7/10")), found.mechanism)
    assert seen.unbiased @ kernel == pytest.approx(omegas, abs=1e-6)
    assert seen.unbiased_variance == pytest.approx(float(prior @ ((seen.unbiased**2) @ kernel - omegas**2)), rel=1e-6)


def test_no_unbiased_estimator_where_none_exists() -> None:
    """Two outputs cannot carry three values of ω."""
    two = {"kind": "squared-error", "actions": ["0", "2"]}
    found = design(problem(document(2, range(2), ("1/2", "1/2"), two | {"actions": ["0", "2"]})))
    if len({o.action for o in found.mechanism.outputs}) == 2 and len(found.mechanism.outputs) == 2:
        assert found.evaluation.unbiased is None


def remapped(weights: tuple[int, ...]) -> Mechanism:
    """Geometric noise on a weighted count of Example 1, each output with its best real reply under the printed prior."""
    asked = problem(school(40, "real"))
    bare = geometric_mechanism(asked, LinearSummary(weights))
    view = seen_by(bare)
    joint = np.zeros((len(view.masses), len(view.values)))
    joint[np.arange(len(view.masses)), view.column] = view.masses
    actions = best_replies(asked.decision, view.kernel @ joint, view.values).actions
    return replace(bare, kernel=replace(bare.kernel, actions=tuple(actions)))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def proxy() -> Mechanism:
    """Noise on how many households have any child."""
    return remapped((0, 1, 1))


def test_the_proxy_is_nearly_optimal_under_its_own_prior(proxy: Mechanism) -> None:
    assert under(proxy, proxy.problem).followed == pytest.approx(2.32591922806, rel=1e-9)


def test_the_proxy_leans_on_its_prior(proxy: Mechanism) -> None:
    """If the truth were (.89, .05, .06): bias −1.6, loss 6.87, against 5.47 for the remapped geometric."""
    truth = replace(proxy.problem, prior=IidPrior((Fraction(89, 100), Fraction(5, 100), Fraction(6, 100))))
    seen = under(proxy, truth)
    assert seen.bias == pytest.approx(-1.6, abs=0.05)
    assert seen.followed == pytest.approx(6.87, abs=0.005)
    assert under(remapped((0, 1, 2)), truth).followed == pytest.approx(5.47, abs=0.005)
    assert seen.reread < seen.followed


def test_regret_is_none_under_the_designers_own_prior_and_never_negative() -> None:
    own = design(problem(document(3, range(3))))
    same = regret(own.mechanism, own.mechanism.problem)
    assert same.regret == pytest.approx(0.0, abs=1e-3 * float(own.loss))
    around = regrets_around(own.mechanism, Fraction(1, 5))
    assert len(around) == 3 and [r.regret for r in around] == sorted((r.regret for r in around), reverse=True)
    assert all(r.under.reread <= r.under.followed + 1e-12 and r.regret >= -1e-4 for r in around)
    assert all(r.least <= r.reached for r in around)


def test_corners_of_a_neighbourhood() -> None:
    corners = corner_priors(problem(document(3, range(3))), Fraction(1, 2))
    assert [c.probabilities for c in corners] == [
        (Fraction(3, 4), Fraction(1, 6), Fraction(1, 12)),
        (Fraction(1, 4), Fraction(2, 3), Fraction(1, 12)),
        (Fraction(1, 4), Fraction(1, 6), Fraction(7, 12)),
    ]
    with pytest.raises(InputError, match="share of probability"):
        corner_priors(problem(document(3)), Fraction(2))


def test_regret_needs_the_same_universe_and_actions() -> None:
    own: Design = design(problem(document(3)))
    with pytest.raises(InputError, match="another universe"):
        under(own.mechanism, problem(document(4)))
    table = {"kind": "table", "actions": ["x"], "payoff": [["1"] * 7]}
    with pytest.raises(InputError, match="other decision does not have"):
        under(own.mechanism, problem(document(3, decision=table)))
