"""Real actions and squared error where states are thousands: even cells on windows.

As in `cells`, a program whose costs are lowered by the squared radius of each cell bounds all real actions, and its rows, each read
at its posterior mean, are a mechanism. What separates the two is about two thirds of the squared radius; cells are not refined
here, their width is chosen before.
"""

from __future__ import annotations

import time

import numpy as np

from discreet.design.solver.cells import line
from discreet.design.solver.continuum import Continuum
from discreet.design.solver.losses import SquaredError
from discreet.design.solver.program import Floats, Integers, Program
from discreet.design.solver.threads import one_thread
from discreet.design.solver.windowed import solve_windowed
from discreet.design.solver.windows import TwoCounts, seen_as
from discreet.watch import Watch


def even_cells(loss: SquaredError, lattice: TwoCounts, epsilon: float, width: float) -> tuple[Floats, Floats]:
    """Centres and radii of cells of this width wherever an action may be played, and of larger ones beyond."""
    seen = seen_as(lattice, loss.prior[lattice.order], epsilon)
    first, last = max(float(seen[0]) - width, loss.low + width / 2), min(float(seen[-1]) + width, loss.high - width / 2)
    if last - first < 2 * width:
        first, last = loss.low + width / 2, loss.high - width / 2
    count = max(int(np.ceil((last - first) / width)), 2)
    cells = line(np.linspace(first, last, count + 1), loss.low, loss.high)
    return cells.centres, cells.radii


@one_thread()
def solve_wide_cells(
    loss: SquaredError,
    edges: Integers,
    epsilon: float,
    lattice: TwoCounts,
    radius: float,
    width: float,
    gap: float,
    watch: Watch | None = None,
) -> Continuum:
    """A kernel over real actions and a bound over all of them, with cells of this width on windows of this radius."""
    begun = time.perf_counter()
    centres, radii = even_cells(loss, lattice, epsilon, width)
    lowered = loss.cost(centres) - radii[:, None] ** 2 * loss.prior
    found = solve_windowed(Program(lowered, edges, epsilon), lattice, centres, radius, gap, watch)
    played = found.kernel.max(axis=1) > 0
    kernel = found.kernel[played]
    actions = loss.best(kernel)
    value = float(np.sum(kernel * loss.cost(actions)))
    seconds = time.perf_counter() - begun
    return Continuum(actions, kernel, centres, found.multipliers, value, found.bound, seconds, found.status)
