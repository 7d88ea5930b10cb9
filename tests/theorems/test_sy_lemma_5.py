"""SY Lemma 5: for ε > 0, K lies in the relative interior of the simplex, has the prior in its relative interior, and is
a closed convex polyhedron. (In print the dimension is 2^{N(T+1)}; it is (T+1)^N.)

Executed on random priors: zeros are refused with their pair, half-spaces describe membership, mixtures stay inside.
Near-misses: at ε = 0 nothing but the prior is left; an isolated state lets a belief reach the boundary.
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from discreet.geometry.labellings import extreme_points
from discreet.geometry.of_problem import K
from discreet.geometry.private_beliefs import PrivateBeliefs


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("respondents", "types"), [(1, 3), (3, 2), (2, 3)])
def test_the_three_statements(sy, seed: int, respondents: int, types: int) -> None:
    problem = sy.problem(respondents, range(types), sy.random_table(seed, respondents, types))
    polytope = K(problem)
    assert len(polytope) == types**respondents
    assert polytope.in_relative_interior(polytope.prior)
    emptied = [Fraction(0), polytope.prior[0] + polytope.prior[1], *polytope.prior[2:]]
    violated = polytope.violation(emptied)
    assert violated is not None and violated.log_shift == float("inf")
    below, above = polytope.ratio_bracket()
    draw = random.Random(seed)
    points = draw.choices(extreme_points(polytope), k=4)
    for ratio, inside in ((below, True), (above, False)):
        for point in points:
            belief = point.belief(polytope.prior, ratio)
            assert polytope.contains(belief) is inside
            assert min(half.slack(belief, below) for half in polytope.half_spaces()) >= 0 or not inside
            assert not polytope.in_relative_interior(belief) or inside
    mixed = [sum(point.belief(polytope.prior, below)[i] for point in points) / 4 for i in range(len(polytope))]
    assert polytope.contains(mixed)


def test_at_zero_epsilon_the_prior_is_alone(sy) -> None:
    polytope = K(sy.figures(epsilon=Fraction(0)), "databases")
    assert polytope.in_relative_interior(polytope.prior)
    moved = [Fraction(33, 100), Fraction(1, 6), Fraction(1, 6), Fraction(1, 3) + Fraction(1, 300)]
    assert not polytope.contains(moved)
    assert len(extreme_points(polytope)) == 1


def test_an_isolated_state_is_the_near_miss() -> None:
    third = Fraction(1, 3)
    loose = PrivateBeliefs(("a", "b", "c"), (third,) * 3, ((0, 1),), Fraction(1))
    assert loose.contains([Fraction(1, 2), Fraction(1, 2), Fraction(0)])
    joined = PrivateBeliefs(("a", "b", "c"), (third,) * 3, ((0, 1), (1, 2)), Fraction(1))
    assert not joined.contains([Fraction(1, 2), Fraction(1, 2), Fraction(0)])
