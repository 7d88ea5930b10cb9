"""Mutation tests of the set-aside bound: change any comparison, and some witness proves another number or is refuted.

As in `test_mutants_of_bounds`. Any prices prove something, so the corpus needs no solver.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

from mutation import limited, unexplained
from random_worlds import problem_of

import discreet
from discreet.certify.bounds.set_aside import work_of
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import Multipliers, SetAsideWitness
from discreet.model.decision import Decision
from discreet.model.losses import AbsoluteLoss, SquaredLoss
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.universe import Universe

SET_ASIDE = Path(discreet.__file__).parent / "certify" / "bounds" / "set_aside.py"
THREE = (Fraction(0), Fraction(1), Fraction(2))
CHANCES = (Fraction(5, 10), Fraction(3, 10), Fraction(2, 10))
NOTHING = "what is multiplied or added is zero there"
AT_AN_END = "the least of the piece is at its end, or is the least already"
EQUIVALENT: dict[str, str] = {
    "set_aside: worth < 0 [Lt→LtE at 0]": NOTHING,
    "set_aside: factor < 0 [Lt→LtE at 0]": NOTHING,
    "set_aside: x > less [Gt→GtE at 0]": NOTHING,
    "set_aside: x < less [Lt→LtE at 0]": NOTHING,
    "set_aside: abs(right - left) < curve [Lt→LtE at 0]": AT_AN_END,
    "set_aside: dip < least [Lt→LtE at 0]": AT_AN_END,
}


def prices(
    rng: random.Random, weights: tuple[tuple[int, ...], ...], states: list[tuple[int, ...]], nodes: list[int]
) -> SetAsideWitness:
    """Random prices over eight on some states."""
    width = len(weights[0])
    multipliers = tuple(
        Multipliers(
            Fraction(a), tuple((h, k, rng.randint(-20, 20)) for h in range(len(states)) for k in range(width) if rng.random() < 0.7)
        )
        for a in nodes
    )
    levels = tuple((h, t, rng.randint(-60, 20)) for h in range(len(states)) for t in range(len(weights)) if rng.random() < 0.8)
    return SetAsideWitness(weights, tuple(states), 8, levels, multipliers)


def test_no_comparison_of_the_set_aside_bound_can_change_unnoticed() -> None:
    rng = random.Random(5)
    squared = Decision(SquaredLoss(), RealActions())

    def world(respondents: int, chances: tuple[Fraction, ...] = CHANCES) -> Problem:
        problem = problem_of(Universe.of(respondents, THREE[: len(chances)]), ReplaceOne())
        return replace(problem, prior=IidPrior(chances), decisions=(squared,))

    problem, pair, alone = world(3), world(2), world(1)
    still = problem.with_epsilon(Fraction(0))
    absolute = replace(problem, decisions=(Decision(AbsoluteLoss(), RealActions()),))
    listed = replace(problem, decisions=(Decision(SquaredLoss(), ListedActions(THREE)),))
    growing = replace(problem_of(Universe(THREE, 1, 3), AddRemoveOne()), prior=IidPrior(CHANCES, (Fraction(1, 3),) * 3))
    growing = replace(growing, decisions=(squared,))
    rare = world(3, (Fraction(1, 2), Fraction(1, 2), Fraction(0)))
    line, plane = ((0,), (1,), (2,)), ((0, 0), (1, 0), (0, 1))
    lifted = ((1,), (2,), (4,))
    nodes = [0, 2, 3, 6]
    one = [prices(rng, line, [(s,) for s in range(first, last)], nodes) for first, last in ((0, 7), (1, 5), (2, 9), (-2, 4))]
    one += [prices(rng, lifted, [(s,) for s in range(2, 14)], nodes)]
    two = [prices(rng, plane, [(x, y) for x in range(-1, 4) for y in range(-1, 4)], nodes) for _ in range(2)]
    first = one[0]
    cases = [(p, w) for p in (problem, still, listed) for w in (*one, *two)]
    tiny = Fraction(1, 1 << 100)  # nobody of the first type: the law of a sum begins later
    cases += [(p, first) for p in (pair, alone, absolute, growing, rare, world(3, (tiny, Fraction(1, 2), Fraction(1, 2) - tiny)))]
    cases += [
        (problem, replace(first, states=(first.states[1], *first.states[1:]))),
        (problem, replace(first, weights=line[:2], levels=())), (problem, replace(first, weights=(*line, (3,)))),
        (problem, replace(first, multipliers=())), (problem, replace(first, multipliers=first.multipliers[1:])),
        (problem, replace(first, multipliers=first.multipliers[:-1])),
        (problem, replace(first, multipliers=first.multipliers[::-1])),
        (problem, replace(first, multipliers=(first.multipliers[0], *first.multipliers))),
        (problem, replace(first, multipliers=(*first.multipliers, replace(first.multipliers[-1], action="most")))),
        (problem, replace(first, multipliers=tuple(replace(m, flows=()) for m in first.multipliers))),
        (problem, replace(first, multipliers=(replace(first.multipliers[0], action=Fraction(-1)), *first.multipliers[1:]))),
        (problem, replace(first, multipliers=(*first.multipliers[:-1], replace(first.multipliers[-1], action=Fraction(7))))),
    ]  # fmt: skip
    questions: list[Callable[[ModuleType], Any]] = [lambda module, case=case: module.set_aside_upper_bound(*case) for case in cases]
    work = work_of(line, len(first.states), len(first.multipliers))
    questions += [
        lambda module, limit=limit: limited(module, "MOST_WORK", limit, questions[0]) for limit in (work - 1, work, work + 1)
    ]
    assert unexplained(SET_ASIDE, questions, EQUIVALENT) == []
