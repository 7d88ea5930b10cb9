"""Exact best replies: never worse than any action on a fine grid, ties to the smaller, and the floats agree."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.model import replies
from discreet.model.actions import ListedActions, NamedActions, RealActions
from discreet.model.decision import Decision
from discreet.model.exact_replies import exact_payoff, exact_reply
from discreet.model.losses import (
    AbsoluteLoss,
    FormulaLoss,
    MatchLoss,
    PinballLoss,
    SquaredLoss,
    TableLoss,
    loss_of,
)
from discreet.model.replies import best_replies, loss_table, real_replies

OMEGAS = tuple(Fraction(k) for k in (-2, 0, 1, 3, 4))
NUMBERS = ListedActions(tuple(Fraction(k, 2) for k in range(-5, 10)))
KINDS = [("squared-error", None), ("absolute-error", None), ("pinball", Fraction(1, 5)), ("pinball", Fraction(9, 10))]


def random_belief(random: Random) -> list[Fraction]:
    parts = [random.choice((0, 0, 1, 2, 5)) for _ in OMEGAS]
    parts[random.randrange(len(parts))] += 1
    return [Fraction(p, sum(parts)) for p in parts]


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize(("kind", "quantile"), KINDS)
def test_no_number_is_better(kind: str, quantile: Fraction | None, seed: int) -> None:
    belief = random_belief(Random(seed))
    grid = [Fraction(k, 8) for k in range(-20, 40)]
    real = Decision(loss_of(kind, quantile=quantile), RealActions())
    best = exact_reply(real, belief, OMEGAS)
    assert all(exact_payoff(real, belief, OMEGAS, a) <= exact_payoff(real, belief, OMEGAS, best) for a in grid)
    row = np.array([[float(p) for p in belief]])
    floats = float(real_replies(real, row, np.array([float(w) for w in OMEGAS]))[0])
    assert exact_payoff(real, belief, OMEGAS, Fraction(floats)) == pytest.approx(float(exact_payoff(real, belief, OMEGAS, best)))
    listed = Decision(loss_of(kind, quantile=quantile), NUMBERS)
    chosen = exact_reply(listed, belief, OMEGAS)
    payoffs = {a: exact_payoff(listed, belief, OMEGAS, a) for a in NUMBERS.numbers}
    assert payoffs[chosen] == max(payoffs.values())  # type: ignore[index]
    found = best_replies(listed, row, OMEGAS).actions[0]
    assert float(payoffs[found]) == pytest.approx(float(max(payoffs.values())))  # type: ignore[index]


def test_ranges_and_ties() -> None:
    half = [Fraction(1, 2), Fraction(0), Fraction(0), Fraction(0), Fraction(1, 2)]
    assert exact_reply(Decision(SquaredLoss(), RealActions(Fraction(2), Fraction(3))), half, OMEGAS) == 2
    assert exact_reply(Decision(AbsoluteLoss(), RealActions()), half, OMEGAS) == -2
    same = ((Fraction(1),) * 5,) * 2
    named = Decision(TableLoss(same, OMEGAS), NamedActions(("stay", "go")))
    assert exact_reply(named, half, OMEGAS) == "stay"


def test_mass_that_does_not_sum_to_one_asks_for_the_same_action() -> None:
    belief = random_belief(Random(3))
    decision = Decision(PinballLoss(Fraction(1, 5)), RealActions())
    assert exact_reply(decision, [p / 7 for p in belief], OMEGAS) == exact_reply(decision, belief, OMEGAS)


def test_real_actions_of_a_formula_have_no_closed_form() -> None:
    decision = Decision(FormulaLoss("-omega/a - a"), RealActions(Fraction(1), Fraction(2)))
    with pytest.raises(InputError, match="no closed form"):
        exact_reply(decision, [Fraction(1, 5)] * 5, OMEGAS)


@pytest.mark.parametrize("loss", [MatchLoss(), SquaredLoss(), PinballLoss(Fraction(1, 3)), FormulaLoss("-(a - omega)**2 + a/7")])
@pytest.mark.parametrize("most_exact", [10**6, 0])
def test_a_table_of_losses_holds_the_exact_payoffs(loss, most_exact, monkeypatch) -> None:
    monkeypatch.setattr(replies, "MOST_EXACT", most_exact)
    decision = Decision(loss, ListedActions((Fraction(-1), Fraction(0), Fraction(5, 2), Fraction(4))))
    omegas = [Fraction(k, 2) for k in range(-4, 9)]
    chosen = [Fraction(4), Fraction(0), Fraction(4), Fraction(-1)]
    table = loss_table(decision, chosen, omegas)
    for row, action in zip(table, chosen, strict=True):
        assert row == pytest.approx([-float(decision.payoff(action, w)) for w in omegas], rel=1e-12)
    for w in omegas:
        assert loss.largest_payoff(w, decision.actions) == max(decision.payoff(a, w) for a in decision.actions)


@pytest.mark.parametrize("seed", range(20))
def test_a_guess_is_the_likeliest_value_that_may_be_guessed_and_no_table_is_formed(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred thousand guesses of 1,388 likely values took a gigabyte, and the search ended with an error."""
    rng = np.random.default_rng(seed)
    omegas = tuple(map(Fraction, sorted(rng.choice(12, 6, replace=False).tolist())))
    decision = Decision(MatchLoss(), ListedActions(tuple(map(Fraction, sorted(rng.choice(12, 5, replace=False).tolist())))))
    joint = rng.integers(0, 3, (7, 6)) / 16
    expected = joint @ replies.loss_table(decision, list(decision.choices), omegas).T
    best = expected.argmin(axis=1)
    monkeypatch.setattr(replies, "loss_table", None)
    found = replies.best_replies(decision, joint, omegas)
    assert np.array_equal(found.losses, expected.min(axis=1))
    assert found.actions == [list(decision.choices)[i] for i in best.tolist()]
