"""Allocation: the exact best split of points, a bound on every split, curves that are not convex."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest
from design_worlds import problem, school

import discreet
from discreet.certify import privacy
from discreet.certify.value.expected import expected_payoff
from discreet.design import design
from discreet.design.questions.allocation import Curve, allocate, bounding_intervals, hiding, split, through
from discreet.errors import InputError
from discreet.model.certificate import Certificate
from discreet.model.problem import Problem


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
    assert [int(p.level) for p in found.parts] == [2, 0] and found.loss == 10
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
    assert alone.parts[0].level == 2 and found.loss >= alone.loss


@pytest.mark.parametrize("seed", range(10))
def test_what_each_interval_may_hide(seed: int) -> None:
    """The bound of an interval is the least over all combinations that use it; the least of all is the bound of the split."""
    random = Random(seed)
    curves = [random_curve(random, f"c{i}") for i in range(3)]
    budget = sum((c.points[0][0] for c in curves), Fraction(0)) + Fraction(random.randint(1, 20), 4)
    rows = through(curves, budget)
    assert min(b for b in rows[0] if b is not None) == bounding_intervals(curves, budget)[0]
    lists = [
        [
            (Fraction(0), c.weight * c.points[0][1]),
            *((a[0], c.weight * b[1]) for a, b in zip(c.points, c.points[1:], strict=False)),
            (c.points[-1][0], c.weight * c.floor),
        ]
        for c in curves
        if c.floor is not None
    ]
    for k, bound in enumerate(rows[1]):
        every = [
            sum(o[1] for o in chosen) for chosen in product(lists[0], [lists[1][k]], lists[2]) if sum(o[0] for o in chosen) < budget
        ]
        assert bound == (min(every) if every else None)


def test_intervals_that_hide_nothing_are_left_alone() -> None:
    flat = tuple((Fraction(k), Fraction(v), Fraction(v)) for k, v in enumerate((10, 10, 10)))
    even = tuple((Fraction(k), Fraction(v), Fraction(v)) for k, v in enumerate((10, 6, 2)))
    curves = [Curve("flat", Fraction(1), flat, Fraction(10)), Curve("even", Fraction(1), even, Fraction(2))]
    best = split(curves, Fraction(2))
    assert best.loss == best.lower_bound == 12 and hiding(curves, best, 0.01) == [[], []]
    wide = split(curves, Fraction(3, 2))
    assert hiding(curves, wide, 0.01) == [[], [Fraction(3, 2)]] and wide.loss == 16


def test_a_split_of_two_equal_statistics_is_found_and_proved_from_a_coarse_look() -> None:
    """At ε = 3 for two equal blocks the even split is best although the first look has no point there."""
    block = problem(school(3))
    found, frontiers = allocate(
        [("left", block, Fraction(1)), ("right", block, Fraction(1))], Fraction(3), steps=1, within=0.05, workers=1
    )
    assert found.relative_gap <= 0.05 and found.spent <= 3
    assert all(Fraction(1) < part.level < Fraction(2) for part in found.parts)
    for part, curve in zip(found.parts, frontiers, strict=True):
        point = next(p for p in curve.points if p.level == part.level)
        assert point.designed == part.level == point.mechanism.guarantee.epsilon  # type: ignore[union-attr]
        assert -expected_payoff(point.mechanism)[0] <= part.loss  # type: ignore[arg-type]


def test_a_small_budget_for_two_equal_statistics_goes_to_one_of_them() -> None:
    """Curves start flat, so half of a small ε each would gain nothing: all to one is proved best, not a fault of the grid."""
    block = problem(school(3))
    found, _ = allocate(
        [("left", block, Fraction(1)), ("right", block, Fraction(1))], Fraction(1, 2), steps=2, within=0.01, workers=1
    )
    assert sorted(part.level for part in found.parts) == [0, Fraction(1, 2)]
    assert found.relative_gap <= 0.01


def test_levels_above_the_finest_read_the_statistic_alone() -> None:
    """Left free, the design of three respondents with three values reads their histogram, which no tree of totals carries."""
    from discreet.interpret.level_likelihoods import must_read_the_total

    def asking(respondents: int) -> Problem:
        return discreet.problem(
            respondents=respondents, values=[0, 1, 2], probabilities=["0.89", "0.09", "0.02"], actions="real", epsilon=1
        ).problem

    asked = [("block", asking(2), Fraction(1)), ("county", asking(3), Fraction(1))]
    for levels in (True, False):
        _, frontiers = allocate(asked, Fraction(2), steps=1, rounds=1, workers=1, gap=1e-2, levels=levels)
        top = frontiers[1].points[-1].mechanism
        assert top is not None
        if levels:
            must_read_the_total(top)
        else:
            with pytest.raises(InputError, match="reads more than the total"):
                must_read_the_total(top)


def under_rho(respondents: int, rho: str = "1/2", unit: str = "household") -> Problem:
    return problem({**school(respondents, types=2), "privacy": {"rho": rho, "unit": unit}})


def test_a_budget_of_rho_is_split_and_each_part_keeps_exactly_what_it_gets() -> None:
    """Parts are proved at their ρ, ρ adds up, and no split tried by hand beats the bound."""
    few, many = under_rho(2), under_rho(3)
    asked = [("few", few, Fraction(1)), ("many", many, Fraction(2))]
    found, frontiers = allocate(asked, Fraction(1), steps=2, rounds=1, workers=1, gap=0.01)
    assert found.promise == few.promise.at(Fraction(1)) and sum(part.level for part in found.parts) <= 1
    for part, curve in zip(found.parts, frontiers, strict=True):
        point = next(p for p in curve.points if p.level == part.level)
        assert point.mechanism is not None and isinstance(privacy(point.mechanism), Certificate)
        assert point.mechanism.guarantee.promise.level <= part.level
    for share in (Fraction(1, 4), Fraction(3, 4)):
        tried = [design(p.with_level(level), gap=0.01, compare=False) for p, level in ((few, share), (many, 1 - share))]
        assert found.lower_bound <= -tried[0].value - 2 * tried[1].value


def test_who_gets_no_rho_publishes_nothing() -> None:
    """ρ = 0 is refused as a promise; as a share of a budget it is silence, proved as ε = 0, which a ledger of ρ charges nothing."""
    found, frontiers = allocate(
        [("unwanted", under_rho(2, unit="person"), Fraction(1, 10**6)), ("wanted", under_rho(2), Fraction(1))],
        Fraction(1, 4), steps=1, rounds=1, workers=1, gap=0.01,
    )  # fmt: skip
    assert [part.level for part in found.parts] == [0, Fraction(1, 4)]
    assert "unwanted protects a person, wanted protects a household" in found.notes[-1]
    silent = frontiers[0].points[0].mechanism
    assert silent is not None and silent.guarantee.promise.numbers == {"epsilon": 0}
    assert len({tuple(column) for column in zip(*silent.kernel.weights, strict=True)}) == 1


@pytest.mark.parametrize(
    ("others", "budget", "said"),
    [
        (problem(school(2)), Fraction(1), "different kinds"),
        (under_rho(2), Fraction(0), "nothing to split"),
        (under_rho(2), Fraction(20_000), "must be a number above 0"),
    ],
)
def test_what_does_not_add_up_is_refused_before_any_work(
    others: Problem, budget: Fraction, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Adding ε = 1 to ρ = 1/2 and calling it a budget is what a careless office does."""
    monkeypatch.setattr("discreet.design.questions.allocation.frontier", None)
    with pytest.raises(InputError, match=said):
        allocate([("one", under_rho(2), Fraction(1)), ("other", others, Fraction(1))], budget)


def test_what_is_too_large_for_a_program_can_still_get_nothing() -> None:
    """A county is solved by no program, not even where it publishes nothing: that used to end in a refusal after work."""
    county = problem({**school(300), "privacy": {"rho": "1/4", "unit": "household"}})
    asked = [("block", under_rho(2), Fraction(1)), ("county", county, Fraction(1, 10**6))]
    found, frontiers = allocate(asked, Fraction(1, 4), steps=1, rounds=1, workers=1, gap=0.01, seconds=2, levels=True)
    assert [part.level for part in found.parts] == [Fraction(1, 4), 0] and found.lower_bound <= found.loss
    silent = frontiers[1].points[0].mechanism
    assert silent is not None and len(silent.kernel.outputs) == 1 and isinstance(privacy(silent), Certificate)
