"""The chain bound: exact for two types, never above the truth, and the figures it was planned with."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.design.ladder.binomial import binomial_window, hidden_variance
from discreet.design.ladder.bounds.chain import chain_bound, split_bound, tail_split, whole_type_splits
from discreet.errors import InputError
from discreet.model.iid_sum import IidSum
from discreet.model.losses import AbsoluteLoss, PinballLoss


def dense_variances(masses, epsilon):
    n, alpha = len(masses), math.exp(-epsilon)
    x = np.arange(n)
    kernel = alpha ** np.abs(x[:, None] - x[None, :]) * (1 - alpha) / (1 + alpha)
    kernel[0], kernel[-1] = alpha**x / (1 + alpha), alpha ** (n - 1 - x) / (1 + alpha)
    joint = kernel * masses
    density = joint.sum(axis=1)
    below = np.cumsum(joint, axis=1)
    count = (joint @ x**2 - (joint @ x) ** 2 / density).sum()
    return count, (below * (density[:, None] - below) / density[:, None]).sum()


@pytest.mark.parametrize("trials", [1, 2, 7, 40, 300])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_linear_time_variances_equal_the_dense_ones(trials, epsilon):
    _, masses = binomial_window(trials, 0.3)
    found = hidden_variance(masses, epsilon)
    count, indicators = dense_variances(masses, epsilon)
    assert found.count == pytest.approx(count, rel=1e-9)
    assert found.indicators == pytest.approx(indicators, rel=1e-9)
    assert 0 <= found.count_error < 1e-9 * max(1, count)


def test_binomial_window_against_exact_integers():
    lo, masses = binomial_window(500, Fraction(1, 7))
    for at in (0, 20, len(masses) // 2, len(masses) - 1):
        k = lo + at
        exact = Fraction(math.comb(500, k) * 6 ** (500 - k), 7**500)
        assert abs(Fraction(float(masses[at])) / exact - 1) < (8 * len(masses) + 8) * 2.0**-53


def test_two_types_reach_the_optimum_of_the_geometric_mechanism(optimum):
    # T=1, N=4, p=.3: the optimum over real actions is that of the geometric mechanism (SY Thm 3).
    bound = chain_bound(IidSum.of([0.7, 0.3], [0, 1], 4), 1.0).lower_bound
    truth = optimum([0.7, 0.3], [0, 1], 4, 1.0, np.linspace(0, 4, 161))
    assert bound <= truth <= bound + 0.025**2


def test_never_above_the_truth(truths):
    for instance, truth, _ in truths:
        assert chain_bound(IidSum.of(*instance[:3]), instance[3]).lower_bound <= truth + 1e-7


def test_every_split_is_a_bound_and_parts_of_types_may_be_split(truths):
    rng = np.random.default_rng(3)
    for (p, v, respondents, epsilon), truth, _ in truths:
        law = IidSum.of(p, v, 1)
        for split in whole_type_splits(law):
            assert split_bound(split, respondents, epsilon) <= truth + 1e-7
        low = Fraction(float(rng.uniform(0.05, 0.6)))
        split = tail_split(law, low, (1 - low) * Fraction(float(rng.uniform(0.1, 1))))
        assert split_bound(split, respondents, epsilon) <= truth + 1e-7


def test_near_miss_ignoring_who_is_told_would_exceed_the_truth(truths):
    """Treating all respondents as players with the extreme values overstates the loss somewhere."""
    above = 0
    for (p, v, respondents, epsilon), truth, _ in truths:
        law = IidSum.of(p, v, 1)
        split = whole_type_splits(law)[0]
        spread = law.atoms[-1][0] - law.atoms[0][0]
        forged = type(split)(split.low, split.high, spread, Fraction(0))
        above += split_bound(forged, respondents, epsilon) > truth + 1e-6
    assert above > 0


def pinball(quantile):
    return lambda gap: np.where(gap >= 0, quantile * gap, (quantile - 1) * gap)


def test_other_losses_never_above_the_truth(instances, optimum):
    for number, (p, v, respondents, epsilon) in enumerate(instances[:60]):
        grid = np.linspace(respondents * min(v), respondents * max(v), 21)
        absolute = chain_bound(IidSum.of(p, v, respondents), epsilon, AbsoluteLoss()).lower_bound
        assert absolute <= optimum(p, v, respondents, epsilon, grid, np.abs) + 1e-7
        level = (0.1, 0.3, 0.8)[number % 3]
        bound = chain_bound(IidSum.of(p, v, respondents), epsilon, PinballLoss(Fraction(level))).lower_bound
        assert bound <= optimum(p, v, respondents, epsilon, grid, pinball(level)) + 1e-7


@pytest.mark.parametrize("level", [0.2, 0.5])
def test_two_types_reach_the_optimum_for_pinball_losses(optimum, level):
    # The optimal actions are values of omega, so a grid of integers holds them (SY Thm 3).
    bound = chain_bound(IidSum.of([0.7, 0.3], [0, 1], 5), 1.0, PinballLoss(Fraction(level))).lower_bound
    assert bound == pytest.approx(optimum([0.7, 0.3], [0, 1], 5, 1.0, range(6), pinball(level)), abs=1e-7)


def test_near_miss_losses():
    assert chain_bound(IidSum.of([0.7, 0.3], [0, 2], 9), 1.0, AbsoluteLoss()).lower_bound == pytest.approx(
        4 * chain_bound(IidSum.of([0.7, 0.3], [0, 1], 9), 1.0, PinballLoss(Fraction(1, 2))).lower_bound, rel=1e-9
    )


def test_more_players_never_lower_the_bracket():
    mean, variance = 1.3, 0.4
    found = [hidden_variance(binomial_window(m, 0.23)[1], 0.7) for m in range(60)]
    brackets = [mean**2 * h.count + variance * h.indicators for h in found]
    assert all(a <= b + 1e-12 for a, b in itertools.pairwise(brackets))


def test_antithetic_coupling():
    law = IidSum.of([0.25, 0.25, 0.25, 0.25], [0, 1, 2, 3], 1)
    split = tail_split(law, Fraction(1, 2), Fraction(1, 2))
    assert (split.mean, split.variance) == (2, 1)  # 3-0 and 2-1 equally likely


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
    bound = chain_bound(IidSum.of(*named[name], respondents), 1.0).lower_bound
    assert planned <= bound <= 1.02 * planned


def test_example_one_is_not_exceeded():
    assert 1.99 < chain_bound(IidSum.of([0.89, 0.09, 0.02], [0, 1, 2], 40), 1.0).lower_bound <= 2.3259193


def test_invariance_and_edge_cases():
    p, v = [0.5, 0.3, 0.2], [0, 1, 3]
    base = chain_bound(IidSum.of(p, v, 20), 1.0).lower_bound
    assert chain_bound(IidSum.of(p, [2 * x - 7 for x in v], 20), 1.0).lower_bound == pytest.approx(4 * base, rel=1e-9)
    assert chain_bound(IidSum.of(p[::-1], v[::-1], 20), 1.0).lower_bound == base
    assert chain_bound(IidSum.of([*p, 0.0], [*v, 1000], 20), 1.0).lower_bound == base
    assert chain_bound(IidSum.of([1.0], [5], 20), 1.0).lower_bound == 0.0
    assert chain_bound(IidSum.of(p, v, 20), 30.0).lower_bound < 1e-9
    # epsilon = 0 hides everything: for two types the prior variance is reached.
    assert chain_bound(IidSum.of([0.7, 0.3], [0, 1], 20), 0.0).lower_bound == pytest.approx(20 * 0.21, rel=1e-9)
    with pytest.raises(InputError):
        chain_bound(IidSum.of([0.5, 0.6], [0, 1], 3), 1.0)
    with pytest.raises(InputError):
        chain_bound(IidSum.of([0.5, 0.5], [0, math.nan], 3), 1.0)


@pytest.mark.slow
def test_a_million_respondents(named):
    bound = chain_bound(IidSum.of(*named["T5"], 1_000_000), 1.0).lower_bound
    # The staircase on the whole sum costs about kappa(1) * 5^2 = 47.95 and the count alone is on a path of
    # step 5.
    assert 40 < bound < 47.96
