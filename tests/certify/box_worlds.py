"""Small worlds for the bound by boxes: problems, all histograms, best mechanisms and multipliers by HiGHS, any multipliers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import exp, factorial, prod
from random import Random
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from discreet.certify.bounds.boxes import boxes_stage, unknown_in_box
from discreet.certify.bounds.urn import Urn, urn_of
from discreet.certify.duality.pulls import PullStage
from discreet.files.problem import problem_from_document
from discreet.model.certificate import BoxesWitness, BoxPart, Multipliers
from discreet.model.problem import Problem

SCALE = 1 << 40


def asked(respondents: int = 5, concentration: Sequence[Any] = ("3", "1", "1/2"), epsilon: str = "1", **more: Any) -> Problem:
    """Respondents drawn from an urn; whole actions under squared error unless said otherwise."""
    own = {"kind": "exchangeable", "concentration": list(concentration)}
    own = {"kind": "iid", "probabilities": more["chances"]} if "chances" in more else own
    return problem_from_document(
        {
            "data": {"respondents": respondents, "values": more.get("values", list(range(len(concentration))))},
            "prior": more.get("prior", own),
            "statistic": {"kind": "sum"},
            "decision": {"kind": more.get("kind", "squared-error"), "actions": more.get("actions", "integer")},
            "privacy": {"epsilon": epsilon, "unit": "person"},
        }
    )


def box(windows: Sequence[tuple[int, int]], players: tuple[int, int], reference: int) -> BoxPart:
    return BoxPart(tuple(windows), players, reference, SCALE, ())


def whole_stage(law: Urn, faces: tuple[int, ...], pairs: tuple[int, ...], part: BoxPart) -> PullStage:
    """All states of a box."""
    return boxes_stage(law, faces, pairs, part, range(unknown_in_box(law, faces, pairs, part).size))


def histograms(types: int, respondents: int) -> Iterator[tuple[int, ...]]:
    if types == 1:
        yield (respondents,)
        return
    for first in range(respondents + 1):
        yield from ((first, *rest) for rest in histograms(types - 1, respondents - first))


def rising(law: Urn, content: Fraction, number: int) -> Fraction:
    """c·(c + θ)·… over the factorial."""
    return prod((content + law.grows * k for k in range(number)), start=Fraction(1)) / factorial(number)


def chance(law: Urn, histogram: Sequence[int]) -> Fraction:
    """The probability of a histogram, from its definition."""
    ways = prod((rising(law, c, n) for c, n in zip(law.contents, histogram, strict=True)), start=Fraction(1))
    return ways / rising(law, sum(law.contents, Fraction(0)), law.respondents)


@cache
def optimum(problem: Problem) -> float:
    """The least loss of private mechanisms with listed actions, by a linear program over all histograms."""
    law, actions = urn_of(problem), problem.decision.actions.numbers
    listed = list(histograms(len(law.values), law.respondents))
    omegas = [sum((n * v for n, v in zip(h, law.values, strict=True)), Fraction(0)) for h in listed]
    pairs = combinations(enumerate(listed), 2)
    edges = [(i, j) for (i, a), (j, b) in pairs if sum(abs(x - y) for x, y in zip(a, b, strict=True)) == 2]
    masses = [float(chance(law, h)) for h in listed]
    return solved(masses, [float(w) for w in omegas], edges, [float(a) for a in actions], problem)[0]


def solved(
    masses: Sequence[float], omegas: Sequence[float], edges: Sequence[tuple[int, int]], actions: Sequence[float], problem: Problem
) -> tuple[float, list[list[tuple[int, int, float]]]]:
    """The least loss, and for each action the multiplier of each directed edge."""
    states, number = len(masses), len(actions)
    power = problem.decision.distance.degree
    cost = [m * abs(a - w) ** power for m, w in zip(masses, omegas, strict=True) for a in actions]
    directed, q = [pair for a, b in edges for pair in ((a, b), (b, a))], exp(float(problem.epsilon))
    rows, columns, entries = [], [], []
    for k, (start, end) in enumerate(directed):
        for a in range(number):
            rows += [k * number + a] * 2
            columns += [start * number + a, end * number + a]
            entries += [1.0, -q]
    limits = coo_array((entries, (rows, columns)), shape=(len(directed) * number, states * number)).tocsr()
    whole = coo_array((np.ones(states * number), (np.repeat(np.arange(states), number), np.arange(states * number)))).tocsr()
    found = linprog(cost, limits, np.zeros(limits.shape[0]), whole, np.ones(states), method="highs")
    prices = -found.ineqlin.marginals
    each = [[(*edge, prices[k * number + a]) for k, edge in enumerate(directed)] for a in range(number)]
    return float(found.fun), each


def proposed(
    problem: Problem, faces: tuple[int, ...], pairs: tuple[int, ...], boxes: Sequence[BoxPart], most: int | None = None
) -> BoxesWitness:
    """The best multipliers of each box, in whole steps of its unit, between at most so many of its likeliest states."""
    law, parts = urn_of(problem), []
    unit = max(abs(law.values[t] - law.values[faces[0]]) for t in (*faces, *pairs))
    for part in boxes:
        every = whole_stage(law, faces, pairs, part)
        named = sorted(sorted(range(len(every.masses)), key=lambda h: -every.masses[h])[:most])
        stage, step = boxes_stage(law, faces, pairs, part, named), 1 / unit
        actions = [k * step for k in range(int(min(every.omegas) / step), int(max(every.omegas) / step) + 1)]
        masses, omegas = [float(m) for m in stage.masses], [float(w) for w in stage.omegas]
        _, prices = solved(masses, omegas, sorted(stage.edges), [float(a) for a in actions], problem)
        scale, each = float(unit) ** problem.decision.distance.degree * SCALE, []
        for a, flows in zip(actions, prices, strict=True):
            each.append(Multipliers(a, tuple((named[i], named[j], int(f * scale)) for i, j, f in flows if int(f * scale) > 0)))
        parts.append(BoxPart(part.windows, part.players, part.reference, SCALE, tuple(each)))
    return BoxesWitness(faces, pairs, tuple(parts))


def any_witness(
    rng: Random, problem: Problem, faces: tuple[int, ...], pairs: tuple[int, ...], boxes: Sequence[BoxPart], nodes: Any = None
) -> BoxesWitness:
    """Random multipliers on the edges between the states of boxes."""
    law, parts = urn_of(problem), []
    for part in boxes:
        stage = whole_stage(law, faces, pairs, part)
        ends = min(stage.omegas), max(stage.omegas)
        edges = [pair for a, b in sorted(stage.edges) for pair in ((a, b), (b, a))]
        each = tuple(
            Multipliers(a, tuple((*edge, rng.randint(0, 40)) for edge in edges if rng.random() < 0.5))
            for a in nodes or (ends[0], (2 * ends[0] + ends[1]) / 3, ends[1])
        )
        parts.append(BoxPart(part.windows, part.players, part.reference, 1 << 9, each))
    return BoxesWitness(faces, pairs, tuple(parts))


FOUR, FIVE = ("3", "1", "4/5", "1/2"), ("3", "1", "4/5", "1/2", "1/3")
WIDE: list[tuple[Problem, tuple[int, ...], tuple[int, ...], list[BoxPart], float]] = [
    (asked(6, ("3", "1", "1/2")), (0, 2, 1), (), [box([(0, 6), (0, 6)], (6, 6), 6)], 0.99),
    (asked(6, ("3", "1", "1/2")), (0, 2), (1,), [box([(0, 4)], (4, 5), 4), box([(0, 6)], (5, 6), 6)], 0.6),
    (asked(4, FOUR), (0, 3, 2), (1,), [box([(0, 3), (0, 3)], (3, 3), 3), box([(0, 4), (1, 4)], (4, 4), 4)], 0.25),
    (asked(4, FOUR, chances=["1/2", "1/5", "1/5", "1/10"]), (0, 3, 2), (), [box([(0, 3), (0, 2)], (3, 4), 3)], 0.1),
    (asked(3, FIVE), (0, 4, 3, 2, 1), (), [box([(0, 3)] * 4, (3, 3), 3)], 0.99),
]
"""Windows as wide as the reference: most of their states are of more players than there are."""
