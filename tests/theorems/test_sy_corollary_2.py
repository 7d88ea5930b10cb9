"""SY Corollary 2: with two types and exchangeable respondents the value is the concavification on K_Ω, reached on
linearly independent extreme points that attain the privacy bound at every value of ω.

Executed on random payoffs; Figure 5's two candidates. Near-miss: with three values in reach (T = 2) an extreme point
need not attain every bound.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.geometry.concavification import concavify, concavify_oblivious
from discreet.geometry.labellings import extreme_points
from discreet.geometry.of_problem import K_Omega


@pytest.mark.parametrize("seed", range(8))
def test_the_form_of_the_optimum(sy, seed: int) -> None:
    respondents = 2 + seed % 4
    decision = sy.random_payoff(seed, 4, respondents + 1)
    problem = sy.problem(respondents, (0, 1), sy.random_exchangeable(seed, respondents, 2), decision)
    found, polytope = concavify_oblivious(problem), K_Omega(problem)
    assert abs(found.value - concavify(problem).value) < Fraction(1, 10**9)
    assert found.hyper.is_linearly_independent and found.hyper.is_bayes_plausible(polytope.prior)
    for point in found.points:
        assert len(point.tight(polytope.edges)) == respondents


def test_figure_5_has_two_candidates(sy) -> None:
    """High-or-low payoffs choose the three single-peaked points, central-or-extreme ones the peak and the valley."""
    sloped = concavify_oblivious(sy.figures(sy.squared(2)))
    assert {p.exponents for p in sloped.points} == {(2, 1, 0), (0, 1, 0), (0, 1, 2)}
    central = concavify_oblivious(sy.figures(sy.payoff(("1/2", 0, "1/2"), (0, 1, 0))))
    assert {p.exponents for p in central.points} == {(0, 1, 0), (1, 0, 1)}


def test_three_types_are_the_near_miss(sy) -> None:
    polytope = K_Omega(sy.problem(2, (0, 1, 2), sy.iid(1, 1, 1)))
    assert any(len(p.tight(polytope.edges)) < len(polytope.edges) for p in extreme_points(polytope))
