"""SY Lemma 7: a Bayes-plausible hyper can be thinned to affinely independent posteriors; for beliefs affine
independence is linear independence; an independent support pins the probabilities down.

Executed exactly on random hypers. Near-miss: with one posterior too many there are two distributions on one support.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.geometry.hyper import hyper
from discreet.geometry.linear_algebra import affinely_independent, linearly_independent
from discreet.geometry.of_problem import K


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("respondents", "types"), [(2, 2), (3, 2), (2, 3)])
def test_thinning(sy, seed: int, respondents: int, types: int) -> None:
    polytope = K(sy.problem(respondents, range(types), sy.random_table(seed, respondents, types)))
    found = sy.random_hyper(polytope, seed, Fraction(2), parts=6)
    thin = found.thinned()
    assert thin.is_bayes_plausible(polytope.prior)
    assert thin.is_affinely_independent and thin.is_linearly_independent and thin.is_unique
    assert set(thin.posteriors) <= set(found.posteriors) and len(thin) <= len(polytope)


@pytest.mark.parametrize("seed", range(6))
def test_affine_and_linear_independence_agree_on_beliefs(sy, seed: int) -> None:
    polytope = K(sy.problem(2, (0, 1), sy.random_table(seed, 2, 2)))
    found = sy.random_hyper(polytope, seed, Fraction(2), parts=3)
    for size in range(1, len(found) + 1):
        chosen = found.posteriors[:size]
        assert affinely_independent(chosen) == linearly_independent(chosen)


def test_away_from_the_simplex_they_differ() -> None:
    """The lemma is about beliefs: two multiples of a vector are affinely independent, but not linearly."""
    one = Fraction(1)
    assert affinely_independent([(one, one), (2 * one, 2 * one)])
    assert not linearly_independent([(one, one), (2 * one, 2 * one)])


def test_one_posterior_too_many_is_the_near_miss(sy) -> None:
    polytope = K(sy.figures(), "databases")
    pairs = [sy.two_point(polytope, pick, Fraction(2)) for pick in (0, 1, 2)]
    posteriors = [p for pair in pairs for p in pair.posteriors]
    mixes = []
    for shares in ((2, 1, 1), (1, 1, 2)):
        weights = [Fraction(s, 4) * w for pair, s in zip(pairs, shares, strict=True) for w in pair.weights]
        mixes.append(hyper(polytope.labels, posteriors, weights))
    assert all(mix.is_bayes_plausible(polytope.prior) for mix in mixes)
    assert set(mixes[0].posteriors) == set(mixes[1].posteriors) and mixes[0] != mixes[1]
    assert not mixes[0].is_unique
