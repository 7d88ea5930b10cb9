"""SY Proposition 2: the value is the concavification of v on K; an optimal hyper sits on linearly independent extreme
points, each attaining at least (T+1)^N − 1 privacy bounds, and is the only Bayes-plausible one with its support.

Executed against HiGHS and, where it is present, the design package. Near-miss: a mixture of two optimal-looking
posteriors is not extreme and fails the count.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.design import design
from discreet.geometry.beliefs import mixture
from discreet.geometry.concavification import concavify
from discreet.geometry.of_problem import K


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("respondents", "types"), [(2, 2), (3, 2), (2, 3)])
def test_the_optimal_hyper_has_the_stated_form(sy, seed: int, respondents: int, types: int) -> None:
    values = respondents * (types - 1) + 1
    prior = sy.random_table(seed, respondents, types)
    problem = sy.problem(respondents, range(types), prior, sy.random_payoff(seed, 4, values))
    found, polytope = concavify(problem), K(problem)
    assert found.hyper.is_bayes_plausible(polytope.prior)
    assert found.hyper.is_linearly_independent and found.hyper.is_affinely_independent and found.hyper.is_unique
    for point, posterior in zip(found.points, found.hyper.posteriors, strict=True):
        assert polytope.contains(posterior)
        assert len(point.tight(polytope.edges)) >= types**respondents - 1
        assert len(polytope.binding(posterior)) == len(point.tight(polytope.edges))


@pytest.mark.parametrize("seed", range(5))
def test_the_hyperplane_supports_the_value(sy, seed: int) -> None:
    """λ·π0 = V and λ·π ≥ v(π) on K: the dual of the program over extreme points."""
    problem = sy.problem(3, (0, 1), sy.random_table(seed, 3, 2), sy.random_payoff(seed, 3, 4))
    found = concavify(problem)
    at_prior = sum((x * p for x, p in zip(found.hyperplane, K(problem).prior, strict=True)), Fraction(0))
    assert float(at_prior) == pytest.approx(float(found.value), abs=1e-8)
    assert 0 <= found.gap < Fraction(1, 10**8)


def test_real_actions(sy) -> None:
    """Squared error with real actions: above whole-number actions, below the variance of certainty."""
    listed = sy.problem(3, (0, 1), sy.random_table(2, 3, 2), sy.squared(3))
    real = sy.problem(3, (0, 1), sy.random_table(2, 3, 2), sy.squared())
    fine = sy.problem(3, (0, 1), sy.random_table(2, 3, 2), None)
    assert concavify(listed).value < concavify(real).value == concavify(fine).value < 0


def test_the_design_program_agrees(sy) -> None:
    for seed in range(3):
        problem = sy.problem(3, (0, 1, 2), sy.random_exchangeable(seed, 3, 3), sy.random_payoff(seed, 3, 7))
        found, solved = concavify(problem), design(problem)
        assert solved.bound >= found.value - Fraction(1, 10**9)
        assert float(solved.value) == pytest.approx(float(found.value), rel=1e-5, abs=1e-6)


def test_a_mixture_is_the_near_miss(sy) -> None:
    problem = sy.problem(2, (0, 1), sy.random_table(4, 2, 2), sy.squared(2))
    found, polytope = concavify(problem), K(problem)
    blunt = mixture([Fraction(1, 2), Fraction(1, 2)], found.hyper.posteriors[:2])
    assert polytope.contains(blunt)
    assert len(polytope.binding(blunt)) < 2**2 - 1
