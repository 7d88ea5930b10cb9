"""The truncated geometric: its closed form, its exact kernels, and what one unit does to them.

Executes SY fn 28.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError, Refuted
from discreet.mechanisms.geometric import Geometric, TruncatedGeometric
from discreet.mechanisms.tables import must_be_private, path_edges
from discreet.model.kernel import TableKernel
from discreet.numerics.brackets import compare_ratio_exp, log_bracket

ONE = Fraction(1)


@pytest.mark.parametrize(("low", "high", "sensitivity"), [(0, 1, 1), (0, 40, 1), (-3, 9, 2)])
@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 10), ONE, Fraction(7)])
def test_truncation_gathers_what_falls_outside(low: int, high: int, sensitivity: int, epsilon: Fraction) -> None:
    truncated = TruncatedGeometric(epsilon, low, high, sensitivity)
    matrix = truncated.matrix()
    assert np.allclose(matrix.sum(axis=0), 1, atol=1e-14)
    if epsilon:
        noise = Geometric(epsilon, sensitivity)
        for state in range(low, high + 1):
            below = noise.cdf(low - state)
            above = 1 - noise.cdf(high - 1 - state)
            inside = noise.pmf(np.arange(low + 1, high) - state)
            assert np.allclose(matrix[:, state - low], [below, *inside, above], rtol=1e-12, atol=1e-15)
    outputs = np.arange(low, high + 1)
    assert np.allclose(truncated.cdf(outputs[:, None], outputs[None, :]), np.cumsum(matrix, axis=0), atol=1e-14)
    assert truncated.pmf(low - 1, low) == 0
    assert truncated.pmf(high + 1, low) == 0


def test_school_planning_table_is_private_and_tight() -> None:
    """N = 40, ε = 1: the largest ratio is at most e, and its logarithm is above 1 − 1e-12."""
    table = TruncatedGeometric(ONE, 0, 40).table()
    largest = max(
        (Fraction(max(row[i], row[i + 1]), min(row[i], row[i + 1])) for row in table.weights for i in range(40)),
    )
    assert compare_ratio_exp(largest.numerator, largest.denominator, ONE) < 0
    assert log_bracket(largest, 80)[0] > 1 - Fraction(1, 10**12)


def test_one_unit_beyond_the_bound_is_refuted() -> None:
    """Raise a weight to one unit past the bound and lower another of the same state: that edge is named."""
    table = TruncatedGeometric(ONE, 0, 40).table()
    output, state, neighbour = 3, 10, 11
    low, high = 0, table.denominator
    while high - low > 1:
        middle = (low + high) // 2
        allowed = compare_ratio_exp(middle, table.weights[output][neighbour], ONE) <= 0
        low, high = (middle, high) if allowed else (low, middle)

    def with_weight(weight: int) -> TableKernel:
        weights = [list(row) for row in table.weights]
        # The state's own output is large enough to absorb the change.
        weights[state][state] -= weight - weights[output][state]
        weights[output][state] = weight
        return TableKernel(table.states, table.outputs, tuple(map(tuple, weights)), table.denominator)

    edge = [(state, neighbour)]
    assert must_be_private(with_weight(low), edge, ONE)
    with pytest.raises(Refuted) as caught:
        must_be_private(with_weight(low + 1), edge, ONE)
    assert "'3'" in str(caught.value.counterexample) and "'10' and '11'" in str(caught.value.counterexample)


@given(st.fractions(Fraction(1, 50), 6, max_denominator=50), st.integers(1, 25), st.integers(1, 3))
@settings(max_examples=30)
def test_tables_are_private_and_close_to_the_closed_form(epsilon: Fraction, width: int, sensitivity: int) -> None:
    family = TruncatedGeometric(epsilon, 0, width, sensitivity)
    table = family.table()
    exact = np.array([[float(Fraction(w, table.denominator)) for w in row] for row in table.weights])
    assert np.allclose(exact, family.matrix(), rtol=1e-10, atol=0)
    for first, second in path_edges(0, width, sensitivity):
        for row in table.weights:
            assert compare_ratio_exp(row[first], row[second], epsilon) <= 0
            assert compare_ratio_exp(row[second], row[first], epsilon) <= 0


@pytest.mark.parametrize("sensitivity", [1, 2, 5])
def test_closed_form_kernel_has_a_ratio_on_the_safe_side(sensitivity: int) -> None:
    family = TruncatedGeometric(ONE, 0, 12, sensitivity)
    kernel = family.kernel()
    power = kernel.ratio**sensitivity
    assert compare_ratio_exp(power.numerator, power.denominator, -ONE) > 0
    assert compare_ratio_exp(power.numerator, power.denominator, -ONE * (1 - Fraction(1, 10**15))) < 0
    for output in range(13):
        for state in range(13):
            assert float(kernel.mass(output, state)) == pytest.approx(float(family.pmf(output, state)), rel=1e-12)


def test_zero_epsilon_tells_nothing() -> None:
    table = TruncatedGeometric(Fraction(0), 0, 5).table()
    assert all(len(set(row)) == 1 for row in table.weights)
    with pytest.raises(InputError):
        TruncatedGeometric(Fraction(0), 0, 5).kernel()


@pytest.mark.parametrize(
    "build",
    [
        lambda: Geometric(Fraction(0)),
        lambda: Geometric(Fraction(-1)),
        lambda: Geometric("nan"),
        lambda: Geometric(ONE, 0),
        lambda: Geometric(ONE, Fraction(1, 2)),
        lambda: TruncatedGeometric(ONE, 5, 5),
        lambda: TruncatedGeometric(ONE, 5, 4),
        lambda: TruncatedGeometric(Fraction(-1), 0, 4),
    ],
)
def test_refusals(build: object) -> None:
    with pytest.raises(InputError):
        build()  # type: ignore[operator]


def test_numbers_are_read_as_written() -> None:
    assert Geometric("0.1") == Geometric(Fraction(1, 10)) == Geometric(0.1)
    assert str(Geometric("1").truncated(0, 3).guarantee("replace-one", "household")).startswith("ε = 1 for replace-one")
