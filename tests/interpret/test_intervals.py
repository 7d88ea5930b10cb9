"""Intervals of measures as objects, and the two distances of BG section 2.

Executes BG Def. 1, Def. 2, fn 1.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from math import inf, log

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.interpret import IntervalOfMeasures, d_mult, density_ratio_metric, tight_epsilon


def events(outputs: int) -> list[tuple[int, ...]]:
    """Every non-empty event."""
    return list(chain.from_iterable(combinations(range(outputs), k) for k in range(1, outputs + 1)))


def test_containment_is_about_every_event() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        centre, other = rng.dirichlet(np.ones(4), size=2)
        radius = rng.uniform(0, 2)
        interval = IntervalOfMeasures.around(centre.tolist(), radius)
        on_events = all(
            np.exp(-radius) * centre[list(e)].sum() <= other[list(e)].sum() <= np.exp(radius) * centre[list(e)].sum()
            for e in events(4)
        )
        assert interval.contains(other.tolist()) == on_events == (d_mult(centre, other) <= radius)


def test_rationals_are_compared_exactly() -> None:
    third = Fraction(1, 3)
    interval = IntervalOfMeasures((third, third), (third, Fraction(2, 3)))
    assert interval.contains([third, Fraction(2, 3)])
    assert interval.violation([third + Fraction(1, 10**40), third]) == 0


def test_odds_and_probabilities_stay_within_their_bounds() -> None:
    rng = np.random.default_rng(1)
    centre = rng.dirichlet(np.ones(5))
    interval = IntervalOfMeasures.around(centre.tolist(), 0.7)
    for _ in range(300):
        inside = centre * np.exp(rng.uniform(-0.7, 0.7, size=5))
        assert interval.contains(inside.tolist())
        low, high = interval.odds_bounds([0, 1], [2, 4])
        assert low <= inside[[0, 1]].sum() / inside[[2, 4]].sum() <= high
        if interval.contains((inside / inside.sum()).tolist()):
            bottom, top = interval.probability_bounds([0, 3])
            assert bottom - 1e-12 <= (inside / inside.sum())[[0, 3]].sum() <= top + 1e-12
    assert interval.masses == pytest.approx((np.exp(-0.7), np.exp(0.7)))


def test_odds_against_the_impossible_are_infinite() -> None:
    interval = IntervalOfMeasures((0.0, 0.2), (0.0, 1.0))
    assert interval.odds_bounds([1], [0]) == (inf, inf)


def test_erratum_16_one_number_does_not_describe_two_sides() -> None:
    # d_MULT <= max(-ln a, ln b) is weaker than membership in I(aP, bP) unless ab = 1.
    p, q = np.array([0.5, 0.5]), np.array([0.3, 0.7])
    a, b = 0.5, 1.05
    assert d_mult(p, q) <= max(-log(a), log(b))
    assert not IntervalOfMeasures(tuple(a * p), tuple(b * p)).contains(q.tolist())
    radius = d_mult(p, q)
    assert IntervalOfMeasures.around(p.tolist(), radius).contains(q.tolist())
    assert not IntervalOfMeasures.around(p.tolist(), 0.99 * radius).contains(q.tolist())


def test_the_density_ratio_metric_is_between_one_and_two_multiplicative_distances() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        p, q = rng.dirichlet(np.ones(5), size=2)
        assert d_mult(p, q) <= density_ratio_metric(p, q) + 1e-12 <= 2 * d_mult(p, q) + 2e-12
    # The first inequality is printed strict, but equal measures attain it.
    assert d_mult(p, p) == density_ratio_metric(p, p) == 0
    assert d_mult([1, 0], [0.5, 0.5]) == density_ratio_metric([1, 0], [0.5, 0.5]) == inf


def test_the_tight_epsilon_of_randomised_response() -> None:
    keep = np.exp(1.3) / (1 + np.exp(1.3))
    law = np.array([[keep, 1 - keep], [1 - keep, keep]])
    assert tight_epsilon(law, np.array([[0, 1], [1, 0]])) == pytest.approx(1.3)
    assert tight_epsilon(law, np.array([[0, 2], [2, 0]])) == pytest.approx(0.65)
    assert tight_epsilon(law, np.array([[0, inf], [inf, 0]])) == 0


@pytest.mark.parametrize(
    ("lower", "upper"),
    [((), ()), ((0.5,), (0.4,)), ((-0.1,), (1.0,)), ((0.1, 0.2), (1.0,)), ((float("nan"),), (1.0,))],
)
def test_intervals_that_are_none_are_refused(lower: tuple[float, ...], upper: tuple[float, ...]) -> None:
    with pytest.raises(InputError):
        IntervalOfMeasures(lower, upper)


def test_other_misuse_is_refused() -> None:
    with pytest.raises(InputError, match="other outputs"):
        IntervalOfMeasures((0.0,), (1.0,)).contains([0.5, 0.5])
    with pytest.raises(InputError, match="radius"):
        IntervalOfMeasures.around([1.0], -1.0)
