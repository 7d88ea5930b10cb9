"""Which urn program: the type that is counted, the sum beside it, and how many states and nodes the time allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import sqrt

import numpy as np

from discreet.certify.bounds.urn import urn_of
from discreet.design.ladder.bounds.urn import APART, Forms, UrnProgram, knots_of, urn_program
from discreet.design.ladder.bounds.urn_solver import solve_seconds
from discreet.model.problem import Problem

LEAVE_OUT = (2e-2, 1e-2, 3e-3, 1e-3, 3e-4)
"""Shares of the variance of ω that the states left out may hold."""
NEARER = (1.0, 0.8, 0.64, 0.5, 0.4, 0.32, 0.25, 0.2)
"""Nodes may be so many times as far apart as they usually are."""
MISSED = 0.4
"""Of the loss, that a program proves less for each share of the variance that is left out (observed)."""
FINE = 3e-4
"""Of the loss, that nodes may cost: nearer ones are not tried."""
LEVELS = (2, 3, 4)
MOST_SUMMED = 4
"""So many levels are not summed: a sum of many says little of each class, and proves less than one of few."""


@dataclass(frozen=True, eq=False)
class FittedUrn:
    """A program, how far apart its nodes are, how many they are, and what states and nodes are guessed to leave unproved."""

    program: UrnProgram
    apart: float
    nodes: int
    unproved: float


def fitting(problem: Problem, forms: Forms, loss: float, seconds: float, most_left_out: float = LEAVE_OUT[0]) -> FittedUrn | None:
    """Of the programs that the time allows, leaving out no more than this, the one thought to prove most; None without any.

    Time is for states or for nodes: half the distance of nodes, squared, is lost between them, and at twenty respondents that is
    more than a hundredth of the states.
    """
    best, paid = None, loss / float(problem.decision.weight)
    for share in (share for share in LEAVE_OUT if share <= most_left_out):
        program = urn_program(urn_of(problem), likeliest(problem), forms, share)
        if program is None:
            break
        found = None
        for nearer in NEARER:
            knots = knots_of(problem, program, paid, nearer * APART)
            if solve_seconds(program, len(knots)) > seconds:
                break
            between = float(np.diff(knots).min()) ** 2 / 4
            found = FittedUrn(program, nearer * APART, len(knots), MISSED * share * paid + between)
            if between < FINE * paid:
                break
        if found is None:
            break
        if best is None or found.unproved < best.unproved:
            best = found
    return best


def finest(problem: Problem, loss: float, seconds: float) -> FittedUrn | None:
    """The program with the finest forms that fits the time; None where nothing fits beside the count."""
    finer = forms_of(problem)[:0:-1]
    for most in (LEAVE_OUT[1], LEAVE_OUT[0]):
        for forms in finer:
            found = fitting(problem, forms, loss, seconds, most)
            if found is not None:
                return found
    return None


def forms_of(problem: Problem) -> list[Forms]:
    """Nothing beside the count, then the other types by value in two classes, three, …: the sum of levels, and all counts.

    Classes leave least within them. What a class leaves out is bounded respondent by respondent, so it counts as (number of
    respondents)·(deviation of values).
    """
    urn, reference = urn_of(problem), likeliest(problem)
    others = sorted((i for i in range(len(urn.values)) if i != reference), key=lambda i: urn.values[i])
    c, v = ([float(numbers[i]) for i in others] for numbers in (urn.contents, urn.values))
    found: list[Forms] = [((),) * len(urn.values)]
    for levels in LEVELS:
        cuts = list(combinations(range(1, len(others)), levels - 1))
        if not cuts:
            break
        best = min(cuts, key=lambda cut: sum(_within(c[a:b], v[a:b]) for a, b in pairwise((0, *cut, len(others)))))
        level = [0] * len(urn.values)
        for k, i in enumerate(others):
            level[i] = sum(k >= cut for cut in best)
        if levels < MOST_SUMMED:
            found.append(tuple((x,) for x in level))
        if levels > 2:
            found.append(tuple(tuple(int(x == k) for k in range(1, levels)) for x in level))
    return found


def _within(contents: Sequence[float], values: Sequence[float]) -> float:
    """The content of a class times the deviation of its values."""
    total = sum(contents)
    if total <= 0:
        return 0.0
    mean = sum(c * v for c, v in zip(contents, values, strict=True)) / total
    return sqrt(total * sum(c * (v - mean) ** 2 for c, v in zip(contents, values, strict=True)))


def likeliest(problem: Problem) -> int:
    """The type to count: the likeliest one."""
    contents = urn_of(problem).contents
    return max(range(len(contents)), key=lambda i: contents[i])
