"""The interior point of the set-aside bound: its blocks and splines, how near it comes, what a window costs, when it ends."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from ladder_problems import problem_of
from scipy import sparse
from scipy.optimize import linprog

from discreet.certify.bounds.set_aside import set_aside_upper_bound
from discreet.design.ladder.bounds import set_aside_prices as prices
from discreet.design.ladder.bounds import set_aside_solver as solver
from discreet.design.ladder.bounds.set_aside import Fitted, fitting_program, knots_of, set_aside_bound, set_aside_program
from discreet.design.ladder.bounds.set_aside_bands import Bands, Layout, splines
from discreet.design.ladder.bounds.set_aside_prices import best_levels, proved
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.memory import allowing
from discreet.design.schedule import counted, threads_at_once

LOSS = 2.0
"""About what the best mechanism loses."""


@pytest.fixture(scope="module")
def small():
    """Four types of five respondents; values up to 1 and what is beyond."""
    reader = Reader(problem_of([0.7, 0.15, 0.1, 0.05], [0, 1, 2, 3], 5, 1.0))
    return reader, set_aside_program(reader.law, [(0, 0), (1, 0), (1, 1), (1, 2)], 1e-2), knots_of(reader, LOSS, 0.25)


def least(program, epsilon, knots):
    """What the program of these nodes is worth, by HiGHS."""
    (bases, types), q, nodes = program.here.shape, math.exp(epsilon), len(knots)
    weights = program.shares[None] * program.masses[:, None] * program.here
    live = np.flatnonzero(program.here)
    cost = np.concatenate([(c * weights).ravel()[live] for c in program.costs(knots)] + [np.zeros(nodes * bases)])
    ties = []
    for apart in program.coefficients:
        entries = (apart * weights).ravel()[live], (program.targets.ravel()[live], np.arange(len(live)))
        ties.append(sparse.coo_array(entries, shape=(len(program.states), len(live))))
    of_base = sparse.coo_array((np.ones(len(live)), (np.arange(len(live)), live // types)), shape=(len(live), bases))
    eye = sparse.eye_array(len(live))
    each = sparse.block_diag([sparse.vstack(ties)] * nodes)
    whole = sparse.hstack([eye] * nodes)
    empty = sparse.coo_array((each.shape[0] + len(live), nodes * bases))
    order = [
        sparse.hstack([sparse.block_diag([-eye] * nodes), sparse.block_diag([of_base] * nodes)]),
        sparse.hstack([sparse.block_diag([eye] * nodes), sparse.block_diag([-q * of_base] * nodes)]),
    ]
    found = linprog(
        cost,
        A_ub=sparse.vstack(order),
        b_ub=np.zeros(2 * nodes * len(live)),
        A_eq=sparse.hstack([sparse.vstack([each, whole]), empty]),
        b_eq=np.concatenate([np.zeros(each.shape[0]), np.ones(len(live))]),
        method="highs-ipm",
    )
    return program.second + found.fun


def test_steps_reach_the_program_and_are_proved(small):
    reader, program, knots = small
    worth = least(program, reader.epsilon, knots)
    with counted():
        found = set_aside_bound(reader, Fitted(program, knots), LOSS, 1e-4, 1e6)
    within = float(np.diff(knots)[np.abs(knots[:-1]) < 2.0].max())
    assert worth - 1.1 * within**2 / 4 - 0.01 * worth < found.lower_bound < worth + 1e-9
    certified = -float(set_aside_upper_bound(reader.problem, found.witness))
    assert np.isclose(certified, found.lower_bound, rtol=1e-6)


def test_blocks_are_those_of_the_whole_matrix(small):
    """Whatever the numbers of D: the factor solves C·D·Cᵀ, and takes off the prices what that eliminates."""
    _, program, _ = small
    layout = Layout(program)
    layout.assemble()
    window = layout.window(0, layout.bases)
    rng = np.random.default_rng(3)
    root = rng.normal(size=(layout.bases, layout.types, layout.types)) * program.here[:, :, None]
    d = (root @ root.transpose(0, 2, 1) + np.eye(layout.types)) * program.here[:, :, None] * program.here[:, None, :]
    ties = np.zeros((layout.count * layout.width, layout.bases, layout.types))
    for rows, entries in zip(layout.rows, layout.entries, strict=True):
        for b, i in np.argwhere(program.here):
            ties[rows[b, i], b, i] += entries[b, i]
    spread = np.einsum("bij,rbj->rbi", d, ties)
    whole = np.einsum("rbi,sbi->rs", ties, spread)
    seen = np.stack([layout.told(row) for row in spread])
    prices = np.zeros((layout.columns, layout.columns))
    bands = Bands(layout, window, d, prices)
    right = whole @ rng.normal(size=len(whole))
    assert np.allclose(whole @ bands.solve(right), right, atol=1e-6 * np.abs(right).max())
    held = np.diag(whole) > 0
    expected = -seen[held].T @ np.linalg.lstsq(whole[np.ix_(held, held)], seen[held], rcond=1e-11)[0]
    assert np.allclose(prices, expected, atol=1e-6 * np.abs(expected).max())
    moved = rng.normal(size=program.here.shape)
    some = rng.normal(size=layout.columns)
    assert np.isclose(some @ layout.told(moved), float((layout.prices(some) * moved).sum()))


def test_prices_of_normalisation_are_the_best_for_any_others(small):
    """However wrong β are: no change of the levels found for them proves more than what counting nodes as cheaper gives away."""
    reader, program, knots = small
    rng = np.random.default_rng(11)
    forms = rng.normal(size=(len(knots), 2, len(program.states))) * 0.02
    levels = best_levels(program, reader.epsilon, knots, forms)
    best = proved(program, reader.epsilon, knots, forms, levels)
    spare = float(np.diff(knots)[np.abs(knots[:-1]) < 2.0].max()) ** 2 / 4
    for size in (0.01, 0.1, 1.0):
        for _ in range(5):
            other = levels + size * rng.normal(size=levels.shape) * program.here
            assert proved(program, reader.epsilon, knots, forms, other) < best + spare
    assert best > proved(program, reader.epsilon, knots, forms, -(program.read**2)) + 0.1


def test_splines_add_up_to_one_and_few_numbers_have_one_each():
    at = np.arange(3, 40)
    assert np.allclose(splines(at, 8).sum(axis=1), 1.0) and splines(at, 8).shape == (37, 8)
    assert np.array_equal(splines(np.array([5, 7, 5]), 8), [[1, 0, 0], [0, 0, 1], [1, 0, 0]])


def test_a_window_costs_little_where_it_is_wide_and_any_is_proved_honestly(small, monkeypatch):
    """A window that is too narrow prices actions that it never saw: the bound falls, and is still the one that is proved."""
    reader, program, knots = small
    found = {}
    for reach in (100.0, 3.0, 0.0):
        monkeypatch.setattr(solver, "REACH", reach)
        with counted():
            prices = solver.solve_set_aside(program, reader.epsilon, knots, LOSS, 1e-3, 1e6)
        assert prices.bound == proved(program, reader.epsilon, knots, prices.forms, prices.levels)
        found[reach] = prices.bound
    assert found[3.0] > 0.97 * found[100.0]
    assert found[0.0] < found[100.0] + 0.02 * LOSS


def test_time_ends_the_steps_and_time_and_memory_choose_the_program(small):
    reader, program, knots = small
    step, size = solver.taking(program, knots, LOSS)
    with counted():
        short = solver.solve_set_aside(program, reader.epsilon, knots, LOSS, 1e-3, 5 * step)
        longer = solver.solve_set_aside(program, reader.epsilon, knots, LOSS, 1e-3, 25 * step)
    assert short.bound < longer.bound
    forms = [(0, 0), (1, 0), (1, 1), (1, 2)]
    coarse, fine = (fitting_program(reader, forms, LOSS, s) for s in (60 * step, 2000 * step))
    assert coarse is not None and fine is not None and len(fine.knots) > len(coarse.knots)
    assert fitting_program(reader, forms, LOSS, step) is None
    with allowing(int(size) // 50):
        assert fitting_program(reader, forms, LOSS, 2000 * step) is None


def test_threads_share_the_nodes_and_change_nothing(small, monkeypatch):
    """Two threads add up in another order, no more; and what a step takes is guessed for as many as work at once."""
    reader, program, knots = small
    found, guesses = [], []
    for threads in (1, 2, 3):
        monkeypatch.setattr(solver, "THREADS", threads)
        guesses.append(solver.taking(program, knots, LOSS)[0] * threads_at_once(threads))
        with ThreadPoolExecutor(threads) as pool:
            walk = solver._Walk(program, reader.epsilon, knots, LOSS, pool)
            assert all(walk.step() for _ in range(5))
        found.append((walk.gap(), proved(program, reader.epsilon, knots, walk.forms(), walk.levels())))
    assert np.allclose(found[1:], found[0], rtol=1e-4)  # what is not told apart takes up the digits that differ
    assert guesses == pytest.approx(guesses[:1] * 3)


def test_bases_without_digits_stay_as_they_are(small, monkeypatch):
    """Seen failing: steps past the last digit divided by nothing, and one such base made every price no number."""
    reader, program, knots = small
    forms = np.zeros((len(knots), len(program.coefficients), len(program.states)))
    usual = proved(program, reader.epsilon, knots, forms, best_levels(program, reader.epsilon, knots, forms))
    monkeypatch.setattr(prices, "STEPS", 400)
    monkeypatch.setattr(prices, "NEAR", 0.0)
    levels = best_levels(program, reader.epsilon, knots, forms)
    assert np.isfinite(levels).all()
    assert proved(program, reader.epsilon, knots, forms, levels) == pytest.approx(usual, rel=1e-3)
