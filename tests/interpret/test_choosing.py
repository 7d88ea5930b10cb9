"""Choosing ε side by side: numbers from their formulas, losses passed in, power of the designs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from small_worlds import counting, listed, problem_of

from discreet.errors import InputError
from discreet.interpret import choose, in_words, neyman_pearson, power_bound
from discreet.interpret.bounds import moved
from discreet.interpret.choosing import typical_histogram, typical_range
from discreet.interpret.typical_cells import _moments, typical_cells
from discreet.model.priors import DirichletMultinomialPrior, IidPrior, MixturePrior
from discreet.model.problem import Problem
from discreet.model.universe import Universe

EPSILONS = [Fraction(1, 4), Fraction(1), Fraction(2)]
PROBLEM = problem_of(40, (0, 1, 2), IidPrior((Fraction(89, 100), Fraction(9, 100), Fraction(2, 100))))


def test_rows_follow_from_their_formulas() -> None:
    found = choose(PROBLEM, EPSILONS, frontier=[(Fraction(1), 3.25), (0.25, 5.5)], together=3)
    assert [row.level for row in found.rows] == EPSILONS
    for row in found.rows:
        e = float(row.level)
        assert row.attacker == pytest.approx(moved(0.5, e)) and row.attacker_together == pytest.approx(moved(0.5, 3 * e))
        assert row.power_limit == power_bound(0.05, row.level, found.distance).value and row.power is None
    assert [row.loss for row in found.rows] == [5.5, 3.25, None]
    low, high = typical_histogram(PROBLEM, found.low), typical_histogram(PROBLEM, found.high)
    assert found.low < found.high and sum(low) == sum(high) == 40
    assert found.distance == sum(abs(a - b) for a, b in zip(low, high, strict=True)) // 2
    assert found.loss_name == "Expected squared error"


def test_the_power_of_a_design_stays_below_the_limit() -> None:
    made = {e: counting(12, Fraction(1, 4), e) for e in EPSILONS}
    found = choose(made[Fraction(1)].problem, EPSILONS, mechanism_at=lambda e: made[e])
    powers = [row.power for row in found.rows]
    assert all(row.power is not None and row.power <= row.power_limit + 1e-12 for row in found.rows)
    assert powers == sorted(powers)  # type: ignore[type-var]
    law = made[Fraction(1)].probabilities
    ways = [
        float(neyman_pearson(law[:, int(a)].tolist(), law[:, int(b)].tolist(), 0.05).power)
        for a, b in ((found.low, found.high), (found.high, found.low))
    ]
    assert powers[1] == pytest.approx(min(ways))


def test_words_are_made_of_the_numbers() -> None:
    lines = in_words(choose(PROBLEM, EPSILONS, frontier=[(Fraction(1), 3.25)]))
    assert len(lines) == 3 and "at most 73.2 %" in lines[1] and "3.25" in lines[1] and "squared error" not in lines[0]


@pytest.mark.parametrize("epsilons", [[], [Fraction(-1)]])
def test_a_range_that_is_none_is_refused(epsilons: list[Fraction]) -> None:
    with pytest.raises(InputError, match="range of ε"):
        choose(PROBLEM, epsilons)


def test_no_budget_and_no_respondents() -> None:
    import numpy as np

    row = choose(PROBLEM, [Fraction(0)]).rows[0]
    assert row.attacker == 0.5 and row.power_limit == pytest.approx(0.05)
    with pytest.raises(InputError, match="listed"):
        choose(listed(2, [(0, 1)], np.full((2, 2), 0.5), np.full(2, 0.5)).problem, EPSILONS)


CROWD = tuple(Fraction(k + 1, 66) for k in range(11))


@pytest.mark.parametrize(
    "problem",
    [
        PROBLEM,
        problem_of(40, (0, 1, 2), DirichletMultinomialPrior((Fraction(8), Fraction(7, 5), Fraction(3, 5)))),
        problem_of(9, (-3, 0, 2), IidPrior((Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)))),
    ],
)
def test_cells_without_a_list_are_near_those_with_one(problem: Problem) -> None:
    (low, high), values = typical_range(problem, 0.8), np.array([float(v) for v in problem.people.values])
    cells = typical_cells(problem, 0.8)
    deviation = max(1.0, float(high - low) / 2)
    for cell, value in zip(cells, (low, high), strict=True):
        assert sum(cell) == problem.people.respondents and min(cell) >= 0
        assert abs(float(values @ np.array(cell)) - float(value)) <= 0.6 * deviation
    assert float(values @ np.array(cells[0])) < float(values @ np.array(cells[1]))


def test_choosing_works_where_histograms_cannot_be_listed() -> None:
    """1,000 respondents of 11 types: it was refused, though they are designed for."""
    found = choose(problem_of(1_000, range(11), IidPrior(CROWD)), EPSILONS)
    assert found.low < found.high and found.distance > 10
    assert all(row.power_limit <= 1 for row in found.rows)


def test_a_crowd_that_is_all_alike_still_has_a_low_and_a_high_cell() -> None:
    sure = problem_of(50, range(12), IidPrior((Fraction(1), *[Fraction(0)] * 11)))
    low, high = typical_cells(sure, 0.8)
    assert low == (50, *[0] * 11) and high == (49, 1, *[0] * 10)


def test_typical_cells_of_a_mixture_lie_as_far_out_as_its_kinds_differ() -> None:
    """Mean and deviation are those of the law itself, kinds of cells included."""
    universe = Universe.of(30, (Fraction(0), Fraction(1)))
    few, many = IidPrior((Fraction(9, 10), Fraction(1, 10))), DirichletMultinomialPrior((Fraction(5), Fraction(5)))
    prior = MixturePrior((Fraction(3, 4), Fraction(1, 4)), (few, many))
    shares, n, deviation = _moments(problem_of(30, (0, 1), prior))
    vectors = universe.histograms()
    law = prior.on_histograms(vectors, universe).floats()
    mean = float(law @ vectors[:, 1])
    assert n * shares[1] == pytest.approx(mean)
    assert deviation == pytest.approx(float(law @ (vectors[:, 1] - mean) ** 2) ** 0.5)
