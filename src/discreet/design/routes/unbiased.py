"""Routes to values that can be added up: E[a | h] = ω(h) at every state, or on average nearby (`model.decision`).

`unbiased program`        the program with means over all states, with a bound over all unbiased mechanisms
`unbiased statistic`      the same over the values of the statistic: a restriction, for states too many to list in a program
`unbiased noise`          geometric noise on the statistic, in closed form for any number of respondents
Values unbiased nearby have a program of their own (`nearby`), whose bound holds for those unbiased everywhere too.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp

import numpy as np

from discreet.certify.bounds.full_information import FULL
from discreet.design.program.listed import LARGEST_SOLVED, SMALLEST_SOLVED, label_of
from discreet.design.program.means import FINE, Scale, exact_means, repair_outputs
from discreet.design.program.sections import Ground, Section, ground, summed, whole
from discreet.design.program.unbiased_noise import geometric_noise, why_not_noise
from discreet.design.proposal import Proposal
from discreet.design.routes.nearby import NearbyProgram, shifted_design
from discreet.design.routes.program import too_many
from discreet.design.routes.route import Asked, Route
from discreet.design.solver.means import MeansProgram, MeansSolution, has_ends, refined, solve_means
from discreet.design.solver.program import directed
from discreet.errors import InputError
from discreet.model.certificate import Flow, Multipliers, TheoremWitness, UnbiasedWitness, Witness
from discreet.model.gap import reached
from discreet.model.kernel import Output, TableKernel
from discreet.model.lattice import statistic_lattice
from discreet.model.problem import Problem
from discreet.model.universe import ListedUniverse, Universe

MOST_WORK = 250_000
"""Nodes times directed edges of the first program: some half a minute."""
MOST_ROUNDS = 5
MOST_TOTALS = 400
BOUND_GAP = 1e-3
"""How near the bound of values unbiased nearby is sought where it only stands in for another."""
FIRST_STEP = Fraction(1, 2)
"""Distance of the first nodes, in units of the statistic."""


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
        section = whole(ground(problem))
        return programmed_means(section, asked, ends=True)


class UnbiasedStatistic(Route):
    """The best unbiased mechanism that reads only the statistic."""

    name = "unbiased statistic"
    theorem = ""
    unbiased = ("everywhere", "nearby")

    def obstacle(self, problem: Problem) -> str | None:
        if statistic_lattice(problem) is None:
            return "the statistic is no sum, mean or count"
        if UnbiasedProgram().why_not(problem) is None or NearbyProgram().why_not(problem) is None:
            return "a mechanism that reads every state is never worse"
        return _impossible(problem) or too_many(problem) or _wide(problem)

    def why(self, problem: Problem) -> str:
        return "the program with means over the values of the statistic"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        lattice = statistic_lattice(problem)
        assert lattice is not None
        found = programmed_means(summed(ground(problem), lattice.summary), asked, ends=False)
        if not problem.exchangeable or asked.watch.cancelled():
            return found
        # what bounds values unbiased nearby bounds those unbiased everywhere
        return replace(found, witness=shifted_design(problem, replace(asked, gap=max(asked.gap, BOUND_GAP))).witness)


class NoiseWithTails(Route):
    """Geometric noise on the statistic, its ends read as the tails they stand for."""

    name = "unbiased noise"
    theorem = ""
    unbiased = ("everywhere", "nearby")
    computes = False

    def obstacle(self, problem: Problem) -> str | None:
        if too_many(problem) is None and problem.exchangeable:
            return "a program chooses among all mechanisms, this noise included"
        return why_not_noise(problem)

    def why(self, problem: Problem) -> str:
        return "noise on the statistic needs no list of states"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        return replace(geometric_noise(problem), witness=TheoremWitness(FULL))


UNBIASED_ROUTES: tuple[Route, ...] = (UnbiasedProgram(), NearbyProgram(), UnbiasedStatistic(), NoiseWithTails())


def programmed_means(section: Section, asked: Asked, *, ends: bool) -> Proposal:
    """Solve, halve the pieces where the bound falls, and make the best kernel exact."""
    base = section.ground
    problem = base.problem
    omegas = _exact_omegas(section)
    scale = Scale.of(omegas)
    masses = np.bincount(section.image, base.masses, len(section.space)).astype(np.float64)
    edges = section.space.edges
    program = MeansProgram(masses, np.array(scale.places, dtype=float), edges, exp(float(problem.epsilon)))
    nodes = first_nodes(scale, edges, float(problem.epsilon))
    ends = ends and has_ends(program, nodes)
    best = solve_means(program, nodes, ends=ends)
    for _ in range(MOST_ROUNDS if ends else 1):
        if not best.optimal or asked.watch.cancelled() or reached(best.value, best.bound, asked.gap / 2):
            break
        finer = refined(best, asked.gap * best.value / 8) if ends else _around(best)
        found = solve_means(program, np.round(finer * (1 << FINE)) / (1 << FINE), ends=ends, seconds=max(asked.watch.left, 1.0))
        if not found.optimal or (len(found.nodes) == len(best.nodes)):
            break
        best = found
    if not best.optimal:
        raise InputError(
            "The program for unbiased values was not solved",
            found="no solution in floats",
            allowed="a smaller problem",
            remedy="use fewer respondents, or a larger ε",
        )
    fine = np.round(best.nodes * (1 << FINE)).astype(np.int64)
    outputs, weights, denominator = exact_means(best.kernel, fine, scale, edges, problem.epsilon)
    actions = [scale.number(a) for a in outputs]
    kernel = TableKernel(
        section.space.labels, tuple(Output(label_of(a), a) for a in actions), tuple(map(tuple, weights)), denominator
    )
    witness = _witness(best, scale, edges, float(problem.decision.weight)) if ends else TheoremWitness(FULL)
    words = "program with means on all states" if ends else "program with means on the statistic"
    return Proposal(section.summary, kernel, witness, words, "optimal")


def first_nodes(scale: Scale, edges: np.ndarray, epsilon: float) -> np.ndarray:
    """Half units over the range of the statistic and as far beyond it as the two outputs of the repair."""
    low, high = repair_outputs(scale.places, edges, epsilon)
    return np.arange(low, high + 0.25, float(FIRST_STEP))


def _around(found: MeansSolution) -> np.ndarray:
    """The nodes, with two more beside each that is used."""
    used = found.nodes[found.kernel.max(axis=1) > 1e-6]
    width = float(FIRST_STEP) / 4
    return np.unique(np.concatenate([found.nodes, used - width, used + width]).clip(found.nodes[0], found.nodes[-1]))


def _exact_omegas(section: Section) -> list[Fraction]:
    """The statistic at each state of a section that determines it."""
    base = section.ground
    found: list[Fraction] = [Fraction(0)] * len(section.space)
    for state, column in zip(section.image.tolist(), base.column.tolist(), strict=True):
        found[state] = base.exact_omegas[column]
    return found


def _witness(found: MeansSolution, scale: Scale, edges: np.ndarray, weight: float) -> Witness:
    """The multipliers in the units of the problem, as whole numbers over a power of two that keeps 60 bits of the largest."""
    size = weight * float(scale.unit) ** 2
    parts = [np.maximum(found.multipliers, 0.0) * size, np.maximum(found.tails, 0.0) * size, found.biases * size]
    largest = max(float(np.abs(part).max(initial=0.0)) for part in parts)
    bits = max(59 - int(np.ceil(np.log2(largest))), 0) if largest > 0 else 0
    flows, tails, biases = (np.floor(np.ldexp(part, bits)).astype(np.int64) for part in parts)
    tail, head = directed(edges)

    def listed(row: np.ndarray) -> tuple[Flow, ...]:
        at = np.flatnonzero(row)
        return tuple(zip(tail[at].tolist(), head[at].tolist(), row[at].tolist(), strict=True))

    nodes = [scale.number(round(a * (1 << FINE))) for a in found.nodes.tolist()]
    return UnbiasedWitness(
        1 << bits,
        tuple(Multipliers(a, listed(row)) for a, row in zip(nodes, flows, strict=True)),
        (listed(tails[0]), listed(tails[1])),
        tuple((h, h, int(n)) for h, n in enumerate(biases.tolist()) if n),
    )


def _impossible(problem: Problem) -> str | None:
    if problem.epsilon < SMALLEST_SOLVED or problem.epsilon > LARGEST_SOLVED:
        return f"ε is not between {float(SMALLEST_SOLVED):g} and {float(LARGEST_SOLVED):g}: who tells nothing is not unbiased"
    return None


def _wide(problem: Problem) -> str | None:
    """Whether the statistic has too many values for a program with means."""
    lattice = statistic_lattice(problem)
    assert lattice is not None
    low, high = problem.omega_range
    count = int((high - low) / lattice.unit) + 1
    return None if count <= MOST_TOTALS else f"{count:,} values are more than the {MOST_TOTALS:,} a program with means takes"


def _heavy(problem: Problem) -> str | None:
    """Whether a program with means over all states would take too long, guessed before it is formed."""
    base: Ground | None = None
    universe = problem.universe
    if isinstance(universe, Universe) and problem.exchangeable:
        states = universe.histogram_count
        arcs = states * universe.types * (universe.types - 1) if universe.fixed else 2 * states * universe.types
    elif isinstance(universe, ListedUniverse):
        base = ground(problem)
        arcs = 2 * len(base.space.edges)
    else:
        assert isinstance(universe, Universe)
        arcs = universe.database_count * universe.respondents * (universe.types - 1)
    low, high = problem.omega_range
    lattice = statistic_lattice(problem)
    unit = lattice.unit if lattice is not None else Scale.of(list(problem.omegas)).unit
    nodes = 2 * int((high - low) / unit) + 20
    work = nodes * arcs
    return None if work <= MOST_WORK else f"about {work:.1g} multipliers are more than the {MOST_WORK:,} a program with means takes"
