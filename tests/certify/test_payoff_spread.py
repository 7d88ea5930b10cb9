"""The spread of payoffs that pays for what a bound leaves out: never below any payoff, wherever the extreme lies."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

import discreet
from discreet.certify.bounds.theorems import _Ruler, _spread, geometric_bound
from discreet.errors import InputError
from discreet.model.problem import Problem


def two_types(payoff: str, low: str = "0", high: str = "4") -> Problem:
    return discreet.problem(
        respondents=6,
        values=[-1, 1],
        probabilities=["1/2", "1/2"],
        decision={"kind": "expression", "payoff": payoff, "actions": {"from": low, "to": high}},
        epsilon=1,
    ).problem


def largest_payoff(problem: Problem, steps: int = 400) -> Fraction:
    """max |u| over a fine grid of actions and every value of the statistic."""
    actions = [Fraction(4 * k, steps) for k in range(steps + 1)]
    return max(abs(problem.decision.payoff(a, w)) for a in actions for w in problem.omegas)


@pytest.mark.parametrize("seed", range(20))
def test_no_payoff_exceeds_the_spread(seed: int) -> None:
    """f a parabola with its top inside the range, far above both ends; g rising; |u| is largest anywhere."""
    random = Random(seed)
    top, bend, lift = Fraction(random.randint(1, 15), 4), random.randint(1, 30), random.randint(-50, 200)
    rise = random.randint(0, 5)
    problem = two_types(f"{lift} - {bend}*(a - {top.numerator}/{top.denominator})**2 + {rise}*omega*a")
    assert _spread(problem, problem.decision, _Ruler(), ()) >= 2 * largest_payoff(problem) * (1 - Fraction(1, 10**12))


def test_a_top_between_the_ends_counts() -> None:
    problem = two_types("40 - 10*(a - 2)**2 + 0*omega")
    ends = max(abs(problem.decision.payoff(a, w)) for a in (Fraction(0), Fraction(4)) for w in problem.omegas)
    assert ends == 0 and _spread(problem, problem.decision, _Ruler(), ()) >= 80


@pytest.mark.parametrize("payoff", ["(a - 2)**2*(a - 1)*(3 - a) + omega*a", "-omega**2/(a + 1)", "(a - 2)**4 + omega*a"])
def test_where_ends_would_not_tell_the_payoff_is_refused(payoff: str) -> None:
    """Extremes at the ends need a payoff that is concave in a at every ω; others get no bound."""
    with pytest.raises(InputError):
        problem = two_types(payoff)
        _spread(problem, problem.decision, _Ruler(), ())
    with pytest.raises(InputError):
        geometric_bound(two_types(payoff))
