"""Cells on windows of any graph: as near to the whole program as windows let, and proved by multipliers that exist."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from discreet.design.schedule import Until, counted
from discreet.design.solver.graph_cells import solve_graph_cells, uneven_cells
from discreet.design.solver.losses import SquaredError
from discreet.design.solver.program import Integers, pulled
from discreet.design.solver.real import solve_real
from discreet.design.solver.windows import Ranked, Windows

STEPS = np.array([1.0, 0.8, 0.6])


def cross(states: int, alone: int = 0) -> tuple[SquaredError, Integers]:
    """The likeliest states of three counts with long tails, neighbours one respondent apart; some states have no neighbour."""
    every = np.array(list(product(range(12), repeat=3)))
    chance = np.prod((1.0 + every) ** -1.2 * 0.9**every, axis=1)
    kept = np.sort(np.argsort(-chance, kind="stable")[:states])
    counts, prior = every[kept], chance[kept] / chance[kept].sum()
    change = counts[:, None, :] - counts
    apart = np.maximum(np.maximum(change, 0).sum(axis=2), np.maximum(-change, 0).sum(axis=2))
    edges = np.argwhere(np.triu(apart == 1))
    omega = np.append(counts @ STEPS, np.linspace(3.0, 4.0, alone))
    return SquaredError(np.append(prior, np.full(alone, 1e-3)), omega), edges


@pytest.mark.parametrize(("epsilon", "alone"), [(1.0, 0), (2.0, 2)])
def test_windows_prove_nearly_what_all_states_do(epsilon: float, alone: int) -> None:
    loss, edges = cross(100, alone)
    whole = solve_real(loss, edges, epsilon, 1e-2)
    found = solve_graph_cells(loss, edges, epsilon, 1e-2)
    assert found.status == "optimal"
    assert 0.97 * whole.bound < found.bound <= whole.value


def test_few_cells_may_lead_up_to_all() -> None:
    """Also beside dead ends, where a path begins again with all cells: the bound is about the same."""
    loss, edges = cross(100)
    alone, led = (solve_graph_cells(loss, edges, 1.0, 1e-2, led=led) for led in (False, True))
    assert led.status == "optimal" and led.bound == pytest.approx(alone.bound, rel=1e-2)


def test_the_bound_is_what_the_multipliers_prove_over_all_real_actions() -> None:
    loss, edges = cross(120)
    found = solve_graph_cells(loss, edges, 1.0, 1e-2)
    assert found.multipliers.min() >= 0 and found.multipliers.shape == (len(found.nodes), 2 * len(edges))

    def proved(flows: np.ndarray) -> float:
        pull = pulled(flows, edges, float(np.exp(1.0)), len(loss.prior))
        least = loss.piece_minimum(found.nodes[:-1], found.nodes[1:], pull[:-1], pull[1:]).min(axis=0)
        return float(least.sum())

    assert found.nodes[0] <= loss.low and found.nodes[-1] >= loss.high
    assert proved(found.multipliers) >= found.bound - 1e-9
    assert proved(np.roll(found.multipliers, 9, axis=0)) < found.bound, "other actions need other multipliers"


def test_states_without_a_neighbour_nearer_to_an_action_are_left_out() -> None:
    loss, edges = cross(90)
    graph = Ranked.of(loss.omega, edges)
    windows = Windows(graph, graph.omega, np.array([1.0, 5.0, 8.0]), 1.5, float(np.exp(1.0)))
    reached = windows.whole(np.ones(len(windows.state)))
    outside = reached == 0
    assert outside.any() and not outside[:, 0].all(), "some end in a dead end, and everything can go down"
    rng = np.random.default_rng(5)
    prices, values = rng.normal(size=windows.states), rng.normal(size=len(windows.state))
    assert np.isclose(prices @ windows.hang(values), windows.gather(prices) @ values), "one is the transpose of the other"
    assert np.allclose(windows.hang(values), windows.whole(values).sum(axis=0))


def test_cells_touch_and_are_narrow_where_actions_are_met() -> None:
    loss, edges = cross(150)
    cells = uneven_cells(loss, edges, Ranked.of(loss.omega, edges), 1.0, 1e-2)
    widths = 2 * cells.radii
    assert cells.centres[0] <= loss.low and cells.centres[-1] >= loss.high
    often = int(np.argmin(np.abs(cells.centres - loss.omega @ loss.prior)))
    assert widths[often] < 1.5 * widths.min() and widths[len(widths) - 3] > 1.5 * widths.min()


def test_cells_are_as_narrow_as_the_gap_and_the_prior_ask_for() -> None:
    loss, edges = cross(150)
    graph = Ranked.of(loss.omega, edges)
    rough, fine = (2 * uneven_cells(loss, edges, graph, 1.0, gap).radii.min() for gap in (1.6e-2, 4e-3))
    assert 1.7 < rough / fine < 2.3
    nearly = replace(loss, prior=np.where(loss.omega == loss.omega[0], 1.0, 1e-3 * loss.prior))
    assert 2 * uneven_cells(nearly, edges, graph, 1.0, 1.6e-2).radii.min() < rough


def test_a_search_ends_when_its_time_does() -> None:
    loss, edges = cross(80)
    with counted():
        short = solve_graph_cells(loss, edges, 1.0, 1e-2, Until.after(0.05))
    assert short.status == "cancelled"
    assert short.bound <= solve_real(loss, edges, 1.0, 1e-2).value
