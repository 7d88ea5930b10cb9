"""Real actions by lowered costs: the program's bound holds for every real number, and refining closes what it leaves open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discreet.design.program.real import continuous, joined
from discreet.design.program.sections import ground, whole
from discreet.design.solver.cells import Line, line, solve_cells
from discreet.design.solver.interior import Iterate
from discreet.design.solver.losses import SquaredError
from discreet.design.solver.program import Program, pulled, violation
from discreet.design.solver.solve import solve
from discreet.files.problem import problem_from_document


def wide(respondents: int) -> tuple[SquaredError, np.ndarray]:
    """Respondents of three types none of which is rare, all histograms."""
    document = {
        "data": {"respondents": respondents, "values": [0, 1, 2]},
        "prior": {"kind": "iid", "probabilities": ["0.5", "0.3", "0.2"]},
        "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": "real"},
        "privacy": {"epsilon": 1, "unit": "household"},
    }
    section = whole(ground(problem_from_document(document)))
    base = section.ground
    return SquaredError(base.masses, base.omegas), section.space.edges


def told_too_much(cells: Line, less: float = 1.0) -> float:
    """By how much the lowered chords exceed the parabola of an action in between, at worst; independent of ω."""
    share = np.linspace(0, 1, 101)[:, None]
    gaps, left, right = np.diff(cells.centres), (less * cells.radii[:-1]) ** 2, (less * cells.radii[1:]) ** 2
    return float(np.max(share * (1 - share) * gaps**2 - (1 - share) * left - share * right))


def reaches(cells: Line, low: float, high: float) -> bool:
    """Whether every action of a range lies between two centres."""
    return bool(cells.centres[0] <= low + 1e-12 and cells.centres[-1] >= high - 1e-12)


@pytest.mark.parametrize(("low", "high"), [(0.0, 9.0), (1.9, 4.001), (1.3, 4.2), (-50.0, 4.0 + 1e-9)])
def test_lowered_chords_lie_below_every_parabola(low: float, high: float) -> None:
    cells = line(np.array([2.0, 2.3, 2.31, 4.0]), low, high)
    assert reaches(cells, low, high), "every needed action lies between two centres"
    assert told_too_much(cells) <= 1e-12
    finer = cells.cut(np.arange(len(cells.radii)), cells.centres + 0.7 * cells.radii)
    assert len(finer.radii) > len(cells.radii) and set(cells.borders) <= set(finer.borders), "cells are cut, never joined"
    assert reaches(finer, low, high) and told_too_much(finer) <= 1e-12
    assert told_too_much(cells, less=0.99) > 1e-4, "one percent less would prove too much"


def test_a_mean_has_a_cell_of_its_own_unless_it_lies_at_the_border() -> None:
    whole = Line(np.array([0.0, 2.0, 4.0]))
    assert np.allclose(whole.cut(np.array([0]), np.array([1.5])).borders, [0.0, 1.38, 1.62, 2.0, 4.0])
    assert np.allclose(whole.cut(np.array([0]), np.array([1.9])).borders, [0.0, 1.78, 2.0, 4.0])
    assert np.allclose(whole.cut(np.array([1]), np.array([2.0])).borders, [0.0, 2.0, 2.12, 4.0])


def test_heirs_share_rows_and_flows_of_what_was_cut() -> None:
    whole = Line(np.array([0.0, 2.0, 4.0]))
    rows, flows = whole.heirs(whole.cut(np.array([0]), np.array([1.5])))
    assert np.allclose(rows, [[1 / 3, 0], [1 / 3, 0], [1 / 3, 0], [0, 1]])
    assert np.allclose(flows @ whole.centres, [1.0, 1.5, 1.81, 3.0]), "lines through two centres, held beyond the outer ones"
    assert np.allclose(flows.sum(axis=1), 1.0)


def test_encloses_a_fine_grid_under_a_wide_prior() -> None:
    loss, edges = wide(7)
    found = solve_cells(loss, edges, 1.0, 1e-6)
    assert found.relative_gap <= 1e-6
    fine = solve(Program(loss.cost(np.linspace(2.4, 8.0, 141)), edges, 1.0), 1e-6)
    assert found.bound <= fine.value and found.value <= fine.value
    assert fine.value - found.bound <= 0.04**2 / 4 + 2e-6 * fine.value, "a grid loses no more than its step"
    assert violation(found.kernel, edges, np.e) <= 1e-15 and found.multipliers.min() >= 0
    assert found.value == pytest.approx(float(np.sum(found.kernel * loss.cost(found.actions))), rel=1e-14)
    pull = pulled(found.multipliers, edges, np.e, len(loss.prior))
    recomputed = loss.piece_minimum(found.nodes[:-1], found.nodes[1:], pull[:-1], pull[1:]).min(axis=0).sum()
    assert found.bound <= recomputed * (1 + 1e-12), "what certify computes is at least what was believed"


def test_sharing_rows_out_keeps_a_private_kernel() -> None:
    loss, edges = wide(4)
    state = Iterate(Program(loss.cost(np.array([1.0, 2.0, 3.0])), edges, 1.0))
    for _ in range(5):
        state.advance()
    before = state.point
    shares = np.array([[1.0, 0.0, 0.0], [0.0, 0.25, 0.0], [0.0, 0.75, 0.5], [0.0, 0.0, 0.5]])
    mixed = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
    state.share_out(shares, mixed, loss.cost(np.array([1.0, 1.5, 2.5, 3.0])))
    assert np.allclose(state.x.sum(axis=0), before[0].sum(axis=0), rtol=1e-14) and state.z.min() > 0
    assert violation(state.x, edges, np.e) <= 0 and state.advance()
    state.point = before
    assert state.x.shape[0] == 3


def test_restricted_actions_stay_in_their_range() -> None:
    loss, edges = wide(4)
    found = solve_cells(replace(loss, ends=(2.5, 3.0)), edges, 1.0, 1e-6)
    assert found.relative_gap <= 1e-6
    assert found.actions.min() >= 2.5 and found.actions.max() <= 3.0


def test_a_wide_prior_is_designed_and_proved() -> None:
    document = {
        "data": {"respondents": 5, "values": [0, 1, 2]},
        "prior": {"kind": "exchangeable", "concentration": ["1.5", "1", "1"]},
        "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": "real"},
        "privacy": {"epsilon": 1, "unit": "household"},
    }
    proposal = continuous(problem_from_document(document), 1e-6)
    assert proposal.status == "optimal" and proposal.witness is not None


def test_outputs_with_the_same_reading_are_joined_for_what_is_spared() -> None:
    loss, edges = wide(4)
    found = solve_cells(loss, edges, 1.0, 1e-6)
    spare = 1e-8 * found.value
    fewer = joined(found.kernel, loss, spare)
    assert len(fewer) < len(found.kernel) / 2, "an interior point plays every node a little"
    assert np.allclose(fewer.sum(axis=0), 1.0, rtol=1e-13) and violation(fewer, edges, np.e) <= 1e-15
    value = float(np.sum(fewer * loss.cost(loss.best(fewer))))
    assert value <= found.value + 1.001 * spare
    assert len(joined(found.kernel, loss, 100 * found.value)) == 1
