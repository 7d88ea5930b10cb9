"""SY Theorem 4: a UPRR-dominant hyper serves every supermodular decision with real actions at least as well.

Executed on the geometric mechanism against random private ones, with random supermodular payoffs. (The proof prints
the supermodularity inequality reversed; the statement is what is tested.) Near-misses: without dominance, and for a
payoff that is not supermodular, the ranking can turn.
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from discreet.geometry.channel import channel_of
from discreet.geometry.hyper import hyper_of_channel, statistic_hyper
from discreet.geometry.interim import Interim
from discreet.geometry.of_problem import K_Omega_of, stated
from discreet.geometry.orders.uprr import uprr


def worth(hyper, interim: Interim) -> Fraction:
    return sum((w * interim.value(p) for p, w in zip(hyper.posteriors, hyper.weights, strict=True)), Fraction(0))


def geometric_hyper(sy, problem):
    listed = stated(problem)
    return statistic_hyper(hyper_of_channel(channel_of(sy.geometric(problem, (0, 1))), listed.prior), listed), listed


def monotone_payoff(sy, seed: int, values: int):
    """u(a, ω) = g(a)·ω^2 + f(a) with g increasing: supermodular on ω ≥ 0."""
    draw = random.Random(seed)
    slopes = sorted(draw.randint(-9, 9) for _ in range(5))
    costs = [draw.randint(-20, 20) for _ in range(5)]
    return sy.payoff(*[[g * w * w + f for w in range(values)] for g, f in zip(slopes, costs, strict=True)])


@pytest.mark.parametrize("seed", range(6))
def test_dominance_implies_a_better_decision(sy, seed: int) -> None:
    problem = sy.problem(3, (0, 1), sy.random_exchangeable(seed, 3, 2))
    ours, listed = geometric_hyper(sy, problem)
    polytope = K_Omega_of(listed)
    other = sy.random_hyper(polytope, seed, Fraction(2))
    assert polytope.contains(other.posteriors[0]) and other.is_bayes_plausible(listed.statistic_prior)
    assert uprr(ours.posteriors, other.posteriors, Fraction(1, 10**20)).holds
    for case in range(10):
        decision = monotone_payoff(sy, 100 * seed + case, 4).tied_to(listed.omegas)
        interim = Interim((decision,), listed.omegas)
        assert worth(ours, interim) >= worth(other, interim) - Fraction(1, 10**20)


def test_without_supermodularity_the_ranking_turns(sy) -> None:
    problem = sy.figures(sy.payoff(("1/2", 0, "1/2"), (0, 1, 0)))
    ours, listed = geometric_hyper(sy, problem)
    polytope = K_Omega_of(listed)
    ratio = polytope.ratio_bracket()[0]
    best = max((sy.two_point(polytope, i, ratio) for i in range(4)), key=lambda h: worth(h, _interim(problem, listed)))
    assert uprr(ours.posteriors, best.posteriors, Fraction(1, 10**20)).holds
    assert worth(best, _interim(problem, listed)) > worth(ours, _interim(problem, listed))


def test_without_dominance_the_ranking_turns(sy) -> None:
    problem = sy.figures(sy.squared())
    strong, listed = geometric_hyper(sy, problem)
    weak = sy.random_hyper(K_Omega_of(listed), 5, Fraction(3, 2))
    assert not uprr(weak.posteriors, strong.posteriors).holds
    assert worth(weak, _interim(problem, listed)) < worth(strong, _interim(problem, listed))


def _interim(problem, listed) -> Interim:
    return Interim(problem.decisions, listed.omegas)
