"""The solver's answers satisfy the conditions of optimality, not only the objective: Karush-Kuhn-Tucker, one by one.

primal     Σ_a x_a = 1, q·x_j − x_i ≥ 0                       dual       z ≥ 0
stationarity   cost_a − Gᵀz_a ≥ λ, with λ_h the least over actions
complementarity   z·(G x) = 0 on every edge, and x_a(h)·(cost_a − Gᵀz_a − λ)_h = 0 at every state
"""

from __future__ import annotations

import numpy as np
import pytest

from discreet.design.solver.interior import interior_point
from discreet.design.solver.pricing import solve_priced
from discreet.design.solver.program import Program, Solution, pulled, slack, value_of, violation
from discreet.design.solver.solve import solve

GAP = 1e-8


def random_program(seed: int) -> Program:
    """A connected graph with a tree and some further edges, costs of either sign, any ε from 0.1 to 3."""
    rng = np.random.default_rng(seed)
    states, actions = int(rng.integers(3, 14)), int(rng.integers(2, 7))
    tree = [(int(rng.integers(0, k)), k) for k in range(1, states)]
    more = {tuple(sorted(rng.choice(states, 2, replace=False).tolist())) for _ in range(states)}
    edges = np.array(sorted({*tree, *more}))
    prior = rng.dirichlet(np.ones(states))
    return Program(prior * rng.normal(size=(actions, states)), edges, float(rng.choice([0.1, 0.5, 1.0, 3.0])))


SOLVERS = {
    "interior point": lambda program: interior_point(program, GAP),
    "front door": lambda program: solve(program, GAP),
    "priced": lambda program: solve_priced(program, GAP),
}


def check(program: Program, found: Solution) -> None:
    size = float(np.abs(program.cost).sum())
    allowed = 1e-6 * size
    x, z = found.kernel, found.multipliers
    np.testing.assert_allclose(x.sum(axis=0), 1.0, atol=1e-12)
    assert x.min() >= 0 and violation(x, program.edges, program.factor) <= 0
    assert z.min() >= 0
    reduced = program.cost - pulled(z, program.edges, program.factor, program.states)
    prices = reduced.min(axis=0)
    assert value_of(program, x) - float(prices.sum()) == pytest.approx(0.0, abs=allowed), "no gap between the two sides"
    edges = float((z * slack(x, program.edges, program.factor)).sum())
    states = float((x * (reduced - prices)).sum())
    assert -1e-12 * size <= edges <= allowed, "an edge that is not tight has no multiplier"
    assert 0 <= states <= allowed, "an action is played only where its reduced cost is the price"
    # what the two complementarities leave out is the whole gap: nothing hides elsewhere
    assert edges + states == pytest.approx(value_of(program, x) - float(prices.sum()), abs=1e-9 * size)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("seed", range(12))
def test_the_conditions_hold(name: str, seed: int) -> None:
    program = random_program(seed)
    check(program, SOLVERS[name](program))


def test_near_miss_a_private_kernel_that_is_not_optimal_fails_complementarity() -> None:
    program = random_program(1)
    found = solve(program, GAP)
    blind = np.full_like(found.kernel, 1.0 / program.actions)
    worse = Solution(blind, found.multipliers, value_of(program, blind), found.bound, 0, 0.0, "optimal")
    with pytest.raises(AssertionError):
        check(program, worse)
