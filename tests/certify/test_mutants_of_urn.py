"""Mutation tests of the urn bound: change any comparison, and some witness proves another number or is refuted.

As in `test_mutants_of_bounds`. Any multipliers prove something, so the corpus needs no solver.
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
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import Multipliers, UrnWitness
from discreet.model.decision import Decision
from discreet.model.losses import AbsoluteLoss, SquaredLoss
from discreet.model.neighbours import AddRemoveOne, GivenGraph, ReplaceOne
from discreet.model.priors import DirichletMultinomialPrior, IidPrior
from discreet.model.problem import Problem
from discreet.model.universe import ListedUniverse, Universe

URN = Path(discreet.__file__).parent / "certify" / "bounds" / "urn.py"
THREE = (Fraction(0), Fraction(1), Fraction(3))
CHANCES = (Fraction(5, 10), Fraction(3, 10), Fraction(2, 10))
AT_AN_END = "the least of the piece is at its end"
EQUIVALENT: dict[str, str] = {
    "urn: abs(right - left) < bend [Lt→LtE at 0]": AT_AN_END,
}


def multipliers(
    rng: random.Random, reference: int, weights: tuple[tuple[int, ...], ...], states: list[tuple[int, ...]], nodes: list[int]
) -> UrnWitness:
    """Random multipliers over eight on states that list the larger side of every inequality in use."""
    width, at = len(states[0]), set(states)
    forms = [(int(i == reference), *w) for i, w in enumerate(weights)]

    def flows() -> list[tuple[int, int, int]]:
        found = [(h, k, rng.randint(-20, 20)) for h in range(len(states)) for k in range(width) if rng.random() < 0.7]
        for h, state in enumerate(states):
            for i in range(len(weights)):
                moved = tuple(s - a + b for s, a, b in zip(state, forms[i], forms[reference], strict=True))
                for side in (0, 1):
                    if i != reference and (side or moved in at) and rng.random() < 0.5:
                        found.append((h, width + 2 * i + side, rng.randint(0, 9)))
        return found

    each = tuple(Multipliers(Fraction(a), tuple(flows())) for a in nodes)
    return UrnWitness(reference, weights, tuple(states), 8, each)


def test_no_comparison_of_the_urn_bound_can_change_unnoticed() -> None:
    rng = random.Random(5)
    squared = Decision(SquaredLoss(), RealActions())

    def world(respondents: int, grows: bool = True) -> Problem:
        problem = problem_of(Universe.of(respondents, THREE), ReplaceOne())
        prior = DirichletMultinomialPrior(tuple(4 * c for c in CHANCES)) if grows else IidPrior(CHANCES)
        return replace(problem, prior=prior, decisions=(squared,))

    problem, independent = world(3), world(3, False)
    still = problem.with_epsilon(Fraction(0))
    absolute = replace(problem, decisions=(Decision(AbsoluteLoss(), RealActions()),))
    listed = replace(problem, decisions=(Decision(SquaredLoss(), ListedActions(THREE)),))
    growing = replace(problem_of(Universe(THREE, 1, 3), AddRemoveOne()), decisions=(squared,))
    growing = replace(growing, prior=IidPrior(CHANCES, (Fraction(1, 3),) * 3))
    named = problem_of(ListedUniverse(("a", "b")), GivenGraph(()))
    rare = replace(independent, prior=IidPrior((Fraction(1, 2), Fraction(1, 2), Fraction(0))))
    never = replace(independent, prior=IidPrior((Fraction(0), Fraction(1, 2), Fraction(1, 2))))
    none, line, lifted = ((), (), ()), ((0,), (1,), (2,)), ((1,), (0,), (3,))
    nodes = [0, 2, 3, 9]
    alone = [(x,) for x in range(-1, 6)]
    plane = [(x, y) for x in range(-1, 5) for y in range(-1, 8)]
    witnesses = [multipliers(rng, r, none, alone, nodes) for r in range(3)]
    witnesses += [multipliers(rng, r, w, plane, nodes) for r in (0, 1) for w in (line, lifted)]
    witnesses += [multipliers(rng, 0, none, alone[2:4], nodes)]
    first = witnesses[0]
    cases = [(p, w) for p in (problem, independent, still) for w in witnesses]
    cases += [(p, first) for p in (listed, absolute, growing, rare, never, world(1), world(2))]
    unlisted = replace(first, states=tuple(alone[:-2]), multipliers=tuple(
        replace(m, flows=((len(alone) - 3, 3, 5),)) for m in first.multipliers))  # fmt: skip
    cases += [
        (problem, unlisted),
        (problem, replace(first, states=(first.states[1], *first.states[1:]))),
        (problem, replace(first, weights=(*none, ()))), (problem, replace(first, multipliers=())),
        (problem, replace(first, multipliers=first.multipliers[1:])), (problem, replace(first, multipliers=first.multipliers[:-1])),
        (problem, replace(first, multipliers=first.multipliers[::-1])),
        (problem, replace(first, multipliers=(first.multipliers[0], *first.multipliers))),
        (problem, replace(first, multipliers=(*first.multipliers, replace(first.multipliers[-1], action="most")))),
        (problem, replace(first, multipliers=tuple(replace(m, flows=()) for m in first.multipliers))),
        (problem, replace(first, multipliers=(replace(first.multipliers[0], action=Fraction(-1)), *first.multipliers[1:]))),
        (problem, replace(first, multipliers=(*first.multipliers[:-1], replace(first.multipliers[-1], action=Fraction(10))))),
    ]  # fmt: skip
    questions: list[Callable[[ModuleType], Any]] = [lambda module, case=case: module.urn_upper_bound(*case) for case in cases]
    questions += [lambda module, drawn=drawn: module.urn_of(drawn) for drawn in (absolute, growing, named)]
    work = len(first.multipliers) * len(first.states) * 3
    questions += [
        lambda module, limit=limit: limited(module, "MOST_WORK", limit, questions[0]) for limit in (work - 1, work, work + 1)
    ]
    bits = 4 * 4 * 6  # half the square of three respondents, three types and all together, factors up to 35
    questions += [lambda module, d=d: limited(module, "MOST_BITS", bits + d, questions[0]) for d in (-1, 0, 1)]
    counted = UrnWitness(0, line, ((1, 2), (0, 3)), 1, ())
    questions += [lambda module, limit=limit: _counts(module, problem, counted, limit) for limit in range(20)]
    assert unexplained(URN, questions, EQUIVALENT) == []


def _counts(module: ModuleType, problem: Problem, witness: UrnWitness, limit: int) -> Any:
    """The moments of states with so much work allowed."""
    prior = module._Prior(module.urn_of(problem), witness)
    prior.left = limit
    return [prior.moments(state) for state in witness.states]
