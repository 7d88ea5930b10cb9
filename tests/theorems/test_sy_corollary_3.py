"""SY Corollary 3: Lemma 5 for K_Ω: inside the open simplex, the prior in its relative interior, a closed polyhedron.
(In print its space is R^{N+1}; for T > 1 it is R^{NT+1}.)

Executed on random priors. Near-miss: ε = 0.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.geometry.labellings import extreme_points
from discreet.geometry.of_problem import K_Omega


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("respondents", "types"), [(3, 2), (2, 3), (3, 3)])
def test_the_three_statements(sy, seed: int, respondents: int, types: int) -> None:
    problem = sy.problem(respondents, range(types), sy.random_table(seed, respondents, types))
    polytope = K_Omega(problem)
    assert len(polytope) == respondents * (types - 1) + 1
    assert polytope.in_relative_interior(polytope.prior)
    assert not polytope.contains([Fraction(1), *[Fraction(0)] * (len(polytope) - 1)])
    below, above = polytope.ratio_bracket()
    for point in extreme_points(polytope)[::5]:
        inside, outside = (point.belief(polytope.prior, ratio) for ratio in (below, above))
        assert min(inside) > 0 and polytope.contains(inside) and not polytope.contains(outside)


def test_zero_epsilon_is_the_near_miss(sy) -> None:
    polytope = K_Omega(sy.figures(epsilon=Fraction(0)))
    assert not polytope.contains([Fraction(34, 100), Fraction(33, 100), Fraction(33, 100)])
    assert [p.exponents for p in extreme_points(polytope)] == [(0, 0, 0)]
