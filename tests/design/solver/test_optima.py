"""Known optima of the school-planning family (ε = 1, squared loss, replace-one), enclosed at a gap of 1e-6.

The numbers were computed independently: [lower, upper] certified bounds, T = 2 with p = (.89, .09, .02) and T = 3 with
p = (.86, .09, .03, .02), actions 0, 1, …, N·T.
"""

from __future__ import annotations

import numpy as np
import pytest

from discreet.design.solver.box import Box, choose_box
from discreet.design.solver.pricing import solve_priced
from discreet.design.solver.program import dual_bound, violation
from discreet.design.solver.truncation import multinomial, regret_marginals, truncate

TWO, THREE = (0.89, 0.09, 0.02), (0.86, 0.09, 0.03, 0.02)


@pytest.mark.parametrize(
    ("size", "probabilities", "lower", "upper"),
    [
        (10, TWO, 1.088810808, 1.088810814),
        (20, TWO, 1.6365117, 1.6365125),
        (40, TWO, 2.40974803, 2.40974874),
        (10, THREE, 2.3534034, 2.3534040),
        pytest.param(100, TWO, 3.7793080, 3.7793102, marks=pytest.mark.slow),
    ],
)
def test_encloses_the_certified_optimum(
    size: int, probabilities: tuple[float, ...], lower: float, upper: float
) -> None:
    types = len(probabilities)
    histograms = Box(size, 0, (0,) * types, (size,) * types).states()
    prior = multinomial(histograms, np.array(probabilities))
    actions = np.arange(size * (types - 1) + 1)
    loss = (actions[:, None] - histograms @ np.arange(types)) ** 2.0
    cut = truncate(histograms, prior, loss, choose_box(regret_marginals(histograms, prior, loss), 2e-7 * lower))
    program = cut.program(1.0)
    found = solve_priced(program, 6e-7)
    value, bound = cut.loss(found.kernel), cut.lower_bound(found.bound)
    assert (value - bound) / value <= 1e-6
    assert bound <= upper, "a lower bound never passes the optimum"
    assert value >= lower, "no private kernel beats the proven bound"
    assert len(found.multipliers) == program.actions, "multipliers for every action, used or not"
    assert dual_bound(program, found.multipliers) == pytest.approx(found.bound, rel=1e-12)
    assert violation(found.kernel, program.edges, program.factor) <= 0
    assert np.abs(found.kernel.sum(axis=0) - 1).max() < 1e-14


def test_a_claim_better_than_the_optimum_is_impossible_but_a_coarser_set_of_actions_is_worse() -> None:
    """The near miss: without action 1 the optimum of N = 10 moves up by more than the gap."""
    histograms = Box(10, 0, (0, 0, 0), (10, 10, 10)).states()
    prior = multinomial(histograms, np.array(TWO))
    actions = np.array([0, 2, 3, 4, 5, 6])
    loss = (actions[:, None] - histograms @ np.arange(3)) ** 2.0
    cut = truncate(histograms, prior, loss, Box(10, 0, (0, 0, 0), (10, 10, 10)))
    assert solve_priced(cut.program(1.0)).bound > 1.0888109
