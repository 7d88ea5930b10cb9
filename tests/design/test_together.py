"""Designs made at the same time: each as if it were alone, its certificate its own; a failure or a call to stop reaches all."""

from __future__ import annotations

import threading
from fractions import Fraction
from typing import Any

import pytest
from design_worlds import problem, school

from discreet.certify import privacy
from discreet.certify.optimality import optimality
from discreet.design import design
from discreet.design.processes.together import together
from discreet.design.questions import frontier as of_frontier
from discreet.design.questions.frontier import design_points, frontier, in_groups, pays_together
from discreet.model.certificate import Certificate, OptimalityClaim
from discreet.watch import SILENT, Watch

LEVELS = [Fraction(k, 5) for k in (1, 3, 5, 8, 10, 15)]


def test_a_point_of_a_frontier_is_the_same_in_any_company(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = problem(school(8))
    assert pays_together(asked)
    together_all = frontier(asked, LEVELS, workers=1, keep=True, compare=False)
    monkeypatch.setattr(of_frontier, "AT_ONCE", 1)
    one_by_one = frontier(asked, LEVELS, workers=1, keep=True, compare=False)
    for point, other in zip(together_all.points, one_by_one.points, strict=True):
        assert point.mechanism == other.mechanism and point.value == other.value and point.bound == other.bound
        mechanism, certificate = point.mechanism, point.certificate
        assert mechanism is not None and certificate is not None and certificate.optimality is not None
        assert isinstance(privacy(mechanism), Certificate)
        assert isinstance(optimality(mechanism, certificate.optimality), OptimalityClaim)
        alone = design(asked.with_level(point.level), gap=1e-4, compare=False)
        assert point.relative_gap <= 1e-4
        assert point.value <= alone.bound and alone.value <= point.bound, "proved sides of one optimum overlap"


class Stopped:
    """Cancels once a design has come so far."""

    def __init__(self) -> None:
        self.seen = False

    def report(self, **told: Any) -> None:
        self.seen |= told["stage"] == "interior point"

    def cancelled(self) -> bool:
        return self.seen


def test_a_call_to_stop_in_the_middle_leaves_certified_points() -> None:
    asked = problem(school(8))
    found = frontier(asked, LEVELS, Stopped(), workers=1, keep=True, compare=False)
    assert found.points
    for point in found.points:
        assert point.mechanism is not None and isinstance(privacy(point.mechanism), Certificate)
        assert point.certificate is not None and point.certificate.optimality is not None
        assert point.lower_bound <= point.loss


def test_a_failure_of_one_is_raised_and_the_others_are_asked_to_stop() -> None:
    waiting = threading.Event()

    def work(task: int, watch: Watch) -> int:
        if task == 2:
            waiting.wait()
            raise ArithmeticError("the third cannot")
        waiting.set()
        while not watch.cancelled():
            threading.Event().wait(0.001)
        return task

    with pytest.raises(ArithmeticError, match="the third cannot"):
        together(work, [1, 2, 3], SILENT)


def test_results_come_in_the_order_of_the_tasks_and_the_time_of_all_is_there_for_each() -> None:
    assert together(lambda task, _: -task, [3, 1, 2], SILENT) == [-3, -1, -2]
    tasks = [of_frontier._Task(problem(school(2)).with_level(level), 1e-4, 60.0, False, False) for level in LEVELS]
    points = design_points(tasks[:2], SILENT)
    assert [point.level for point in points] == LEVELS[:2]


@pytest.mark.parametrize(("count", "workers"), [(1, 1), (5, 2), (30, 1), (30, 2), (31, 3), (7, 7)])
def test_groups_hold_every_task_once_and_keep_the_workers_busy(count: int, workers: int) -> None:
    groups = in_groups(list(range(count)), workers)  # type: ignore[arg-type]
    assert [task for group in groups for task in group] == list(range(count))
    assert max(map(len, groups)) <= of_frontier.AT_ONCE and max(map(len, groups)) - min(map(len, groups)) <= 1
    assert len(groups) == count or len(groups) % workers == 0


def test_real_actions_and_other_promises_are_designed_one_by_one() -> None:
    assert not pays_together(problem(school(4, actions="real")))
    assert not pays_together(problem(school(200)))
