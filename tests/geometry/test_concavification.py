"""Concavification against HiGHS and the structured solver, with losses, weights and several decision makers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.errors import InputError, TooLarge
from discreet.geometry.concavification import concavify, concavify_oblivious
from discreet.geometry.interim import Interim
from discreet.geometry.of_problem import oblivious_problem, stated
from discreet.geometry.price import price_of_noise
from discreet.model.actions import ListedActions, RealActions
from discreet.model.decision import Decision
from discreet.model.losses import FormulaLoss, MatchLoss, SquaredLoss, loss_of

WHOLE = ListedActions(tuple(Fraction(a) for a in range(5)))


def highs(problem) -> float:
    """The designer's program as it stands."""
    listed = stated(problem)
    decision = problem.decision
    actions = list(decision.actions)
    n = len(listed.space)
    believed = list(zip(listed.prior, listed.omega_of, strict=True))
    gain = [float(p * decision.payoff(a, w)) for a in actions for p, w in believed]
    q = float(np.exp(float(problem.epsilon)))
    rows = []
    for a in range(len(actions)):
        for i, j in listed.edges:
            for x, y in ((i, j), (j, i)):
                row = np.zeros(len(gain))
                row[a * n + x], row[a * n + y] = 1.0, -q
                rows.append(row)
    sums = np.tile(np.eye(n), len(actions))
    found = linprog(-np.array(gain), A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(n))
    return float(-found.fun)


@pytest.mark.parametrize("kind", ["squared-error", "absolute-error", "pinball", "match"])
@pytest.mark.parametrize("weights", [(5, 3, 2), (1, 1, 8)])
def test_every_kind_of_decision_agrees_with_highs(problem, kind: str, weights) -> None:
    decision = Decision(loss_of(kind, quantile=Fraction(3, 4) if kind == "pinball" else None), WHOLE)
    asked = problem(2, weights, decisions=(decision,), epsilon=Fraction(3, 4))
    found = concavify(asked)
    assert float(found.value) == pytest.approx(highs(asked), abs=1e-8)
    assert float(concavify_oblivious(asked).value) == pytest.approx(highs(oblivious_problem(asked)), abs=1e-8)
    assert 0 <= found.gap < Fraction(1, 10**9)


def test_the_structured_solver_agrees(problem) -> None:
    design = pytest.importorskip("discreet.design")
    for weights in ((5, 3, 2), (1, 1, 8), (9, 1, 1)):
        whole = Decision(SquaredLoss(), ListedActions(tuple(map(Fraction, range(7)))))
        asked = problem(3, weights, decisions=(whole,))
        found, solved = concavify(asked), design.design(asked, compare=False)
        assert solved.value <= found.bound and found.value <= solved.bound
        assert float(solved.value) == pytest.approx(float(found.value), rel=1e-5)


def test_real_actions_are_the_limit_of_fine_ones(problem) -> None:
    fine = ListedActions(tuple(Fraction(a, 64) for a in range(129)))
    for kind, q in (("squared-error", None), ("absolute-error", None), ("pinball", Fraction(2, 3))):
        real = concavify(problem(2, decisions=(Decision(loss_of(kind, quantile=q), RealActions()),)))
        close = concavify(problem(2, decisions=(Decision(loss_of(kind, quantile=q), fine),)))
        assert close.value <= real.bound and real.value - close.value < Fraction(1, 5000)


def test_a_clipped_range_of_real_actions(problem) -> None:
    narrow = RealActions(Fraction(1, 2), Fraction(1))
    tight = concavify(problem(2, decisions=(Decision(SquaredLoss(), narrow),)))
    wide = concavify(problem(2))
    assert tight.value < wide.value
    assert all(Fraction(1, 2) <= actions[0] <= 1 for actions in tight.actions)


def test_several_decision_makers_add_up(problem) -> None:
    first = Decision(SquaredLoss(), WHOLE, weight=Fraction(2))
    second = Decision(MatchLoss(), WHOLE)
    both = concavify(problem(2, (5, 3, 2), decisions=(first, second)))
    alone = [concavify(problem(2, (5, 3, 2), decisions=(d,))).value for d in (first, second)]
    assert both.value <= sum(alone) and all(len(actions) == 2 for actions in both.actions)


def test_floats_and_fractions_of_interim_payoffs_agree() -> None:
    omegas = tuple(Fraction(w) for w in range(4))
    belief = (Fraction(1, 10), Fraction(2, 10), Fraction(3, 10), Fraction(4, 10))
    decisions = tuple(
        Decision(loss_of(kind, quantile=Fraction(1, 5) if kind == "pinball" else None), actions)
        for kind in ("squared-error", "absolute-error", "pinball")
        for actions in (RealActions(), WHOLE, RealActions(Fraction(2), Fraction(3)))
    )
    for decision in decisions:
        interim = Interim((decision,), omegas)
        floats = interim.values(np.array([[float(p) for p in belief]]))
        assert floats[0] == pytest.approx(float(interim.value(belief)))


def test_real_actions_of_an_expression_are_refused(problem) -> None:
    bus = Decision(FormulaLoss("-omega/a - 0.1*a"), RealActions(Fraction(1), Fraction(5)))
    with pytest.raises(InputError, match="closed form"):
        concavify(problem(2, decisions=(bus,)))


def test_too_many_extreme_points(problem) -> None:
    with pytest.raises(TooLarge, match="4 respondents of 2 types"):
        concavify(problem(4, (1, 1, 1)))


def test_the_price_is_zero_for_counts_and_positive_for_sums(problem) -> None:
    free = price_of_noise(problem(3))
    assert free.at_least == 0 and free.at_most < Fraction(1, 10**9)
    paid = price_of_noise(problem(2, (1, 1, 1)))
    assert 0 < paid.at_least <= paid.at_most < paid.at_least + Fraction(1, 10**9)
