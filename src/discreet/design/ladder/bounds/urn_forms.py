"""Which urn program: the type that is counted, the sum beside it, and how many states the time allows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from math import sqrt

from discreet.certify.bounds.urn import urn_of
from discreet.design.ladder.bounds.urn import UrnProgram, knots_of, urn_program
from discreet.design.ladder.bounds.urn_solver import solve_seconds
from discreet.design.ladder.mechanisms.population import Weights
from discreet.model.problem import Problem

LEAVE_OUT = (2e-2, 1e-2, 3e-3, 1e-3, 3e-4)
"""Shares of the variance of ω that the states left out may hold."""
LEVELS = (2, 3, 4)
"""Of a sum beside the count."""


def fitting(problem: Problem, weights: Weights | None, loss: float, seconds: float) -> UrnProgram | None:
    """The program that leaves out least among those that the time allows; None when there is none."""
    found = None
    for share in LEAVE_OUT:
        program = urn_program(urn_of(problem), likeliest(problem), weights, share)
        if program is None:
            break
        nodes = len(knots_of(problem, program, loss / float(problem.decision.weight)))
        if solve_seconds(program, nodes) > seconds:
            break
        found = program
    return found


def forms_of(problem: Problem) -> list[Weights | None]:
    """Nothing beside the count, then sums of few levels: the other types by value, in classes that leave least within them.

    What a class leaves out is bounded respondent by respondent, so it counts as (number of respondents)·(deviation of values).
    """
    urn, reference = urn_of(problem), likeliest(problem)
    others = sorted((i for i in range(len(urn.values)) if i != reference), key=lambda i: urn.values[i])
    c, v = ([float(numbers[i]) for i in others] for numbers in (urn.contents, urn.values))
    forms: list[Weights | None] = [None]
    for levels in LEVELS:
        cuts = list(combinations(range(1, len(others)), levels - 1))
        if not cuts:
            break
        best = min(cuts, key=lambda cut: sum(_within(c[a:b], v[a:b]) for a, b in pairwise((0, *cut, len(others)))))
        level = {i: sum(k >= cut for cut in best) for k, i in enumerate(others)}
        forms.append(tuple(level.get(i, 0) for i in range(len(urn.values))))
    return forms


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
