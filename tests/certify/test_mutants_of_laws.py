"""Mutation tests of the laws of sums: change any comparison, and some law has other masses, or is formed or refused otherwise.

As in `test_mutants`: every kind of prior, sizes that vary, weights of both signs, and limits of size lowered to where they decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from flint import fmpz_poly
from mutation import limited, unexplained
from random_worlds import mechanism_on, problem_of

import discreet
from discreet.certify.value.dirichlet_pairs import pairs_of
from discreet.certify.value.laws import Identical
from discreet.model.kernel import GaussianKernel, GeometricKernel
from discreet.model.neighbours import AddRemoveOne, GivenGraph, ReplaceOne
from discreet.model.priors import (
    DirichletMultinomialPrior,
    ExchangeablePrior,
    IidPrior,
    IndependentPrior,
    MixturePrior,
    TablePrior,
)
from discreet.model.problem import Problem
from discreet.model.statistic import TableStatistic
from discreet.model.summary import HistogramSummary, LinearSummary
from discreet.model.universe import ListedUniverse, Universe

Question = Callable[[ModuleType], Any]

VALUE = Path(discreet.__file__).parent / "certify" / "value"
ZERO, ONE, HALF, THIRD = Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3)
THREE = (ZERO, ONE, Fraction(2))
SIZES = (HALF, THIRD, Fraction(1, 6))
SHORTCUT = "the same product, with its last factor only where it is needed"
IMPOSSIBLE = "what cannot occur adds no mass"
EQUIVALENT: dict[str, str] = {
    "laws: n < largest [Lt→LtE at 0]": "nothing has been added up yet",
    "laws: p > 0 [Gt→GtE at 0]": IMPOSSIBLE,
    "laws: p > 0 [0→-1 at 1]": IMPOSSIBLE,
    "dirichlet_series: share and part [And→Or at 0]": "nothing is added when either is nothing",
    "dirichlet_series: len(sizes) == 1 [1→0 at 1]": SHORTCUT,
    "urn_sums: number [→True at 0]": "nothing is added either way",
    "dirichlet_series: len(rest) > 1 [1→2 at 1]": SHORTCUT,
}


def priors() -> list[Problem]:
    """A problem with each kind of prior, of a fixed and of a varying size, with types that cannot occur."""
    fixed, varying = problem_of(Universe.of(3, THREE), ReplaceOne()), problem_of(Universe(THREE, 0, 2), AddRemoveOne())
    row, sure = (HALF, THIRD, Fraction(1, 6)), (HALF, HALF, ZERO)
    spread = DirichletMultinomialPrior((ONE, Fraction(3, 2), THIRD))
    listed = ExchangeablePrior((((3, 0, 0), HALF), ((1, 2, 0), THIRD), ((0, 0, 3), Fraction(1, 6)), ((0, 3, 0), ZERO)))
    named = TablePrior((("0,1,1", HALF), ("2,2,0", HALF)))
    found = [IidPrior(row), IidPrior(sure), spread, listed, named, IndependentPrior((row, sure, row)), IndependentPrior((row,) * 3)]
    found.append(MixturePrior((THIRD, 1 - THIRD), (IidPrior(row), spread)))
    growing = [IidPrior(row, SIZES), IidPrior(sure, (ZERO, HALF, HALF)), replace(spread, size=SIZES)]
    return [*(replace(fixed, prior=p) for p in found), *(replace(varying, prior=p) for p in growing)]


def test_no_comparison_of_the_laws_can_change_unnoticed() -> None:
    weights = [(0, 1, 2), (-1, 0, 3), (2, 2, 2), (0, 0, 0), (4, -2, 2), (1, 5, 3), (-3, -2, -1)]
    questions: list[Question] = [lambda module, p=p: _everything(module, p, weights) for p in priors()]
    questions.append(lambda module: module.law_of(problem_of(ListedUniverse(("a", "b")), GivenGraph(()))))
    limits = [("MOST_LIKELY", most) for most in (2, 3, 5, 6, 8, 9, 14, 15)]
    limits += [("MOST_COEFFICIENTS", most) for most in (7, 8, 16, 20, 59, 60, 63, 84, 111, 112, 117)]
    limits += [("MOST_DRAWN", most) for most in (7, 8, 59, 60, 63, 84, 111, 112, 117)]
    limits += [("MOST_KEPT", most) for most in (5, 6, 17, 18, 53, 54)]
    limits += [("MOST_IN_SERIES", most) for most in (-1, 59, 60, 83, 84, 111, 112)]
    for limit, p in product(limits, priors()):
        ask: Question = lambda module, p=p: [_told(module, p, w) for w in weights]  # noqa: E731
        questions.append(lambda module, limit=limit, ask=ask: limited(module, *limit, ask))
    for most in (259, 260, 269, 270, 271, 280):  # 24·√(400·¼) + 30 = 270
        ask = lambda module: module.Identical((HALF, ZERO, HALF), ((400, ONE),)).fits((0, 0, 1))  # noqa: E731
        questions.append(lambda module, most=most, ask=ask: limited(module, "MOST_LIKELY", most, ask))
    for most in (8, 9, 10):  # 135 steps of an urn, 15 pairs
        ask = lambda module: module.Overdispersed((HALF, ONE, ONE), ((4, ONE),))._in_pairs((0, 1, 2))  # noqa: E731
        questions.append(lambda module, most=most, ask=ask: limited(module, "PAIRS_PER_DRAW", most, ask))
    questions += [
        lambda module, laws=laws: module.Overdispersed((HALF, ONE, ONE), ((90, ONE),))._in_pairs((0, 1, 9), laws) for laws in (1, 5)
    ]
    questions.append(lambda module: module.Overdispersed((HALF, ONE, ONE, ONE), ((90, ONE),))._in_pairs((0, 1, 2, 9)))
    far = (lambda module, n=n: module.Overdispersed((HALF, ONE, ONE), ((n, ONE),)).masses((0, 1, 99), 20).masses for n in (20, 90))
    questions += far
    assert unexplained(VALUE / "laws.py", questions, EQUIVALENT) == []


def test_no_comparison_of_the_sizes_can_change_unnoticed() -> None:
    questions: list[Question] = [
        lambda module: module.fewer(((0, HALF), (1, THIRD), (2, Fraction(1, 6)))),
        lambda module: module.sizes_of(Universe(THREE, 0, 1), (ZERO, ONE)),
        lambda module: module.sizes_of(Universe(THREE, 0, 1), None),
        lambda module: (module.mean_size(((2, HALF), (5, HALF))), module.mean_pairs(((2, HALF), (5, HALF)))),
        lambda module: module.averaged((HALF, THIRD), (Fraction(3), Fraction(-5))),
    ]
    assert unexplained(VALUE / "sizes.py", questions, {}) == []


def _told(module: ModuleType, problem: Problem, weights: tuple[int, ...]) -> Any:
    """Whether a law fits, and its masses or the words that refuse it."""
    law = module.law_of(problem)
    try:
        found = [law.masses(weights, 20), *law.others(weights, 20).values()]
        return law.fits(weights), [vars(masses) for masses in found]
    except discreet.errors.TooLarge as error:
        return law.fits(weights), str(error)


def _everything(module: ModuleType, problem: Problem, every: list[tuple[int, ...]]) -> Any:
    law = module.law_of(problem)
    moments = [law.mean(t) for t in range(3)], law.second((ONE, ZERO, Fraction(-2)))
    others = [law.without(t) for t in range(3)]
    left = [None if other is None else [(m.first, m.masses) for m in (other.masses(w, 20) for w in every)] for other in others]
    return moments, left, [_told(module, problem, w) for w in every]


def test_no_comparison_of_the_series_can_change_unnoticed() -> None:
    sums: list[Question] = [
        lambda module, n=n, w=w: module.sum_masses([HALF, THIRD, Fraction(1, 6)], w, n, 20)
        for n in (0, 1, 2, 5) for w in ([0, 1, 2], [-1, 0, 3], [2, 2, 2])
    ]  # fmt: skip
    for w, most in product(([0, 3], [1, 5]), (1, 2)):
        apart: Question = lambda module, w=w: module.sum_masses([HALF, HALF], w, 0, 20)  # noqa: E731
        sums.append(lambda module, most=most, ask=apart: limited(module, "MOST_LIKELY", most, ask))
    left, right = fmpz_poly([0, 0, 3 << 20]), fmpz_poly([0, 5, 1 << 20])
    sums += [
        lambda module, most=most: limited(module, "MOST_LIKELY", most, lambda module: str(module.rounded_product(left, right, 20)))
        for most in (1, 2, 3)
    ]
    longer = fmpz_poly([0, 5, 1, 1 << 20])
    sums += [lambda module: limited(module, "MOST_LIKELY", 2, lambda module: str(module.rounded_product(left, longer, 20)))]
    sums += [lambda module: str(module.rounded_product(fmpz_poly([0, 0, 1]), fmpz_poly([1]), 20))]
    sums += [lambda module, masses=masses: vars(module.trimmed(3, masses, 20)) for masses in ([0, 0, 5, 0, 2], [1], [0])]
    assert unexplained(VALUE / "sum_laws.py", sums, EQUIVALENT) == []
    series = [[5 << 18, 3 << 18, 1 << 18, 1 << 16], [1 << 19, 1 << 18, 1 << 17, 1 << 16], [0, 1 << 19, 0, 1 << 18]]
    blocks: list[Question] = [
        lambda module, count=count, sizes=sizes: {
            n: [int(x) for x in found]
            for n, found in module.blocks_of([(w, series[w]) for w in range(count)], sizes, 7, 20).items()
        }
        for count in (1, 2, 3) for sizes in ([3], [1, 3], [1, 2, 3])
    ]  # fmt: skip
    blocks += [lambda module, c=c: module.series_of(c, THIRD, 3, 20) for c in (THIRD, ONE, Fraction(7, 2))]
    assert unexplained(VALUE / "dirichlet_series.py", blocks, EQUIVALENT) == []
    urns: list[Question] = [
        lambda module, w=w, sizes=sizes: vars(module.urn_sums(dict(zip(w, (*THREE[1:], HALF), strict=True)), sizes, 70))
        for w in ((0, 1, 4), (-2, 2, 4), (6, 2, 4)) for sizes in (((3, ONE),), ((0, THIRD), (2, HALF), (3, Fraction(1, 6))))
    ]  # fmt: skip
    urns += [lambda module: vars(module.urn_sums({0: ONE}, ((2, ONE),), 70))]
    assert unexplained(VALUE / "urn_sums.py", urns, EQUIVALENT) == []
    every = [
        (dict(zip(w, (*THREE[1:], HALF), strict=False)), sizes)
        for w in ((0, 1, 4), (-2, 2, 4), (6, 2, 4), (0, 2, 4), (0, 3), (2, -2), (5,), (0,))
        for sizes in (((3, ONE),), ((0, THIRD), (2, HALF), (3, Fraction(1, 6))))
    ]
    pairs: list[Question] = [lambda module, c=c, s=s: module.pairs_of(c, s) for c, s in every]
    pairs += [lambda module, c=c, s=s: module.pair_masses(c, s, 20) for c, s in every if pairs_of(c, s) is not None]
    pairs += [
        lambda module, most=most: limited(module, "MOST_PAIRS", most, lambda module: module.pairs_of({0: ONE, 1: ONE}, ((3, ONE),)))
        for most in (9, 10, 11)
    ]
    assert unexplained(VALUE / "dirichlet_pairs.py", pairs, EQUIVALENT) == []


def test_no_comparison_of_the_sums_can_change_unnoticed() -> None:
    questions: list[Question] = []
    law = Identical((HALF, THIRD, Fraction(1, 6)), ((3, ONE),))
    rare = Identical((HALF, HALF, ZERO), ((3, ONE),))
    pairs = [((0, 1, 2), values) for values in ((0, 1, 2), (1, 3, 5), (0, 1, 3))]
    pairs += [((1, 1, 2), (0, 1, 2)), ((1, 1, 1), (2, 2, 2)), ((0, 2, 1), (0, 4, 1))]
    for weights, values in pairs:
        for of in (law, rare):
            for smallest in (1, 3):
                case = (of, weights, tuple(map(Fraction, values)), smallest, 3)
                questions.append(lambda module, case=case: _sums(module.Sums(*case)))
    plain = problem_of(Universe.of(2, (ZERO, ONE)), ReplaceOne())
    kernel = GeometricKernel(0, 2, 1, HALF)
    squares = tuple((f"{2 - c},{c}", Fraction(c * c)) for c in range(3))
    odd = SimpleNamespace(universe=plain.universe, prior=plain.prior, statistic=TableStatistic(squares))
    listed = problem_of(ListedUniverse(("a", "b")), GivenGraph(()))
    stands: list[Any] = [mechanism_on(plain, LinearSummary((0, 1)), kernel)]
    summaries = (LinearSummary((0, 1)), HistogramSummary())
    stands += [SimpleNamespace(problem=p, summary=s) for p in (plain, odd, listed) for s in summaries]
    questions += [lambda module, m=m: repr(module.sums_of(m)) for m in stands]
    assert unexplained(VALUE / "sums.py", questions, EQUIVALENT) == []


def _sums(sums: Any) -> Any:
    return sums.mean(), sums.second(), sums.tied, sums.lattice(), sums.origin


def test_no_comparison_of_the_values_of_gaussian_noise_can_change_unnoticed() -> None:
    plain = problem_of(Universe.of(2, (ZERO, ONE)), ReplaceOne())
    questions: list[Question] = []
    for numbers in ([ONE, ZERO, ZERO], [ZERO, ONE, ONE], [ONE, Fraction(2), Fraction(3)], [ZERO, ZERO, ZERO]):
        questions.append(lambda module, x=numbers: module.noisy_sums(GaussianKernel(0, 2, 1, ONE), x, 20))
    narrow = GaussianKernel(0, 2, 1, Fraction(1, 100))
    questions.append(lambda module: module.noisy_sums(narrow, [ONE, ONE, ONE], 20))
    for actions in (None, THREE):
        of = SimpleNamespace(kernel=GaussianKernel(0, 2, 1, ONE, actions))
        made = mechanism_on(plain, LinearSummary((0, 1)), GeometricKernel(0, 2, 1, HALF, THREE))
        questions.append(lambda module, of=of, made=made: module.listed_payoff(made, of.kernel))
    assert unexplained(VALUE / "gaussian.py", questions, EQUIVALENT) == []
