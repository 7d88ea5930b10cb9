"""SY Corollary 5: Lemma 7 for beliefs about ω: thin to independent posteriors, which pin their probabilities down.

Executed exactly on random hypers about ω. Near-miss: the four extreme points of Figure 5 are dependent in R^3.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.geometry.labellings import extreme_points
from discreet.geometry.linear_algebra import affinely_independent, linearly_independent, unique_solution
from discreet.geometry.of_problem import K_Omega


@pytest.mark.parametrize("seed", range(6))
def test_thinning(sy, seed: int) -> None:
    polytope = K_Omega(sy.problem(2, (0, 1, 2), sy.random_table(seed, 2, 3)))
    found = sy.random_hyper(polytope, seed, Fraction(2), parts=6)
    thin = found.thinned()
    assert thin.is_bayes_plausible(polytope.prior) and thin.is_unique and len(thin) <= 5
    assert affinely_independent(thin.posteriors) and linearly_independent(thin.posteriors)
    assert unique_solution(thin.posteriors, polytope.prior) == thin.weights


def test_figure_5_is_the_near_miss(sy) -> None:
    polytope = K_Omega(sy.figures())
    beliefs = [point.belief(polytope.prior, polytope.ratio_bracket()[0]) for point in extreme_points(polytope)]
    assert len(beliefs) == 4 and not linearly_independent(beliefs)
    assert unique_solution(beliefs, polytope.prior) is None
