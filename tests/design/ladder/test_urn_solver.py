"""The interior point behind the urn bound: its blocks are the matrix they stand for, its bound that of the linear program."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from discreet.certify.bounds.urn import Urn
from discreet.design.ladder.bounds import urn_prices, urn_solver
from discreet.design.ladder.bounds.knots import rewards
from discreet.design.ladder.bounds.level_blocks import Levels
from discreet.design.ladder.bounds.urn import cone_of, urn_program


def test_blocks_are_the_matrix_they_stand_for():
    rng = np.random.default_rng(5)
    edges = np.array([0, 3, 4, 8, 10])
    rows = []
    for first, last in ((0, 4), (3, 8), (4, 10), (8, 10)):
        for _ in range(6):
            row = np.zeros(10)
            row[first:last] = rng.normal(size=last - first) * (rng.random(last - first) < 0.8)
            rows.append(row)
    dense = np.array([*rows, *np.eye(10)])
    weights, prices, right = rng.random((len(dense), 3)) + 0.1, rng.normal(size=(10, 2)), rng.normal(size=(3, 10))
    factors = Levels(sparse.csr_array(dense), edges).factored(weights, prices)
    matrices = [dense.T @ (w[:, None] * dense) for w in weights.T]
    np.testing.assert_allclose(factors.products(), sum(prices.T @ np.linalg.solve(m, prices) for m in matrices), rtol=1e-9)
    halves, moved = factors.half(right), rng.normal(size=2)
    each = [np.linalg.solve(m, r) for m, r in zip(matrices, right, strict=True)]
    np.testing.assert_allclose(factors.priced(halves), prices.T @ sum(each), rtol=1e-9)
    wanted = [np.linalg.solve(m, r + prices @ moved) for m, r in zip(matrices, right, strict=True)]
    np.testing.assert_allclose(factors.whole(halves, moved), wanted, rtol=1e-9)


def test_rows_that_skip_a_level_are_no_blocks():
    with pytest.raises(AssertionError, match="neighbouring"):
        Levels(sparse.csr_array(np.ones((1, 3))), np.array([0, 1, 2, 3]))


@pytest.fixture(scope="module")
def small():
    urn = Urn(6, tuple(Fraction(c) for c in (10, 5, 3, 2)), tuple(map(Fraction, (0, 1, 2, 4))), 1)
    program = urn_program(urn, 0, ((0,), (1,), (2,), (2,)), 1e-9)
    knots = np.linspace(-4.0, 20.0, 16)
    reach = rewards(knots, [False] * len(knots))
    cost = program.masses * (knots[:, None] ** 2 - reach[:, None] ** 2 - 2 * knots[:, None] * program.reads)
    return program, cone_of(program, 1.0), knots, np.asarray(cost)


def bound_of(small):
    """What multipliers are worth at the nodes."""
    program, cone, knots, cost = small
    worth = lambda f: program.second + float((cost - (cone.matrix.T @ f.T).T).min(axis=0).sum())  # noqa: E731
    return worth(urn_solver.multipliers_of(program, cone, cost, np.full(len(knots), 1 / len(knots)), worth, 600.0))


def test_the_bound_is_that_of_the_linear_program(small, monkeypatch):
    program, cone, _, cost = small
    nodes, cells = cost.shape
    rows = sparse.block_diag([cone.matrix] * nodes, format="csr")
    free = np.tile(cone.free, nodes)
    normal = sparse.hstack([sparse.eye_array(cells)] * nodes)
    held = sparse.vstack([rows[free], normal])
    right = np.concatenate([np.zeros(int(free.sum())), np.ones(cells)])
    best = linprog(cost.ravel(), -rows[~free], np.zeros(int((~free).sum())), held, right, method="highs").fun + program.second
    monkeypatch.setattr(urn_prices, "FEW_CELLS", cells)
    exactly = bound_of(small)
    assert best * (1 - 3e-3) <= exactly <= best * (1 + 1e-6)
    monkeypatch.setattr(urn_prices, "FEW_CELLS", 0)
    assert 0.97 * best <= bound_of(small) <= best * (1 + 1e-6)
