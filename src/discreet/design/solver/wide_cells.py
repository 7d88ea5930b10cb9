"""Real actions and squared error where states are thousands: even cells on windows.

As in `cells`, a program whose costs are lowered by the squared radius of each cell bounds all real actions, and its rows, each read
at its posterior mean, are a mechanism. What separates the two is about two thirds of the squared radius; cells are not refined
here, their width is chosen before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.design.solver.cells import line
from discreet.design.solver.continuum import Continuum
from discreet.design.solver.fewer_first import levels
from discreet.design.solver.layers import distances_from, neighbour_lists
from discreet.design.solver.losses import SquaredError
from discreet.design.solver.program import Floats, Integers, Program, Solution
from discreet.design.solver.stride import Timing
from discreet.design.solver.threads import one_thread
from discreet.design.solver.windowed import solve_windowed
from discreet.design.solver.windows import Ranked, seen_as
from discreet.design.watchdog import Keep, forget
from discreet.watch import SILENT, Watch

FARTHER = 0.6
"""By so many steps between neighbours over ε, what mixed rows recommend beyond what is guessed of a state seen through noise."""


def even_cells(loss: SquaredError, edges: Integers, lattice: Ranked, epsilon: float, width: float) -> tuple[Floats, Floats]:
    """Centres and radii of cells of this width wherever an action may be played, and of larger ones beyond."""
    low, high = farthest(loss, edges, lattice, epsilon)
    first, last = max(low - width, loss.low + width / 2), min(high + width, loss.high - width / 2)
    if last - first < 2 * width:
        first, last = loss.low + width / 2, loss.high - width / 2
    count = max(int(np.ceil((last - first) / width)), 2)
    cells = line(np.linspace(first, last, count + 1), loss.low, loss.high)
    return cells.centres, cells.radii


def farthest(loss: SquaredError, edges: Integers, lattice: Ranked, epsilon: float) -> tuple[float, float]:
    """The lowest and the highest posterior mean, about: those of rows that fall as fast as they may, and a little farther."""
    seen = seen_as(lattice, loss.prior[lattice.order], epsilon)
    near = neighbour_lists(len(loss.prior), edges)
    ends = distances_from(len(loss.prior), *near, lattice.order[[0, -1]])
    low, high = loss.best(np.exp(-epsilon * ends)).tolist()
    farther = FARTHER * _step(lattice) / epsilon
    return min(low, float(seen[0]) - farther), max(high, float(seen[-1]) + farther)


@dataclass(frozen=True, eq=False)
class WideCells:
    """A squared error on a lattice of states, with cells of one width on windows of one radius."""

    loss: SquaredError
    edges: Integers
    epsilon: float
    lattice: Ranked
    radius: float
    width: float


@one_thread()
def solve_wide_cells(
    cells: WideCells, gap: float, watch: Watch = SILENT, timing: Timing = Timing(), keep: Keep[Continuum] = forget
) -> Continuum:
    """A kernel over real actions and a bound over all of them; raises as `solve_windowed` does."""
    begun, loss = time.perf_counter(), cells.loss
    centres, radii = even_cells(loss, cells.edges, cells.lattice, cells.epsilon, cells.width)
    lowered = loss.cost(centres) - radii[:, None] ** 2 * loss.prior

    def read(found: Solution) -> Continuum:
        kernel = found.kernel[found.kernel.max(axis=1) > 0]
        actions = loss.best(kernel)
        value = float(np.sum(kernel * loss.cost(actions)))
        seconds = time.perf_counter() - begun
        return Continuum(actions, kernel, centres, found.multipliers, value, found.bound, seconds, found.status)

    program = Program(lowered, cells.edges, cells.epsilon)
    fewer = levels(cells.width, _step(cells.lattice) / cells.epsilon)

    def hold(so_far: Callable[[], Solution]) -> None:
        keep(lambda: read(so_far()))

    return read(solve_windowed(program, cells.lattice, centres, cells.radius, gap, watch, timing, hold, fewer))


def _step(lattice: Ranked) -> float:
    """The largest one of ω between neighbours."""
    return float(np.ptp(lattice.omega[lattice.edges], axis=1).max())
