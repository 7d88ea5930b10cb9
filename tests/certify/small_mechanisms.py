"""Small mechanisms of every kind whose verdicts other tests establish: a corpus that no changed comparison answers alike."""

from __future__ import annotations

import random
from fractions import Fraction

import random_worlds as worlds

from discreet.model.kernel import GeometricKernel, Output, StaircaseKernel, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne, GivenGraph, ReplaceOne
from discreet.model.states import state_space
from discreet.model.summary import DatabaseSummary, LinearSummary
from discreet.model.universe import ListedUniverse, Universe
from discreet.numerics.brackets import exp_bracket, log_bracket


def corpus() -> list[Mechanism]:
    """Mechanisms of every kind at ε just above and just below their largest log-ratio, and with misleading edges."""
    return worlds_at_random(60) + special()


def worlds_at_random(count: int) -> list[Mechanism]:
    """Random tables at ε just above and just below their largest log-ratio."""
    rng = random.Random(7)
    found: list[Mechanism] = []
    for k in range(count):
        mechanism = worlds.random_mechanism(rng, zeros=k % 7 == 0)
        kernel = mechanism.kernel
        assert isinstance(kernel, TableKernel)
        ratios = [
            Fraction(max(row[a], row[b]), min(row[a], row[b]))
            for row in kernel.weights
            for a, b in mechanism.space.edges.tolist()
            if min(row[a], row[b])
        ]
        worst = max(ratios, default=Fraction(1))
        sides = (Fraction(0), Fraction(1)) if worst == 1 else log_bracket(worst, 150)
        found += [worlds.mechanism_on(mechanism.problem, mechanism.summary, kernel, epsilon) for epsilon in sides]
    return found


def special() -> list[Mechanism]:
    """Level, empty and crossing tables, misleading edges, closed forms at the edge of what they promise."""
    two = (Fraction(0), Fraction(1))
    three = (*two, Fraction(2))
    problem = worlds.problem_of(Universe.of(3, two), ReplaceOne())
    outputs = (Output("x"), Output("y"))
    states = ("0", "1", "2", "3")
    even = TableKernel(states, outputs, ((4, 4, 4, 4), (4, 4, 4, 4)), 8)
    zero = TableKernel(states, outputs, ((8, 8, 8, 8), (0, 0, 0, 0)), 8)
    apart = TableKernel(states, outputs, ((8, 7, 8, 8), (0, 1, 0, 0)), 8)
    tie = TableKernel(states, outputs, ((5, 3, 5, 3), (3, 5, 3, 5)), 8)
    count = LinearSummary((0, 1))
    found = [
        worlds.mechanism_on(problem, count, kernel, epsilon)
        for kernel in (even, zero, apart, tie)
        for epsilon in (Fraction(0), Fraction(1, 2), Fraction(1))
    ]
    line = [(0, 1), (1, 2), (2, 3)]
    for edges in (line, line[1:], [*line, (0, 2)], [*line, (1, 0)], [*line, (2, 4)], [*line, (-1, 0)], [(1, 0), (2, 1), (3, 2)]):
        stated = TableKernel(states, outputs, even.weights, 8, tuple(edges))
        found.append(worlds.mechanism_on(problem, count, stated))
    low, high = exp_bracket(Fraction(1), 64)
    for ratio in (1 / high, 1 / low, Fraction(9, 10)):
        for universe, neighbours in ((Universe.of(5, three), ReplaceOne()), (Universe(three, 1, 4), AddRemoveOne())):
            for weights in ((0, 1, 1), (-2, 0, 1), (3, 3, 3), (1, 2, 4)):
                for ends in ((None, None), (1, 3), (-1, None), (None, 2)):
                    summary = LinearSummary(weights, *ends)
                    bottom, top = summary.range(universe)
                    step = max(1, summary.step(neighbours))
                    of = worlds.problem_of(universe, neighbours)
                    found.append(worlds.mechanism_on(of, summary, GeometricKernel(bottom, top + 1, step, ratio)))
                    for plateau, wide in ((1, 1), (step, 80)):
                        stairs = StaircaseKernel(bottom - (wide > 1), top + wide, step, plateau, ratio)
                        found.append(worlds.mechanism_on(of, summary, stairs))
    pair = worlds.problem_of(Universe.of(2, three), ReplaceOne())
    heavy = LinearSummary((1, 2, 4))  # no type weighs nothing, so totals of one respondent less join other pairs
    totals = state_space(pair.universe, pair.neighbours, heavy).labels
    found.append(worlds.mechanism_on(pair, heavy, TableKernel(totals, outputs[:1], ((2,) * len(totals),), 2)))
    one = worlds.problem_of(Universe.of(1, two), ReplaceOne())
    for bottom, top in ((0, 2), (-1, 1)):
        found.append(worlds.mechanism_on(one, count, StaircaseKernel(bottom, top, 3, 3, Fraction(1, 2))))
    for rows in (((7, 5), (1, 3)), ((5, 7), (3, 1))):
        found.append(worlds.mechanism_on(one, count, TableKernel(states[:2], outputs, rows, 8)))
    free = worlds.problem_of(ListedUniverse(("a", "b")), GivenGraph(()))
    found.append(worlds.mechanism_on(free, DatabaseSummary(), TableKernel(("a", "b"), outputs, ((8, 0), (0, 8)), 8)))
    return found
