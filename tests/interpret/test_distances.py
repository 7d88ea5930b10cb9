"""Distances between states and between the databases behind them, against enumeration.

Executes BG Def. 3.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf

import numpy as np
import pytest
from small_worlds import HISTOGRAM, counting, problem_of, random_table

from discreet.errors import InputError
from discreet.interpret import d_star, d_star_star, database_distances, state_distances
from discreet.model.priors import IidPrior


@pytest.mark.parametrize("respondents", [1, 2, 3, 4])
def test_farthest_databases_by_enumeration(respondents: int) -> None:
    problem = problem_of(respondents, (0, 1, 2), IidPrior((Fraction(1, 3),) * 3))
    mechanism = random_table(problem, HISTOGRAM, 2, np.random.default_rng(0))
    found = database_distances(mechanism)
    for i, j in product(range(len(mechanism.space)), repeat=2):
        behind = [
            [d for d in product(range(3), repeat=respondents) if ",".join(str(d.count(t)) for t in range(3)) == label]
            for label in (mechanism.space.labels[i], mechanism.space.labels[j])
        ]
        farthest = max(sum(a != b for a, b in zip(x, y, strict=True)) for x in behind[0] for y in behind[1])
        assert found[i, j] == farthest


def test_states_are_never_farther_apart_than_their_databases() -> None:
    problem = problem_of(5, (0, 1, 2), IidPrior((Fraction(1, 3),) * 3))
    mechanism = random_table(problem, HISTOGRAM, 2, np.random.default_rng(0))
    assert (state_distances(mechanism.space) <= database_distances(mechanism)).all()


def test_suprema_over_supports() -> None:
    d = state_distances(counting(6).space)
    support = np.array([False, True, True, False, False, True, False])
    assert d_star(d, support)[support].tolist() == [4, 3, 4]
    assert np.isnan(d_star(d, support)[0])
    assert d_star_star(d, support, ~support) == 5


def test_a_total_has_no_farthest_databases_here() -> None:
    with pytest.raises(InputError, match="whole databases"):
        database_distances(counting(3))


def test_unconnected_states_are_infinitely_far() -> None:
    from small_worlds import listed

    mechanism = listed(3, [(0, 1)], np.full((2, 3), 0.5), np.full(3, 1 / 3))
    assert state_distances(mechanism.space)[0].tolist() == [0, 1, inf]


@pytest.mark.parametrize("output", [0, 1, 4, 10])
def test_closed_forms_have_the_bounds_of_their_tables(output: int) -> None:
    from small_worlds import summing

    from discreet.interpret.bounds import density_bounds
    from discreet.interpret.closed_bounds import total_bounds

    mechanism = summing(5, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)), Fraction(1, 2))
    table = density_bounds(mechanism.probabilities, state_distances(mechanism.space), 0.5)
    found = total_bounds(mechanism, output)
    assert found == pytest.approx((table.lower[output], table.upper[output]), rel=1e-9)


def test_closed_forms_need_no_table() -> None:
    from small_worlds import table_mechanism

    from discreet.interpret.closed_bounds import total_bounds

    low, high = total_bounds(counting(10**6, epsilon=Fraction(1, 10**6)), 500_000)
    assert 0 < low < high < 1
    problem = problem_of(2, (0, 1), IidPrior((Fraction(1, 2),) * 2))
    with pytest.raises(InputError, match="closed-form"):
        total_bounds(table_mechanism(problem, HISTOGRAM, np.full((2, 3), 0.5)), "s0")
