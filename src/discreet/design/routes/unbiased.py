"""Routes to values that can be added up: E[a | h] = ω(h) at every state, or on average nearby (`model.decision`).

`unbiased program`        the program with means over all states, with a bound over all unbiased mechanisms
`unbiased window`         the same over likely histograms and, of all others, the statistic: a restriction (`program.windows`)
`unbiased statistic`      the same over the values of the statistic alone, for histograms too many to write out
`unbiased noise`          geometric noise on the statistic, in closed form for any number of respondents
Bounds of the two in the middle come from likely histograms alone. Values unbiased nearby have a program of their own (`nearby`).
"""

from __future__ import annotations

from dataclasses import replace

from discreet.certify.bounds import FULL
from discreet.design.program.listed import LARGEST_SOLVED, SMALLEST_SOLVED
from discreet.design.program.means import Scale
from discreet.design.program.sections import Ground, ground, summed, whole
from discreet.design.program.unbiased import statistic_means, whole_means, window_means
from discreet.design.program.unbiased_noise import geometric_noise, why_not_noise
from discreet.design.program.windows import MOST_WRITTEN
from discreet.design.proposal import Proposal
from discreet.design.routes.nearby import NearbyProgram
from discreet.design.routes.program import too_many
from discreet.design.routes.route import Asked, Route
from discreet.model.certificate import TheoremWitness
from discreet.model.lattice import statistic_lattice
from discreet.model.problem import Problem
from discreet.model.universe import ListedUniverse, Universe

MOST_WORK = 250_000
"""Nodes times directed edges of the first program: some half a minute."""
MOST_TOTALS = 400


class UnbiasedProgram(Route):
    """The best of all unbiased mechanisms, over all histograms or databases."""

    name = "unbiased program"
    theorem = "weak duality with means"
    unbiased = ("everywhere",)

    def obstacle(self, problem: Problem) -> str | None:
        return _impossible(problem) or too_many(problem) or _heavy(problem)

    def why(self, problem: Problem) -> str:
        return "the mean of every state is one more equation of the program"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        return whole_means(whole(ground(problem)), asked.gap, asked.watch)


class UnbiasedWindow(Route):
    """The best unbiased mechanism that tells likely histograms apart, and of the others reads the statistic."""

    name = "unbiased window"
    theorem = "weak duality with means"
    unbiased = ("everywhere",)

    def obstacle(self, problem: Problem) -> str | None:
        universe = problem.universe
        if not isinstance(universe, Universe) or not problem.exchangeable:
            return "the order of respondents matters, or databases are listed"
        if UnbiasedProgram().why_not(problem) is None:
            return "a mechanism that reads every state is never worse"
        if universe.histogram_count > MOST_WRITTEN:
            return f"{universe.histogram_count:,} histograms are more than the {MOST_WRITTEN:,} that are written out"
        return _impossible(problem) or _wide(problem)

    def why(self, problem: Problem) -> str:
        return "the program with means over likely histograms, and over the statistic of the others: nothing is clamped"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        return window_means(ground(problem), asked.gap, asked.watch)


class UnbiasedStatistic(Route):
    """The best unbiased mechanism that reads only the statistic."""

    name = "unbiased statistic"
    theorem = ""
    unbiased = ("everywhere", "nearby")

    def obstacle(self, problem: Problem) -> str | None:
        if statistic_lattice(problem) is None:
            return "the statistic is no sum, mean or count"
        if any(route.why_not(problem) is None for route in (UnbiasedProgram(), UnbiasedWindow(), NearbyProgram())):
            return "a mechanism that reads every state, or every likely one, is never worse"
        return _impossible(problem) or too_many(problem) or _wide(problem)

    def why(self, problem: Problem) -> str:
        return "the program with means over the values of the statistic"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        lattice = statistic_lattice(problem)
        assert lattice is not None
        return statistic_means(summed(ground(problem), lattice.summary), asked.gap, asked.watch)


class NoiseWithTails(Route):
    """Geometric noise on the statistic, its ends read as the tails they stand for."""

    name = "unbiased noise"
    theorem = ""
    unbiased = ("everywhere", "nearby")

    def obstacle(self, problem: Problem) -> str | None:
        if too_many(problem) is None and problem.exchangeable:
            return "a program chooses among all mechanisms, this noise included"
        return why_not_noise(problem)

    def why(self, problem: Problem) -> str:
        return "noise on the statistic needs no list of states"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        return replace(geometric_noise(problem), witness=TheoremWitness(FULL))


UNBIASED_ROUTES: tuple[Route, ...] = (
    UnbiasedProgram(), NearbyProgram(), UnbiasedWindow(), UnbiasedStatistic(), NoiseWithTails()
)  # fmt: skip


def _impossible(problem: Problem) -> str | None:
    if problem.epsilon < SMALLEST_SOLVED or problem.epsilon > LARGEST_SOLVED:
        return f"ε is not between {float(SMALLEST_SOLVED):g} and {float(LARGEST_SOLVED):g}: who tells nothing is not unbiased"
    return None


def _wide(problem: Problem) -> str | None:
    """Whether the statistic has too many values for a program with means."""
    lattice = statistic_lattice(problem)
    low, high = problem.omega_range
    unit = lattice.unit if lattice is not None else Scale.of(list(problem.omegas)).unit
    count = int((high - low) / unit) + 1
    return None if count <= MOST_TOTALS else f"{count:,} values are more than the {MOST_TOTALS:,} a program with means takes"


def _heavy(problem: Problem) -> str | None:
    """Whether a program with means over all states would take too long, guessed before it is formed."""
    base: Ground | None = None
    if isinstance(problem.universe, ListedUniverse):
        base = ground(problem)
        arcs = 2 * len(base.space.edges)
    elif problem.exchangeable:
        universe = problem.universe
        states = universe.histogram_count
        arcs = states * universe.types * (universe.types - 1) if universe.fixed else 2 * states * universe.types
    else:
        universe = problem.universe
        arcs = universe.database_count * universe.respondents * (universe.types - 1)
    low, high = problem.omega_range
    lattice = statistic_lattice(problem)
    unit = lattice.unit if lattice is not None else Scale.of(list(problem.omegas)).unit
    nodes = 2 * int((high - low) / unit) + 20
    work = nodes * arcs
    return None if work <= MOST_WORK else f"about {work:.1g} multipliers are more than the {MOST_WORK:,} a program with means takes"
