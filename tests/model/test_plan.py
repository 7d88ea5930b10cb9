"""Plans, promises and recodings as nouns."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.errors import InputError
from discreet.model.key_set import KeySet
from discreet.model.plan import Exposure, Source, Unit
from discreet.model.promises import ApproximatePromise, ConcentratedPromise, PurePromise
from discreet.model.recoding import Bins, Bounds, Recoding, Values


def test_what_k_rows_cost() -> None:
    one, three = Exposure("values", "person", 1, 1), Exposure("presence", "person", 3, 1)
    epsilon, delta = Fraction(1, 2), Fraction(1, 10**6)
    promise = ApproximatePromise(epsilon, delta)
    assert one.of(promise) == promise
    assert three.of(PurePromise(epsilon)) == PurePromise(3 * epsilon)
    assert three.of(ConcentratedPromise(Fraction(1, 8))) == ConcentratedPromise(Fraction(9, 8))
    growth = (math.exp(1.5) - 1) / (math.exp(0.5) - 1)
    grown = three.of(promise).numbers["delta"]
    assert float(grown) == pytest.approx(1e-6 * growth, rel=1e-12)
    # Rounded up: 1 + e^½ + e^1 in exact arithmetic from below stays below it.
    assert grown > delta * (1 + Fraction(16487212, 10**7) + Fraction(27182818, 10**7))
    with pytest.raises(InputError, match="between 0 and 1"):
        three.of(ApproximatePromise(epsilon, Fraction(9, 10)))


def test_moves_cost_twice() -> None:
    stay, move = Exposure("values", "person", 2, 1), Exposure("moves", "person", 2, 2)
    one = Fraction(1)
    for promise in (PurePromise(one), ConcentratedPromise(one), ApproximatePromise(one, Fraction(1, 1000))):
        twice = {key: 2 * number for key, number in stay.of(promise).numbers.items()}
        assert move.of(promise).numbers == twice
    assert "which cells it is in" in str(move)


@pytest.mark.parametrize(("value", "type_"), [
    (None, 3), ("", 3), (float("nan"), 3), (Decimal("NaN"), 3), ("0", 0), ("1.99", 1), ("-5", 0), ("7", 2), (7, 2),
    (True, 4), ("abc", 4), (" 1", 4), ("1e0", 1), (float("inf"), 2), (float("-inf"), 0), (10**400, 2), ("٣", 4),
    ("1\n", 4),
    (Decimal("1.5"), 1), (b"1", 4), ("2", 2), (2.0, 2), ("-0", 0), ("0.9999999999999999999", 4),
])  # fmt: skip
def test_bounds_recode_everything(value: object, type_: int) -> None:
    assert Recoding("x", Bounds(0, 2), 5, missing=3, outside=4).type_of(value) == type_


@pytest.mark.parametrize(("value", "type_"), [
    (0, 0), ("0.49", 0), ("0.5", 1), (1.99, 1), (2, 3), (-1, 3), (float("inf"), 3), ("x", 3), (None, 2), (True, 3),
])  # fmt: skip
def test_bins_are_half_open(value: object, type_: int) -> None:
    rule = Bins((Fraction(0), Fraction(1, 2), Fraction(2)))
    assert Recoding("x", rule, 4, missing=2, outside=3).type_of(value) == type_


@pytest.mark.parametrize(("value", "type_"), [
    ("0", 0), (0, 0), (0.0, 0), ("0.0", 3), ("none", 0), ("None", 3), (1, 1), (True, 3), ("true", 3), (1.0, 1),
    (2.5, 1),
    (Decimal("2.50"), 1), ("2.50", 3), ("07", 1), (7, 3), (7.0, 1), (None, 2),
])  # fmt: skip
def test_values_compare_as_they_are_written_or_as_numbers(value: object, type_: int) -> None:
    rule = Values((("0", "none"), ("1", "2.5", "07")))
    assert Recoding("x", rule, 4, missing=2, outside=3).type_of(value) == type_


@pytest.mark.parametrize("make", [
    lambda: Values(()), lambda: Values(((),)), lambda: Values((("a",), ("a",))), lambda: Values((("",),)),
    lambda: Bins((Fraction(1),)), lambda: Bins((Fraction(1), Fraction(1))), lambda: Bounds(2, 2),
    lambda: Bounds(0, 2**60),
    lambda: Recoding("", Bounds(0, 1), 2, 0, 0), lambda: Recoding("x", Bounds(0, 5), 3, 0, 0),
    lambda: Recoding("x", Bounds(0, 1), 2, 2, 0), lambda: Recoding("x", Bounds(0, 1), 2, 0, 0, absent=-1),
    lambda: Unit("", None), lambda: Unit("a", "", 1), lambda: Unit("a", "x", 0), lambda: Unit("a", None, 2),
    lambda: Source("excel"), lambda: Source("csv"), lambda: Source("duckdb", "x"), lambda: Source("csv", "a\0b"),
    lambda: KeySet((), (), ()), lambda: KeySet(("a",), (), ()), lambda: KeySet(("a",), (("x",),), (0,)),
    lambda: KeySet(("a",), (("x",), ("x",)), (1, 1)), lambda: KeySet(("a",), (("x", "y"),), (1,)),
    lambda: KeySet(("a", "a"), (("x", "y"),), (1,)), lambda: KeySet(("a",), (("x\0",),), (1,)),
])  # fmt: skip
def test_nothing_invalid_exists(make: object) -> None:
    with pytest.raises(InputError):
        make()  # type: ignore[operator]
