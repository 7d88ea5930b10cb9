"""Blocks of Newton's matrices: what they solve and add up is what dense matrices say, and bounds are the same with them."""

import numpy as np
import pytest
from scipy import sparse

from discreet.design.ladder.bounds import averaged_blocks
from discreet.design.ladder.bounds.averaged import averages
from discreet.design.ladder.bounds.averaged_blocks import Blocks, ordered
from discreet.design.ladder.bounds.averaged_solver import solve_averaged, taking
from discreet.design.ladder.bounds.knots import dense_knots
from discreet.design.ladder.bounds.quotient import bound_from_multipliers, privacy_rows, solve
from discreet.design.ladder.bounds.stakes import Stakes
from discreet.model.iid_sum import IidSum
from discreet.watch import SILENT

SIZES, ACTIONS = [3, 20, 31, 28, 22], 4


def banded_rows(rng):
    """Rows that join a state of a level with three of the level before, below them x >= 0."""
    starts = np.concatenate([[0], np.cumsum(SIZES)])
    rows = []
    for level in range(1, len(SIZES)):
        for state in range(starts[level], starts[level + 1]):
            row = np.zeros(starts[-1])
            row[rng.choice(np.arange(starts[level - 1], starts[level]), size=3, replace=False)] = rng.uniform(0.2, 1.0, size=3)
            row[state] = -rng.uniform(0.2, 1.0)
            rows.append(row)
    return sparse.csr_array(np.vstack([*rows, np.eye(starts[-1])]))


def dense_matrices(blocks, weights):
    rows = blocks.rows.toarray()
    return [rows.T @ (each[:, None] * rows) for each in weights.T]


@pytest.mark.parametrize(("digits", "near"), [(np.float64, 1e-10), (np.float32, 1e-3)])
@pytest.mark.parametrize("shuffled", [False, True])
def test_blocks_solve_and_add_up_as_dense_matrices_do(digits, near, shuffled):
    rng = np.random.default_rng(5)
    rows = banded_rows(rng)
    if shuffled:
        rows = sparse.csr_array(rows[:, rng.permutation(rows.shape[1])])
    blocks = Blocks(rows)
    assert len(blocks.levels.sizes) >= 4
    weights = rng.uniform(0.1, 10.0, size=(rows.shape[0], ACTIONS))
    factors, right = blocks.factored(weights, digits), rng.normal(size=(rows.shape[1], ACTIONS))
    matrices = dense_matrices(blocks, weights)
    expected = np.stack([np.linalg.solve(h, r) for h, r in zip(matrices, right.T, strict=True)], axis=1)
    np.testing.assert_allclose(factors.solve(right), expected, atol=near * np.abs(expected).max())
    largest, shares = factors.summed(digits)
    total = sum(np.linalg.inv(h) for h in matrices)
    found = np.triu(shares * largest[:, None] * largest)
    np.testing.assert_allclose(found, np.triu(total), atol=near * np.abs(total).max())
    weights[: len(weights) // 2] *= 1.01  # near miss: other weights have another sum
    other = sum(np.linalg.inv(h) for h in dense_matrices(blocks, weights))
    assert np.abs(found - np.triu(other)).max() > 1e-3 * np.abs(total).max()


def test_rows_join_neighbouring_blocks_only():
    rows = banded_rows(np.random.default_rng(2))
    order, edges = ordered(rows)
    block = np.searchsorted(edges, np.arange(rows.shape[1]), side="right")
    spans = [np.ptp(block[np.flatnonzero(row)]) for row in rows[:, order].toarray()]
    assert max(spans) == 1
    full = sparse.csr_array(np.ones((2, 40)))
    assert len(ordered(full)[1]) <= 3  # two blocks are neighbours, even where all states are joined


def test_factors_say_where_their_digits_give_out():
    rows = banded_rows(np.random.default_rng(3))
    blocks, states = Blocks(rows), rows.shape[1]
    weights = np.ones((rows.shape[0], ACTIONS))
    weights[-states:] = 1e-10  # fewer rows join states than there are states
    with pytest.raises(np.linalg.LinAlgError):
        blocks.factored(weights, np.float32)
    assert np.isfinite(blocks.factored(weights).solve(np.ones((states, ACTIONS)))).all()
    with pytest.raises(np.linalg.LinAlgError):
        blocks.factored(-weights)


def sorted_program():
    program = averages(IidSum.of([0.8, 0.1, 0.06, 0.04], [0, 1, 2, 5], 12), leave_out=1e-4)
    low, high = float(program.statistics.min()), float(program.statistics.max())
    mean = float(program.masses @ program.statistics) / float(program.masses.sum())
    knots = dense_knots(mean, 3.0, low, high, 0.5)
    reach = np.maximum(np.append(np.diff(knots), 0), np.append(0, np.diff(knots))) / 2
    return program, privacy_rows(program, 1.0), knots, reach, Stakes()


def test_blocks_and_dense_matrices_prove_the_same(monkeypatch):
    program, cone, knots, reach, stakes = sorted_program()

    def bound():
        found = solve(program, cone, knots, reach, stakes, 2e-4, 100.0, SILENT)
        assert found.status == "optimal"
        assert found.multipliers.min() >= 0
        np.testing.assert_allclose(found.kernel.sum(axis=0), 1.0, atol=1e-5)
        assert (cone @ found.kernel.T).min() > -1e-8
        return bound_from_multipliers(program, cone, knots, found.multipliers, stakes)

    assert len(Blocks(cone).levels.sizes) > 2
    by_blocks = bound()
    monkeypatch.setattr(averaged_blocks, "SMALLEST", program.size)
    assert len(Blocks(cone).levels.sizes) == 1
    assert by_blocks == pytest.approx(bound(), rel=1e-3)


def test_every_early_stop_has_multipliers_that_are_not_negative():
    program, cone, knots, reach, stakes = sorted_program()
    cost = program.masses * (stakes.costs(knots, program.statistics) - reach[:, None] ** 2)
    seen = []

    def bound_of(multipliers):
        assert multipliers.min() >= 0
        seen.append(float((cost - (cone.T @ multipliers.T).T).min(axis=0).sum()))
        return seen[-1]

    full = solve_averaged(cone, cost, bound_of, 1e-5, 100.0)
    assert full.status == "optimal"
    assert max(seen) <= float((cost * full.kernel).sum()) <= max(seen) * (1 + 2e-5)
    assert bound_of(full.multipliers) == max(seen)  # what is kept is the best that was judged


def test_a_guess_grows_with_all_that_there_is():
    base = taking(400, 1600, 80, 34)
    assert 0.5 < base < 3.0
    assert min(taking(800, 1600, 80, 34), taking(400, 3200, 80, 34), taking(400, 1600, 160, 34), taking(400, 1600, 80, 68)) > base
