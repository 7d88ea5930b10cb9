"""Grant by the sum or by the filter, whichever allows more: the whole adaptive history is still (E, δ)-DP.

An adversary sees every output, and with it the loss L so far, and chooses the next release among those that the budget still
grants, or stops. Randomised response is the worst release of its ε. What the adversary can reach is

    V(L, spent) = max( (1 − e^(E−L))₊ ,  max over granted ε of  p·V(L + ε, …) + (1 − p)·V(L − ε, …) ),   p = e^ε/(1 + e^ε),

computed here for all strategies at once; V(0, nothing) is the δ of the best strategy and must not exceed the budget's. A batch
is one more choice: its members are drawn together.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import exp, tanh

import pytest

from discreet.currencies.joint import Part
from discreet.ledger.batches import BatchMember, compose_batch
from discreet.ledger.budget import Budget, Cost, Spent

E, DELTA = 1, Fraction(1, 10)


def single(tenths: int) -> Cost:
    epsilon = Fraction(tenths, 10)
    rho = Fraction(tanh(float(epsilon) / 2)) * epsilon
    return Cost(epsilon, rho=rho * (1 + Fraction(1, 10**12)))


def batched(tenths: int, times: int, delta: Fraction) -> Cost:
    one = single(tenths)
    members = [BatchMember({"plan": str(i)}, one, Part(one.epsilon)) for i in range(times)]
    return compose_batch("batch", members, "approximate", delta).cost


def reached(budget: Budget, batch: tuple[int, int, Cost] | None = None, level: float = E) -> float:
    """The largest δ at a level that any adaptive strategy within the budget reaches; menu: ε = 1/10, 3/10, and one batch."""

    @cache
    def value(loss: int, small: int, large: int, used: bool) -> float:
        best = max(0.0, 1 - exp(level - loss / 10))
        spent = budget.spent([single(1)] * small + [single(3)] * large + ([batch[2]] if batch and used else []))
        for tenths, after in ((1, (small + 1, large)), (3, (small, large + 1))):
            if budget.allows(budget.add(spent, single(tenths))):
                p = 1 / (1 + exp(-tenths / 10))
                more = value(loss + tenths, *after, used), value(loss - tenths, *after, used)
                best = max(best, p * more[0] + (1 - p) * more[1])
        if batch and not used and budget.allows(budget.add(spent, batch[2])):
            tenths, times, _ = batch
            best = max(best, drawn(loss, small, large, tenths, times))
        return best

    def drawn(loss: int, small: int, large: int, tenths: int, left: int) -> float:
        """The members of a batch one after another: nothing else is chosen in between, and nothing more is paid."""
        if left == 0:
            return value(loss, small, large, True)
        p = 1 / (1 + exp(-tenths / 10))
        more = (drawn(loss + sign * tenths, small, large, tenths, left - 1) for sign in (1, -1))
        return sum(chance * v for chance, v in zip((p, 1 - p), more, strict=True))

    return value(0, 0, 0, False)


def test_no_adaptive_strategy_exceeds_the_promise() -> None:
    budget = Budget("approximate", Fraction(E), DELTA)
    spent = budget.spent([single(1)] * 12)
    assert spent.total > E and budget.allows(spent), "the filter allows more than the sum here"
    assert budget.allows(budget.spent([single(3)] * 3)), "and the sum more than the filter there"
    assert not budget.allows(Spent(budget.spent([single(3)] * 3).first, Fraction(0), Fraction(2)))
    assert 0 < reached(budget) <= float(DELTA)


@pytest.mark.parametrize(("tenths", "times"), [(3, 5), (1, 8)])
def test_a_batch_among_single_releases_keeps_it_too(tenths: int, times: int) -> None:
    budget = Budget("approximate", Fraction(E), DELTA)
    cost = batched(tenths, times, DELTA / 2)
    assert cost.epsilon < Fraction(tenths * times, 10) and cost.delta == DELTA / 2
    assert reached(budget, (tenths, times, cost)) <= float(DELTA)


def test_a_promise_that_is_too_bold_is_noticed() -> None:
    """The near-miss: the same strategies break a promise of a fifth of E."""
    assert reached(Budget("approximate", Fraction(E), DELTA), level=E / 5) > float(DELTA)
