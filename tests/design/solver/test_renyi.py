"""The interior point of zCDP beside a generic conic solver (Clarabel, power cones) on small problems at random."""

from __future__ import annotations

from dataclasses import replace

import clarabel
import numpy as np
import pytest
from scipy import sparse

from discreet.design.solver.renyi import Groups, RenyiProgram, pulls, solve_renyi

ORDERS = (1.125, 2.0)


def random_program(seed: int) -> RenyiProgram:
    """Costs at random on a path or a triangle of states, at a ρ between a tenth and two."""
    dice = np.random.default_rng(seed)
    states, actions = int(dice.integers(2, 5)), int(dice.integers(2, 6))
    edges = [(i, i + 1) for i in range(states - 1)] + ([(0, 2)] if states > 2 and seed % 2 else [])
    both = [*edges, *((b, a) for a, b in edges)]
    first, second = (np.repeat([edge[i] for edge in both], len(ORDERS)) for i in (0, 1))
    order = np.tile(ORDERS, len(both))
    limit = np.exp(order * (order - 1) * dice.uniform(0.1, 2))
    return RenyiProgram(dice.random((actions, states)), first, second, order, limit)


def conic_optimum(program: RenyiProgram) -> float:
    """min Σ C·m with f_ja ≥ m_p^α m_q^(1−α), written as (f, m_q, m_p) in the power cone of exponent 1/α."""
    actions, states = program.cost.shape
    cuts = len(program.order)
    size = actions * states + cuts * actions
    rows, cones, right = [], [], []

    def row(entries: dict[int, float]) -> list[float]:
        found = [0.0] * size
        for place, value in entries.items():
            found[place] = value
        return found

    for x in range(states):
        rows.append(row({a * states + x: 1.0 for a in range(actions)}))
        right.append(1.0)
    cones.append(clarabel.ZeroConeT(states))
    rows += [row({k: -1.0}) for k in range(actions * states)]
    right += [0.0] * actions * states
    for j in range(cuts):
        rows.append(row({actions * states + j * actions + a: 1.0 for a in range(actions)}))
        right.append(float(program.limit[j]))
    cones.append(clarabel.NonnegativeConeT(actions * states + cuts))
    for j in range(cuts):
        for a in range(actions):
            place = (actions * states + j * actions + a, a * states + int(program.second[j]), a * states + int(program.first[j]))
            rows += [row({k: -1.0}) for k in place]
            right += [0.0] * 3
            cones.append(clarabel.PowerConeT(1 / float(program.order[j])))
    cost = np.concatenate([program.cost.ravel(), np.zeros(cuts * actions)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    empty = sparse.csc_matrix((size, size))
    solver = clarabel.DefaultSolver(empty, cost, sparse.csc_matrix(np.array(rows)), np.array(right), cones, settings)
    return float(solver.solve().obj_val)


@pytest.mark.parametrize("seed", range(12))
def test_both_find_the_same_optimum(seed: int) -> None:
    program = random_program(seed)
    found = solve_renyi(program, np.full(program.cost.shape, 1 / len(program.cost)), 1e-6)
    wanted = conic_optimum(program)
    assert found.value == pytest.approx(wanted, abs=2e-5) and found.bound == pytest.approx(wanted, abs=2e-5)
    assert found.bound <= wanted + 1e-6
    assert np.allclose(found.kernel.sum(axis=0), 1, atol=1e-6) and (found.kernel > 0).all()
    p, q = found.kernel[:, program.first], found.kernel[:, program.second]
    assert ((q * (p / q) ** program.order).sum(axis=0) <= program.limit * (1 + 1e-5)).all()


def test_the_bound_is_what_its_multipliers_prove() -> None:
    program = random_program(3)
    found = solve_renyi(program, np.full(program.cost.shape, 1 / len(program.cost)), 1e-5)
    rows = program.cost + pulls(program, found.shape, found.weights)
    assert found.bound == pytest.approx(rows.min(axis=0).sum() - found.weights @ program.limit, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_shared_multipliers_bound_no_more(seed: int) -> None:
    """Cuts of one group share a multiplier: less is asked of the kernel, so the bound lies below the optimum, and is one."""
    program = random_program(seed)
    start = np.full(program.cost.shape, 1 / len(program.cost))
    dice = np.random.default_rng(seed)
    cuts = len(program.first)
    groups = Groups(np.arange(cuts) % 3, dice.uniform(0.5, 1, cuts))
    shared = solve_renyi(replace(program, groups=groups), start, 1e-6)
    assert (
        np.ptp(shared.weights / (groups.share * np.array([shared.weights[k % 3] / groups.share[k % 3] for k in range(cuts)])))
        < 1e-9
    )
    again = program.cost + pulls(program, shared.shape, shared.weights)
    assert float(again.min(axis=0).sum() - shared.weights @ program.limit) == pytest.approx(shared.bound, abs=1e-9)
    assert shared.bound <= conic_optimum(program) + 1e-6 and shared.bound == pytest.approx(shared.value, rel=1e-4, abs=1e-5)
