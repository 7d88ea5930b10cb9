"""Known optima of the school-planning family (ε = 1, squared loss, replace-one), enclosed at a gap of 1e-6.

The numbers were computed independently: [lower, upper] certified bounds, T = 2 with p = (.89, .09, .02) and T = 3 with
p = (.86, .09, .03, .02), actions 0, 1, …, N·T.
"""

from __future__ import annotations

import numpy as np
import pytest

import discreet
from discreet.design.program.listed import truncated
from discreet.design.program.sections import ground, losses, recommendations, whole
from discreet.design.solver.pricing import solve_priced
from discreet.design.solver.program import Program, dual_bound, violation
from discreet.model.problem import Problem

TWO, THREE = ("0.89", "0.09", "0.02"), ("0.86", "0.09", "0.03", "0.02")


def places(size: int, probabilities: tuple[str, ...], actions: object = "integer") -> Problem:
    return discreet.problem(
        respondents=size, values=list(range(len(probabilities))), probabilities=list(probabilities), actions=actions, epsilon=1
    ).problem


@pytest.mark.parametrize(
    ("size", "probabilities", "lower", "upper"),
    [
        (10, TWO, 1.088810808, 1.088810814),
        (20, TWO, 1.6365117, 1.6365125),
        (40, TWO, 2.40974803, 2.40974874),
        (10, THREE, 2.3534034, 2.3534040),
    ],
)
def test_encloses_the_certified_optimum(size: int, probabilities: tuple[str, ...], lower: float, upper: float) -> None:
    problem = places(size, probabilities)
    base = ground(problem)
    table = losses(problem, recommendations(problem), base.exact_omegas)
    section = truncated(base, table, 2e-7 * lower)
    cost, dropped = section.lower(table)
    program = Program(cost, section.space.edges, 1.0)
    found = solve_priced(program, 6e-7)
    value, bound = float((section.upper(table) * found.kernel).sum()), found.bound + dropped
    assert (value - bound) / value <= 1e-6
    assert bound <= upper, "a lower bound never passes the optimum"
    assert value >= lower, "no private kernel beats the proven bound"
    assert len(found.multipliers) == program.actions, "multipliers for every action, used or not"
    assert dual_bound(program, found.multipliers) == pytest.approx(found.bound, rel=1e-12)
    assert violation(found.kernel, program.edges, program.factor) <= 0
    assert np.abs(found.kernel.sum(axis=0) - 1).max() < 1e-14


def test_a_claim_better_than_the_optimum_is_impossible_but_a_coarser_set_of_actions_is_worse() -> None:
    """The near miss: without action 1 the optimum of N = 10 moves up by more than the gap."""
    problem = places(10, TWO, [0, 2, 3, 4, 5, 6])
    section = whole(ground(problem))
    cost, _ = section.lower(losses(problem, recommendations(problem), section.ground.exact_omegas))
    assert solve_priced(Program(cost, section.space.edges, 1.0)).bound > 1.0888109
