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
from discreet.design.schedule import time_left, windowed_seconds
from discreet.design.solver.program import Program, Solution
from discreet.design.solver.windowed import solve_windowed
from discreet.design.solver.windows import TwoCounts
from discreet.model.losses import DistanceLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.problem import Problem
from discreet.watch import Watch

GOALS = (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
"""Relative gaps to aim at."""
STEPS_PER_DIGIT, FIRST_STEPS = 6.0, -4.0
"""Of the interior point on windows, for each digit of its gap, and before the first."""
WIDTH_PER_DIGIT = 1.7
"""Of a window to either side, for each digit of the gap, in steps between neighbours over ε."""
LEAST_WIDTH = 4
"""Of a window to either side, in steps between neighbours."""
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

    def fits(self, watch: Watch) -> bool:
        """Whether it is usually solved in time, and in memory."""
        return self.seconds < time_left(watch) and self.bytes < allowed()

    def solve(self, program: Program, watch: Watch) -> Solution:
        """Solve the program of the section."""
        return solve_windowed(program, self.lattice, self.centres, self.radius, 0.6 * self.goal, watch)


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


def planned(section: Section, centres: np.ndarray, goal: float, epsilon: float) -> WidePlan | None:
    """Windows on a section for a goal."""
    lattice = lattice_of(section)
    if lattice is None:
        return None
    low, high = lattice.omega[lattice.edges[:, 0]], lattice.omega[lattice.edges[:, 1]]
    step = float(np.max(high - low))
    radius = step * max(WIDTH_PER_DIGIT * -log10(goal) / epsilon, LEAST_WIDTH)
    within = np.count_nonzero((centres >= lattice.omega[0]) & (centres <= lattice.omega[-1]))
    spacing = float(lattice.omega[-1] - lattice.omega[0]) / max(int(within) - 1, 1)
    return WidePlan(section, lattice, centres, radius, goal, spacing)
