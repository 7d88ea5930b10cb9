"""The interior point of noise that follows counts: against another solver, and stopped early."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.optimize import linprog

from discreet.design.ladder.mechanisms.counted_solver import Inequalities, StripBand, solved
from discreet.numerics.arrays import Floats, Integers

TABLES, NUMBERS, FACTOR = 3, 41, 2.0


def program() -> tuple[Floats, Inequalities, Floats, Integers, Floats]:
    """Three tables of forty-one numbers whose neighbours are moved by up to three, and one unknown beside all ends."""
    cells = np.arange(TABLES * NUMBERS).reshape(TABLES, NUMBERS)
    far = np.abs(np.arange(NUMBERS) - NUMBERS // 2)
    left, right = [], []
    for table in range(TABLES):
        for moved in (1, 2):
            left += cells[table, moved:].tolist()
            right += cells[table, :-moved].tolist()
        for moved in (1, 3) if table else ():
            left += cells[table - 1, moved:].tolist()
            right += cells[table, :-moved].tolist()
        left += [*cells[table, :3].tolist(), *cells[table, -3:].tolist()]
        right += [TABLES * NUMBERS] * 6
    small, large = np.array(left + right), np.array(right + left)
    columns = TABLES * NUMBERS + 1
    each = np.zeros((TABLES, columns))
    for table in range(TABLES):
        each[table, cells[table]] = 1.0
    each[:, -1] = 12.0
    cost = np.append(np.outer([0.7, 0.2, 0.1], far.astype(float) ** 2).ravel(), 12 * 24.0**2)
    start = np.append(np.tile(np.exp(-0.1 * far), TABLES), np.exp(-2.1))
    rows = Inequalities(small, large, np.full(len(small), FACTOR), columns)
    return cost, rows, each, cells.T.ravel(), start / (each @ start)[0]


def test_another_solver_finds_the_same() -> None:
    cost, rows, each, order, start = program()
    numbers = np.arange(len(rows.small))
    entries = np.concatenate([np.ones(len(numbers)), -rows.factors])
    matrix = sparse.csr_matrix((entries, (np.tile(numbers, 2), np.concatenate([rows.small, rows.large]))))
    other = linprog(cost, A_ub=matrix, b_ub=np.zeros(len(numbers)), A_eq=each, b_eq=np.ones(TABLES))
    found = solved(cost, rows, each, order, start, lambda: True)
    assert other.fun <= cost @ found <= other.fun * (1 + 2e-4)
    assert (rows.slack(found) > 0).all() and np.allclose(each @ found, 1, rtol=1e-9)
    assert cost @ found < 0.8 * (cost @ start)


@pytest.mark.parametrize("steps", [0, 3, 10])
def test_what_is_found_early_keeps_every_inequality(steps: int) -> None:
    cost, rows, each, order, start = program()
    left = iter([True] * steps)
    found = solved(cost, rows, each, order, start, lambda: next(left, False))
    assert (rows.slack(found) > 0).all() and np.allclose(each @ found, 1, rtol=1e-9)


def test_the_band_is_the_matrix() -> None:
    """Factors of Gᵀ diag(w) G without its last row solve what a full matrix solves, for one right-hand side and for several."""
    _, rows, _, order, _ = program()
    weights = np.linspace(1.0, 3.0, len(rows.small))
    full = np.zeros((len(rows.small), rows.columns))
    full[np.arange(len(rows.small)), rows.small] = 1.0
    full[np.arange(len(rows.small)), rows.large] -= rows.factors
    matrix = full.T @ (weights[:, None] * full)
    factor, border, corner = StripBand(rows, order).factored(weights)
    inner = matrix[np.ix_(order, order)]
    assert np.allclose(border, matrix[order, -1]) and np.isclose(corner, matrix[-1, -1])
    sides = np.column_stack([np.arange(len(order)), np.ones(len(order))]).astype(float)
    assert np.allclose(inner @ factor.solve(sides), sides) and np.allclose(inner @ factor.solve(sides[:, 0]), sides[:, 0])
    assert np.allclose(rows.back(weights), full.T @ weights)
