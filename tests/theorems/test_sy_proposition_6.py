"""SY Proposition 6: if τ UPRR-dominates τ′, the Fréchet representation of τ with respect to its peaks dominates any
representation of τ′ in the supermodular stochastic order: its distribution function is nowhere lower.

Executed on the geometric hyper against random private ones under several indices. Near-misses: the reverse, and the
geometric hyper under an index that runs against its peaks.
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from discreet.geometry.hyper import Hyper, hyper_of, statistic_hyper
from discreet.geometry.of_problem import K_Omega_of, stated
from discreet.geometry.orders.frechet import frechet
from discreet.geometry.orders.supermodular_order import supermodular_violation
from discreet.geometry.orders.uprr import uprr

HAIR = Fraction(1, 10**20)


def geometric_hyper(sy, problem) -> tuple[Hyper, object]:
    listed = stated(problem)
    return statistic_hyper(hyper_of(sy.geometric(problem, (0, 1))), listed), listed


@pytest.mark.parametrize("seed", range(6))
def test_dominance_carries_over(sy, seed: int) -> None:
    respondents = 2 + seed % 3
    problem = sy.problem(respondents, (0, 1), sy.random_exchangeable(seed, respondents, 2))
    ours, listed = geometric_hyper(sy, problem)
    theirs = sy.random_hyper(K_Omega_of(listed), seed, Fraction(5, 2))
    answer = uprr(ours.posteriors, theirs.posteriors, HAIR)
    assert answer.peaks is not None
    strong = frechet(ours, [low for low, _ in answer.peaks])
    draw = random.Random(seed)
    for _ in range(5):
        weak = frechet(theirs, [draw.randint(0, 3) for _ in theirs.posteriors])
        assert supermodular_violation(strong, weak, HAIR) is None


def test_the_reverse_is_a_near_miss(sy) -> None:
    ours, listed = geometric_hyper(sy, sy.figures())
    theirs = sy.random_hyper(K_Omega_of(listed), 1, Fraction(3, 2))
    assert not uprr(theirs.posteriors, ours.posteriors, HAIR).holds
    mean = [sum(p * i for i, p in enumerate(posterior)) for posterior in theirs.posteriors]
    strong = frechet(ours, [low for low, _ in uprr(ours.posteriors, theirs.posteriors, HAIR).peaks])
    crossing = supermodular_violation(frechet(theirs, mean), strong)
    assert crossing is not None and crossing.second > crossing.first


def test_an_index_against_the_peaks_is_another(sy) -> None:
    ours, listed = geometric_hyper(sy, sy.figures())
    theirs = sy.random_hyper(K_Omega_of(listed), 1, Fraction(3, 2))
    peaks = [low for low, _ in uprr(ours.posteriors, theirs.posteriors, HAIR).peaks]
    backwards = frechet(ours, [-p for p in peaks])
    flat = frechet(theirs, [0] * len(theirs))
    assert supermodular_violation(backwards, flat) is not None
