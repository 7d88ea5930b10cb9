"""The front door against HiGHS, on graphs and costs of every kind; and the promises of a solution.

Seeds are fixed: no false alarms.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet.design.solver.highs import solve_with_highs
from discreet.design.solver.program import (
    Program,
    Solution,
    dual_bound,
    reduced_cost,
    slack,
    value_of,
    violation,
)
from discreet.design.solver.solve import solve
from discreet.errors import InputError


def random_program(seed: int, epsilon: float, connected: bool = True) -> Program:
    rng = np.random.default_rng(seed)
    states, actions = int(rng.integers(2, 30)), int(rng.integers(1, 9))
    edges = {(int(rng.integers(0, h)), h) for h in range(1, states) if connected or rng.random() < 0.6}
    for _ in range(int(rng.integers(0, 2 * states))):
        i, j = sorted(rng.choice(states, 2, replace=False).tolist())
        edges.add((i, j))
    prior = rng.dirichlet(np.full(states, 0.3))
    cost = prior * rng.normal(size=(actions, states)) * 10 ** rng.uniform(-3, 3)
    return Program(cost, np.array(sorted(edges)).reshape(-1, 2), epsilon)


def assert_keeps_its_promises(program: Program, solution: Solution) -> None:
    kernel = solution.kernel
    assert kernel.shape == program.cost.shape
    assert kernel.min() >= 0
    assert np.abs(kernel.sum(axis=0) - 1).max() < 1e-14
    assert violation(kernel, program.edges, program.factor) <= 1e-15
    assert solution.multipliers.min() >= 0
    assert solution.value == pytest.approx(value_of(program, kernel), abs=1e-12 * np.abs(program.cost).sum())
    assert solution.bound <= dual_bound(program, solution.multipliers) + 1e-12 * np.abs(program.cost).sum()
    assert solution.bound <= solution.value + 1e-12 * np.abs(program.cost).sum()


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.05, 0.5, 1.0, 3.0, 20.0])
@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_highs_within_both_gaps(seed: int, epsilon: float) -> None:
    program = random_program(seed, epsilon, connected=seed % 3 != 0)
    ours, theirs = solve(program), solve_with_highs(program, "simplex")
    size = np.abs(program.cost).sum()
    assert_keeps_its_promises(program, ours)
    assert ours.value - ours.bound <= 1.1e-6 * abs(ours.value) + 1e-10 * size
    assert ours.bound <= theirs.value + 1e-9 * size
    assert theirs.bound <= ours.value + 1e-9 * size


@pytest.mark.parametrize("seed", range(20))
def test_any_multipliers_bound_from_below(seed: int) -> None:
    program = random_program(seed, 0.7)
    rng = np.random.default_rng(seed + 100)
    optimum = solve(program).value
    for scale in (1e-3, 1e-2, 1e-1):
        flow = scale * rng.random((program.actions, 2 * len(program.edges))) * np.abs(program.cost).mean()
        assert dual_bound(program, flow) <= optimum + 1e-12


def test_the_sign_and_order_of_multipliers() -> None:
    program = Program(np.zeros((1, 2)), np.array([[0, 1]]), np.log(2.0))
    kernel = np.array([[0.3, 0.5]])
    assert slack(kernel, program.edges, 2.0).tolist() == [[2 * 0.5 - 0.3, 2 * 0.3 - 0.5]]
    forward = reduced_cost(program, np.array([[1.0, 0.0]]))
    assert forward == pytest.approx(np.array([[1.0, -2.0]]))


def test_binary_randomised_response() -> None:
    cost = 0.5 * np.array([[0.0, 1.0], [1.0, 0.0]])
    for epsilon in (0.01, 1.0, 5.0):
        solution = solve(Program(cost, np.array([[0, 1]]), epsilon), gap=1e-9)
        assert solution.value == pytest.approx(1 / (1 + np.exp(epsilon)), rel=1e-8)
        assert solution.bound == pytest.approx(1 / (1 + np.exp(epsilon)), rel=1e-8)


def test_cancelling_midway_returns_a_private_kernel_and_a_valid_bound() -> None:
    class Impatient:
        def __init__(self, patience: int) -> None:
            self.patience, self.events = patience, 0

        def report(self, **event: object) -> None:
            self.events += 1
            assert event["bound"] <= event["value"] + 1e-9  # type: ignore[operator]

        def cancelled(self) -> bool:
            return self.events >= self.patience

    program = random_program(4, 1.0)
    assert program.actions > 1
    optimum = solve(program).value
    for patience in (1, 4, 9):
        watch = Impatient(patience)
        solution = solve(program, gap=1e-9, watch=watch)
        assert solution.status == "cancelled"
        assert watch.events == patience
        assert_keeps_its_promises(program, solution)
        assert solution.bound <= optimum + 1e-9 * abs(optimum) and solution.value >= optimum - 1e-6 * abs(optimum)


def test_shift_and_scale_and_duplicates_do_not_matter() -> None:
    program = random_program(5, 1.0)
    optimum = solve(program, gap=1e-8).value
    shift = np.random.default_rng(1).normal(size=program.states)
    moved = solve(Program(program.cost + shift, program.edges, 1.0), gap=1e-8).value
    assert moved == pytest.approx(optimum + shift.sum(), rel=1e-6, abs=1e-7)
    double = solve(Program(np.concatenate([program.cost, program.cost[:1]]), program.edges, 1.0), gap=1e-8).value
    assert double == pytest.approx(optimum, rel=1e-6)
    assert solve(Program(1e6 * program.cost, program.edges, 1.0), gap=1e-8).value == pytest.approx(1e6 * optimum, rel=1e-6)


def test_more_privacy_never_costs_less() -> None:
    base = random_program(11, 1.0)
    values = [solve(Program(base.cost, base.edges, e)).value for e in (0.0, 0.1, 0.5, 1.0, 2.0, 8.0)]
    assert all(b <= a + 1e-5 * abs(a) for a, b in itertools.pairwise(values))


@pytest.mark.parametrize(
    "bad",
    [
        {"cost": np.array([[np.nan, 1.0]]), "edges": [[0, 1]], "epsilon": 1.0},
        {"cost": np.ones((1, 2)), "edges": [[0, 2]], "epsilon": 1.0},
        {"cost": np.ones((1, 2)), "edges": [[1, 1]], "epsilon": 1.0},
        {"cost": np.ones((1, 2)), "edges": [[0, 1]], "epsilon": -1.0},
        {"cost": np.ones((0, 2)), "edges": [[0, 1]], "epsilon": 1.0},
    ],
)
def test_refuses_what_is_not_a_program(bad: dict[str, object]) -> None:
    with pytest.raises(InputError):
        Program(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(("epsilon", "reached"), [(0.1, 1e-6), (5.0, 1e-6), (20.0, 5e-5)])
def test_probabilities_that_span_hundreds_of_orders_of_magnitude(epsilon: float, reached: float) -> None:
    """A path of 60 states, absolute error, uniform prior: at ε = 20 the optimum is 4e-9 and e^(−ε·59) is 1e-512."""
    omega = np.arange(60)
    edges = np.stack([omega[:-1], omega[1:]], axis=1)
    program = Program(np.abs(omega[:, None] - omega) / 60.0, edges, epsilon)
    solution = solve(program)
    ratio = np.exp(-epsilon)
    geometric = 2 * ratio / (1 - ratio**2)
    assert_keeps_its_promises(program, solution)
    assert solution.relative_gap <= reached
    assert 0.5 * geometric < solution.bound <= solution.value < geometric
