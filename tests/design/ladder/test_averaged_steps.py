"""Solvers of averaged programs: both near the same optimum, neither ever above the truth."""

import numpy as np
import pytest
from averaging import quotient_bound

from discreet.design.ladder.bounds.averaged import averages
from discreet.design.ladder.bounds.averaged_solver import solve_averaged
from discreet.design.ladder.bounds.averaged_steps import on_simplex
from discreet.design.ladder.bounds.knots import dense_knots
from discreet.design.ladder.bounds.quotient import large_quotient_bound, privacy_rows
from discreet.model.iid_sum import IidSum


def by_sorting(points):
    """The projection onto the simplex as textbooks have it."""
    ordered = -np.sort(-points, axis=1)
    over = np.cumsum(ordered, axis=1) - 1
    count = np.arange(1, points.shape[1] + 1)
    size = (ordered - over / count > 0).sum(axis=1)
    level = over[np.arange(len(points)), size - 1] / size
    return np.maximum(points - level[:, None], 0)


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_projection_onto_the_simplex(scale):
    points = np.random.default_rng(1).normal(size=(60, 25)) * scale
    found, level = on_simplex(points)
    np.testing.assert_allclose(found, by_sorting(points), atol=1e-12 * max(1.0, scale))
    for start in (level, level + scale, level - 3 * scale):
        np.testing.assert_allclose(on_simplex(points, start)[0], found, atol=1e-12 * max(1.0, scale))


def test_knots_cover_and_are_dense_where_the_mechanism_plays():
    knots = dense_knots(10.0, 2.0, 0.0, 60.0, 0.36)
    assert (knots[0], knots[-1]) == (0.0, 60.0)
    assert np.all(np.diff(knots) > 0)
    assert np.diff(knots)[(knots[:-1] > 5.5) & (knots[1:] < 14.5)].max() <= 0.36 + 1e-9


def test_steps_and_interior_point_meet():
    p, v = [0.86, 0.09, 0.03, 0.02], [0, 1, 2, 3]
    program = averages(IidSum.of(p, v, 10), leave_out=1e-6)
    stepped = large_quotient_bound(program, 1.0, 2.0, 1e-5, 6.0).lower_bound
    inner = quotient_bound(p, v, 10, 1.0, leave_out=1e-6).lower_bound
    assert abs(stepped / inner - 1) < 0.01


def test_steps_stay_below_the_truth(truths):
    for (p, v, respondents, epsilon), truth, _ in truths[:25]:
        if len({round(x, 9) for x in v}) < 2 or max(p) > 0.98:
            continue
        program = averages(IidSum.of(p, v, respondents), leave_out=1e-9)
        found = large_quotient_bound(program, epsilon, truth, 1e-3, 0.5)
        assert found.lower_bound <= truth + 1e-7


def test_any_early_stop_leaves_a_bound():
    program = averages(IidSum.of([0.6, 0.3, 0.1], [0, 1, 2], 6), leave_out=1e-9)
    cone = privacy_rows(program, 1.0)
    cost = program.masses * (np.linspace(0, 12, 9)[:, None] - program.statistics) ** 2
    seen = []

    def bound_of(multipliers):
        seen.append(float((cost - (cone.T @ multipliers.T).T).min(axis=0).sum()))
        return seen[-1]

    full = solve_averaged(cone, cost, bound_of, 1e-7)
    early = solve_averaged(cone, cost, bound_of, 1e-7, seconds=0.0)
    assert full.status == "optimal" and early.status == "cancelled"
    assert bound_of(early.multipliers) < bound_of(full.multipliers)
    value = float((cost * full.kernel).sum())
    assert bound_of(full.multipliers) <= value <= bound_of(full.multipliers) * (1 + 1e-6)
