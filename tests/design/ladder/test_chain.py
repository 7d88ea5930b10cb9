"""Proposing chain bounds: exact for two types, never above the truth, and the figures they were planned with."""

import math
from fractions import Fraction

import numpy as np
import pytest
from ladder_problems import problem_of

from discreet.certify.optimality import upper_bound
from discreet.design.ladder.binomial import binomial_window
from discreet.design.ladder.bounds.chain import best_chain, pairs_of_tails
from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.losses import AbsoluteLoss, PinballLoss


def bound(p, v, respondents, epsilon, loss=None):
    """The best bound, which is what its witness proves."""
    decisions = None if loss is None else (Decision(loss, RealActions()),)
    problem = problem_of(p, v, respondents, epsilon, decisions)
    likely = [t for t, x in enumerate(p) if x]
    lower, witness = best_chain(problem, likely)
    assert lower == pytest.approx(float(-upper_bound(problem, witness)), rel=1e-12)
    return lower


def test_binomial_window_against_exact_integers():
    lo, masses = binomial_window(500, Fraction(1, 7))
    for at in (0, 20, len(masses) // 2, len(masses) - 1):
        k = lo + at
        exact = Fraction(math.comb(500, k) * 6 ** (500 - k), 7**500)
        assert abs(Fraction(float(masses[at])) / exact - 1) < (8 * len(masses) + 8) * 2.0**-53


def test_two_types_reach_the_optimum_of_the_geometric_mechanism(optimum):
    # T=1, N=4, p=.3: the optimum over real actions is that of the geometric mechanism (SY Thm 3).
    found = bound([0.7, 0.3], [0, 1], 4, 1.0)
    truth = optimum([0.7, 0.3], [0, 1], 4, 1.0, np.linspace(0, 4, 161))
    assert found <= truth <= found + 0.025**2


def test_never_above_the_truth(truths):
    for instance, truth, _ in truths:
        assert bound(*instance) <= truth + 1e-7


def pinball(quantile):
    return lambda gap: np.where(gap >= 0, quantile * gap, (quantile - 1) * gap)


def test_other_losses_never_above_the_truth(instances, optimum):
    for number, (p, v, respondents, epsilon) in enumerate(instances[:40]):
        grid = np.linspace(respondents * min(v), respondents * max(v), 21)
        assert bound(p, v, respondents, epsilon, AbsoluteLoss()) <= optimum(p, v, respondents, epsilon, grid, np.abs) + 1e-7
        level = (0.1, 0.3, 0.8)[number % 3]
        found = bound(p, v, respondents, epsilon, PinballLoss(Fraction(level)))
        assert found <= optimum(p, v, respondents, epsilon, grid, pinball(level)) + 1e-7


@pytest.mark.parametrize("level", [0.2, 0.5])
def test_two_types_reach_the_optimum_for_pinball_losses(optimum, level):
    # The optimal actions are values of omega, so a grid of integers holds them (SY Thm 3).
    found = bound([0.7, 0.3], [0, 1], 5, 1.0, PinballLoss(Fraction(level)))
    assert found == pytest.approx(optimum([0.7, 0.3], [0, 1], 5, 1.0, range(6), pinball(level)), abs=1e-7)


def test_tails_are_by_value_and_hold_likely_types_only():
    problem = problem_of([0.25, 0.25, 0.0, 0.5], [3, 0, 1, 9], 5, 1.0)
    pairs = pairs_of_tails(problem, [0, 1, 3])
    assert pairs == [((1,), (0, 3)), ((0, 1), (3,)), ((1,), (3,))]


FIGURES = [
    ("T5", 50, 11.92),
    ("T5", 200, 21.49),
    ("T5", 1000, 32.16),
    ("T10lin", 50, 44.34),
    ("T10lin", 100, 59.76),
    ("T10lin", 1000, 121.5),
    ("T10inc", 100, 3212),
    ("T10inc", 1000, 10572),
    ("T10inc", 10_000, 17288),
]


@pytest.mark.parametrize(("name", "respondents", "planned"), FIGURES)
def test_figures(named, name, respondents, planned):
    assert planned <= bound(*named[name], respondents, 1.0) <= 1.02 * planned


def test_example_one_is_not_exceeded():
    assert 1.99 < bound([0.89, 0.09, 0.02], [0, 1, 2], 40, 1.0) <= 2.3259193


def test_invariance_and_edge_cases():
    p, v = [0.5, 0.3, 0.2], [0, 1, 3]
    base = bound(p, v, 20, 1.0)
    assert bound(p, [2 * x - 7 for x in v], 20, 1.0) == pytest.approx(4 * base, rel=1e-9)
    assert bound(p[::-1], v[::-1], 20, 1.0) == pytest.approx(base, rel=1e-12)
    assert bound([*p, 0.0], [*v, 1000], 20, 1.0) == pytest.approx(base, rel=1e-12)
    assert bound(p, v, 20, 30.0) < 1e-9


@pytest.mark.slow
def test_a_million_respondents(named):
    found = bound(*named["T5"], 1_000_000, 1.0)
    # The staircase on the whole sum costs about kappa(1) * 5^2 = 47.95 and the count alone is on a path of
    # step 5.
    assert 40 < found < 47.96
