"""Frontiers: proved sides around the optimum found by brute force, monotone repair, bends, and ε for a loss."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import exp
from typing import NoReturn

import pytest
from design_worlds import document, loss_table, optimum, problem, school, world

from discreet.certify import privacy
from discreet.certify.optimality import optimality
from discreet.design import design
from discreet.design.crew import side_by_side
from discreet.design.questions.frontier import Frontier, Point, bends, frontier, repaired
from discreet.design.questions.smallest_epsilon import saving, smallest_epsilon
from discreet.errors import InputError
from discreet.model.certificate import Certificate, OptimalityClaim

LEVELS = [Fraction(k, 4) for k in (1, 2, 4, 6, 8)]


@pytest.fixture(scope="module")
def small() -> Frontier:
    return frontier(problem(school(4)), LEVELS, workers=2, keep=True)


def least(respondents: int, epsilon: float) -> float:
    """The optimum by brute force over histograms."""
    doc = school(respondents)
    states = world(doc, histograms=True)
    return optimum(states, loss_table(doc, states.omegas), epsilon)


def test_both_sides_enclose_the_optimum_found_by_brute_force(small: Frontier) -> None:
    for point in small.points:
        best = least(4, float(point.level))
        assert point.lower_bound - 1e-9 <= best <= point.loss + 1e-9
        assert point.relative_gap <= 1e-4


def test_a_frontier_is_the_same_where_no_process_can_be_had(small: Frontier, monkeypatch: pytest.MonkeyPatch) -> None:
    """The adversary: a machine that gives no second process."""

    def none(_: int) -> NoReturn:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(side_by_side, "_hired", none)
    alone = frontier(problem(school(4)), LEVELS, workers=2, keep=True)
    assert [(p.loss, p.bound) for p in alone.points] == [(p.loss, p.bound) for p in small.points]


def test_the_curve_never_rises_and_stands_below_every_private_baseline(small: Frontier) -> None:
    losses = [p.loss for p in small.points]
    assert losses == sorted(losses, reverse=True)
    for name in set(small.baseline_names) - {"full information"}:
        assert all(p.lower_bound <= (p.baselines[name].loss or 0) + 1e-9 for p in small.points)


def test_kept_mechanisms_are_certified_again(small: Frontier) -> None:
    point = small.points[2]
    assert point.mechanism is not None and point.certificate is not None and point.certificate.optimality is not None
    assert isinstance(privacy(point.mechanism), Certificate)
    assert isinstance(optimality(point.mechanism, point.certificate.optimality), OptimalityClaim)


def made(epsilon: int, loss: float, low: float) -> Point:
    level = Fraction(epsilon)
    return Point(level, -Fraction(loss), -Fraction(low), {}, 0.0, level, level)


def test_a_mechanism_of_a_smaller_epsilon_and_a_bound_of_a_larger_one_are_borrowed() -> None:
    found = repaired([made(3, 2.5, 2.0), made(1, 3.0, 0.5), made(2, 2.0, 1.0)])
    assert [p.loss for p in found] == [3.0, 2.0, 2.0]
    assert [p.lower_bound for p in found] == [2.0, 2.0, 2.0]
    assert [int(p.designed) for p in found] == [1, 2, 2] and [int(p.proved) for p in found] == [3, 3, 3]


@pytest.mark.parametrize(("middle", "bent"), [(Fraction(21, 10), True), (Fraction(2), False), (Fraction(1), False)])
def test_a_bend_is_told_only_when_it_is_proved(middle: Fraction, bent: bool) -> None:
    sides = [(Fraction(3), Fraction(3)), (middle, middle), (Fraction(1), Fraction(1))]
    found = bends([Fraction(1), Fraction(2), Fraction(3)], sides)
    assert bool(found) == bent
    wide = [(low - Fraction(1, 5), high + Fraction(1, 5)) for low, high in sides]
    assert not bends([Fraction(1), Fraction(2), Fraction(3)], wide)


def test_the_first_bit_of_epsilon_gains_little_under_squared_error() -> None:
    two_types = problem(school(12, actions="real", types=2))
    found = frontier(two_types, [Fraction(k, 20) for k in range(5)], compare=False, workers=1)
    gains = [a.loss - b.loss for a, b in zip(found.points, found.points[1:], strict=False)]
    assert found.bends and gains[0] < gains[1] < gains[2]


def test_a_curve_that_theory_says_is_convex_is_found_convex() -> None:
    """One respondent, two equally likely types: randomised response is best and errs with 1/(1 + e^ε), convex for ε ≥ 0."""
    one = problem(document(1, range(2), ("1/2", "1/2")))
    levels = [Fraction(k, 4) for k in range(9)]
    found = frontier(one, levels, compare=False, workers=1)
    for point, level in zip(found.points, levels, strict=True):
        assert point.lower_bound - 1e-9 <= 1 / (1 + exp(float(level))) <= point.loss + 1e-9
    assert not found.bends


@pytest.mark.parametrize("actions", ["integer", "real"])
def test_designs_fall_with_epsilon_before_anything_is_borrowed(actions: str) -> None:
    """Monotone by itself: the proved sides of separate designs never contradict a falling curve."""
    levels = [Fraction(k, 3) for k in range(1, 8)]
    raw = [design(problem(school(6, actions=actions)).with_epsilon(e), compare=False) for e in levels]
    for one, two in pairwise(raw):
        assert two.lower_bound < one.lower_bound and two.loss < one.loss


def test_where_adding_noise_is_optimal_nothing_is_saved() -> None:
    # two types: SY Thm 3 says that the geometric mechanism is best, so its curve is the frontier
    found = frontier(problem(school(12, actions="real", types=2)), [Fraction(1, 2), Fraction(1)])
    for point in found.points:
        assert point.loss == pytest.approx(point.baselines["geometric"].loss, rel=1e-9)


def test_the_smallest_epsilon_is_enclosed_and_certified() -> None:
    target = 0.4
    found = smallest_epsilon(problem(school(4)), target, tolerance=1e-4, gap=1e-6)
    assert found.below is not None and found.above - found.below <= Fraction(1, 10**4) * found.above
    assert least(4, float(found.below)) > target >= least(4, float(found.above))
    assert found.design.loss <= Fraction(target) and found.design.mechanism.guarantee.epsilon == found.above
    assert isinstance(privacy(found.design.mechanism), Certificate)


def test_known_points_begin_the_bracket(small: Frontier) -> None:
    known = tuple((p.level, p.lower_bound, p.loss) for p in small.points)
    asked = smallest_epsilon(problem(school(4)), 0.4, known=known)
    assert len(asked.probes) < len(smallest_epsilon(problem(school(4)), 0.4).probes)


def test_a_loss_below_full_information_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="No privacy level tried reaches this loss"):
        smallest_epsilon(problem(school(2)), -1.0, largest=Fraction(4))


def test_equal_loss_needs_less_epsilon_than_the_baseline() -> None:
    # N = T = 2 with a uniform prior: SY Thm 1 says that adding noise is not optimal
    ours = problem(document(2, range(3), ("1/3", "1/3", "1/3")))
    at = frontier(ours, [Fraction(1)]).points[0]
    best = at.baselines["best oblivious"].loss
    assert best == pytest.approx(1.15329883373, rel=1e-5)
    found = saving(ours, "best oblivious", best)
    low, high = found.share
    assert 0.9 < low < high < 1 and found.reach.status == "bracketed"
    assert saving(ours, "itself", at.loss).share[1] > 0.9999


def test_no_level_is_refused() -> None:
    with pytest.raises(InputError, match="levels"):
        frontier(problem(school(2)), [])


@pytest.mark.slow
def test_example_1_needs_70_percent_of_epsilon_for_the_loss_of_geometric_noise() -> None:
    places = problem(school(40, actions="real"))
    found = frontier(places, [Fraction(7, 10), Fraction(1)], gap=2e-5, seconds=1e6, workers=2)
    geometric = found.points[1].baselines["geometric"].loss
    assert geometric == pytest.approx(3.23204002326, rel=1e-9)
    assert found.points[1].loss == pytest.approx(2.3259192, rel=3e-5)
    known = tuple((p.level, p.lower_bound, p.loss) for p in found.points)
    reach = saving(places, "geometric", geometric, gap=2e-5, seconds=1e6, known=known).reach
    assert reach.below is not None and float(reach.below) < 0.700488304 < float(reach.above)
