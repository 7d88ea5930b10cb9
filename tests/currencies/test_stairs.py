"""Staircase noise reduced to classes of outputs: every edge has the attack curve of the whole mechanism, to the last digit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.currencies.channel import LossChannel, channel_of, whole_channel
from discreet.currencies.groups import group
from discreet.currencies.information import mutual_information
from discreet.currencies.profiles import profile
from discreet.currencies.stairs import stairs_channel
from discreet.currencies.tight import tight_epsilon
from discreet.currencies.zcdp import rho
from discreet.errors import InputError, TooLarge
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import GeometricKernel, StaircaseKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

F = Fraction
Curve = tuple[tuple[Fraction, Fraction], ...]


def staircase_sum(
    base: Mechanism,
    respondents: int,
    weights: tuple[int, ...],
    plateau: int,
    clip: tuple[int, int] | None = None,
    *,
    any_size: bool = False,
    ratio: Fraction = F(2, 5),
) -> Mechanism:
    """Staircase noise on a weighted sum."""
    universe = Universe(tuple(F(w) for w in range(len(weights))), 0 if any_size else respondents, respondents)
    size = (F(1, respondents + 1),) * (respondents + 1) if any_size else None
    prior = IidPrior((F(1, len(weights)),) * len(weights), size)
    neighbours = AddRemoveOne() if any_size else base.problem.neighbours
    problem = Problem(universe, neighbours, prior, base.problem.statistic, base.problem.decisions, PurePromise(F(1)))
    low, high = clip or (None, None)
    summary = LinearSummary(weights, low, high)
    kernel = StaircaseKernel(*summary.range(universe), summary.step(neighbours), plateau, ratio)
    return Mechanism(problem, summary, kernel, Guarantee(PurePromise(F(1)), neighbours.name, "respondent"))


def curves(channel: LossChannel) -> dict[tuple[str, str], Curve]:
    """Exact corners of every directed edge, by the labels of its states."""
    found = {}
    for direction in range(channel.directed):
        pair = channel.pair(*channel.states_of(direction))
        found[channel.edge_labels(direction)] = tuple((F(a, pair.denominator), F(b, pair.denominator)) for a, b in pair.curve)
    return found


def same(mechanism: Mechanism, whole: LossChannel, reduced: LossChannel) -> None:
    """Every edge of the whole is in the reduced, as it is or as its mirror image turned, with the same curve."""
    every, some = curves(whole), curves(reduced)
    middle = mechanism.kernel.low + mechanism.kernel.high  # type: ignore[union-attr]
    for (one, other), curve in every.items():
        mirrored = str(middle - int(other)), str(middle - int(one))
        known = some.get((one, other)) or some[mirrored[1], mirrored[0]]
        assert known == curve, (one, other)
    assert set(some) <= set(every)
    assert np.allclose(reduced.probabilities.sum(axis=0), 1, atol=1e-14)
    states = range(0, len(reduced.labels), 7)
    exacts = [[float(reduced.exact(y, s)) for s in states] for y in range(len(reduced.outputs))]
    assert np.array_equal(exacts, reduced.probabilities[:, ::7])


CASES = [
    ((0, 1, 2), 1, None, False),
    ((0, 2, 5), 3, None, False),
    ((0, 2, 5), 5, (3, 14), False),
    ((0, 1, 1, 7), 2, (4, 11), False),
    ((-1, 0, 3), 2, None, False),
    ((0, 1, 3), 2, None, True),
    ((-2, 0, 3), 1, (-3, 8), True),
]


@pytest.mark.parametrize(("weights", "plateau", "clip", "any_size"), CASES)
@pytest.mark.parametrize("size", [1, 2])
def test_every_edge_keeps_its_curve(
    weights: tuple[int, ...],
    plateau: int,
    clip: tuple[int, int] | None,
    any_size: bool,
    size: int,
    geometric: Callable[..., Mechanism],
) -> None:
    mechanism = staircase_sum(geometric(3), 5, weights, plateau, clip, any_size=any_size)
    whole, reduced = group(whole_channel(mechanism), size), group(mechanism, size)
    same(mechanism, whole, reduced)
    one, other = tight_epsilon(whole), tight_epsilon(reduced)
    assert one.ratio == other.ratio and one.ratio is not None
    assert other.ratio is not None and other.edge is not None and other.output is not None
    first, second = (mechanism.space.labels.index(label) for label in other.edge)
    at = [output.label for output in mechanism.outputs].index(other.output)
    assert mechanism.probability(at, first) == other.ratio * mechanism.probability(at, second)
    if size == 1:
        slow, quick = mutual_information(whole).bracket, mutual_information(reduced).bracket
        assert max(slow.lower, quick.lower) <= min(slow.upper, quick.upper) and quick.width < 1e-7 * quick.upper
        slow, quick = rho(whole).bracket, rho(reduced).bracket
        assert max(slow.lower, quick.lower) <= min(slow.upper, quick.upper) and quick.width < 1e-7 * quick.upper


def test_another_plateau_has_another_curve(geometric: Callable[..., Mechanism]) -> None:
    mechanism = staircase_sum(geometric(3), 5, (0, 2, 5), 3)
    assert isinstance(mechanism.kernel, StaircaseKernel)
    other = replace(mechanism, kernel=replace(mechanism.kernel, plateau=4))
    with pytest.raises(AssertionError):
        same(mechanism, whole_channel(mechanism), channel_of(other))


def test_geometric_noise_is_the_case_of_one_unit(geometric: Callable[..., Mechanism]) -> None:
    mechanism = geometric(6, F(2, 3))
    same(mechanism, whole_channel(mechanism), stairs_channel(mechanism))


def test_four_thousand_outputs_are_read_from_a_few_classes(geometric: Callable[..., Mechanism]) -> None:
    mechanism = staircase_sum(geometric(3), 400, (0, 3, 10), 4)
    channel = channel_of(mechanism)
    assert len(mechanism.outputs) == 4001 and len(channel.outputs) == 31
    assert profile(channel).epsilon.ratio == F(5, 2)


def test_too_many_stairs_are_refused_before_anything_is_listed(geometric: Callable[..., Mechanism]) -> None:
    mechanism = staircase_sum(geometric(3), 60, (0, 1, 3, 4999), 70)
    with pytest.raises(TooLarge, match="classes of outputs"):
        channel_of(mechanism)


@pytest.mark.parametrize("weights", [(0, 1), (0, 2, 5), (-1, 0, 3)])
@pytest.mark.parametrize("clip", [None, (2, 900)])
def test_groups_of_wide_geometric_sums_move_further_than_one_respondent(
    weights: tuple[int, ...], clip: tuple[int, int] | None, geometric: Callable[..., Mechanism]
) -> None:
    """A reduced channel once knew only what one respondent moves, and told it of groups as well."""
    wide = staircase_sum(geometric(3), 1200, weights, 1, clip)
    low, high = wide.kernel.low, wide.kernel.high  # type: ignore[union-attr]
    step = max(weights) - min(weights)
    wide = replace(wide, kernel=GeometricKernel(low, max(high, low + 1100), step, F(9, 10)))
    small = staircase_sum(geometric(3), 12, weights, 1)
    few = replace(small, kernel=GeometricKernel(small.kernel.low, small.kernel.high, step, F(9, 10)))  # type: ignore[union-attr]
    for size in (2, 3):
        found, expected = profile(group(wide, size)), profile(group(few, size))
        assert found.epsilon.ratio == expected.epsilon.ratio == F(10, 9) ** (size * step)
        assert found.delta_for_epsilon("0.1").upper == pytest.approx(expected.delta_for_epsilon("0.1").upper, rel=1e-12)
    with pytest.raises(InputError, match="reduced"):
        group(channel_of(wide), 2)
    with pytest.raises(TooLarge, match="too far"):
        group(wide, 3000)
