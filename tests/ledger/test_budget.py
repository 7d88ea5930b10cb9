"""Budgets: exact sums, and a filter for (ε, δ) that never grants more than its theorem allows."""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded, InputError
from discreet.ledger.budget import Budget, Cost, Spent
from discreet.model.promises import ConcentratedPromise

small = st.fractions(min_value=0, max_value=2, max_denominator=1000)


@given(st.lists(small, max_size=8), st.fractions(min_value=Fraction(1, 10), max_value=4, max_denominator=100))
def test_pure_sums_exactly(costs: list[Fraction], cap: Fraction) -> None:
    budget = Budget("pure", cap)
    spent = budget.spent(Cost(c) for c in costs)
    assert budget.allows(spent) == (sum(costs, Fraction(0)) <= cap)
    assert budget.remaining(spent) == max(cap - sum(costs, Fraction(0)), 0)


def test_zcdp_takes_half_the_square_of_a_pure_epsilon_unless_less_is_known() -> None:
    budget = Budget("zcdp", Fraction(1))
    assert budget.spent([Cost(Fraction(1))]).first == Fraction(1, 2)
    assert budget.spent([Cost(Fraction(1), rho=Fraction(1, 4))]).first == Fraction(1, 4)


@given(st.lists(st.fractions(min_value=0, max_value=1, max_denominator=64), max_size=30))
def test_the_approximate_currency_is_never_more_generous_than_its_theorems(costs: list[Fraction]) -> None:
    budget = Budget("approximate", Fraction(3), Fraction(1, 10**6))
    spent = budget.spent(Cost(c) for c in costs)
    s = float(sum(c * c for c in costs))
    needed = min(sqrt(2 * log(2 / 1e-6) * s) + s / 2, float(sum(costs)))
    if budget.allows(spent):
        assert needed <= 3 * (1 + 1e-12)
    elif needed < 3 * (1 - 1e-9):
        pytest.fail("refused what the theorems allow")


def test_a_batch_counts_in_the_sum_by_its_epsilon_and_in_the_filter_by_its_rho() -> None:
    budget = Budget("approximate", Fraction(3), Fraction(1, 10**6))
    batch = Cost(Fraction(2), Fraction(1, 10**7), Fraction(1, 100))
    spent = budget.spent([batch])
    assert (spent.first, spent.second, spent.total) == (Fraction(1, 50), Fraction(1, 10**7), Fraction(2))
    assert budget.allows(budget.add(spent, Cost(Fraction(1)))), "2 + 1 ≤ 3"
    assert not budget.allows(budget.add(spent, Cost(Fraction(1) + Fraction(1, 10**9))))
    many = budget.spent([batch, *[Cost(Fraction(1, 10))] * 11])
    assert many.total > 3 and budget.allows(many), "the filter sees 0.02 + 0.11, not 4"
    assert budget.remaining_delta(many) == Fraction(4, 10**7)


def test_what_remains_fits_and_a_little_more_does_not() -> None:
    budget = Budget("approximate", Fraction(3), Fraction(1, 10**6))
    spent = budget.spent([Cost(Fraction(1, 10))] * 10)
    left = budget.remaining(spent)
    assert budget.allows(budget.add(spent, Cost(left)))
    with pytest.raises(BudgetExceeded):
        budget.must_allow(spent, Cost(left + Fraction(1, 10**9)))


def test_delta_has_a_purse_of_its_own() -> None:
    budget = Budget("approximate", Fraction(3), Fraction(1, 10**6))
    assert budget.allows(Spent(Fraction(0), Fraction(1, 2 * 10**6)))
    assert not budget.allows(Spent(Fraction(0), Fraction(1, 2 * 10**6) + Fraction(1, 10**12)))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Budget("euro", Fraction(1)),
        lambda: Budget("pure", Fraction(0)),
        lambda: Budget("pure", Fraction(1), Fraction(1, 10)),
        lambda: Budget("approximate", Fraction(1)),
        lambda: Cost(Fraction(-1)),
        lambda: Cost(Fraction(1), Fraction(1)),
        lambda: Budget("pure", Fraction(1)).spent([Cost(Fraction(1), Fraction(1, 10))]),
        lambda: Budget("zcdp", Fraction(1)).spent([Cost(Fraction(1), Fraction(1, 10))]),
    ],
)
def test_nonsense_is_refused(make: object) -> None:
    with pytest.raises(InputError):
        make()  # type: ignore[operator]


RHO = Cost.of(ConcentratedPromise(Fraction(1, 8)))


def test_a_promise_of_rho_is_charged_in_zcdp_and_refused_in_pure() -> None:
    assert Cost.from_document(RHO.document()) == RHO and RHO.document() == {"rho": "0.125"} and str(RHO) == "ρ = 0.125"
    assert Budget("zcdp", Fraction(1)).spent([RHO, RHO]).first == Fraction(1, 4)
    with pytest.raises(BudgetExceeded, match="ρ"):
        Budget("zcdp", Fraction(1, 10)).must_allow(Spent(), RHO)
    with pytest.raises(InputError, match="only ρ has no cost in ε"):
        Budget("pure", Fraction(100)).add(Spent(), RHO)


def test_in_the_approximate_currency_rho_goes_through_the_filter_and_never_through_the_sum() -> None:
    budget = Budget("approximate", Fraction(3), Fraction(1, 10**6))
    spent = budget.spent([RHO])
    assert (spent.first, spent.total) == (Fraction(1, 4), None) and budget.allows(spent), "√(2·ln(2·10^6)/4) + 1/8 = 2.82"
    assert not budget.allows(budget.add(spent, Cost(Fraction(1)))), "1 alone would fit the sum, but ρ has no ε to add to it"
    assert budget.allows(budget.spent([Cost(Fraction(3))])) and not budget.allows(budget.spent([Cost(Fraction(3)), RHO]))
    left = budget.remaining(spent)
    assert 0 < left < Fraction(1, 2) and budget.allows(budget.add(spent, Cost(left)))


def test_who_pays_in_rho_alone_has_paid_no_epsilon_too_little() -> None:
    both = Cost(Fraction(1), rho=Fraction(1, 8))
    assert RHO.covers(both) and RHO.covers(RHO) and not both.covers(RHO) and not RHO.covers(Cost(Fraction(1)))


@pytest.mark.parametrize("numbers", [(None,), (None, Fraction(1, 10), Fraction(1)), (None, Fraction(0), Fraction(-1))])
def test_a_cost_without_epsilon_is_rho_and_nothing_else(numbers: tuple[Fraction | None, ...]) -> None:
    with pytest.raises(InputError, match="states ε"):
        Cost(*numbers)  # type: ignore[arg-type]
