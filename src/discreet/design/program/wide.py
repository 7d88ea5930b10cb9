"""Programs of many states on windows: which box and how wide a window the time allows.

Where nearly every histogram is likely, a program on all of them is not solved in time. An action matters near its own value of the
statistic alone (`solver.windows`), so that work grows with states × width of a window. Both follow from one goal: the gap asked
for, or the smallest one above it that is usually reached in time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import log10
from typing import Protocol, TypeVar

import numpy as np

from discreet.design.memory import allowed
from discreet.design.program.sections import Recommendation, Section
from discreet.design.schedule import now, time_left, windowed_seconds
from discreet.design.solver.continuum import Continuum
from discreet.design.solver.losses import SquaredError
from discreet.design.solver.program import Program, Solution
from discreet.design.solver.stride import Timing, TooSlowError
from discreet.design.solver.windowed import solve_windowed
from discreet.design.solver.windows import TwoCounts
from discreet.design.watchdog import Keep, forget
from discreet.model.losses import DistanceLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.problem import Problem
from discreet.watch import Watch

GOALS = (
    *(1e-6, 2e-6, 3e-6, 6e-6, 1e-5, 2e-5, 3e-5, 6e-5, 1e-4, 1.4e-4, 2e-4, 3e-4, 6e-4),
    *(1e-3, 1.4e-3, 2e-3, 3e-3, 5e-3, 1e-2, 1.5e-2, 2e-2, 3e-2, 5e-2),
)
"""Relative gaps to aim at."""
STEPS_PER_DIGIT, FIRST_STEPS = 4.5, -3.0
"""Of the interior point on windows, for each digit of its gap, and before the first."""
WIDTH_PER_DIGIT = 1.4
"""Of a window to either side, for each digit of the gap, in steps between neighbours over ε."""
LEAST_WIDTH = 4
"""Of a window to either side, in steps between neighbours."""
CELL_SHARE = 0.7
"""Squared radius of a cell, in parts of the goal, where a step between neighbours over ε is the unit: noise loses about as much."""
ROUNDING, PROVING = 0.15, 0.15
"""Of the time, what rounding may take beyond it, and what the proof of real actions may."""
SECONDS_PER_ROUNDED_ENTRY, SECONDS_PER_PROVED_NODE = 2.5e-6, 2.5e-6
"""Of rounding a kernel and its multipliers, for each pair of a state and an action; of proving real ones, of a state and a node."""
AIMED = 0.3
"""Of the goal, what the steps may leave; the rest is for what is clamped and for where trees meet."""
MOST_PLANS = 4
"""So many are tried, one after the other."""
FINER = 0.4
"""A further plan is worth its time where it aims at a gap of this share of the last."""
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
    def steps(self) -> float:
        """How many are usual."""
        return FIRST_STEPS + STEPS_PER_DIGIT * -log10(self.goal)

    @property
    def seconds(self) -> float:
        """A guess of what solving takes."""
        return self.steps * windowed_seconds(self.variables)

    @property
    def bytes(self) -> float:
        """A guess of the memory it takes: factors of the windows, and the strips of the price system."""
        states = len(self.section.space)
        levels = float(self.lattice.omega[-1] - self.lattice.omega[0]) + 1
        band = states * min(1.0, 2 * self.radius / levels)
        return BYTES_PER_PRODUCT * (self.variables * self.radius + states * band)

    def timing(self, watch: Watch, *, patient: bool = False) -> Timing:
        """What solving is to know about time when what it proposes is to be rounded and proved; the patient takes any pace."""
        within = float(self.lattice.omega[-1] - self.lattice.omega[0]) / self.spacing + 1
        entry, beyond = SECONDS_PER_ROUNDED_ENTRY, ROUNDING
        if self.is_real:  # as many nodes as cells, and pieces between them
            entry, beyond = entry + SECONDS_PER_PROVED_NODE, beyond + PROVING
        after = entry * within * len(self.section.space)
        return Timing(0.0 if patient else self.steps, after, beyond * max(time_left(watch), 0.0))

    @property
    def is_real(self) -> bool:
        """Whether actions are real: cells are laid out when they are solved."""
        return len(self.centres) == 0

    def fits(self, watch: Watch, pace: float = 1.0) -> bool:
        """Whether it is usually solved in time, where work takes so many times what is guessed, and in memory."""
        in_time = pace * self.seconds < time_left(watch) - self.timing(watch).kept(pace)
        return in_time and self.bytes < allowed()

    def solve(self, program: Program, watch: Watch, timing: Timing, keep: Keep[Solution]) -> Solution:
        """Solve the program of the section."""
        aim = AIMED * self.goal
        return solve_windowed(program, self.lattice, self.centres, self.radius, aim, watch, timing, keep)

    def solve_real(self, loss: SquaredError, watch: Watch, timing: Timing, keep: Keep[Continuum]) -> Continuum:
        """The same for real actions."""
        from discreet.design.solver.wide_cells import WideCells, solve_wide_cells

        edges, epsilon = self.section.space.edges, float(self.section.ground.problem.epsilon)
        cells = WideCells(loss, edges, epsilon, self.lattice, self.radius, self.spacing)
        return solve_wide_cells(cells, AIMED * self.goal, watch, timing, keep)


class Opened(Protocol):
    """What a plan led to."""

    @property
    def open(self) -> float:
        """How much of the loss is not known to be necessary."""
        ...


Found = TypeVar("Found", bound=Opened)


def at_the_pace_of_the_machine(
    plan: WidePlan,
    again: Callable[[float], WidePlan | None],
    solve: Callable[[WidePlan, Timing, Keep[Found]], Found],
    watch: Watch,
    keep: Keep[Found],
) -> Found:
    """The best that plans lead to: the one that was made, one for the pace that it shows, finer ones while time is left.

    `again` makes a plan for a machine, or a problem, that takes so many times what is guessed.
    """
    best: Found | None = None
    for left in range(MOST_PLANS, 0, -1):
        begun = now()
        try:
            found = solve(plan, plan.timing(watch, patient=left == 1 or best is not None), keep if best is None else forget)
        except TooSlowError as slow:
            other = again(slow.pace)
            if other is None or other.seconds >= plan.seconds:
                break
        else:
            best = found if best is None or found.open < best.open else best
            keep(partial(_held, best))
            other = again((now() - begun) / plan.seconds)
            if watch.cancelled() or other is None or other.goal > FINER * plan.goal:
                return best
        plan = other
    return solve(plan, plan.timing(watch, patient=True), keep) if best is None else best


def _held(found: Found) -> Found:
    return found


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
    return TwoCounts.from_counts(vectors, base.omegas[section.inside], section.space.edges)


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
