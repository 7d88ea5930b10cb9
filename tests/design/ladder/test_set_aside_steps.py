"""First-order steps of the set-aside bound: their gradient, what a window leaves out, how near they come, when they end."""

from __future__ import annotations

import numpy as np
import pytest
from ladder_problems import problem_of

from discreet.certify.bounds.set_aside import set_aside_upper_bound
from discreet.design.ladder.bounds import set_aside_steps as steps
from discreet.design.ladder.bounds.set_aside import knots_of, set_aside_bound, set_aside_program
from discreet.design.ladder.bounds.set_aside_prices import proved
from discreet.design.ladder.bounds.set_aside_solver import solve_set_aside
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.schedule import counted

LOSS = 2.0
"""About what the best mechanism loses."""


@pytest.fixture(scope="module")
def small():
    """Four types of five respondents; values up to 1 and what is beyond."""
    reader = Reader(problem_of([0.7, 0.15, 0.1, 0.05], [0, 1, 2, 3], 5, 1.0))
    return reader, set_aside_program(reader.law, [(0, 0), (1, 0), (1, 1), (1, 2)], 1e-2), knots_of(reader, LOSS, 2)


def test_the_gradient_is_that_of_the_smoothed_bound(small):
    reader, program, knots = small
    dual = steps._Dual(program, reader.epsilon, knots, LOSS)
    dual.smooth(0.5 * LOSS)
    rng = np.random.default_rng(5)
    at = dual.packed()
    at = at + 0.05 * rng.normal(size=len(at))
    value, slope = dual.value(at)
    for _ in range(4):
        way = rng.normal(size=len(at))
        step = 1e-5
        measured = (dual.value(at + step * way)[0] - dual.value(at - step * way)[0]) / (2 * step)
        assert np.isclose(measured, slope @ way, rtol=1e-4, atol=1e-6 * abs(value))


def test_the_smoothed_bound_is_never_above_what_nodes_prove(small):
    reader, program, knots = small
    dual = steps._Dual(program, reader.epsilon, knots, LOSS)
    for tau in (LOSS, 0.1 * LOSS):
        dual.smooth(tau)
        value = -dual.value(dual.packed())[0] + program.second
        assert value <= proved(program, reader.epsilon, knots, dual.forms, dual.levels) + 1e-9


def test_steps_come_as_near_as_the_interior_point_and_are_proved(small, monkeypatch):
    reader, program, knots = small
    monkeypatch.setattr(steps, "MOST", 100)
    with counted():
        inner = solve_set_aside(program, reader.epsilon, knots, 1e-3, 1e3).bound
        found = set_aside_bound(reader, program, LOSS, 1e-3, 1e3)
    assert found.lower_bound > 0.985 * inner > 0
    certified = -float(set_aside_upper_bound(reader.problem, found.witness))
    assert np.isclose(certified, found.lower_bound, rtol=1e-6)


def test_a_window_costs_nothing_where_it_is_wide_and_any_is_proved_honestly(small, monkeypatch):
    """A window that is too narrow prices actions that it never saw: the bound falls, and is still the one that is proved."""
    reader, program, knots = small
    monkeypatch.setattr(steps, "MOST", 40)
    monkeypatch.setattr(steps, "ROWS", 2)
    found = {}
    for reach in (100.0, 3.0, 0.0):
        monkeypatch.setattr(steps, "REACH", reach)
        with counted():
            prices = steps.step_set_aside(program, reader.epsilon, knots, LOSS, 1e3)
        assert prices.bound == proved(program, reader.epsilon, knots, prices.forms, prices.levels)
        found[reach] = prices.bound
    assert found[3.0] > 0.98 * found[100.0]
    assert found[0.0] < found[100.0] + 0.02 * LOSS


def test_time_ends_the_steps(small):
    reader, program, knots = small
    with counted():
        guess = steps.step_seconds(program, knots, LOSS)
        short = steps.step_set_aside(program, reader.epsilon, knots, LOSS, 30 * guess)
        longer = steps.step_set_aside(program, reader.epsilon, knots, LOSS, 400 * guess)
    assert short.bound < longer.bound
