"""Real actions and squared error on any graph of many states, for a bound alone: cells on windows, wider where little is.

The programs of unknown counts (`certify.bounds.counts`) have states of three or four counts, and a full system for every action
takes states^2.5 time. On windows (`windows`) the time grows hardly faster than the states do. Cells (`cells`) are laid out once,
not refined: what a cell of radius r loses is two thirds of r² times the probability of its action, so that widths grow with the
third root of how rare actions are, and no number of cells loses less.
"""

from __future__ import annotations

import time

import numpy as np

from discreet.design.solver.cells import Line, line
from discreet.design.solver.continuum import Continuum
from discreet.design.solver.fewer_first import levels
from discreet.design.solver.losses import SquaredError
from discreet.design.solver.program import Floats, Integers, Program
from discreet.design.solver.threads import one_thread
from discreet.design.solver.wide_cells import farthest
from discreet.design.solver.windowed import solve_windowed
from discreet.design.solver.windows import Ranked
from discreet.watch import SILENT, Watch

RADIUS = 6.0
"""Of a window, in steps between neighbours over ε."""
CELL = 2.5
"""The squared width of the narrowest cells, in gaps of what geometric noise loses beside a normal prior,"""
WIDEST = 3.0
"""and the width of the widest beside them."""
PLACES = 2_000
"""Where it is asked how rare actions are."""
STEPS_LEFT = 0.7
"""Of the gap, what the steps may leave: cells take the rest."""


def uneven_cells(loss: SquaredError, edges: Integers, graph: Ranked, epsilon: float, gap: float) -> Line:
    """Cells wherever an action may be played, widths as the third root of how rare it is, and larger ones beyond."""
    step = float(np.ptp(graph.omega[graph.edges], axis=1).max())
    ratio = np.exp(-epsilon)
    noise, spread = step**2 * 2 * ratio / (1 - ratio) ** 2, _spread(loss)
    narrow = float(np.sqrt(CELL * gap * noise * spread / (noise + spread)))
    low, high = farthest(loss, edges, graph, epsilon)
    first, last = max(low - narrow, loss.low + narrow / 2), min(high + narrow, loss.high - narrow / 2)
    if last - first < 2 * narrow:
        first, last = loss.low + narrow / 2, loss.high - narrow / 2
    places = np.linspace(first, last, PLACES)
    met = _met(graph.omega, loss.prior[graph.order], places, step / epsilon)
    widths = np.clip(narrow * (met / met.max()) ** (-1 / 3), narrow, WIDEST * narrow)
    number = np.concatenate([[0.0], np.cumsum(np.diff(places) * (1 / widths[1:] + 1 / widths[:-1]) / 2)])
    count = max(int(np.ceil(number[-1])), 2)
    return line(np.interp(np.linspace(0.0, number[-1], count + 1), number, places), loss.low, loss.high)


def _spread(loss: SquaredError) -> float:
    """The variance of ω, and a trace of its range for priors that are nearly sure."""
    share = loss.prior / loss.prior.sum()
    least = float(np.ptp(loss.omega)) ** 2 / 40_000
    return max(float(share @ (loss.omega - share @ loss.omega) ** 2), least)


def _met(omega: Floats, prior: Floats, places: Floats, noise: float) -> Floats:
    """How often noise around ω is met at each place, up to a constant; at least a trace of the most everywhere."""
    values, number = np.unique(omega, return_inverse=True)
    found = np.exp(-np.abs(places[:, None] - values) / noise) @ np.bincount(number, prior)
    return np.asarray(np.maximum(found, WIDEST**-4 * found.max()))


@one_thread()
def solve_graph_cells(
    loss: SquaredError, edges: Integers, epsilon: float, gap: float, watch: Watch = SILENT, led: bool = False
) -> Continuum:
    """A bound over all real actions with its multipliers, about as near as the gap says; its kernel is not private to the digit.

    The path is `led` up to by few cells (`fewer_first`) where hardly any state is a dead end; beside long tails there are many.
    """
    begun, graph = time.perf_counter(), Ranked.of(loss.omega, edges)
    cells = uneven_cells(loss, edges, graph, epsilon, gap)
    program, step = Program(cells.cost(loss), edges, epsilon), float(np.ptp(graph.omega[graph.edges], axis=1).max())
    radius = step * max(RADIUS / epsilon, 1.0)
    fewer = levels(float(np.diff(cells.centres).min()), step / epsilon) if led else ()
    found = solve_windowed(program, graph, cells.centres, radius, STEPS_LEFT * gap, watch, fewer=fewer, repaired=False)
    kernel = found.kernel[found.kernel.max(axis=1) > 0]
    seconds = time.perf_counter() - begun
    return Continuum(loss.best(kernel), kernel, cells.centres, found.multipliers, found.value, found.bound, seconds, found.status)
