"""Mutation tests of noise that follows a count: change any comparison of its checker or its value, and some mechanism shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

from counted_mechanisms import at_random, counted_on, kernel_of, peaked
from mutation import limited, unexplained
from test_mutants import facts

import discreet
from discreet.certify.edges import counted as checker
from discreet.certify.edges.counted import steepest
from discreet.certify.value.laws import Identical, Law, Listed, Mixed, Overdispersed, Separate
from discreet.errors import TooLarge
from discreet.model.actions import RealActions
from discreet.model.count_tables import CountTables
from discreet.model.decision import Decision
from discreet.model.kernel import CountedKernel, GeometricKernel
from discreet.model.losses import AbsoluteLoss, FormulaLoss, PinballLoss
from discreet.model.mechanism import Mechanism
from discreet.model.promises import PurePromise
from discreet.model.statistic import TableStatistic
from discreet.numerics.brackets import log_bracket

SOURCE = Path(discreet.__file__).parent
EQUIVALENT: dict[str, str] = {
    "counted: x >= y [GtE→Gt at 0]": "equal probabilities are no factor above one, and are never kept",
    "counted: sum(others) + count < sum(grown[here, there]) [Lt→LtE at 0]": "of equally few others any will do",
}


def at_both_sides(mechanism: Mechanism) -> list[PurePromise]:
    """ε at the factor rounded down and up, and level tables at nought."""
    assert isinstance(mechanism.kernel, CountedKernel)
    found = steepest(mechanism, mechanism.kernel)
    if found.bottom == 0:
        return [PurePromise(Fraction(1))]
    return [PurePromise(end) for end in log_bracket(Fraction(found.top, found.bottom), 150) if end > 0] + [PurePromise(Fraction(0))]


def turns(ask: Callable[[ModuleType], Any], most: int = 4000) -> list[int]:
    """Limits before and after which the checker says something else."""

    def said(limit: int) -> str:
        try:
            return str(limited(checker, "MOST_COMPARED", limit, ask))
        except TooLarge as error:
            return error.what

    found, low = [0, most], 0
    while said(low) != said(most):
        first, last = low, most
        while last - first > 1:
            middle = (first + last) // 2
            first, last = (middle, last) if said(middle) == said(low) else (first, middle)
        found, low = [*found, first, last], last
    return found


def test_no_comparison_of_the_checker_can_change_unnoticed() -> None:
    kernel = peaked(2, 0, -2)
    chosen = [
        *at_random(40),
        counted_on(kernel),
        counted_on(kernel, presence=True),
        counted_on(kernel, respondents=1),
        counted_on(replace(kernel, weights=kernel.weights[::-1])),
        counted_on(kernel_of([[0, 6, 4], [4, 6, 4]])),
        counted_on(kernel_of([[1, 40, 1]], tail=3), counted=(0, 1, 2)),
        counted_on(replace(kernel, low=0, high=6)),
        counted_on(kernel_of([[5, 6, 5]], tail=8, step=1), values=(0, 1), counted=()),  # the next stair alone shows its factor
        counted_on(peaked(2, 0, -2, -2, tables=(2, 2)), second=(1,)),
        counted_on(peaked(2, 0, -2, -2, tables=(2, 2)), second=(0,), presence=True),
        counted_on(peaked(2, 0, 0, -2, tables=(3, 1)), respondents=1, second=(1,)),
        counted_on(peaked(2, 0, 2, tables=(2, 1)), counted=(), second=(0, 1, 2)),
        counted_on(peaked(2, 0, -2, -2, tables=((2, 1), (1,))), second=(1,), third=(0,)),
        counted_on(peaked(2, 0, 0, -2, tables=((2,), (1, 1))), respondents=2, second=(1,), third=(0,), presence=True),
        counted_on(replace(kernel_of([[16, 32, 16]], tail=32, ratio=Fraction(1, 2)), low=0, high=2), respondents=1, counted=()),
    ]
    questions: list[Callable[[ModuleType], Any]] = [
        lambda module, m=m, promise=promise: facts(module.counted_privacy(m, m.kernel, promise))
        for m in chosen
        for promise in at_both_sides(m)
    ]
    for m in (counted_on(kernel), counted_on(kernel, presence=True)):
        ask = lambda module, m=m: module.steepest(m, m.kernel).pairs  # noqa: E731
        questions += [lambda module, n=n, ask=ask: limited(module, "MOST_COMPARED", n, ask) for n in turns(ask)]
    left = unexplained(SOURCE / "certify" / "edges" / "counted.py", questions, EQUIVALENT)
    assert left == [], left


def test_no_comparison_of_the_value_can_change_unnoticed() -> None:
    def shown(kernel: CountedKernel) -> CountedKernel:
        return kernel.with_actions([Fraction(k) for k in range(kernel.low, kernel.high + 1)])

    kernel = shown(kernel_of([[2, 20, 3], [5, 9, 4], [7, 3, 8]]))
    plain = counted_on(kernel)
    chosen = [plain, counted_on(kernel, counted=(1, 2)), counted_on(kernel, presence=True), counted_on(kernel_of([[4, 6, 4]]))]
    two = counted_on(shown(kernel_of([[2, 20, 3], [5, 9, 4], [7, 3, 8]], tables=(2, 1))), second=(1,))
    chosen += [two, counted_on(shown(kernel_of([[2, 20, 3], [5, 9, 4], [7, 3, 8]], tables=(2, 1))), second=(0,), presence=True)]
    chosen.append(counted_on(shown(replace(kernel, step=4, stride=64)), values=(0, 2, 4)))  # steps of two: another sum than is read
    losses = (AbsoluteLoss(), PinballLoss(Fraction(1, 5)), FormulaLoss("2*a*omega - a*a"))
    for decision in [Decision(loss, RealActions(Fraction(-50), Fraction(60))) for loss in losses]:
        chosen.append(replace(plain, problem=replace(plain.problem, decisions=(decision,))))
    chosen.append(replace(plain, kernel=GeometricKernel(0, 54, 18, Fraction(1, 2))))
    largest = TableStatistic(tuple((",".join(map(str, h)), Fraction(max(h))) for h in plain.problem.people.histograms().tolist()))
    chosen.append(replace(plain, problem=replace(plain.problem, statistic=largest)))
    questions: list[Callable[[ModuleType], Any]] = [lambda module, m=m: facts(module.counted_payoff(m)) for m in chosen]
    questions += [lambda module: facts(module.moments(kernel))]
    left = unexplained(SOURCE / "certify" / "value" / "counted.py", questions, EQUIVALENT)
    assert left == [], left


def test_no_comparison_of_the_value_by_listing_can_change_unnoticed() -> None:
    """Places nearer to the ends of the range than tables reach, as far, and farther."""
    questions: list[Callable[[ModuleType], Any]] = []
    for most in (2, 3, 6):
        kernel = replace(kernel_of([[2, 20, 3], [5, 9, 4], [7, 3, 8]]), low=0, high=most)
        mechanism = counted_on(kernel.with_actions([Fraction(k) for k in range(most + 1)]), respondents=1)
        questions.append(lambda module, m=mechanism: module.listed_counted_payoff(m, m.kernel))
    left = unexplained(SOURCE / "certify" / "value" / "counted_listed.py", questions, EQUIVALENT)
    assert left == [], left


def test_no_comparison_of_the_law_of_two_counts_can_change_unnoticed() -> None:
    marks, counts = [0, 2, 1, 2], CountTables((3, 2, 1))
    p = tuple(Fraction(x, 20) for x in (9, 6, 3, 2))
    sizes = ((0, Fraction(1, 4)), (3, Fraction(1, 4)), (7, Fraction(1, 2)))
    apart = Separate((p, p[::-1], p, (Fraction(1), Fraction(0), Fraction(0), Fraction(0))))
    laws: list[Law] = [Identical(p, sizes), Overdispersed(p, sizes), apart, Identical(p, ((4, Fraction(1)),))]
    laws += [Mixed(((Fraction(1, 3), laws[0]), (Fraction(2, 3), laws[2])))]
    laws += [Listed((((2, 0, 1, 1), Fraction(1, 3)), ((0, 4, 0, 0), Fraction(2, 3))))]
    three = CountTables(((1, 2), (3, 1)))
    questions: list[Callable[[ModuleType], Any]] = [
        lambda module, law=law, asked=asked: facts(module.table_chances(law, *asked))
        for law in laws
        for asked in ((marks, counts), ([0, 2, 1, 3], three))
    ]
    most = 50 * (2_000 + 1_001) + 2 * 1_001 * 60  # 1,001 tables of two numbers of respondents
    ask = lambda module: refused(module, CountTables((1000, 1)), 50)  # noqa: E731
    questions += [lambda module, d=d: limited(module, "MOST_STEPS", most + d, ask) for d in (-1, 0, 1)]
    left = unexplained(SOURCE / "certify" / "value" / "capped_counts.py", questions, EQUIVALENT)
    assert left == [], left


def refused(module: ModuleType, counts: CountTables, respondents: int) -> bool:
    """Whether the law of so many is too large; where it is not, no step of it is made."""

    class Begun(Exception):
        pass

    class Never(Identical):
        @property
        def probabilities(self) -> Any:  # type: ignore[override]
            raise Begun

        @property
        def sizes(self) -> Any:  # type: ignore[override]
            return ((1, Fraction(1, 2)), (respondents, Fraction(1, 2)))

    try:
        module.table_chances(object.__new__(Never), [0], counts)
    except TooLarge:
        return True
    except Begun:
        return False
    return False
