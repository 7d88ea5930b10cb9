"""Small problems, mechanisms and random private universes that the tests of `interpret` share."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import GeometricKernel, Output, TableKernel
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import GivenGraph, ReplaceOne
from discreet.model.priors import IidPrior, Prior, TablePrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.states import state_space
from discreet.model.statistic import Statistic, SumStatistic, TableStatistic
from discreet.model.summary import DatabaseSummary, HistogramSummary, LinearSummary, Summary
from discreet.model.universe import ListedUniverse, Universe
from discreet.numerics.brackets import rational_above_exp

BITS = 40


def problem_of(
    respondents: int,
    values: tuple[int, ...],
    prior: Prior,
    epsilon: Fraction = Fraction(1),
    decision: Decision | None = None,
    statistic: Statistic | None = None,
) -> Problem:
    """A replace-one problem about the sum, with squared error unless told otherwise."""
    universe = Universe.of(respondents, tuple(Fraction(v) for v in values))
    decided = decision or Decision(SquaredLoss(), RealActions())
    return Problem(universe, ReplaceOne(), prior, statistic or SumStatistic(), (decided,), PurePromise(epsilon))


def counting(
    respondents: int,
    chance: Fraction = Fraction(1, 2),
    epsilon: Fraction = Fraction(1),
    prior: Prior | None = None,
) -> Mechanism:
    """The truncated geometric mechanism on a count of two types."""
    problem = problem_of(respondents, (0, 1), prior or IidPrior((1 - chance, chance)), epsilon)
    kernel = GeometricKernel(0, respondents, 1, rational_above_exp(-epsilon, 80))
    return Mechanism(problem, LinearSummary((0, 1)), kernel, promise(epsilon))


def summing(respondents: int, chances: tuple[Fraction, ...], epsilon: Fraction = Fraction(2)) -> Mechanism:
    """The truncated geometric mechanism on a sum of values 0..T, its step being T."""
    top = len(chances) - 1
    problem = problem_of(respondents, tuple(range(top + 1)), IidPrior(chances), epsilon)
    kernel = GeometricKernel(0, respondents * top, top, rational_above_exp(-epsilon / top, 80))
    return Mechanism(problem, LinearSummary(tuple(range(top + 1))), kernel, promise(epsilon))


def promise(epsilon: Fraction) -> Guarantee:
    """A guarantee about one respondent."""
    return Guarantee(PurePromise(epsilon), "replace-one", "respondent")


def table_mechanism(problem: Problem, summary: Summary, probabilities: np.ndarray) -> Mechanism:
    """A mechanism with the given probabilities [output, state], rounded to weights over 2^BITS."""
    space = state_space(problem.universe, problem.neighbours, summary)
    weights = np.floor(probabilities * 2**BITS).astype(object)
    for state in range(weights.shape[1]):
        weights[0, state] += 2**BITS - int(weights[:, state].sum())
    known = all(Fraction(i) in d.actions for d in problem.decisions for i in range(len(weights)))
    outputs = tuple(Output(f"s{i}", Fraction(i) if known else None) for i in range(len(weights)))
    kernel = TableKernel(space.labels, outputs, tuple(tuple(int(w) for w in row) for row in weights), 2**BITS)
    guarantee = Guarantee(PurePromise(Fraction(100)), problem.neighbours.name, "respondent")
    return Mechanism(problem.with_epsilon(Fraction(100)), summary, kernel, guarantee)


def random_table(problem: Problem, summary: Summary, outputs: int, rng: np.random.Generator) -> Mechanism:
    """A mechanism with random probabilities; how private it is does not matter to Bayes' rule."""
    states = len(state_space(problem.universe, problem.neighbours, summary))
    return table_mechanism(problem, summary, rng.dirichlet(np.ones(outputs), size=states).T)


def randomised_response(respondents: int, epsilon: Fraction, prior: Prior) -> Mechanism:
    """Every respondent's bit flipped by itself: outputs are whole databases."""
    problem = problem_of(respondents, (0, 1), prior, epsilon)
    rows = np.array(list(problem.universe.databases()))
    flips = (rows[:, None, :] != rows[None, :, :]).sum(axis=2)
    wrong = 1 / (1 + np.exp(float(epsilon)))
    law = wrong**flips * (1 - wrong) ** (respondents - flips)
    return table_mechanism(problem, DatabaseSummary(), law)


def listed(names: int, edges: list[tuple[int, int]], probabilities: np.ndarray, prior: np.ndarray) -> Mechanism:
    """A mechanism on a graph of named databases."""
    universe = ListedUniverse(tuple(f"x{i}" for i in range(names)))
    graph = GivenGraph(tuple((f"x{a}", f"x{b}") for a, b in edges))
    chances = [Fraction(round(p * 10**6), 10**6) for p in prior]
    chances[0] += 1 - sum(chances)
    table = TablePrior(tuple((f"x{i}", p) for i, p in enumerate(chances)))
    statistic = TableStatistic(tuple((f"x{i}", Fraction(i)) for i in range(names)))
    decision = Decision(SquaredLoss(), RealActions())
    problem = Problem(universe, graph, table, statistic, (decision,), PurePromise(Fraction(1)))
    return table_mechanism(problem, DatabaseSummary(), probabilities)


HISTOGRAM = HistogramSummary()
