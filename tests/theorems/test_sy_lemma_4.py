"""SY Lemma 4: a distribution of posteriors can be induced by an ε-private mechanism iff it averages to the prior and
lies in K.

Executed both ways on random hypers and channels. Near-misses: a hyper with a posterior a hair outside K; one that does
not average to the prior.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import InputError
from discreet.geometry.hyper import hyper, hyper_of, hyper_of_channel
from discreet.geometry.of_problem import K, K_of, stated


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("respondents", "types"), [(3, 2), (2, 3)])
def test_there_and_back(sy, seed: int, respondents: int, types: int) -> None:
    listed = stated(sy.problem(respondents, range(types), sy.random_table(seed, respondents, types)))
    polytope = K_of(listed)
    found = sy.random_hyper(polytope, seed, polytope.ratio_bracket()[0])
    channel = found.channel(listed.prior)
    assert channel.leak(listed.edges, Fraction(1)) is None
    again = hyper_of_channel(channel, listed.prior)
    assert dict(zip(again.posteriors, again.weights, strict=True)) == dict(zip(found.posteriors, found.weights, strict=True))


@pytest.mark.parametrize("weights", [(0, 1, 2), (0, 1, 1), (1, 0, 1)])
def test_posteriors_of_a_private_mechanism_lie_in_K(sy, weights: tuple[int, ...]) -> None:
    problem = sy.problem(3, (0, 1, 2), sy.iid(5, 3, 2))
    found, polytope = hyper_of(sy.geometric(problem, weights)), K(problem)
    assert found.is_bayes_plausible(polytope.prior)
    assert all(polytope.contains(p) for p in found.posteriors)


def test_a_hair_outside_is_the_near_miss(sy) -> None:
    listed = stated(sy.problem(3, (0, 1), sy.random_table(2, 3, 2)))
    polytope = K_of(listed)
    below, above = polytope.ratio_bracket()
    assert sy.two_point(polytope, 5, below).channel(listed.prior).leak(listed.edges, Fraction(1)) is None
    outside = sy.two_point(polytope, 5, above)
    assert polytope.violation(outside.posteriors[0]) is not None
    assert outside.channel(listed.prior).leak(listed.edges, Fraction(1)) is not None


def test_a_hyper_off_the_prior_is_induced_by_nothing(sy) -> None:
    polytope = K(sy.figures())
    fine = sy.two_point(polytope, 0, Fraction(2))
    skewed = hyper(fine.states, fine.posteriors, [Fraction(1, 2), Fraction(1, 2)])
    assert not skewed.is_bayes_plausible(polytope.prior)
    with pytest.raises(InputError, match="average"):
        skewed.channel(polytope.prior)
