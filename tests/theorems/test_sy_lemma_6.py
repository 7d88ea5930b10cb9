"""SY Lemma 6: posteriors that are not extreme points of K can be split into extreme ones, which tells every decision
maker at least as much (Blackwell); each extreme point attains at least (T+1)^N − 1 privacy bounds.

Executed: counts of extreme points, their tight bounds and independence of the bounds; a split that is exactly a
Blackwell improvement. Near-miss: a labelling whose tight edges do not connect the databases is not extreme.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.geometry.hyper import Hyper, hyper
from discreet.geometry.labellings import ExtremePoint, extreme_point_count, extreme_points
from discreet.geometry.linear_algebra import nonnegative_solution, rank
from discreet.geometry.of_problem import K
from discreet.geometry.orders.blackwell import blackwell


@pytest.mark.parametrize(("respondents", "types", "count"), [(1, 2, 2), (2, 2, 6), (3, 2, 38), (4, 2, 990), (2, 3, 534)])
def test_how_many_there_are(sy, respondents: int, types: int, count: int) -> None:
    problem = sy.problem(respondents, range(types), sy.random_table(1, respondents, types))
    assert extreme_point_count(K(problem)) == count


@pytest.mark.parametrize(("respondents", "types"), [(3, 2), (2, 3)])
def test_each_attains_enough_independent_bounds(sy, respondents: int, types: int) -> None:
    polytope = K(sy.problem(respondents, range(types), sy.random_table(2, respondents, types)))
    ratio = polytope.ratio_bracket()[0]
    for point in extreme_points(polytope)[::7]:
        tight = point.tight(polytope.edges)
        assert len(tight) >= len(polytope) - 1
        belief = point.belief(polytope.prior, ratio)
        normals = []
        for half in polytope.half_spaces():
            if half.slack(belief, ratio) == 0:
                normal = [Fraction(0)] * len(polytope)
                normal[half.state], normal[half.other] = -half.weight_state, ratio * half.weight_other
                normals.append(normal)
        assert len(normals) == len(tight) and rank(normals) == len(polytope) - 1


def split(found: Hyper, polytope, ratio: Fraction) -> Hyper:
    """Every posterior replaced by extreme points that average to it."""
    beliefs = [point.belief(polytope.prior, ratio) for point in extreme_points(polytope)]
    posteriors, weights = [], []
    for posterior, weight in zip(found.posteriors, found.weights, strict=True):
        shares = nonnegative_solution(beliefs, posterior).solution
        assert shares is not None
        posteriors += beliefs
        weights += [weight * s for s in shares]
    return hyper(found.states, posteriors, weights)


@pytest.mark.parametrize("seed", range(4))
def test_splitting_tells_more(sy, seed: int) -> None:
    polytope = K(sy.problem(2, (0, 1), sy.random_table(seed, 2, 2)))
    ratio = polytope.ratio_bracket()[0]
    blunt = sy.random_hyper(polytope, seed, Fraction(2))
    sharp = split(blunt, polytope, ratio)
    assert sharp.is_bayes_plausible(polytope.prior)
    better, worse = sharp.channel(polytope.prior), blunt.channel(polytope.prior)
    answer = blackwell(better, worse)
    assert answer.holds and better.merged().garbled(answer.garbling).rows == worse.merged().rows
    reverse = blackwell(worse, better)
    assert reverse.holds is False and reverse.advantage > 0


def test_loose_labels_are_the_near_miss(sy) -> None:
    polytope = K(sy.problem(2, (0, 1, 2), sy.iid(1, 1, 1)), "databases")
    # One database raised by one step: its four edges are tight, all others are not.
    loose = ExtremePoint((1, *[0] * 8))
    assert loose not in extreme_points(polytope)
    belief = loose.belief(polytope.prior, polytope.ratio_bracket()[0])
    assert polytope.contains(belief) and len(polytope.binding(belief)) == 4
