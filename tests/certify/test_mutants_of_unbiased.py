"""Mutation tests of noise at face value, of unbiased values and their bounds: change any comparison, and some answer changes.

As in `test_mutants`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from mutation import limited, unexplained
from random_worlds import mechanism_on, problem_of

import discreet
from discreet.certify.value import face_value
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import DualWitness, Multipliers, ShiftedWitness, UnbiasedWitness
from discreet.model.decision import Decision
from discreet.model.kernel import GeometricKernel, Output, StaircaseKernel, TableKernel
from discreet.model.losses import AbsoluteLoss, MatchLoss, PinballLoss, SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne, GivenGraph, ReplaceOne
from discreet.model.priors import IndependentPrior
from discreet.model.problem import Problem
from discreet.model.states import state_space
from discreet.model.statistic import TableStatistic
from discreet.model.summary import DatabaseSummary, HistogramSummary, LinearSummary, Summary
from discreet.model.universe import ListedUniverse, Universe

Question = Callable[[ModuleType], Any]

CERTIFY = Path(discreet.__file__).parent / "certify"
ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)
TWO = (ZERO, ONE)
THREE = (ZERO, ONE, Fraction(2))
UNEVEN = IndependentPrior(((HALF, HALF), (Fraction(1, 3), Fraction(2, 3))))
EQUIVALENT: dict[str, str] = {
    "face_value: exponent >= 0 [GtE→Gt at 0]": "the brackets of logarithms are open: no exponent is 0",
}


def test_no_comparison_of_noise_at_face_value_can_change_unnoticed() -> None:
    values = (ONE, Fraction(3, 2))
    plain, grown = problem_of(Universe.of(2, values), ReplaceOne()), problem_of(Universe(TWO, 1, 2), AddRemoveOne())
    shown = tuple(2 + Fraction(k, 2) for k in range(-1, 4))
    kernel, summary = GeometricKernel(-1, 3, 1, HALF, shown), LinearSummary((0, 1))
    made = mechanism_on(plain, summary, kernel)
    pairs = tuple((a, a) for a in shown)
    both = replace(plain, decisions=(plain.decision, Decision(PinballLoss(Fraction(1, 5)), RealActions())))
    squares = TableStatistic(tuple((f"{2 - c},{c}", Fraction(c * c)) for c in range(3)))
    cases = [made, replace(made, problem=replace(plain, decisions=(Decision(AbsoluteLoss(), RealActions()),)))]
    kernels: list[Any] = [
        replace(kernel, actions=None), replace(kernel, actions=(*shown[:-1], ONE)), replace(kernel, low=0, actions=shown[1:]),
        replace(kernel, high=2, actions=shown[:-1]), replace(kernel, low=0, high=2, actions=shown[1:-1]),
        StaircaseKernel(-1, 3, 1, 1, HALF, shown),
    ]  # fmt: skip
    cases += [replace(made, kernel=each) for each in kernels]
    cases += [replace(made, summary=LinearSummary((0, 1), *ends)) for ends in ((0, 2), (0, 3), (-1, 2), (1, None), (None, 1))]
    cases += [replace(made, summary=LinearSummary((1, 0))), replace(made, problem=replace(plain, statistic=squares))]
    cases += [replace(made, problem=both, kernel=replace(kernel, actions=pairs))]
    cases += [replace(made, problem=both, kernel=replace(kernel, actions=((ONE, ONE), *pairs[1:])))]
    cases += [mechanism_on(grown, summary, GeometricKernel(0, 2, 1, HALF, THREE))]
    matching = replace(plain, decisions=(Decision(MatchLoss(), ListedActions(shown)),))
    cases += [replace(made, problem=matching)]
    questions: list[Question] = [lambda module, m=m: module.face_value_payoff(m) for m in cases]
    lattice = _lattice(plain)
    threes, ones = tuple((a, a, a) for a in shown), tuple((a,) for a in shown)
    for actions, makers in ((ones, 1), (pairs, 1), (pairs, 2), (shown, 2), (threes, 2)):
        questions.append(lambda module, a=actions, n=makers: module._at_face_value(replace(kernel, actions=a), lattice, n))
    misread = SimpleNamespace(problem=plain, summary=HistogramSummary(), kernel=kernel)
    asks: list[Question] = [lambda module: module._missed(misread, lattice)]
    for law in (plain.prior, UNEVEN):
        own = replace(plain, prior=law, decisions=(Decision(AbsoluteLoss(), RealActions()),))
        for narrow in (summary, *(LinearSummary((0, 1), *ends) for ends in ((1, None), (None, 1), (0, 3), (1, 1)))):
            for each in (
                kernel,
                replace(kernel, low=0, high=1, actions=shown[1:3]),
                replace(kernel, low=1, high=2, actions=shown[2:4]),
            ):
                windowed = SimpleNamespace(problem=own, summary=narrow, kernel=each)
                asks.append(lambda module, m=windowed: module._missed(m, lattice))
    asks += [lambda module, m=replace(m, summary=LinearSummary((0, 1), None, 1)): module.face_value_payoff(m) for m in cases[:2]]
    grown_lattice = _lattice(grown)
    asks.append(
        lambda module: module._missed(
            SimpleNamespace(problem=grown, summary=LinearSummary((0, 1), 0, 1), kernel=kernel), grown_lattice
        )
    )
    for most, weight in product((ZERO, Fraction(3, 4), Fraction(10)), (0, 1, 2)):
        questions += [
            lambda module, ask=ask, most=most, weight=weight: limited(
                module, "MOST_MISSED", most, lambda own: limited(own, "MOST_WEIGHT", weight, ask)
            )
            for ask in asks
        ]
    for weights, size, k in product(((0, 1), (1, 1), (0, 2)), (1, 2, 30), (0, 1, 2, 20)):
        questions.append(lambda module, w=weights, n=size, k=k: module._reaches(w, (HALF, HALF), n, k))
    ends = SimpleNamespace(problem=plain, summary=LinearSummary((0, 1), None, 1), kernel=kernel)
    missed = limited(face_value, "MOST_MISSED", 10, lambda module: module._missed(ends, lattice))
    questions.append(lambda module: limited(module, "MOST_MISSED", missed, lambda own: own._missed(ends, lattice)))
    assert unexplained(CERTIFY / "value" / "face_value.py", questions, EQUIVALENT) == []


def test_no_comparison_of_readings_along_a_line_can_change_unnoticed() -> None:
    plain = problem_of(Universe.of(2, (ONE, Fraction(3, 2))), ReplaceOne())
    shown = tuple(2 + Fraction(k, 2) for k in range(-1, 4))
    kernel, summary = GeometricKernel(-1, 3, 1, HALF, shown), LinearSummary((0, 1))
    made = mechanism_on(plain, summary, kernel)
    squares = TableStatistic(tuple((f"{2 - c},{c}", Fraction(c * c)) for c in range(3)))
    kernels: list[Any] = [replace(kernel, actions=actions) for actions in (None, (*shown[:-1], ONE), (ONE, *shown[1:]))]
    kernels += [replace(kernel, low=0, actions=shown[1:]), replace(kernel, high=2, actions=shown[:-1])]
    kernels += [StaircaseKernel(-1, 3, step, plateau, HALF, shown) for step, plateau in ((1, 1), (2, 1), (2, 2), (3, 2))]
    cases = [made, *(replace(made, kernel=each) for each in kernels)]
    cases += [replace(made, summary=LinearSummary((0, 1), *ends)) for ends in ((0, 2), (-1, 3), (1, None), (None, 1))]
    cases += [replace(made, problem=replace(plain, decisions=(Decision(AbsoluteLoss(), RealActions()),)))]
    cases += [replace(made, problem=replace(plain, statistic=squares))]
    cases += [mechanism_on(plain, LinearSummary((0, 0)), _pair(kernel))]
    cases += [mechanism_on(problem_of(Universe(TWO, 1, 2), AddRemoveOne()), summary, kernel)]
    asks: list[Question] = [lambda module, m=m: module.line_payoff(m) for m in cases]
    asks += [lambda module, actions=actions: module._line(SimpleNamespace(actions=actions, width=2, low=0)) for actions in (
        (), (ONE,), (ONE, HALF), (ONE, HALF, ZERO), (ONE, "a"),
    )]  # fmt: skip
    asks.append(lambda module: module._line(SimpleNamespace(actions=(ONE,), width=1, low=0)))
    questions: list[Question] = [
        lambda module, ask=ask, least=least: limited(module, "LEAST_MARGIN", least, ask) for ask in asks for least in (0, 1, 2)
    ]
    assert unexplained(CERTIFY / "value" / "on_a_line.py", questions, EQUIVALENT) == []


def _pair(kernel: GeometricKernel) -> GeometricKernel:
    return replace(kernel, low=0, high=1, actions=(ZERO, ONE))


def _lattice(problem: Problem) -> Any:
    from discreet.model.lattice import statistic_lattice

    return statistic_lattice(problem)


def fair(problem: Problem, kind: str = "everywhere") -> Problem:
    return replace(problem, decisions=(Decision(SquaredLoss(), RealActions(), unbiased=kind),))


def tabled(problem: Problem, summary: Summary, numbers: list[Fraction]) -> Mechanism:
    """Outputs 0 and 4, likely enough that the mean at each state is the number given for it."""
    labels = state_space(problem.universe, problem.neighbours, summary).labels
    top = [int(x * 4) for x in numbers]
    rows = (tuple(16 - x for x in top), tuple(top))
    return mechanism_on(problem, summary, TableKernel(labels, (Output("x", ZERO), Output("y", Fraction(4))), rows, 16))


def test_no_comparison_of_unbiased_values_can_change_unnoticed() -> None:
    pair = Universe.of(2, TWO)
    plain, ordered = problem_of(pair, ReplaceOne()), replace(problem_of(pair, ReplaceOne()), prior=UNEVEN)
    squares = replace(plain, statistic=TableStatistic(tuple((f"{2 - c},{c}", Fraction(c * c)) for c in range(3))))
    listed = problem_of(ListedUniverse(("a", "b", "c")), GivenGraph(()))
    cases: list[Mechanism] = []
    right, wrong, even = [ZERO, ONE, Fraction(2)], [ZERO, HALF, Fraction(2)], [HALF, ONE, Fraction(3, 2)]
    tilted = [Fraction(1, 4), HALF, Fraction(9, 4)]
    count, table = LinearSummary((0, 1)), HistogramSummary()
    for kind in ("everywhere", "nearby"):
        for problem in (plain, ordered):
            for numbers in (right, wrong, even, tilted):
                cases.append(tabled(fair(problem, kind), count, numbers))
                cases.append(tabled(fair(problem, kind), table, numbers[::-1]))
    by_database = [[ZERO, ONE, ONE, Fraction(2)], [ZERO, ONE, HALF, Fraction(2)]]
    cases += [tabled(fair(ordered, kind), DatabaseSummary(), x) for kind in ("everywhere", "nearby") for x in by_database]
    cases += [tabled(fair(squares), count, [ZERO, ONE, Fraction(4)]), tabled(fair(listed), DatabaseSummary(), right)]
    cases += [tabled(plain, count, right), tabled(fair(plain), LinearSummary((0, 1), 0, 1), [ZERO, ONE])]
    cases += [tabled(fair(plain), LinearSummary((1, 0)), right[::-1]), tabled(fair(plain), LinearSummary((0, 0)), [ONE])]
    grown = fair(problem_of(Universe((ONE, Fraction(2)), 1, 2), AddRemoveOne()))
    cases += [tabled(grown, LinearSummary((1, 2)), [ONE, Fraction(2), Fraction(2), Fraction(3)])]
    cases += [tabled(grown, count, [ONE, Fraction(2), Fraction(2)])]
    cases += [tabled(fair(ordered, "nearby"), count, [ONE, Fraction(3, 2), Fraction(3, 4)])]  # right on average alone
    ends = (-ONE, ONE, Fraction(3))
    for actions in (ends, THREE, (-ONE, ONE, Fraction(2)), (-ONE, HALF, Fraction(3))):
        cases.append(mechanism_on(fair(plain), count, GeometricKernel(0, 2, 1, HALF, actions)))
        cases.append(mechanism_on(fair(plain), LinearSummary((1, 0)), GeometricKernel(0, 2, 1, HALF, actions[::-1])))
        cases.append(mechanism_on(fair(plain), count, StaircaseKernel(0, 2, 1, 1, HALF, actions)))
    silent = cases[0].kernel
    assert isinstance(silent, TableKernel)
    cases.append(replace(cases[0], kernel=replace(silent, outputs=(Output("x"), Output("y", Fraction(4))))))
    questions: list[Question] = [lambda module, m=m: repr(module.unbiased(m)) for m in cases]
    for name, most, m in product(("MOST_LISTED", "MOST_WRITTEN"), (2, 3, 4), (*cases[:12], *cases[-3:])):
        ask: Question = lambda module, m=m: repr(module.unbiased(m))  # noqa: E731
        questions.append(lambda module, limit=(name, most), ask=ask: limited(module, *limit, ask))
    questions += [lambda module, n=n: module._off(Fraction(1, 10**n)) for n in (3, 36, 37, 38, 39)]
    assert unexplained(CERTIFY / "unbiased.py", questions, EQUIVALENT) == []


def test_no_comparison_of_the_bounds_of_unbiased_values_can_change_unnoticed() -> None:
    rng = random.Random(9)
    problem = fair(problem_of(Universe.of(2, TWO), ReplaceOne()))
    edges = [(0, 1), (1, 0), (1, 2), (2, 1)]

    def some() -> tuple[tuple[int, int, int], ...]:
        return tuple((a, b, rng.randint(0, 9)) for a, b in edges)

    nodes = tuple(Multipliers(Fraction(a), some()) for a in (-2, 0, 1, 2, 4))
    flat = tuple((h, h, rng.randint(-9, 9)) for h in range(3))
    base = UnbiasedWitness(300, nodes, ((), ()), flat)
    forged = [
        base, replace(base, tails=(some(), some())), replace(base, multipliers=nodes[1:]), replace(base, multipliers=nodes[:-1]),
        replace(base, biases=((0, 0, 10**5),)), replace(base, biases=((0, 0, -(10**5)),)), replace(base, multipliers=()),
        replace(base, multipliers=(replace(nodes[0], action="x"), *nodes[1:])), replace(base, multipliers=nodes[1:-1], biases=()),
        replace(base, multipliers=nodes[1:-1], biases=((2, 2, 1),)), replace(base, multipliers=nodes[1:-1], biases=((0, 0, -1),)),
    ]  # fmt: skip
    questions: list[Question] = [lambda module, w=w: module.unbiased_upper_bound(problem, w) for w in forged]
    for other in (fair(problem, "nearby"), problem.biased, problem.with_epsilon(ZERO)):
        questions.append(lambda module, p=other: module.unbiased_upper_bound(p, base))
    for flows in (((0, 0, 3), (2, 2, 5)), ((3, 3, 1),), ((-1, -1, 1),), ((0, 1, 1),), ((2, 2, 1),), ((3, 2, 1),)):
        questions.append(lambda module, flows=flows: module._biases(flows, 3, ONE))
    inner = DualWitness("dual-with-chord", None, 300, nodes)
    ordered = replace(problem, prior=UNEVEN)
    named = fair(problem_of(ListedUniverse(("a", "b", "c")), GivenGraph(())))
    for shift in ((HALF, ZERO, ONE), (ZERO, ZERO, ZERO), (HALF, ZERO), (HALF, ZERO, ONE, ONE)):
        shifted = ShiftedWitness(shift, inner)
        questions += [
            lambda module, p=p, w=shifted: module.shifted_upper_bound(p, w)
            for p in (problem, fair(problem, "nearby"), problem.biased, ordered, named)
        ]
    assert unexplained(CERTIFY / "bounds" / "unbiased.py", questions, EQUIVALENT) == []
