"""Small random universes with every database listed: graphs, laws and proofs can be checked by brute force."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product

from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import Kernel, Output, TableKernel
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne, GivenGraph, Neighbours, ReplaceOne
from discreet.model.priors import IidPrior, TablePrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.states import state_space
from discreet.model.statistic import SumStatistic, TableStatistic
from discreet.model.summary import Clamp, DatabaseSummary, HistogramSummary, LinearSummary, Summary
from discreet.model.universe import ListedUniverse, Universe

Database = tuple[int, ...]


def problem_of(
    universe: Universe | ListedUniverse,
    neighbours: Neighbours,
    epsilon: Fraction = Fraction(1),
    decision: Decision | None = None,
) -> Problem:
    """A problem about the sum (or a table of zeros for listed names) under a uniform prior."""
    decision = decision or Decision(SquaredLoss(), RealActions())
    if isinstance(universe, ListedUniverse):
        chance = Fraction(1, len(universe.names))
        prior = TablePrior(tuple((name, chance) for name in universe.names))
        statistic = TableStatistic(tuple((name, Fraction(i)) for i, name in enumerate(universe.names)))
        return Problem(universe, neighbours, prior, statistic, (decision,), PurePromise(epsilon))
    sizes = universe.largest - universe.smallest + 1
    size = None if universe.fixed else (Fraction(1, sizes),) * sizes
    uniform = IidPrior((Fraction(1, universe.types),) * universe.types, size)
    return Problem(universe, neighbours, uniform, SumStatistic(), (decision,), PurePromise(epsilon))


def random_world(rng: random.Random) -> tuple[Universe, Neighbours, Summary]:
    """A universe of at most a few hundred databases, a relation and a summary of any kind with or without a clamp."""
    types = rng.choice([2, 2, 3, 4])
    values = tuple(Fraction(v) for v in range(types))
    if rng.random() < 0.5:
        universe, neighbours = Universe.of(rng.randint(1, 5 - types // 2), values), ReplaceOne()
    else:
        smallest = rng.randint(0, 2)
        universe, neighbours = Universe(values, smallest, smallest + rng.randint(1, 4 - types // 2)), AddRemoveOne()
    return universe, neighbours, random_summary(rng, universe, neighbours)


def random_summary(rng: random.Random, universe: Universe, neighbours: Neighbours) -> Summary:
    """Any summary that the universe allows."""
    fixed = isinstance(neighbours, ReplaceOne)
    kind = rng.choice(["histogram", "clamped", "clamped", "linear", "clipped", "database" if fixed else "linear"])
    if kind == "histogram":
        return HistogramSummary()
    if kind == "database":
        return DatabaseSummary()
    if kind == "clamped":
        return HistogramSummary(random_clamp(rng, universe, fixed))
    weights = tuple(rng.randint(-3, 4) for _ in range(universe.types))
    if kind == "linear":
        return LinearSummary(weights)
    ends = sorted(rng.randint(-5, 8) for _ in range(2))
    return LinearSummary(weights, rng.choice([None, ends[0]]), rng.choice([None, ends[1]]))


def random_clamp(rng: random.Random, universe: Universe, fixed: bool) -> Clamp:
    """A clamp that some histogram keeps; lower bounds only where the size is fixed."""
    while True:
        lower = tuple(rng.choice([0, 0, 1, 2]) if fixed else 0 for _ in range(universe.types))
        upper = tuple(low + rng.randint(0, 3) for low in lower)
        least = rng.randint(0, 2)
        rest = rng.choice([None, (least, least + rng.randint(0, 3))]) if fixed else None
        clamp = Clamp(lower, upper, rng.randrange(universe.types) if fixed else None, rest)
        if not fixed or clamp.fits(universe.largest):
            return clamp


def neighbouring_pairs(universe: Universe, neighbours: Neighbours) -> Iterator[tuple[Database, Database]]:
    """Every unordered pair of neighbouring databases."""
    for database in universe.databases():
        if isinstance(neighbours, ReplaceOne):
            for i, t in product(range(len(database)), range(universe.types)):
                if t > database[i]:
                    yield database, (*database[:i], t, *database[i + 1 :])
        elif len(database) < universe.largest:
            for i, t in product(range(len(database) + 1), range(universe.types)):
                yield database, (*database[:i], t, *database[i:])


def histogram(database: Database, types: int) -> tuple[int, ...]:
    return tuple(database.count(t) for t in range(types))


def label(summary: Summary, database: Database, universe: Universe) -> str:
    """The state of a database, by the definition of its summary."""
    if isinstance(summary, DatabaseSummary):
        return ",".join(map(str, database))
    state = summary.of_histogram(histogram(database, universe.types))
    return str(state) if isinstance(state, int) else ",".join(map(str, state))


def brute_graph(universe: Universe, neighbours: Neighbours, summary: Summary) -> tuple[set[str], set[frozenset[str]]]:
    """States and edges read off every database and every pair of neighbours."""
    states = {label(summary, database, universe) for database in universe.databases()}
    pairs = (
        frozenset((label(summary, a, universe), label(summary, b, universe))) for a, b in neighbouring_pairs(universe, neighbours)
    )
    return states, {pair for pair in pairs if len(pair) == 2}


def random_table(rng: random.Random, states: tuple[str, ...], outputs: int, bits: int = 40, zeros: bool = False) -> TableKernel:
    """Random weights; with `zeros` an output may be impossible everywhere or somewhere."""
    columns = []
    for _ in states:
        cuts = sorted(rng.randrange(1, 2**bits) for _ in range(outputs - 1))
        ends = [0, *cuts, 2**bits]
        columns.append([b - a for a, b in pairwise(ends)])
    if zeros and outputs > 1:
        for column in columns:
            column[-1], column[0] = 0, column[0] + column[-1]
    rows = tuple(tuple(column[s] for column in columns) for s in range(outputs))
    return TableKernel(states, tuple(Output(f"s{i}") for i in range(outputs)), rows, 2**bits)


def listed_world(rng: random.Random) -> tuple[ListedUniverse, GivenGraph]:
    """A random graph over named databases."""
    names = tuple(f"d{i}" for i in range(rng.randint(2, 6)))
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if rng.random() < 0.5]
    return ListedUniverse(names), GivenGraph(tuple(pairs))


def mechanism_on(problem: Problem, summary: Summary, kernel: Kernel, epsilon: Fraction | None = None) -> Mechanism:
    """A mechanism that promises `epsilon` (the problem's by default)."""
    promised = problem.epsilon if epsilon is None else epsilon
    of = problem if epsilon is None else problem.with_epsilon(epsilon)
    return Mechanism(of, summary, kernel, Guarantee(PurePromise(promised), problem.neighbours.name, problem.unit))


def random_mechanism(rng: random.Random, zeros: bool = False) -> Mechanism:
    """A random table mechanism in a random world, with a promise that may not hold."""
    if rng.random() < 0.15:
        listed, graph = listed_world(rng)
        problem, summary = problem_of(listed, graph, Fraction(10)), DatabaseSummary()
        return mechanism_on(problem, summary, random_table(rng, listed.names, rng.randint(1, 4), zeros=zeros))
    universe, neighbours, summary = random_world(rng)
    problem = problem_of(universe, neighbours, Fraction(10))
    states = state_space(universe, neighbours, summary).labels
    return mechanism_on(problem, summary, random_table(rng, states, rng.randint(1, 4), zeros=zeros))
