"""Randomised response: closed form, the tightest integers, and every respondent answering for themselves."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from discreet.errors import InputError, TooLarge
from discreet.mechanisms.randomised_response import RandomisedResponse
from discreet.numerics.brackets import compare_ratio_exp

ONE = Fraction(1)


@pytest.mark.parametrize("alternatives", [2, 3, 10])
@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2), ONE, Fraction(30)])
def test_closed_form(alternatives: int, epsilon: Fraction) -> None:
    response = RandomisedResponse(epsilon, alternatives)
    matrix = response.matrix()
    assert np.allclose(matrix.sum(axis=0), 1)
    growth = math.exp(float(epsilon))
    assert matrix[0, 0] == pytest.approx(growth / (growth + alternatives - 1))
    assert response.error() == pytest.approx(1 - matrix[0, 0], abs=1e-12)
    table = response.table()
    exact = np.array([[w / table.denominator for w in row] for row in table.weights])
    assert np.allclose(exact, matrix, rtol=1e-12)
    for first, second in combinations(range(alternatives), 2):
        for row in table.weights:
            assert compare_ratio_exp(row[first], row[second], epsilon) <= 0
            assert compare_ratio_exp(row[second], row[first], epsilon) <= 0


@pytest.mark.parametrize("bits", [4, 8, 64, 200])
@pytest.mark.parametrize("alternatives", [2, 3, 7])
def test_no_other_integers_are_more_truthful(bits: int, alternatives: int) -> None:
    """One unit moved from each other answer to the truth is the near-miss that is not private."""
    truth, other, denominator = RandomisedResponse(ONE, alternatives).integer_weights(bits)
    assert truth + (alternatives - 1) * other == denominator == 2**bits
    assert compare_ratio_exp(truth, other, ONE) <= 0
    if other > 1:
        assert compare_ratio_exp(truth + alternatives - 1, other - 1, ONE) > 0


def test_relative_entropy_is_the_largest_possible() -> None:
    """CY: D = ε·tanh(ε/2); checked away from ε = 1, where it equals another bound."""
    for epsilon, expected in (("0.5", 0.122459331202), ("2", 1.52318831191)):
        matrix = RandomisedResponse(Fraction(epsilon)).matrix()
        divergence = float(np.sum(matrix[:, 0] * np.log(matrix[:, 0] / matrix[:, 1])))
        assert divergence == pytest.approx(expected, rel=1e-11)


def test_each_respondent_answers_separately() -> None:
    """SY-OA: with perfectly correlated respondents, answers (1, 1) move the log odds by 2ε: the errors multiply."""
    single, both = RandomisedResponse(ONE).table(), RandomisedResponse(ONE).of_each(2)
    assert both.states == ("0,0", "0,1", "1,0", "1,1")
    assert both.denominator == single.denominator**2
    for y, answers in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
        for x, truths in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
            expected = single.weights[answers[0]][truths[0]] * single.weights[answers[1]][truths[1]]
            assert both.weights[y][x] == expected
    shift = math.log(both.weights[3][3] / both.weights[3][0])
    assert shift == pytest.approx(2, rel=1e-12)


def test_tiny_epsilon_still_finds_integers() -> None:
    epsilon = Fraction(1, 10**30)
    table = RandomisedResponse(epsilon, 3).table()
    assert compare_ratio_exp(table.weights[0][0], table.weights[0][1], epsilon) <= 0
    assert table.weights[0][0] > table.weights[0][1]


def test_refusals() -> None:
    with pytest.raises(InputError):
        RandomisedResponse(Fraction(-1))
    with pytest.raises(InputError):
        RandomisedResponse(ONE, 1)
    with pytest.raises(InputError):
        RandomisedResponse(ONE, 3).table(["a", "b"])
    with pytest.raises(InputError):
        RandomisedResponse(Fraction(0), 3).integer_weights(64)
    with pytest.raises(TooLarge):
        RandomisedResponse(ONE).of_each(40)
