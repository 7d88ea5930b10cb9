"""SY Lemma 2: the geometric mechanism UPRR-dominates every private oblivious mechanism, with the peak of each
posterior at the last value where it attains the upper privacy bound.

Executed against the extreme points of K_Ω (which cover all others) and random private posteriors; Example 2. Near-miss:
a posterior a little outside K_Ω breaks the peak.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.geometry.hyper import hyper_of, statistic_hyper
from discreet.geometry.labellings import ExtremePoint, extreme_points
from discreet.geometry.of_problem import K_Omega_of, stated
from discreet.geometry.orders.uprr import uprr

HAIR = Fraction(1, 10**20)


def geometric(sy, problem):
    listed = stated(problem)
    return statistic_hyper(hyper_of(sy.geometric(problem, (0, 1))), listed).posteriors, K_Omega_of(listed)


@pytest.mark.parametrize("respondents", [2, 3, 4])
def test_it_dominates_every_extreme_point(sy, respondents: int) -> None:
    problem = sy.problem(respondents, (0, 1), sy.random_exchangeable(respondents, respondents, 2))
    ours, polytope = geometric(sy, problem)
    ratio = polytope.ratio_bracket()[0]
    rivals = [point.belief(polytope.prior, ratio) for point in extreme_points(polytope)]
    answer = uprr(ours, rivals, HAIR)
    assert answer.holds
    assert all(low <= x <= high for x, (low, high) in enumerate(answer.peaks))


@pytest.mark.parametrize("seed", range(5))
def test_it_dominates_private_mechanisms_exactly(sy, seed: int) -> None:
    """Rivals with a smaller ratio are dominated with no tolerance at all."""
    problem = sy.problem(3, (0, 1), sy.random_exchangeable(seed, 3, 2))
    ours, polytope = geometric(sy, problem)
    rivals = sy.random_hyper(polytope, seed, Fraction(5, 2)).posteriors
    inner = [tuple((99 * p + q) / 100 for p, q in zip(r, polytope.prior, strict=True)) for r in rivals]
    assert uprr(ours, inner).holds


def test_example_2(sy) -> None:
    ours, polytope = geometric(sy, sy.figures())
    below = polytope.ratio_bracket(40)[0]
    rivals = [
        point.belief(polytope.prior, below) for point in extreme_points(polytope) if point.exponents in ((0, 1, 0), (1, 0, 1))
    ]
    assert uprr(ours, rivals).peaks == ((0, 0), (1, 1), (2, 2))


def test_a_posterior_outside_is_the_near_miss(sy) -> None:
    ours, polytope = geometric(sy, sy.figures())
    beyond = ExtremePoint((0, 1, 0)).belief(polytope.prior, Fraction(28, 10))
    assert not polytope.contains(beyond)
    answer = uprr(ours, [beyond])
    assert not answer.holds and answer.counterexample is not None
