"""Programs of many states on windows: which box and how wide a window the time allows.

Where nearly every histogram is likely, a program on all of them is not solved in time. An action matters near its own value of the
statistic alone (`solver.windows`), so that work grows with states × width of a window. Both follow from one goal: the gap asked
for, or the smallest one above it that is usually reached in time.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log10

import numpy as np

from discreet.design.memory import allowed
from discreet.design.program.sections import Recommendation, Section
from discreet.design.schedule import SECONDS_PER_PROVED_ENTRY, Until, time_left, windowed_seconds
from discreet.design.solver.continuum import Continuum
from discreet.design.solver.losses import SquaredError
from discreet.design.solver.program import Program, Solution
from discreet.design.solver.windowed import solve_windowed
from discreet.design.solver.windows import TwoCounts
from discreet.model.losses import DistanceLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.problem import Problem
from discreet.watch import Watch

GOALS = (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2, 1.5e-2, 2e-2, 3e-2, 5e-2)
"""Relative gaps to aim at."""
STEPS_PER_DIGIT, FIRST_STEPS = 4.5, -1.0
"""Of the interior point on windows, for each digit of its gap, and before the first."""
WIDTH_PER_DIGIT = 1.4
"""Of a window to either side, for each digit of the gap, in steps between neighbours over ε."""
LEAST_WIDTH = 4
"""Of a window to either side, in steps between neighbours."""
CELL_SHARE = 0.7
"""Squared radius of a cell, in parts of the goal, where a step between neighbours over ε is the unit: noise loses about as much."""
ROUNDING = 0.1
"""Of the time, what rounding may take beyond it."""
AIMED = 0.3
"""Of the goal, what the steps may leave; the rest is for what is clamped and for where trees meet."""
BYTES_PER_PRODUCT = 48
"""Memory of the interior point on windows, for each variable and state of a window that shares a count."""


@dataclass(frozen=True, eq=False)
class WidePlan:
    """A section, the windows of its actions, and the gap that they are meant for."""

    section: Section
    lattice: TwoCounts
    centres: np.ndarray
    radius: float
    goal: float
    spacing: float
    """Of the actions, or of the cells of real ones."""

    @property
    def variables(self) -> int:
        """How many there are, about."""
        return int(len(self.section.space) * (2 * self.radius / self.spacing + 1))

    @property
    def seconds(self) -> float:
        """A guess of what solving takes."""
        return (FIRST_STEPS + STEPS_PER_DIGIT * -log10(self.goal)) * windowed_seconds(self.variables)

    @property
    def bytes(self) -> float:
        """A guess of the memory it takes: factors of the windows, and the strips of the price system."""
        states = len(self.section.space)
        levels = float(self.lattice.omega[-1] - self.lattice.omega[0]) + 1
        band = states * min(1.0, 2 * self.radius / levels)
        return BYTES_PER_PRODUCT * (self.variables * self.radius + states * band)

    def time_for_steps(self, watch: Watch) -> float:
        """What is left for solving when what it proposes is to be rounded in time."""
        within = float(self.lattice.omega[-1] - self.lattice.omega[0]) / self.spacing + 1
        left = time_left(watch)
        return left - max(0.0, SECONDS_PER_PROVED_ENTRY * within * len(self.section.space) - ROUNDING * left)

    def fits(self, watch: Watch) -> bool:
        """Whether it is usually solved in time, and in memory."""
        return self.seconds < self.time_for_steps(watch) and self.bytes < allowed()

    def solve(self, program: Program, watch: Watch) -> Solution:
        """Solve the program of the section."""
        return solve_windowed(
            program, self.lattice, self.centres, self.radius, AIMED * self.goal, Until.after(self.time_for_steps(watch), watch)
        )

    def solve_real(self, loss: SquaredError, watch: Watch) -> Continuum:
        """The same for real actions."""
        from discreet.design.solver.wide_cells import solve_wide_cells

        until = Until.after(self.time_for_steps(watch), watch)
        edges, epsilon = self.section.space.edges, float(self.section.ground.problem.epsilon)
        return solve_wide_cells(loss, edges, epsilon, self.lattice, self.radius, self.spacing, AIMED * self.goal, until)


def centres_of(problem: Problem, actions: list[Recommendation]) -> np.ndarray | None:
    """Where on the statistic each listed action belongs, ascending; None where that is not known."""
    if len(problem.decisions) != 1 or not isinstance(problem.decision.loss, DistanceLoss) or not problem.exchangeable:
        return None
    numbers = np.array([float(a) for a in actions if isinstance(a, Fraction)])
    return numbers if len(numbers) == len(actions) > 1 and np.all(np.diff(numbers) > 0) else None


def lattice_of(section: Section) -> TwoCounts | None:
    """The states as points of two counts, where they are that."""
    base = section.ground
    vectors = np.asarray(section.space.vectors)
    if isinstance(base.problem.neighbours, ReplaceOne):
        vectors = vectors[:, 1:]
    return TwoCounts.of(vectors, base.omegas[section.inside], section.space.edges)


def planned(section: Section, centres: np.ndarray | None, goal: float, epsilon: float) -> WidePlan | None:
    """Windows on a section for a goal; without centres, for real actions and squared error."""
    lattice = lattice_of(section)
    if lattice is None:
        return None
    low, high = lattice.omega[lattice.edges[:, 0]], lattice.omega[lattice.edges[:, 1]]
    step = float(np.max(high - low))
    radius = step * max(WIDTH_PER_DIGIT * -log10(goal) / epsilon, LEAST_WIDTH)
    if centres is None:
        spacing = 2 * (CELL_SHARE * goal) ** 0.5 * step / epsilon
        return WidePlan(section, lattice, np.zeros(0), radius, goal, spacing)
    within = np.count_nonzero((centres >= lattice.omega[0]) & (centres <= lattice.omega[-1]))
    spacing = float(lattice.omega[-1] - lattice.omega[0]) / max(int(within) - 1, 1)
    return WidePlan(section, lattice, centres, radius, goal, spacing)
