"""Allocation: the exact best split of points, a bound on every split, curves that are not convex."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest
from design_worlds import problem, school

from discreet.design.allocation import Curve, allocate, bounding_intervals, split
from discreet.errors import InputError


def random_curve(random: Random, name: str) -> Curve:
    """A curve that falls in random steps, convex or not, with a band of random width."""
    levels = sorted(random.sample(range(0, 20), 6))
    loss = Fraction(random.randint(50, 90))
    points = []
    for level in levels:
        points.append((Fraction(level, 4), loss - Fraction(random.randint(0, 2), 2), loss))
        loss -= random.randint(0, 12)
    tightest = []
    low = Fraction(-(10**9))
    for epsilon, bound, high in reversed(points):
        low = max(low, bound)
        tightest.append((epsilon, min(low, high), high))
    return Curve(name, Fraction(random.randint(1, 3)), tuple(reversed(tightest)), floor=Fraction(-1000))


@pytest.mark.parametrize("seed", range(20))
def test_the_split_is_the_best_of_all_splits_into_points(seed: int) -> None:
    random = Random(seed)
    curves = [random_curve(random, f"c{i}") for i in range(3)]
    budget = sum((c.points[0][0] for c in curves), Fraction(0)) + Fraction(random.randint(1, 20), 4)
    found = split(curves, budget)
    every = [
        sum(c.weight * p[2] for c, p in zip(curves, chosen, strict=True))
        for chosen in product(*(c.points for c in curves))
        if sum(p[0] for p in chosen) <= budget
    ]
    assert found.loss == min(every) and found.spent <= budget
    assert found.lower_bound <= found.loss


def test_the_bound_holds_for_splits_between_points() -> None:
    """Two known curves L(ε) = 8·2^(−ε) and a step; every split on a fine grid stays above the bound."""

    def falling(e: Fraction) -> Fraction:
        return Fraction(round(8 * 2.0 ** -float(e) * 10**9), 10**9)

    def step(e: Fraction) -> Fraction:
        return Fraction(1) if e >= Fraction(1, 3) else Fraction(5)

    levels = [Fraction(k, 4) for k in range(9)]
    curves = [
        Curve(name, Fraction(1), tuple((e, way(e), way(e)) for e in levels), floor=Fraction(0))
        for name, way in (("falling", falling), ("step", step))
    ]
    budget = Fraction(2)
    bound, _ = bounding_intervals(curves, budget)
    finest = min(falling(Fraction(k, 120)) + step(budget - Fraction(k, 120)) for k in range(241))
    assert bound <= finest <= split(curves, budget).loss
    # near miss: without the bound's care about ε between points, the chosen points alone would claim too much
    assert split(curves, budget).loss > finest


def test_a_curve_that_is_not_convex_is_told_and_solved_anyway() -> None:
    late = tuple((Fraction(k), Fraction(v), Fraction(v)) for k, v in enumerate((10, 10, 0)))
    even = tuple((Fraction(k), Fraction(v), Fraction(v)) for k, v in enumerate((10, 6, 2)))
    found = split([Curve("late", Fraction(1), late, Fraction(0)), Curve("even", Fraction(1), even, Fraction(0))], Fraction(2))
    # a step by step search would give the first unit to `even` and end with 12 and more
    assert [int(p.epsilon) for p in found.parts] == [2, 0] and found.loss == 10
    assert not found.convex and "late is not convex" in found.notes[0] and len(found.notes) == 1
    convex = split([Curve("even", Fraction(1), even, Fraction(0))], Fraction(2))
    assert convex.convex and not convex.notes


def test_a_frontier_that_ends_before_the_budget_needs_a_floor() -> None:
    points = ((Fraction(0), Fraction(1), Fraction(1)), (Fraction(1), Fraction(0), Fraction(0)))
    with pytest.raises(InputError, match="ends before the budget"):
        split([Curve("short", Fraction(1), points)], Fraction(2))


@pytest.mark.parametrize("budget", [Fraction(0), Fraction(-1), Fraction(1, 10)])
def test_budgets_that_cannot_be_split_are_refused(budget: Fraction) -> None:
    points = ((Fraction(1, 2), Fraction(1), Fraction(1)),)
    with pytest.raises(InputError):
        split([Curve("dear", Fraction(1), points, Fraction(0))], budget)


def test_curves_must_rise_in_epsilon_and_have_a_weight() -> None:
    point = (Fraction(1), Fraction(1), Fraction(1))
    for weight, points in ((Fraction(1), (point, point)), (Fraction(0), (point,)), (Fraction(1), ())):
        with pytest.raises(InputError):
            Curve("wrong", weight, points)


def test_two_statistics_share_a_budget() -> None:
    small, large = problem(school(2)), problem(school(3))
    found, frontiers = allocate(
        [("small", small, Fraction(1)), ("large", large, Fraction(3))], Fraction(2), steps=4, rounds=2, workers=1
    )
    assert found.spent <= 2 and found.lower_bound <= found.loss
    assert len(frontiers[1].points) >= 5
    alone, _ = allocate([("large", large, Fraction(3))], Fraction(2), steps=2, rounds=1, workers=1)
    assert alone.parts[0].epsilon == 2 and found.loss >= alone.loss
