"""Post-processing: exact composition, never more telling, and a near-miss that peeks at the data."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError, Refuted
from discreet.mechanisms.geometric import TruncatedGeometric
from discreet.mechanisms.post_processing import composed, merged
from discreet.mechanisms.randomised_response import RandomisedResponse
from discreet.mechanisms.tables import must_be_private
from discreet.model.kernel import Output, TableKernel

ONE = Fraction(1)


def test_composition_is_the_product_of_the_matrices() -> None:
    first = TruncatedGeometric(ONE, 0, 2).table()
    second = RandomisedResponse(Fraction(1, 2), 3).table()
    both = composed(first, second)
    for output in range(3):
        for state in range(3):
            expected = sum(second.probability(output, y) * first.probability(y, state) for y in range(3))
            assert both.probability(output, state) == expected


def test_states_are_matched_by_label_and_not_by_position() -> None:
    first = TruncatedGeometric(ONE, 0, 1).table()
    swap = TableKernel(("1", "0"), (Output("one"), Output("zero")), ((1, 0), (0, 1)), 1)
    both = composed(first, swap)
    assert both.weights == (first.weights[1], first.weights[0])


@given(st.lists(st.integers(0, 2), min_size=6, max_size=6), st.integers(1, 20))
def test_no_relabelling_costs_privacy(meaning: list[int], tenths: int) -> None:
    epsilon = Fraction(tenths, 10)
    table = TruncatedGeometric(epsilon, 0, 5).table()
    published = merged(table, [Output(str(m)) for m in meaning])
    assert must_be_private(published, [(i, i + 1) for i in range(5)], epsilon)
    assert len(published.outputs) == len(set(meaning))
    by_name = merged(table, {str(y): Output(str(m)) for y, m in enumerate(meaning)})
    assert by_name == published


def test_clamping_outputs_is_truncation() -> None:
    """The geometric on −3..8 reported within 0..5 has, at states 0..5, the probabilities of the one on 0..5."""
    wide = TruncatedGeometric(ONE, -3, 8).table()
    clamped = merged(wide, [Output(str(min(max(y, 0), 5))) for y in range(-3, 9)])
    narrow = TruncatedGeometric(ONE, 0, 5)
    for output in range(6):
        for state in range(6):
            assert float(clamped.probability(output, state + 3)) == pytest.approx(float(narrow.pmf(output, state)), rel=1e-9)


def test_looking_at_the_data_again_is_not_post_processing() -> None:
    """Near-miss: an outcome that depends on the state itself breaks the promise that composition keeps."""
    first = TruncatedGeometric(ONE, 0, 2).table()
    peeking = tuple(
        tuple(weight if state != 2 else (first.denominator if y == 2 else 0) for state, weight in enumerate(row))
        for y, row in enumerate(first.weights)
    )
    kernel = TableKernel(first.states, first.outputs, peeking, first.denominator)
    with pytest.raises(Refuted):
        must_be_private(kernel, [(1, 2)], ONE)


def test_denominators_stay_as_small_as_they_can() -> None:
    coin = TableKernel(("a", "b"), (Output("x"), Output("y")), ((1, 1), (1, 1)), 2)
    same = TableKernel(("x", "y"), (Output("x"), Output("y")), ((4, 0), (0, 4)), 4)
    assert composed(coin, same).denominator == 2


def test_refusals() -> None:
    table = TruncatedGeometric(ONE, 0, 2).table()
    with pytest.raises(InputError, match="every output"):
        composed(table, RandomisedResponse(ONE, 2).table())
    with pytest.raises(InputError):
        merged(table, [Output("x")])
    with pytest.raises(InputError):
        merged(table, {"0": Output("x")})
