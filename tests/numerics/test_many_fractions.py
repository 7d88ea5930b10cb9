"""Many fractions at once are what each is by itself, also where numbers are longer than a machine's."""

from __future__ import annotations

import operator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.numerics.many_fractions import Fractions, larger

LONG = st.fractions(min_value=-(10**30), max_value=10**30) | st.fractions(min_value=-5, max_value=5, max_denominator=4)
TESTS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@given(st.lists(st.tuples(LONG, LONG), min_size=1, max_size=6), LONG, st.integers(min_value=-3, max_value=5))
def test_each_place_is_computed_by_itself(pairs: list[tuple[Fraction, Fraction]], one: Fraction, power: int) -> None:
    left, right = [list(side) for side in zip(*pairs, strict=True)]
    both = Fractions.of(left), Fractions.of(right)
    assert both[0].each() == left and (-both[0]).each() == [-x for x in left] and abs(both[0]).each() == [abs(x) for x in left]
    for apply in (operator.add, operator.sub, operator.mul):
        assert apply(*both).each() == [apply(x, y) for x, y in pairs]
        assert apply(both[0], one).each() == [apply(x, one) for x in left]
        assert apply(one, both[1]).each() == [apply(one, y) for y in right]
    for test in TESTS:
        assert test(*both).each() == [int(test(x, y)) for x, y in pairs]
        assert test(both[0], one).each() == [int(test(x, one)) for x in left]
        assert test(one, both[1]).each() == [int(test(one, y)) for y in right]
    assert larger(*both).each() == [max(x, y) for x, y in pairs]
    assert larger(one, both[1]).each() == [max(one, y) for y in right] == larger(both[1], one).each()
    assert larger(one, one + 1) == one + 1 == larger(one + 1, one)
    if all(right) and one:
        assert (both[0] / both[1]).each() == [x / y for x, y in pairs]
        assert (one / both[1]).each() == [one / y for y in right] and (both[0] / one).each() == [x / one for x in left]
    if all(left) or power >= 0:
        assert (both[0] ** power).each() == [x**power for x in left]


def test_nothing_is_divided_by_zero() -> None:
    some = Fractions.of([Fraction(1), Fraction(0)])
    for wrong in (lambda: some / some, lambda: Fraction(1) / some, lambda: some / Fraction(0), lambda: some**-1):
        with pytest.raises(ZeroDivisionError):
            wrong()
    assert (some / Fraction(-2)).each() == [Fraction(-1, 2), Fraction(0)]
