"""Decisions: exact payoffs, what makes them invalid, and supermodularity decided as brute force decides it."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

import pytest
from random_worlds import problem_of

from discreet.errors import InputError, TooLarge
from discreet.model.actions import ListedActions, NamedActions, RealActions
from discreet.model.decision import Decision, integer_actions
from discreet.model.losses import (
    AbsoluteLoss,
    FormulaLoss,
    Loss,
    MatchLoss,
    PinballLoss,
    SquaredLoss,
    TableLoss,
    loss_of,
)
from discreet.model.neighbours import ReplaceOne
from discreet.model.supermodular import supermodular_violation
from discreet.model.universe import Universe

WHOLE = ListedActions(tuple(map(Fraction, range(4))))
OMEGAS = tuple(map(Fraction, range(5)))


def brute_violation(decision: Decision, actions: list, omegas: tuple[Fraction, ...]) -> bool:
    return any(
        decision.payoff(high, later) + decision.payoff(low, early) < decision.payoff(high, early) + decision.payoff(low, later)
        for low, high in combinations(actions, 2)
        for early, later in combinations(omegas, 2)
    )


@pytest.mark.parametrize("seed", range(200))
def test_supermodularity_of_tables_is_that_of_all_quadruples(seed: int) -> None:
    rng = random.Random(seed)
    rows, columns = rng.randint(1, 4), rng.randint(1, 4)
    omegas = OMEGAS[:columns]
    if rng.random() < 0.5:
        table = [[Fraction(rng.randint(-2, 2)) for _ in omegas] for _ in range(rows)]
    else:
        table = [[Fraction(i * j + rng.randint(0, 3) * (i == j == 0)) for j in range(columns)] for i in range(rows)]
    actions = ListedActions(tuple(map(Fraction, range(rows))))
    decision = Decision(TableLoss(tuple(map(tuple, table)), omegas), actions)
    found = supermodular_violation(decision, omegas)
    assert (found is not None) == brute_violation(decision, list(actions), omegas)
    if found is not None:
        a, b, w, v = found.action, found.higher_action, found.omega, found.higher_omega
        excess = decision.payoff(b, v) + decision.payoff(a, w) - decision.payoff(b, w) - decision.payoff(a, v)
        assert found.excess == excess < 0


@pytest.mark.parametrize("kind", ["squared-error", "absolute-error", "pinball"])
def test_losses_are_supermodular(kind: str) -> None:
    decision = Decision(loss_of(kind, quantile=Fraction(9, 10) if kind == "pinball" else None), WHOLE)
    assert supermodular_violation(decision, OMEGAS) is None
    assert not brute_violation(decision, list(WHOLE), OMEGAS)


def test_naming_the_statistic_is_not() -> None:
    assert supermodular_violation(Decision(MatchLoss(), WHOLE), OMEGAS) is not None


@pytest.mark.parametrize(
    ("payoff", "holds"),
    [
        ("omega*a - a**2", True), ("-omega/a - 0.1*a", True), ("omega*a*(a - 2)", False), ("omega*(a-1)**3", True),
        ("-omega*a", False), ("a**2", True), ("omega*(a**3 - 3*a)", False), ("omega*(a-2)**2*(a+5)", False),
    ],
)  # fmt: skip
def test_real_actions_are_decided_by_the_slope(payoff: str, holds: bool) -> None:
    decision = Decision(FormulaLoss(payoff), RealActions(Fraction(1, 2), Fraction(3)))
    found = supermodular_violation(decision, OMEGAS)
    assert (found is None) == holds
    grid = [Fraction(1, 2) + Fraction(k, 20) for k in range(51)]
    assert brute_violation(decision, grid, OMEGAS) == (not holds)
    if found is not None:
        assert Fraction(1, 2) <= found.action < found.higher_action <= 3 and found.excess < 0


def test_a_kink_leaves_real_actions_undecided() -> None:
    decision = Decision(FormulaLoss("omega*abs(a - 1/2)"), RealActions(Fraction(0), Fraction(1)))
    with pytest.raises(InputError, match="cannot be decided"):
        supermodular_violation(decision, OMEGAS)


@pytest.mark.parametrize("seed", range(30))
def test_payoffs_are_what_they_say(seed: int) -> None:
    rng = random.Random(seed)
    a, w = Fraction(rng.randint(0, 20), 4), Fraction(rng.randint(0, 20), 3)
    q = Fraction(rng.randint(1, 9), 10)
    real = RealActions()
    assert Decision(SquaredLoss(), real).payoff(a, w) == -((a - w) ** 2)
    assert Decision(AbsoluteLoss(), real).payoff(a, w) == -abs(a - w)
    loss = q * (w - a) if w >= a else (1 - q) * (a - w)
    assert Decision(PinballLoss(q), real).payoff(a, w) == -loss


def test_the_pinball_optimum_is_the_quantile() -> None:
    decision = Decision(PinballLoss(Fraction(7, 10)), RealActions())
    values = list(map(Fraction, range(10)))
    best = max(values, key=lambda a: sum(decision.payoff(a, w) for w in values))
    assert best in (6, 7)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Decision(loss_of("guess"), WHOLE), "not known"),
        (lambda: Decision(MatchLoss(), WHOLE, weight=Fraction(0)), "must be positive"),
        (lambda: Decision("pinball", WHOLE), "judged by a loss"),
        (lambda: loss_of("pinball"), "no decision.quantile"),
        (lambda: Decision(PinballLoss(Fraction(1)), WHOLE), "needs its quantile"),
        (lambda: Decision(SquaredLoss(), NamedActions(("a", "b"))), "must be numbers"),
        (lambda: Decision(MatchLoss(), NamedActions(("a", "b"))), "must be numbers"),
        (lambda: Decision(MatchLoss(), RealActions()), "must be listed"),
        (lambda: Decision(TableLoss(((Fraction(0),),)), WHOLE), "one row for each action"),
        (lambda: Decision(TableLoss(((Fraction(0),),)), RealActions()), "one row for each action"),
        (lambda: Decision(TableLoss(((Fraction(0),), ())), ListedActions(OMEGAS[:2])), "one number for each value"),
        (lambda: Decision(FormulaLoss("a +"), WHOLE), "cannot be read"),
        (lambda: Decision(FormulaLoss("a"), NamedActions(("x", "y"))), "must be numbers"),
        (lambda: Decision(FormulaLoss("a*omega"), RealActions()), "need their range"),
        (lambda: Decision(FormulaLoss("omega**2"), RealActions(Fraction(1), Fraction(2))), r"form f\(a\)"),
        (lambda: Decision(FormulaLoss("omega/a"), RealActions(Fraction(-1), Fraction(2))), "no finite value"),
        (lambda: Decision(FormulaLoss("a**64*a**64"), RealActions(Fraction(1), Fraction(2))), "degree"),
        (lambda: RealActions(Fraction(2), Fraction(1)), "empty"),
        (lambda: RealActions(Fraction(2), None), "two ends"),
        (lambda: ListedActions(()), "no action"),
        (lambda: ListedActions((Fraction(1), Fraction(1))), "ascending"),
        (lambda: NamedActions(()), "no action"),
        (lambda: NamedActions(("a", "a")), "different"),
        (lambda: NamedActions(("a", " ")), "different, non-empty"),
        (lambda: NamedActions(("a", "1/2")), "reads as a number"),
    ],
)  # fmt: skip
def test_what_is_no_decision_is_refused(make, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_a_payoff_table_fits_the_statistic() -> None:
    table = Decision(TableLoss(((Fraction(0),) * 3, (Fraction(1),) * 3)), NamedActions(("go", "stay")))
    problem = problem_of(Universe.of(2, OMEGAS[:2]), ReplaceOne(), decision=table)
    assert problem.decision.payoff("stay", Fraction(2)) == 1
    with pytest.raises(InputError, match="one number for each value"):
        problem_of(Universe.of(3, OMEGAS[:2]), ReplaceOne(), decision=table)
    with pytest.raises(TooLarge, match="values of the statistic"):
        problem_of(Universe.of(10**9, OMEGAS[:2]), ReplaceOne(), decision=table)


def test_dividing_by_zero_is_said() -> None:
    decision = Decision(FormulaLoss("omega/a"), WHOLE)
    with pytest.raises(InputError, match="divides by zero"):
        decision.payoff(Fraction(0), Fraction(1))


def test_whole_number_actions_reach_over_the_statistic() -> None:
    assert integer_actions(Fraction(1, 2), Fraction(5, 2)).numbers == tuple(map(Fraction, (0, 1, 2, 3)))
    with pytest.raises(TooLarge):
        integer_actions(Fraction(0), Fraction(10**9))


def test_actions_know_their_members() -> None:
    assert Fraction(1) in WHOLE and Fraction(1, 2) not in WHOLE and "x" not in WHOLE
    assert Fraction(10) in RealActions() and "x" not in RealActions()
    assert Fraction(1) in RealActions(Fraction(0), Fraction(1)) and Fraction(2) not in RealActions(Fraction(0), Fraction(1))
    assert "x" in NamedActions(("x",)) and Fraction(1) not in NamedActions(("x",))
    assert WHOLE.position(Fraction(2)) == 2 and NamedActions(("x", "y")).position("y") == 1


@pytest.mark.parametrize(
    "loss",
    [SquaredLoss(), AbsoluteLoss(), PinballLoss(Fraction(1, 3)), FormulaLoss("-omega/3 - a/7"), MatchLoss()],
)
def test_payoffs_in_whole_numbers_are_the_payoffs(loss: Loss) -> None:
    """Numbers with many denominators: a common one that is forgotten or counted twice shows."""
    decision = Decision(loss, ListedActions(tuple(Fraction(k, d) for k, d in ((-7, 3), (-1, 2), (0, 1), (5, 12), (9, 5)))))
    for omega in (Fraction(-2, 7), Fraction(0), Fraction(5, 12), Fraction(11)):
        whole, unit = decision.payoffs(tuple(decision.actions), omega)  # type: ignore[arg-type]
        assert [Fraction(u, unit) for u in whole] == [decision.payoff(a, omega) for a in decision.actions]  # type: ignore[union-attr]


@pytest.mark.parametrize("loss", [SquaredLoss(), AbsoluteLoss(), PinballLoss(Fraction(1, 3))])
@pytest.mark.parametrize(
    "numbers",
    [
        (Fraction(0), Fraction(2), Fraction(1 << 30)),
        (Fraction(-7, 3), Fraction(1, 2), Fraction(5)),
        (Fraction(1, (1 << 30) + 3), Fraction(1), Fraction(2)),  # one denominator for all would not fit into the machine's numbers
        (Fraction(-(1 << 31)), Fraction((1 << 31) + 1, 7), Fraction(1 << 70)),  # nor would a difference, or its square
    ],
)
def test_payoffs_at_many_values_are_those_at_each(loss: Loss, numbers: tuple[Fraction, ...]) -> None:
    decision = Decision(loss, ListedActions(tuple(sorted(numbers))))
    omegas = (*numbers, -numbers[-1])
    rows = decision.payoff_rows(list(numbers), omegas)
    found = [[Fraction(payoff, unit) for payoff in payoffs] for payoffs, unit in rows]
    assert found == [[decision.payoff(a, omega) for a in numbers] for omega in omegas]
