"""SY Theorem 3: two types, exchangeable respondents, ordered actions and a supermodular payoff: geometric is optimal.

Executed: the geometric mechanism's value equals the concavification. Near-miss: a payoff that asks whether ω is
central or extreme is not supermodular, and another mechanism beats the geometric one.
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from discreet.geometry.channel import channel_of
from discreet.geometry.concavification import concavify, concavify_oblivious
from discreet.geometry.of_problem import stated
from discreet.model.supermodular import supermodular_violation


def geometric_value(sy, problem) -> float:
    listed = stated(problem)
    return float(sy.value_of_channel(channel_of(sy.geometric(problem, (0, 1)), listed), listed))


def random_supermodular(sy, seed: int, actions: int, values: int):
    """u(a, ω) = Σ over b ≤ a, w ≤ ω of non-negative increments, plus any functions of a and of ω."""
    draw = random.Random(seed)
    steps = [[draw.randint(0, 5) for _ in range(values)] for _ in range(actions)]
    by_action = [draw.randint(-20, 5) for _ in range(actions)]
    by_state = [draw.randint(-5, 5) for _ in range(values)]
    rows = [
        [
            sum(steps[b][w] for b in range(a + 1) for w in range(omega + 1)) + by_action[a] * (a + 1) + by_state[omega]
            for omega in range(values)
        ]
        for a in range(actions)
    ]
    return sy.payoff(*rows)


@pytest.mark.parametrize("seed", range(8))
def test_random_supermodular_payoffs(sy, seed: int) -> None:
    respondents = 2 + seed % 4
    decision = random_supermodular(sy, seed, 4, respondents + 1)
    prior = sy.random_exchangeable(seed, respondents, 2)
    problem = sy.problem(respondents, (0, 1), prior, decision, Fraction(1 + seed, 3))
    assert supermodular_violation(problem.decision, problem.omegas) is None
    assert geometric_value(sy, problem) == pytest.approx(float(concavify(problem).value), abs=1e-12)


def test_squared_error_of_a_count(sy) -> None:
    problem = sy.problem(4, (0, 1), sy.iid(7, 3), sy.squared(4))
    assert geometric_value(sy, problem) == pytest.approx(-0.625136476853, abs=1e-11)


def test_central_or_extreme_is_the_near_miss(sy) -> None:
    problem = sy.figures(sy.payoff(("1/2", 0, "1/2"), (0, 1, 0)))
    assert supermodular_violation(problem.decision, problem.omegas) is not None
    assert geometric_value(sy, problem) == pytest.approx(0.430704585230, abs=1e-11)
    best = concavify_oblivious(problem)
    assert float(best.value) == pytest.approx(0.487372385753, abs=1e-11)
    assert sorted(map(float, best.hyper.weights)) == pytest.approx([0.422980473790, 0.577019526210], abs=1e-11)


def test_three_types_are_another_near_miss(sy) -> None:
    """The theorem is for categorical data: with values 0, 1, 2 the geometric mechanism on ω is beaten."""
    problem = sy.problem(2, (0, 1, 2), sy.iid(1, 1, 1), sy.squared(4))
    listed = stated(problem)
    geometric = sy.value_of_channel(channel_of(sy.geometric(problem, (0, 1, 2)), listed), listed)
    assert geometric < concavify(problem).value - Fraction(1, 100)
