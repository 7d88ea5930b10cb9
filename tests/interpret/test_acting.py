"""The best action after reading, for every kind of decision, against a search over all actions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from small_worlds import HISTOGRAM, problem_of, random_table

from discreet.interpret import best_action, best_actions, posterior, readings
from discreet.interpret.acting import expected_loss
from discreet.model.actions import ListedActions, NamedActions, RealActions
from discreet.model.decision import Decision
from discreet.model.losses import (
    AbsoluteLoss,
    FormulaLoss,
    MatchLoss,
    PinballLoss,
    SquaredLoss,
    TableLoss,
    loss_of,
)
from discreet.model.priors import IidPrior

NUMBERS = ListedActions(tuple(Fraction(k) for k in range(-1, 9)))
DECISIONS = {
    "squared": Decision(SquaredLoss(), NUMBERS),
    "absolute": Decision(AbsoluteLoss(), NUMBERS),
    "pinball": Decision(PinballLoss(Fraction(4, 5)), NUMBERS),
    "match": Decision(MatchLoss(), NUMBERS),
    "expression": Decision(FormulaLoss("-(a-omega)*(a-omega)*(1+omega)"), NUMBERS),
    "table": Decision(
        TableLoss((tuple(Fraction(6 - w) for w in range(7)), tuple(Fraction(w) for w in range(7)))), NamedActions(("low", "high"))
    ),
}


@pytest.mark.parametrize("kind", DECISIONS)
@pytest.mark.parametrize("exact", [True, False])
def test_no_listed_action_is_better(kind: str, exact: bool) -> None:
    problem = problem_of(3, (0, 1, 2), IidPrior((Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))), decision=DECISIONS[kind])
    mechanism = random_table(problem, HISTOGRAM, 4, np.random.default_rng(1))
    for s in range(4):
        found = posterior(mechanism, f"s{s}", exact=exact)
        decision = problem.decision
        chosen = best_action(decision, found)
        losses = {a: expected_loss(decision, found, a) for a in decision.actions}  # type: ignore[union-attr]
        assert losses[chosen] <= min(losses.values()) + 1e-12  # type: ignore[index]


@pytest.mark.parametrize("kind", ["squared-error", "absolute-error", "pinball"])
def test_real_actions_are_means_and_quantiles(kind: str) -> None:
    decision = Decision(loss_of(kind, quantile=Fraction(9, 10) if kind == "pinball" else None), RealActions())
    problem = problem_of(4, (0, 1), IidPrior((Fraction(1, 2), Fraction(1, 2))), decision=decision)
    found = posterior(random_table(problem, HISTOGRAM, 3, np.random.default_rng(2)), "s1")
    chosen = best_action(decision, found)
    grid = [Fraction(k, 20) for k in range(0, 81)]
    assert expected_loss(decision, found, chosen) <= min(expected_loss(decision, found, a) for a in grid) + 1e-12


def test_real_actions_respect_their_range_and_their_formula() -> None:
    clipped = Decision(SquaredLoss(), RealActions(Fraction(3), Fraction(4)))
    buses = Decision(FormulaLoss("-omega/a - 0.1*a"), RealActions(Fraction(1, 10), Fraction(10)))
    problem = problem_of(4, (0, 1), IidPrior((Fraction(3, 4), Fraction(1, 4))), decision=clipped)
    found = posterior(random_table(problem, HISTOGRAM, 3, np.random.default_rng(2)), "s1")
    assert best_action(clipped, found) == 3
    assert best_action(buses, found) == pytest.approx((found.mean() / 0.1) ** 0.5, rel=1e-6)


def test_every_output_of_a_table_has_its_best_action() -> None:
    problem = problem_of(3, (0, 1, 2), IidPrior((Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))))
    mechanism = random_table(problem, HISTOGRAM, 4, np.random.default_rng(1))
    found = best_actions(problem.decision, readings(mechanism))
    assert found == pytest.approx([posterior(mechanism, f"s{s}").mean() for s in range(4)])
