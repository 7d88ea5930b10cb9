"""Bounds for real actions stay true where floats mislead: payoffs that cancel, weights that underflow, absurd witnesses.

Without multipliers the bound of a single respondent's problem is at least the payoff of the best action at each ω.
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from discreet.certify.bounds.dual import dual_upper_bound
from discreet.certify.bounds.quotient import quotient_upper_bound
from discreet.certify.duality import chords
from discreet.errors import TooLarge
from discreet.model.actions import RealActions
from discreet.model.certificate import DualWitness, Multipliers, QuotientWitness
from discreet.model.decision import Decision
from discreet.model.losses import FormulaLoss, SquaredLoss, loss_of
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.universe import Universe


def problem_of(decision: Decision, values: tuple[Fraction, ...], respondents: int = 1) -> Problem:
    share = (Fraction(1, len(values)),) * len(values)
    universe = Universe.of(respondents, values)
    return Problem(universe, ReplaceOne(), IidPrior(share), SumStatistic(), (decision,), PurePromise(Fraction(1)))


def plain(problem: Problem, nodes: list[Fraction]) -> Fraction:
    """The bound of a witness without multipliers: what full information is worth, or more."""
    return dual_upper_bound(problem, DualWitness("dual-with-chord", None, 1, tuple(Multipliers(a, ()) for a in nodes)))


def informed(problem: Problem, nodes: list[Fraction]) -> Fraction:
    """The payoff of the best node at each of two equally likely values of ω."""
    d = problem.decision
    return sum((d.weight * max(d.payoff(a, w) for a in nodes) for w in problem.universe.values), Fraction(0)) / 2


@pytest.mark.parametrize("large", [10**17, 10**22, 10**40, 10**200])
def test_a_payoff_that_cancels_is_not_judged_by_floats(large: int) -> None:
    nodes = [Fraction(k, 8) for k in range(65)]
    text = f"-(a-1)**2 + 0*omega + (({large} + 6*a) - {large})"
    problem = problem_of(Decision(FormulaLoss(text), RealActions(nodes[0], nodes[-1])), (Fraction(0), Fraction(1)))
    assert informed(problem, nodes) == 15
    assert 15 <= plain(problem, nodes) <= 15 + Fraction(1, 256)


@pytest.mark.parametrize(
    ("weight", "size"),
    [(Fraction(digit, 10**324), Fraction(10**150)) for digit in (3, 7, 11)] + [(Fraction(10**250), Fraction(1, 10**170))],
)
@pytest.mark.parametrize("kind", ["squared-error", "absolute-error", "expression"])
def test_numbers_that_underflow_rule_no_action_out(
    weight: Fraction, size: Fraction, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound is the one in which every piece is taken exactly, though losses and pulls differ by less than floats hold."""
    rng = random.Random(1)
    nodes = [size * Fraction(k, 7) for k in range(8)]
    text = "omega*a*2 - a*a" if kind == "expression" else None
    decision = Decision(loss_of(kind, payoff=text), RealActions(nodes[0], nodes[-1]), weight=weight)
    problem = problem_of(decision, (nodes[2], nodes[5]))
    loss = weight * (size if kind == "absolute-error" else size * size)
    for _ in range(3 if kind == "expression" else 20):
        flows = [[(i, 1 - i, rng.randrange(10**6)) for i in (0, 1)] for _ in nodes]
        whole = [[(i, j, f * loss.numerator) for i, j, f in each] for each in flows]
        multipliers = tuple(Multipliers(a, tuple(each)) for a, each in zip(nodes, whole, strict=True))
        witness = DualWitness("dual-with-chord", None, loss.denominator * 10**6, multipliers)
        found = dual_upper_bound(problem, witness)
        with monkeypatch.context() as patched:
            patched.setattr(chords, "contenders", lambda rough, _: list(range(len(rough))))
            assert found == dual_upper_bound(problem, witness)


@pytest.mark.parametrize(("values", "respondents", "state"), [((0, 1, 2), 10**9, (10**9 - 1, 10**9)), ((0, 1, 10**15), 10, (3, 3))])
def test_states_of_a_quotient_are_refused_before_they_are_counted(
    values: tuple[int, ...], respondents: int, state: tuple[int, int]
) -> None:
    problem = problem_of(Decision(SquaredLoss(), RealActions()), tuple(map(Fraction, values)), respondents)
    ends = problem.omega_range
    multipliers = (Multipliers(ends[0], ((0, 0, 1),)), Multipliers(ends[1], ()))
    witness = QuotientWitness(0, ((1, 2),), ((1, 0),), (state,), 1, multipliers)
    with pytest.raises(TooLarge):
        quotient_upper_bound(problem, witness)
