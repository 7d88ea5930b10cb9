"""SY Corollary 4: with two types the extreme points of K_Ω are exactly the posteriors that attain the bound at every
ω: 2^N of them; others can be split (Lemma 6).

Executed by enumeration; for three values in reach there are 28 at N = T = 2, not all of which attain every bound.
Near-miss: one slack bound makes a point a mixture of two extreme ones.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from discreet.geometry.labellings import extreme_point_count, extreme_points
from discreet.geometry.linear_algebra import nonnegative_solution
from discreet.geometry.of_problem import K_Omega


@pytest.mark.parametrize("respondents", [1, 2, 3, 4, 7])
def test_every_pattern_of_bounds(sy, respondents: int) -> None:
    polytope = K_Omega(sy.problem(respondents, (0, 1), sy.iid(2, 1)))
    steps = {tuple(b - a for a, b in itertools.pairwise(point.exponents)) for point in extreme_points(polytope)}
    assert steps == set(itertools.product((-1, 1), repeat=respondents))


def test_twenty_eight_for_three_values(sy) -> None:
    assert extreme_point_count(K_Omega(sy.problem(2, (0, 1, 2), sy.iid(1, 1, 1)))) == 28


def test_one_slack_bound_is_the_near_miss(sy) -> None:
    polytope = K_Omega(sy.problem(3, (0, 1), sy.iid(2, 1)))
    q = polytope.ratio_bracket()[0]
    weights = [p * x for p, x in zip(polytope.prior, (Fraction(1), q, q * Fraction(3, 2), q * q * Fraction(3, 2)), strict=True)]
    slack = [w / sum(weights) for w in weights]
    assert polytope.contains(slack) and len(polytope.binding(slack)) == 2
    beliefs = [point.belief(polytope.prior, q) for point in extreme_points(polytope)]
    shares = nonnegative_solution(beliefs, slack).solution
    assert shares is not None and sum(s > 0 for s in shares) >= 2
