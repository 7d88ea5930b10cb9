"""Reading and writing exact numbers: what was typed is what is meant, and nothing else gets in."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.numerics.exact import exact, format_exact, format_integer, normalised, read_integer


@pytest.mark.parametrize(
    ("given_value", "meant"),
    [
        ("1/3", Fraction(1, 3)),
        (" 2 / 6 ", Fraction(1, 3)),
        ("0.25", Fraction(1, 4)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("1e-3", Fraction(1, 1000)),
        ("-2.5E+2", Fraction(-250)),
        ("-2", Fraction(-2)),
        (0.1, Fraction(1, 10)),
        (0.1 + 0.2, Fraction(30000000000000004, 10**17)),
        (-0.0, Fraction(0)),
        (1e300, Fraction(10**300)),
        (3, Fraction(3)),
        (Fraction(2, 7), Fraction(2, 7)),
        (Decimal("0.10"), Fraction(1, 10)),
        (Decimal("1e3"), Fraction(1000)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int64(-7), Fraction(-7)),
        (np.uint8(200), Fraction(200)),
    ],
)
def test_reads_what_was_meant(given_value: object, meant: Fraction) -> None:
    assert exact(given_value) == meant
    assert type(exact(given_value).numerator) is int


@pytest.mark.parametrize(
    "nonsense",
    [
        True,
        np.True_,
        None,
        [],
        [1],
        1 + 2j,
        b"1",
        float("nan"),
        float("inf"),
        -float("inf"),
        np.float64("nan"),
        np.float32("inf"),
        np.array(1.0),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("-Infinity"),
        "",
        " ",
        ".",
        "-",
        "e5",
        "1e",
        "1/0",
        "0/0",
        "1/-2",
        "1/2/3",
        "0.5/0.25",
        "1_000",
        "1,5",
        "0x10",
        "nan",
        "inf",
        "１２",
        "1 2",
        "__import__('os')",
    ],
)
def test_refuses_what_is_not_one_finite_number(nonsense: object) -> None:
    with pytest.raises(InputError) as caught:
        exact(nonsense, "epsilon")
    assert "epsilon" in str(caught.value)
    assert caught.value.allowed and caught.value.remedy


@pytest.mark.parametrize(
    "absurd",
    [
        "1e999999999",
        "1e-999999999",
        "1e" + "9" * 40_000,
        "9" * 10_000_000,
        "1/" + "9" * 100_000,
        Decimal("1e999999"),
        Decimal("1e-999999"),
    ],
    ids=["huge", "tiny", "long exponent", "long", "long fraction", "decimal huge", "decimal tiny"],
)
def test_refuses_at_once_what_would_fill_the_memory(absurd: object) -> None:
    with pytest.raises(InputError) as caught:
        exact(absurd)
    assert len(str(caught.value)) < 1000


@given(st.fractions())
def test_what_is_written_reads_back(value: Fraction) -> None:
    assert exact(format_exact(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_reads_back_as_itself(value: float) -> None:
    assert float(exact(value)) == value


@given(st.text(max_size=40) | st.from_regex(r"[-+0-9./eE ]{1,12}", fullmatch=True))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = exact(text)
    except InputError:
        return
    assert isinstance(value, Fraction)


@given(st.decimals())
def test_any_decimal_is_read_exactly_or_refused(value: Decimal) -> None:
    try:
        read = exact(value)
    except InputError:
        return
    assert read == Fraction(value)


def test_writes_the_shortest_exact_text() -> None:
    assert format_exact(Fraction(1, 4)) == "0.25"
    assert format_exact(Fraction(-1, 1000)) == "-0.001"
    assert format_exact(Fraction(-7)) == "-7"
    assert format_exact(Fraction(7, 5)) == "1.4"
    assert format_exact(Fraction(1, 3)) == "1/3"
    assert format_exact(Fraction(1, 2**40)) == f"1/{2**40}"


def test_integers_longer_than_str_accepts() -> None:
    value = -(3**40_000)
    text = format_integer(value)
    assert len(text) == 19_086
    assert read_integer(text) == value
    assert read_integer("00012") == 12
    for length in (3_999, 4_000, 4_001, 8_001, 30_000):
        for sign in ("", "+", "-"):
            written = sign + "9081726354" * (length // 10) + "7" * (length % 10)
            assert read_integer(written) == int(Decimal(written))
    for nonsense in ("", "-", "1.0", "1e3", " 1", "１", "9" * 1_000_100):
        with pytest.raises(InputError):
            read_integer(nonsense)


def test_a_sum_of_one_is_left_alone() -> None:
    thirds = (Fraction(1, 3),) * 3
    assert normalised(thirds) == (thirds, False)


def test_artefacts_of_binary_floats_are_normalised_and_said() -> None:
    weights, was_normalised = normalised([exact(0.1 + 0.2), exact("0.7")])
    assert was_normalised
    assert sum(weights) == 1
    assert abs(weights[0] - Fraction(3, 10)) < Fraction(1, 10**15)


def test_the_tolerance_is_exact_on_both_sides() -> None:
    tolerance = Fraction(1, 10**9)
    assert normalised([1 + tolerance])[1]
    assert normalised([1 - tolerance])[1]
    for outside in (1 + tolerance + Fraction(1, 10**30), 1 - tolerance - Fraction(1, 10**30)):
        with pytest.raises(InputError, match="sum to one"):
            normalised([outside])


@pytest.mark.parametrize("weights", [[], ["0.99"], ["0.5", "0.49"], ["1.5", "-0.5"], ["-1e-30", "1"]])
def test_refuses_what_is_no_distribution(weights: list[str]) -> None:
    with pytest.raises(InputError):
        normalised([exact(weight) for weight in weights])
