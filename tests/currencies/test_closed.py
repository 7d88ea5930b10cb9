"""Geometric kernels reduced to the offsets of one respondent have every currency of the whole mechanism."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from discreet.currencies.channel import LossChannel, channel_of, whole_channel
from discreet.currencies.closed import reduced_channel
from discreet.currencies.divergences import renyi
from discreet.currencies.groups import group
from discreet.currencies.information import mutual_information
from discreet.currencies.profiles import profile
from discreet.currencies.zcdp import rho
from discreet.errors import InputError
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import GeometricKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

F = Fraction


def geometric_sum(
    base: Mechanism,
    respondents: int,
    weights: tuple[int, ...],
    clip: tuple[int, int] | None = None,
    *,
    any_size: bool = False,
) -> Mechanism:
    """A geometric mechanism on a weighted sum of respondents of three types."""
    universe = Universe(tuple(F(w) for w in range(len(weights))), 0 if any_size else respondents, respondents)
    size = (F(1, respondents + 1),) * (respondents + 1) if any_size else None
    prior = IidPrior((F(1, len(weights)),) * len(weights), size)
    neighbours = AddRemoveOne() if any_size else base.problem.neighbours
    problem = Problem(universe, neighbours, prior, base.problem.statistic, base.problem.decisions, PurePromise(F(1)))
    low, high = clip or (None, None)
    summary = LinearSummary(weights, low, high)
    ends = summary.range(universe)
    kernel = GeometricKernel(*ends, summary.step(neighbours), F(2, 3))
    return Mechanism(problem, summary, kernel, Guarantee(PurePromise(F(1)), neighbours.name, "respondent"))


def same(one: LossChannel, other: LossChannel) -> None:
    whole, small = profile(one), profile(other)
    assert whole.epsilon.ratio == small.epsilon.ratio
    for level in (0, F(1, 3), 1):
        assert small.delta_for_epsilon(level).bracket.middle == pytest.approx(
            whole.delta_for_epsilon(level).bracket.middle, rel=1e-13
        )
    assert renyi(other, 3).upper == pytest.approx(renyi(one, 3).upper, rel=1e-13)
    assert rho(other).upper == pytest.approx(rho(one).upper, rel=1e-8)
    assert mutual_information(other).bracket.middle == pytest.approx(mutual_information(one).bracket.middle, rel=1e-9)


@pytest.mark.parametrize("weights", [(0, 1), (0, 1, 2), (0, 2, 5), (-1, 0, 3)])
@pytest.mark.parametrize("any_size", [False, True])
def test_the_reduction_loses_nothing(weights: tuple[int, ...], any_size: bool, geometric: Callable[..., Mechanism]) -> None:
    mechanism = geometric_sum(geometric(3), 6, weights, any_size=any_size)
    same(channel_of(mechanism), reduced_channel(mechanism))


@pytest.mark.parametrize("clip", [(2, 9), (0, 7)])
def test_clipped_sums_too(clip: tuple[int, int], geometric: Callable[..., Mechanism]) -> None:
    mechanism = geometric_sum(geometric(3), 6, (0, 1, 3), clip)
    same(channel_of(mechanism), reduced_channel(mechanism))


def test_a_million_respondents_are_a_matter_of_milliseconds(geometric: Callable[..., Mechanism]) -> None:
    small, large = profile(channel_of(geometric(20))), profile(channel_of(geometric(1_000_000)))
    assert large.epsilon.ratio == small.epsilon.ratio == 2
    assert large.delta_for_epsilon("0.1").upper == small.delta_for_epsilon("0.1").upper
    assert len(large.channel.labels) == 2


def test_tables_of_some_hundred_totals_are_reduced_as_well(geometric: Callable[..., Mechanism]) -> None:
    """Exact pairs of 401 totals once took a minute: rationals with thousands of digits for each of them."""
    mechanism = geometric_sum(geometric(3), 200, (0, 1, 2))
    found = profile(channel_of(mechanism))
    assert len(found.channel.labels) == 3
    assert found.epsilon.ratio == profile(whole_channel(mechanism)).epsilon.ratio == F(9, 4)


@pytest.mark.parametrize(("respondents", "weights", "size"), [(9, (0, 2, 9), 30), (30, (0, 1, 2), 25), (3, (0, 40, 41), 2)])
def test_groups_of_narrow_sums_reach_no_further_than_the_range(
    respondents: int, weights: tuple[int, ...], size: int, geometric: Callable[..., Mechanism]
) -> None:
    """A group may be larger than the cell, and its steps longer than the sum is wide."""
    mechanism = geometric_sum(geometric(3), respondents, weights)
    small, whole = profile(reduced_channel(mechanism, size)), profile(group(whole_channel(mechanism), size))
    assert small.epsilon.ratio == whole.epsilon.ratio
    assert small.delta_for_epsilon(F(1, 3)).upper == pytest.approx(whole.delta_for_epsilon(F(1, 3)).upper, rel=1e-12)


def test_other_kernels_are_not_reduced(on_databases: Callable[..., Mechanism]) -> None:
    import numpy as np

    with pytest.raises(InputError, match="geometric"):
        reduced_channel(on_databases(np.full((2, 4), 0.5), 2))
