"""The linear program over all states of a problem: counts (SY Thm 2), histograms (SY Prop. 5) or whole databases (SY Prop. 1).

Under an exchangeable prior a mechanism may read the histogram alone; otherwise every database is a state.
"""

from __future__ import annotations

from discreet.design.memory import MOST_NEIGHBOURS
from discreet.design.proposal import Proposal
from discreet.design.routes.route import Asked, Route
from discreet.frozen import dataclass
from discreet.model.problem import Problem
from discreet.model.universe import ListedUniverse, Universe
from discreet.numerics.devices import device
from discreet.numerics.exact import counted

MOST_HISTOGRAMS = 30_000
MOST_WITH_A_DEVICE = 2_000_000
"""Histograms of which a GPU solves the likely ones."""
MOST_DATABASES = 4_096


@dataclass(frozen=True)
class StateProgram(Route):
    """A program whose states are the counts, the histograms or the databases of a problem."""

    name: str
    theorem: str
    states: str
    reads: str

    def obstacle(self, problem: Problem) -> str | None:
        if self.states != states_of(problem):
            return f"a mechanism of this problem reads {states_of(problem)}"
        if problem.real_actions and len(problem.decisions) > 1:
            return "real actions are solved for a single decision maker"
        return too_many(problem)

    def why(self, problem: Problem) -> str:
        return self.reads

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        if problem.real_actions:
            from discreet.design.program.real import continuous

            return continuous(problem, asked.gap, asked.watch, asked.keep)
        from discreet.design.program.listed import programmed

        return programmed(problem, asked.gap, asked.watch, asked.keep)


PROGRAMS = (
    StateProgram(
        "count program", "SY Thm 2", "counts", "two types and an exchangeable prior: a mechanism may read the count alone"
    ),
    StateProgram(
        "histogram program",
        "SY Prop. 5",
        "histograms",
        "the prior is exchangeable: a mechanism may read the histogram alone",
    ),
    StateProgram("database program", "SY Prop. 1", "databases", "the order of respondents matters, so every database is a state"),
)


def states_of(problem: Problem) -> str:
    """What the best mechanism of a problem reads."""
    if not problem.exchangeable:
        return "databases"
    universe = problem.universe
    return "counts" if isinstance(universe, Universe) and universe.types == 2 and universe.fixed else "histograms"


def too_many(problem: Problem) -> str | None:
    """Whether the states are too many to be listed in a program, in words."""
    universe = problem.universe
    if isinstance(universe, ListedUniverse):
        return None
    if problem.exchangeable:
        count, most = universe.histogram_count, MOST_HISTOGRAMS if device() is None else MOST_WITH_A_DEVICE
        if count > most:
            return f"{counted(count)} histograms are more than the {most:,} a program takes"
        pairs = universe.histogram_pairs
        few = device() is not None or pairs <= MOST_NEIGHBOURS
        return None if few else f"{counted(pairs)} pairs of neighbours are more than the {MOST_NEIGHBOURS:,} a program takes"
    if universe.database_count > MOST_DATABASES:
        return f"there are more than the {MOST_DATABASES:,} databases a program takes"
    return None
