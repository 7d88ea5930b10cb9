"""Real actions: enclosed between a kernel and a proof that covers every real number.  Seeds are fixed."""

from __future__ import annotations

import numpy as np
import pytest

import discreet
from discreet.design.program.listed import truncated
from discreet.design.program.sections import ground
from discreet.design.solver.continuum import solve_continuum
from discreet.design.solver.losses import AffineLoss, Pinball, RealLoss, SquaredError
from discreet.design.solver.program import Program, pulled, violation
from discreet.design.solver.solve import solve
from discreet.errors import InputError


def path(states: int) -> np.ndarray:
    return np.stack([np.arange(states - 1), np.arange(1, states)], axis=1)


def instance(seed: int, states: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(states)), np.sort(rng.uniform(0, 5, states))


def reciprocal(prior: np.ndarray, omega: np.ndarray, low: float, high: float) -> AffineLoss:
    """u = −ω/a − a/10: a costs, and more of it helps where ω is large; the best action is √(10·mean)."""
    f = (lambda a: -a / 10, lambda a: np.full_like(a, -0.1), np.zeros_like)
    g = (lambda a: -1 / a, lambda a: a**-2, lambda a: -2 * a**-3)
    return AffineLoss(prior, omega, f, g, low, high, lambda means: np.clip(np.sqrt(10 * means), low, high))


@pytest.mark.parametrize("seed", range(4))
def test_piece_minima_are_below_every_action_of_the_piece(seed: int) -> None:
    prior, omega = instance(seed)
    rng = np.random.default_rng(seed)
    left, right = np.array([0.3, 2.0, 4.0]), np.array([1.1, 2.5, 4.9])
    lines = [prior * rng.normal(size=(3, len(prior))) for _ in range(2)]
    losses: list[RealLoss] = [
        SquaredError(prior, omega),
        Pinball(prior, omega, 0.3),
        reciprocal(prior, omega, 0.2, 5.0),
    ]
    for loss in losses:
        lowest = loss.piece_minimum(left, right, *lines)
        seen = np.full_like(lowest, np.inf)
        for share in np.linspace(0, 1, 401):
            values = loss.cost((1 - share) * left + share * right) - (1 - share) * lines[0] - share * lines[1]
            seen = np.minimum(seen, values)
        assert np.all(lowest <= seen + 1e-12)
        if not isinstance(loss, AffineLoss):
            assert np.all(lowest >= seen - 1e-3 * prior), "exact, not merely valid"


@pytest.mark.parametrize("seed", range(3))
def test_encloses_a_fine_grid(seed: int) -> None:
    prior, omega = instance(seed)
    loss = SquaredError(prior, omega)
    found = solve_continuum(loss, path(len(prior)), 1.0, 1e-5)
    grid = np.linspace(omega[0], omega[-1], 400)
    fine = solve(Program(loss.cost(grid), path(len(prior)), 1.0), 1e-6)
    assert found.relative_gap <= 1e-5
    assert found.bound <= fine.value, "a bound for all real actions holds for a grid"
    assert found.value <= fine.value * (1 + 1e-5), "and real actions do at least as well"
    assert violation(found.kernel, path(len(prior)), np.e) <= 1e-15
    assert found.multipliers.min() >= 0
    pull = pulled(found.multipliers, path(len(prior)), np.e, len(prior))
    recomputed = loss.piece_minimum(found.nodes[:-1], found.nodes[1:], pull[:-1], pull[1:]).min(axis=0).sum()
    assert recomputed == pytest.approx(found.bound, rel=1e-12)
    assert found.nodes[0] == loss.low and found.nodes[-1] == loss.high


def test_interpolating_without_the_curvature_would_prove_too_much() -> None:
    """The near miss: the minimum over the nodes alone exceeds the minimum over the pieces."""
    prior, omega = instance(0)
    loss = SquaredError(prior, omega)
    nodes = np.array([omega[0], omega[-1]])
    flat = np.zeros((2, len(prior)))
    at_nodes = (loss.cost(nodes) - flat).min(axis=0).sum()
    assert loss.piece_minimum(nodes[:1], nodes[1:], flat[:1], flat[1:]).min(axis=0).sum() < at_nodes - 0.1


def test_absolute_error_is_solved_at_its_kinks() -> None:
    prior, omega = instance(4)
    loss = Pinball(prior, omega, 0.5, scale=2.0)
    assert np.allclose(loss.cost(np.array([1.0])), prior * np.abs(1.0 - omega))
    found = solve_continuum(loss, path(len(prior)), 1.0, 1e-6)
    fine = solve(Program(loss.cost(np.linspace(omega[0], omega[-1], 300)), path(len(prior)), 1.0), 1e-6)
    assert found.relative_gap <= 1e-6
    assert found.bound <= fine.value and found.value <= fine.value * (1 + 2e-6)
    pull = pulled(found.multipliers, path(len(prior)), np.e, len(prior))
    pieces = loss.piece_minimum(found.nodes[:-1], found.nodes[1:], pull[:-1], pull[1:])
    assert pieces.min(axis=0).sum() == pytest.approx(found.bound, rel=1e-9)


@pytest.mark.parametrize("states", [8, 12])
def test_an_affine_payoff(states: int) -> None:
    prior, omega = instance(2, states=states)
    loss = reciprocal(prior, omega, 0.2, 12.0)
    found = solve_continuum(loss, path(len(prior)), 1.0, 1e-4)
    fine = solve(Program(loss.cost(np.linspace(0.2, 12, 600)), path(len(prior)), 1.0), 1e-6)
    assert found.bound <= fine.value and found.value <= fine.value * (1 + 1e-4)
    assert found.relative_gap <= 1e-3


def test_refuses_nonsense() -> None:
    prior, omega = instance(0)
    with pytest.raises(InputError):
        Pinball(prior, omega, 1.5)
    with pytest.raises(InputError):
        SquaredError(-prior, omega)
    with pytest.raises(InputError):
        reciprocal(prior, omega, 1.0, 1.0)


@pytest.mark.slow
def test_school_planning_with_real_actions() -> None:
    """N = 40, p = (.89, .09, .02), ε = 1: the continuous optimum lies in [2.3259190, 2.3259193]."""
    problem = discreet.problem(
        respondents=40, values=[0, 1, 2], probabilities=["0.89", "0.09", "0.02"], actions="real", epsilon=1
    ).problem
    base = ground(problem)
    values = np.array([float(w) for w in base.exact_omegas])
    section = truncated(base, (values[:, None] - values) ** 2, 1e-7)
    loss = SquaredError(base.masses[section.inside], base.omegas[section.inside])
    found = solve_continuum(loss, section.space.edges, 1.0, 4e-7)
    value = float((section.upper((found.actions[:, None] - values) ** 2) * found.kernel).sum())
    assert 2.3259190 <= value <= 2.325920
    assert 2.32591 <= found.bound <= 2.3259193
