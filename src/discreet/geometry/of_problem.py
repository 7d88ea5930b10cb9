"""K, K_Ω and the statistic's graph of a problem: where the theory meets the problem file.

`K` is the polytope of private posteriors about databases (or histograms, which lose nothing when respondents are
exchangeable, SY Prop. 5). `K_Omega` is the polytope of posteriors about ω that mechanisms reading only ω can induce:
two values are adjacent when some pair of neighbouring databases has them (SY Prop. 3 and eq. (7); for sums of values
0..T that is |ω − ω′| ≤ T). The prior about ω is μ0 = Pπ0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.errors import InputError, TooLarge
from discreet.geometry.beliefs import Belief, full_support, project
from discreet.geometry.private_beliefs import PrivateBeliefs
from discreet.model.neighbours import GivenGraph
from discreet.model.priors import TablePrior
from discreet.model.problem import Problem, believed
from discreet.model.states import StateSpace, state_space
from discreet.model.statistic import TableStatistic
from discreet.model.summary import DatabaseSummary, HistogramSummary, Summary
from discreet.model.universe import ListedUniverse
from discreet.numerics.exact import format_exact

MOST_GEOMETRIC = 50_000
"""The most states that are handled as exact beliefs."""


@dataclass(frozen=True, eq=False)
class StatedProblem:
    """A problem on listed states: their graph, exact prior and the value of the statistic at each."""

    problem: Problem
    summary: Summary
    space: StateSpace
    prior: Belief
    omega_of: tuple[Fraction, ...]

    @cached_property
    def omegas(self) -> tuple[Fraction, ...]:
        """The values that the statistic takes, ascending."""
        return tuple(sorted(set(self.omega_of)))

    @cached_property
    def fibre_of(self) -> np.ndarray:
        """The index in `omegas` of each state's statistic."""
        place = {omega: i for i, omega in enumerate(self.omegas)}
        return np.array([place[omega] for omega in self.omega_of])

    @cached_property
    def statistic_prior(self) -> Belief:
        """μ0 = Pπ0."""
        return project(self.prior, self.omega_of, self.omegas)

    @cached_property
    def statistic_edges(self) -> tuple[tuple[int, int], ...]:
        """Pairs of values, by index, that some pair of adjacent states has."""
        if not len(self.space.edges):
            return ()
        pairs = np.sort(self.fibre_of[self.space.edges], axis=1)
        pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
        return tuple((int(i), int(j)) for i, j in pairs.tolist())

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The edges of the states as pairs of indices."""
        return tuple((int(i), int(j)) for i, j in self.space.edges.tolist())

    def project(self, probabilities: Belief) -> Belief:
        """Pπ."""
        return project(probabilities, self.omega_of, self.omegas)


def stated(problem: Problem, on: str = "finest") -> StatedProblem:
    """The problem on its databases or histograms; `finest` takes histograms when respondents are exchangeable."""
    if on not in ("finest", "databases", "histograms"):
        raise InputError(
            "Beliefs are about databases or histograms",
            found=on,
            allowed=["finest", "databases", "histograms"],
            remedy="choose one of these",
        )
    if on == "histograms" and not problem.exchangeable:
        raise InputError(
            "Beliefs about histograms lose nothing only when respondents are exchangeable",
            found="a prior or a statistic that looks at the order of respondents",
            allowed="on = 'databases'",
            remedy="ask about databases",
        )
    histograms = problem.exchangeable if on == "finest" else on == "histograms"
    summary: Summary = HistogramSummary() if histograms else DatabaseSummary()
    _must_be_few(problem, histograms)
    space = state_space(problem.universe, problem.neighbours, summary)
    known = believed(problem, space)
    prior = tuple(known.weights[i] for i in range(len(space)))
    full_support(prior, space.labels)
    return StatedProblem(problem, summary, space, prior, known.omegas)


def K(problem: Problem, on: str = "finest") -> PrivateBeliefs:
    """K(ε, π0): the private posteriors about the database."""
    return K_of(stated(problem, on))


def K_of(listed: StatedProblem) -> PrivateBeliefs:
    """K of a problem whose states are already listed."""
    return PrivateBeliefs(listed.space.labels, listed.prior, listed.edges, listed.problem.epsilon, "K")


def K_Omega(problem: Problem) -> PrivateBeliefs:
    """K_Ω(ε, μ0): the posteriors about the statistic that a private mechanism reading only ω can induce."""
    return K_Omega_of(stated(problem))


def K_Omega_of(listed: StatedProblem) -> PrivateBeliefs:
    """K_Ω of a problem whose states are already listed."""
    labels = tuple(format_exact(omega) for omega in listed.omegas)
    return PrivateBeliefs(labels, listed.statistic_prior, listed.statistic_edges, listed.problem.epsilon, "K_Omega")


def oblivious_problem(problem: Problem) -> Problem:
    """The problem of a designer who reads nothing but ω: values of the statistic as databases, SY eq. (7) as graph.

    Its best mechanism is the best way of adding noise to the statistic.
    """
    listed = stated(problem)
    if len(listed.omegas) < 2:
        raise InputError(
            "The statistic is the same for every database",
            found="a single value",
            allowed="two values or more",
            remedy="there is nothing to publish: choose another statistic",
        )
    labels = tuple(format_exact(omega) for omega in listed.omegas)
    return replace(
        problem,
        universe=ListedUniverse(labels),
        neighbours=GivenGraph(tuple((labels[i], labels[j]) for i, j in listed.statistic_edges)),
        prior=TablePrior(tuple(zip(labels, listed.statistic_prior, strict=True))),
        statistic=TableStatistic(tuple(zip(labels, listed.omegas, strict=True))),
        name=f"{problem.name} (oblivious)".strip(),
    )


def _must_be_few(problem: Problem, histograms: bool) -> None:
    universe = problem.universe
    if isinstance(universe, ListedUniverse):
        count, what, fits = len(universe.names), "databases", f"{MOST_GEOMETRIC:,} databases"
    elif histograms:
        count, what = universe.histogram_count, "histograms"
        fits = f"{MOST_GEOMETRIC:,} histograms: for instance {universe.fitting(MOST_GEOMETRIC):,} respondents"
    else:
        count, what = universe.database_count, "databases"
        most = max((n for n in range(1, 64) if universe.types**n <= MOST_GEOMETRIC), default=1)
        fits = f"{MOST_GEOMETRIC:,} databases: for instance {most} respondents"
    if count > MOST_GEOMETRIC:
        raise TooLarge(
            f"There are too many {what} for exact beliefs about each",
            size=f"{count:,} {what}" if count < 10**18 else f"more than 10^18 {what}",
            fits=fits,
            remedy="ask about fewer respondents or fewer types",
        )
