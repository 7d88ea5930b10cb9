"""Exact feasibility: solutions check out, refutations refute, and both agree with HiGHS."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.geometry.linear_algebra import (
    affinely_independent,
    linearly_independent,
    nonnegative_solution,
    rank,
    unique_solution,
)


@pytest.mark.parametrize("seed", range(40))
def test_against_highs(seed: int) -> None:
    draw = random.Random(seed)
    rows, columns = draw.randint(1, 4), draw.randint(1, 7)
    A = [[Fraction(draw.randint(-4, 4)) for _ in range(rows)] for _ in range(columns)]
    b = [Fraction(draw.randint(-6, 6)) for _ in range(rows)]
    found = nonnegative_solution(A, b)
    matrix = np.array([[float(x) for x in column] for column in A]).T
    program = linprog(np.zeros(columns), A_eq=matrix, b_eq=[float(x) for x in b], bounds=(0, None))
    assert (found.solution is not None) == (program.status == 0)
    if found.solution is not None:
        assert min(found.solution) >= 0
        assert [sum(x * column[i] for x, column in zip(found.solution, A, strict=True)) for i in range(rows)] == b
        used = [column for x, column in zip(found.solution, A, strict=True) if x]
        assert not used or linearly_independent(used)
    else:
        y = found.refutation
        assert all(sum(p * q for p, q in zip(y, column, strict=True)) <= 0 for column in A)
        assert sum(p * q for p, q in zip(y, b, strict=True)) > 0


def test_rank_and_solutions() -> None:
    one, two = Fraction(1), Fraction(2)
    assert rank([(one, two), (two, 4 * one)]) == 1
    assert not affinely_independent([(one, one), (two, two), (3 * one, 3 * one)])
    assert unique_solution([(one, Fraction(0)), (one, one)], (3 * one, one)) == (two, one)
    assert unique_solution([(one, two), (two, 4 * one)], (one, one)) is None
    assert unique_solution([(one, Fraction(0), Fraction(0))], (one, one, Fraction(0))) is None
