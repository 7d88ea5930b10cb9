"""Choosing ε side by side: numbers from their formulas, losses passed in, power of the designs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from small_worlds import counting, listed, problem_of

from discreet.errors import InputError
from discreet.interpret import choose, in_words, neyman_pearson, power_bound
from discreet.interpret.bounds import moved
from discreet.interpret.choosing import typical_histogram
from discreet.model.priors import IidPrior

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
