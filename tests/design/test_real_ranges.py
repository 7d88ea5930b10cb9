"""Real actions within a range, for any number of types: the optimum of a fine list of actions, approached from below."""

from __future__ import annotations

import pytest

import discreet
from discreet.certify.optimality import optimality
from discreet.design import design
from discreet.model.certificate import OptimalityClaim
from discreet.model.problem import Problem

KINDS = [("squared-error", {}), ("absolute-error", {}), ("pinball", {"quantile": "0.9"})]


def school(kind: str, actions: object, epsilon: str = "1", **more: str) -> Problem:
    return discreet.problem(
        respondents=8,
        values=[0, 1, 2],
        probabilities=["0.7", "0.2", "0.1"],
        decision={"kind": kind, "actions": actions, **more},
        epsilon=epsilon,
    ).problem


@pytest.mark.parametrize(("kind", "more"), KINDS)
@pytest.mark.parametrize(("low", "high"), [("0.5", "3"), ("5", "12"), ("2.25", "2.75")])
def test_a_range_is_as_good_as_a_fine_list_within_it(kind: str, more: dict[str, str], low: str, high: str) -> None:
    free = design(school(kind, {"from": low, "to": high}, **more), gap=1e-5, compare=False)
    listed = design(school(kind, {"from": low, "to": high, "step": "0.05"}, **more), gap=1e-5, compare=False)
    assert free.lower_bound <= listed.loss
    assert listed.lower_bound <= free.loss + (0.05 / 2) ** 2 + 1e-5
    assert isinstance(optimality(free.mechanism, free.claim), OptimalityClaim)
    numbers = [float(output.action) for output in free.mechanism.outputs]  # type: ignore[arg-type]
    assert min(numbers) >= float(low) and max(numbers) <= float(high)


@pytest.mark.parametrize(("kind", "more"), KINDS)
@pytest.mark.parametrize("epsilon", ["0", "1"])
def test_a_range_that_holds_everything_changes_nothing(kind: str, more: dict[str, str], epsilon: str) -> None:
    free = design(school(kind, "real", epsilon, **more), gap=1e-5, compare=False)
    wide = design(school(kind, {"from": "-3", "to": "40"}, epsilon, **more), gap=1e-5, compare=False)
    assert abs(free.loss - wide.loss) <= 2e-5 * float(free.loss)


@pytest.mark.parametrize(("kind", "more"), KINDS)
def test_a_range_beyond_the_statistic_leaves_its_nearest_end(kind: str, more: dict[str, str]) -> None:
    """Near-miss for "outside the statistic's range nobody acts": here everybody must."""
    found = design(school(kind, {"from": "40", "to": "50"}, **more), gap=1e-5)
    assert [output.action for output in found.mechanism.outputs] == [40]
    assert found.relative_gap < 1e-9
    beside = [baseline.loss for baseline in found.baselines.values() if baseline is not None]
    assert min(beside) >= float(found.lower_bound) * (1 - 1e-9)
