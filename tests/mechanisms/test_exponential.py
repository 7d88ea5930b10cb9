"""The exponential and inverse sensitivity mechanisms: sensitivity measured, tables private, the truth likeliest."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError, Refuted
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.inverse_sensitivity import InverseSensitivity
from discreet.mechanisms.tables import must_be_private
from discreet.model.kernel import Output
from discreet.model.neighbours import GivenGraph, ReplaceOne
from discreet.model.states import StateSpace, state_space
from discreet.model.summary import DatabaseSummary, HistogramSummary
from discreet.model.universe import ListedUniverse, Universe
from discreet.numerics.brackets import compare_ratio_exp

ONE = Fraction(1)
PATH = tuple((i, i + 1) for i in range(4))


def histograms(respondents: int, types: int) -> StateSpace:
    universe = Universe.of(respondents, tuple(Fraction(t) for t in range(types)))
    return state_space(universe, ReplaceOne(), HistogramSummary())


@given(st.lists(st.lists(st.integers(-6, 6), min_size=5, max_size=5), min_size=1, max_size=5), st.integers(1, 30))
def test_any_scores_give_a_private_table(scores: list[list[int]], tenths: int) -> None:
    epsilon = Fraction(tenths, 10)
    family = Exponential(epsilon, tuple(map(tuple, scores)), PATH)
    table = family.table("abcde", [Output(str(y)) for y in range(len(scores))])
    exact = np.array([[w / table.denominator for w in row] for row in table.weights])
    assert np.allclose(exact, family.pmf(), rtol=1e-10)
    for first, second in PATH:
        for row in table.weights:
            assert compare_ratio_exp(row[first], row[second], epsilon) <= 0
            assert compare_ratio_exp(row[second], row[first], epsilon) <= 0


def test_sensitivity_is_measured_and_not_believed() -> None:
    family = Exponential(ONE, ((0, 3, 3, 0, 0), (0, 1, 2, 3, 4)), PATH)
    assert family.sensitivity == 3
    assert not family.one_sided
    logs = family.log_pmf()
    assert np.allclose(np.exp(logs).sum(axis=0), 1)
    assert logs[0, 1] - logs[1, 1] == pytest.approx(2 * 1 / 6)


def test_one_sided_scores_need_no_factor_two() -> None:
    """When all scores move together, the whole ε goes into the exponent; with the factor 2 half of it is lost."""
    family = Exponential(ONE, ((0, 1, 2, 3, 4), (0, 0, 1, 1, 2)), PATH)
    assert family.one_sided
    assert family.exponents()[0][4] == 4
    mixed = Exponential(ONE, ((0, 1, 2, 3, 4), (0, 0, -1, -1, -2)), PATH)
    assert mixed.exponents()[0][4] == 2


def test_dropping_the_factor_two_is_refuted() -> None:
    """Near-miss: scores that move in opposite directions are not private at ε when they use all of it."""
    scores, outputs = ((0, 1), (1, 0), (1, 0)), [Output("x"), Output("y"), Output("z")]
    honest = Exponential(ONE, scores, ((0, 1),))
    assert honest.table("ab", outputs)
    doubled = Exponential(2 * ONE, scores, ((0, 1),)).table("ab", outputs)
    with pytest.raises(Refuted):
        must_be_private(doubled, [(0, 1)], ONE)


def test_a_constant_score_tells_nothing() -> None:
    table = Exponential(ONE, ((2, 2, 2),) * 3, ((0, 1), (1, 2))).table("abc", [Output(y) for y in "xyz"])
    assert all(len(set(row)) == 1 for row in table.weights)


def test_exponential_refusals() -> None:
    for scores, edges in (
        ((), ()),
        (((),), ()),
        (((1, 2), (1,)), ()),
        (((1, 2),), ((0, 2),)),
        (((1, None), (0, 0)), ((0, 1),)),
        (((1, "nan"),), ((0, 1),)),
    ):
        with pytest.raises(InputError):
            Exponential(ONE, scores, edges)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        Exponential(ONE, ((0, 1),), ((0, 1),)).table("a", [Output("x")])
    with pytest.raises(InputError):
        Exponential(ONE, ((None, 0),), ()).table("ab", [Output("x")])


def test_lengths_are_distances_to_the_value() -> None:
    """Median-like statistic on 4 respondents with 3 types: compared with a brute-force minimum over all states."""
    space = histograms(4, 3)
    values = [Fraction(max(range(3), key=lambda t: (h[t], t))) for h in space.vectors.tolist()]
    family = InverseSensitivity(ONE, space, tuple(values))
    distances = np.abs(space.vectors[:, None, :] - space.vectors[None, :, :]).sum(axis=2) // 2
    for output, row in zip(family.outputs, family.lengths(), strict=True):
        where = [i for i, value in enumerate(values) if value == output]
        assert row == distances[:, where].min(axis=1).tolist()
    assert family.exponential().sensitivity == 1
    table = family.table()
    assert [output.action for output in table.outputs] == list(family.outputs)
    exact = np.array([[w / table.denominator for w in row] for row in table.weights])
    assert np.allclose(exact, family.pmf(), rtol=1e-10)
    top = exact.argmax(axis=0)
    assert all(family.outputs[y] == value for y, value in zip(top, values, strict=True))


def test_a_count_falls_off_like_half_a_geometric() -> None:
    space = histograms(30, 2)
    counts = tuple(Fraction(int(h[1])) for h in space.vectors)
    logs = np.log(InverseSensitivity(ONE, space, counts).pmf())
    middle = counts.index(15)
    assert logs[15, middle] - logs[18, middle] == pytest.approx(1.5)


def test_components_do_not_reach_each_other() -> None:
    universe = ListedUniverse(("a", "b", "c", "d"))
    space = state_space(universe, GivenGraph((("a", "b"), ("c", "d"))), DatabaseSummary())
    family = InverseSensitivity(ONE, space, (Fraction(0), ONE, Fraction(2), ONE))
    pmf = family.pmf()
    assert pmf[2, 0] == 0 and pmf[0, 2] == 0
    assert pmf[1, 0] == pytest.approx(1 / (1 + math.exp(0.5)))
    table = family.table()
    assert table.weights[2][0] == 0
    with pytest.raises(InputError):
        InverseSensitivity(ONE, space, (ONE,))
