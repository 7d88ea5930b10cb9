"""Mutation tests of values: change any comparison, and some mechanism is worth another number or is refused.

As in `test_mutants`: random tiny mechanisms (which `test_weighted_sum_values` holds against the sum over all databases), and the
same under limits of size lowered to where they decide.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from mutation import limited, unexplained
from random_worlds import mechanism_on, problem_of, random_table

import discreet
from discreet.certify.value.path import bands, path_of
from discreet.certify.value.sums import sums_of
from discreet.model.actions import ListedActions, NamedActions, RealActions
from discreet.model.decision import Decision
from discreet.model.kernel import GeometricKernel, Output, StaircaseKernel, TableKernel
from discreet.model.losses import AbsoluteLoss, FormulaLoss, MatchLoss, PinballLoss, SquaredLoss, TableLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.priors import ExchangeablePrior, IidPrior, IndependentPrior
from discreet.model.states import state_space
from discreet.model.statistic import TableStatistic
from discreet.model.summary import DatabaseSummary, HistogramSummary, LinearSummary
from discreet.model.universe import Universe

Question = Callable[[ModuleType], Any]

VALUE = Path(discreet.__file__).parent / "certify" / "value"
ZERO, ONE, HALF, THIRD = Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3)
TWO = (ZERO, ONE)
THREE = (ZERO, ONE, Fraction(2))
ERRORS = (SquaredLoss(), AbsoluteLoss(), PinballLoss(Fraction(1, 5)), PinballLoss(Fraction(4, 5)))
NOTHING = "what is multiplied by nothing may be either side"
ALIKE = "all rows run the same way"
EITHER = "both formulas give the logarithm, each best on its own side"
EQUIVALENT: dict[str, str] = {
    "weighted_sums: reason is not None or sums is None [Or→And at 0]": "what has a reason against it has no sums either",
    "weighted_sums: i >= width [GtE→Gt at 0]": "the first of the stairs is the one before them",
    "weighted_sums: factor >= 0 [GtE→Gt at 0]": NOTHING,
    "weighted_sums: shorts[0] <= 0 <= shorts[1] [LtE→Lt at 0]": "an end that is 0 counts as an end",
    "weighted_sums: shorts[0] <= 0 <= shorts[1] [LtE→Lt at 1]": "an end that is 0 counts as an end",
    "joint_sums: sums.smallest < sums.largest [Lt→LtE at 0]": "a longer stride than needed keeps the same pairs apart",
    "path: 0 < prior.probabilities[1] < 1 [1→0 at 1]": "of two types one is sure when the other is impossible",
    "path: 2 * ratio < 1 [Lt→LtE at 0]": EITHER,
    "path: 2 * ratio < 1 [2→3 at 0]": EITHER,
    "path: 2 * ratio < 1 [2→1 at 0]": EITHER,
    "path: 2 * ratio < 1 [1→2 at 1]": EITHER,
    "path_losses: f1 is not None and g1 is not None [And→Or at 0]": "a payoff with a kink is refused before",
    "path_losses: values[0, -1] >= values[0, 0] [GtE→Gt at 0]": "equal ends of a monotone row: all of it is equal",
    "path_losses: values[0, -1] >= values[0, 0] [0→1 at 0]": ALIKE,
    "path_losses: values[0, -1] >= values[0, 0] [0→-1 at 0]": ALIKE,
    "path_losses: values[0, -1] >= values[0, 0] [0→1 at 1]": ALIKE,
    "path_losses: values[0, -1] >= values[0, 0] [0→-1 at 1]": ALIKE,
    "path_losses: slope(Near.exactly(middle), middles).value > 0 [Gt→GtE at 0]": "either half holds the bottom",
    "path_losses: middle <= low [LtE→Lt at 0]": "the loop has an end of its own, and nothing moves any more",
    "path_losses: middle >= high [GtE→Gt at 0]": "the loop has an end of its own, and nothing moves any more",
}


def acting(kernel: TableKernel, rng: random.Random) -> TableKernel:
    return replace(kernel, outputs=tuple(Output(o.label, Fraction(rng.randint(-9, 30), 3)) for o in kernel.outputs))


def summing(rng: random.Random, *, table: bool, decision: Decision | None = None) -> Mechanism:
    """A random mechanism on a weighted sum of two or three respondents."""
    types = rng.choice([2, 3])
    values = tuple(Fraction(rng.randint(-3, 6), rng.choice([1, 2])) for _ in range(types))
    fixed = rng.random() < 0.7
    universe, neighbours = (Universe.of(3, values), ReplaceOne()) if fixed else (Universe(values, 1, 3), AddRemoveOne())
    parts = [rng.randint(1, 9) for _ in range(types)]
    prior = IidPrior(tuple(Fraction(p, sum(parts)) for p in parts), None if fixed else (HALF, Fraction(1, 3), Fraction(1, 6)))
    decision = decision or Decision(rng.choice(ERRORS), RealActions(), weight=Fraction(rng.randint(1, 3), 2))
    problem = replace(problem_of(universe, neighbours, Fraction(1000), decision), prior=prior)
    ends = sorted((rng.randint(-4, 6), rng.randint(-4, 8))) if rng.random() < 0.4 else (None, None)
    summary = LinearSummary(tuple(rng.randint(-2, 4) for _ in range(types)), *ends)
    if table:
        return mechanism_on(problem, summary, acting(random_table(rng, state_space(universe, neighbours, summary).labels, 3), rng))
    low, high = summary.range(universe)
    step = max(1, summary.step(neighbours))
    actions = tuple(Fraction(rng.randint(-9, 30), 3) for _ in range(low, high + 2))
    stairs = StaircaseKernel(low, high + 1, step, rng.randint(1, step), Fraction(rng.randint(1, 9), 10), actions)
    return mechanism_on(problem, summary, rng.choice([GeometricKernel(low, high + 1, step, HALF, actions), stairs]))


def odd_ones() -> list[Mechanism]:
    """Mechanisms that are refused, or that only one of the ways can value."""
    rng = random.Random(1)
    problem, kernel = problem_of(Universe.of(2, TWO), ReplaceOne()), GeometricKernel(0, 2, 1, HALF, THREE)
    plain = mechanism_on(problem, LinearSummary((0, 1)), kernel)
    labels = state_space(problem.universe, problem.neighbours, HistogramSummary()).labels
    squares = tuple((label, Fraction(int(label[0]) ** 2)) for label in labels)
    names = NamedActions(("x", "y"))
    payoff = Decision(TableLoss(((ONE, ZERO, Fraction(2)), (ZERO, ONE, ONE))), names)
    formula = Decision(FormulaLoss("a*omega - a**2"), ListedActions(THREE))
    curved = Decision(FormulaLoss("-(a - omega)**3"), ListedActions(THREE))
    match = Decision(MatchLoss(), ListedActions(THREE))
    pairs = tuple((a, b) for a, b in zip(THREE, THREE[::-1], strict=True))
    missing = TableKernel(("0", "1", "2"), (Output("p", ONE), Output("q")), ((2, 1, 1), (2, 3, 3)), 4)
    return [
        plain, replace(plain, kernel=replace(kernel, actions=None)), replace(plain, kernel=missing),
        replace(plain, summary=HistogramSummary(), kernel=acting(random_table(rng, labels, 2), rng)),
        replace(plain, problem=replace(problem, statistic=TableStatistic(squares))),
        replace(plain, problem=replace(problem, decisions=problem.decisions * 2), kernel=replace(kernel, actions=pairs)),
        replace(plain, problem=replace(problem, decisions=(payoff,)), kernel=replace(kernel, actions=("x", "y", "x"))),
        *(replace(plain, problem=replace(problem, decisions=(d,))) for d in (formula, curved, match)),
        replace(plain, problem=replace(problem, prior=ExchangeablePrior((((2, 0), HALF), ((1, 1), ZERO), ((0, 2), HALF))))),
        replace(plain, problem=replace(problem, prior=IndependentPrior(((HALF, HALF), (Fraction(1, 3), Fraction(2, 3)))))),
    ]  # fmt: skip


def test_no_comparison_of_the_expected_payoff_can_change_unnoticed() -> None:
    rng = random.Random(2)
    plain = problem_of(Universe.of(2, TWO), ReplaceOne())
    ordered = replace(plain, prior=IndependentPrior(((HALF, HALF), (Fraction(1, 3), Fraction(2, 3)))))
    cases = []
    for problem in (ordered, plain):
        for summary in (DatabaseSummary(), HistogramSummary(), LinearSummary((0, 1))):
            labels = state_space(problem.universe, problem.neighbours, summary).labels
            cases.append(mechanism_on(problem, summary, acting(random_table(rng, labels, 2), rng)))
    cases += [summing(rng, table=True) for _ in range(4)] + odd_ones()
    questions: list[Question] = [lambda module, m=m: module.expected_payoff(m) for m in cases]
    questions += [lambda module, most=most: limited(module, "EXACT_STATES", most, questions[5]) for most in (1, 2, 3, 4)]
    questions += [lambda module, a=a: module.weighted_payoff(plain.decisions, a, ONE) for a in (None, ONE, (ONE, ONE), (ONE,))]
    assert unexplained(VALUE / "expected.py", questions, EQUIVALENT) == []


def test_no_comparison_of_the_weighted_sums_can_change_unnoticed() -> None:
    rng = random.Random(4)
    made = [summing(rng, table=k % 2 == 0) for k in range(24)]
    questions: list[Question] = [lambda module, m=m: module.weighted_sum_payoff(m) for m in (*odd_ones(), *made)]
    straight = Decision(FormulaLoss("a*omega - a**2"), RealActions(Fraction(-3), Fraction(10)), weight=HALF)
    lines = [summing(rng, table=k % 2 == 0, decision=straight) for k in range(8)]
    twice = tuple((a, a) for a in THREE)
    several = replace(odd_ones()[7], problem=replace(odd_ones()[7].problem, decisions=(straight, straight)),
                      kernel=GeometricKernel(0, 2, 1, HALF, twice))  # fmt: skip
    lines += [replace(m, problem=replace(m.problem, decisions=(straight,))) for m in odd_ones()[-2:]]  # a law that sets none aside
    questions += [lambda module, m=m: _by_moments(module, m) for m in (*made, *lines, several, *odd_ones())]
    for start in (-3, 0, 2, 4, 6):
        for length in (1, 2, 5):
            for ends in ((0, 4), (1, 3), (2, 2)):
                questions.append(lambda module, case=(start, length, *ends): module._window(list(range(5)), *case))
    for width in (1, 2, 3):
        for plateau in range(1, width + 1):
            numbers = [Fraction(k * k, 3) for k in range(5)]
            kernel = StaircaseKernel(0, 4, width, plateau, Fraction(2, 5))
            questions.append(lambda module, k=kernel, numbers=numbers: module._bracketed(k, numbers, 30))
    brackets = [(Fraction(-2), (ONE, Fraction(3))), (ZERO, (ONE, Fraction(2))), (HALF, (ONE, Fraction(2)))]
    questions.append(lambda module: module._added(brackets))
    centred: Any = SimpleNamespace(mean=lambda: ZERO)
    for ends in ((-3, 2), (0, 2), (-2, 0), (1, 2), (-2, -1), ("1/2", 2), (-2, "-1/2"), ("-1/2", "1/2"), (-3, "1/2"), ("-1/2", 3)):
        action = (-Fraction(ends[1]), -Fraction(ends[0]))
        for q in (HALF, Fraction(1, 5)):
            questions.append(lambda module, a=action, q=q: module._by_moments(centred, (ONE, Fraction(2)), a, q))
    assert unexplained(VALUE / "weighted_sums.py", questions, EQUIVALENT) == []


def _by_moments(module: ModuleType, mechanism: Mechanism) -> Any:
    """The value where the joint law is too large."""
    module.joint_fits = lambda *_, **__: False
    return module.weighted_sum_payoff(mechanism)


def test_no_comparison_of_the_joint_sums_can_change_unnoticed() -> None:
    rng = random.Random(6)
    made = [summing(rng, table=k % 2 == 0) for k in range(16)]
    payoff = Decision(FormulaLoss("a*omega - a**2"), RealActions(Fraction(-3), Fraction(10)))
    made += [summing(rng, table=k % 2 == 0, decision=payoff) for k in range(16)]
    grown = problem_of(Universe((ONE, ZERO, Fraction(3)), 1, 2), AddRemoveOne(), Fraction(1000), payoff)
    noise = GeometricKernel(2, 10, 5, HALF, tuple(map(Fraction, range(9))))
    made.append(mechanism_on(grown, LinearSummary((2, 3, 5)), noise))
    own = [m for m in odd_ones() if sums_of(m) is not None]
    questions: list[Question] = [lambda module, m=m: module.joint_payoff(m, sums_of(m)) for m in (*own, *made)]
    limits = [("MOST_CELLS", most) for most in (2, 3, 10, 11, 20, 40, 80)] + [("MOST_OUTPUTS", most) for most in (2, 3, 4, 7)]
    limits += [("MOST_PAYOFFS", most) for most in (5, 6, 8, 9)]
    for name, most in limits:
        questions += [
            lambda module, m=m, name=name, most=most: limited(module, name, most, lambda module: _joint(module, m))
            for m in (*own, *made[:4])
        ]
    for smallest in (2, 3):
        sizes: Any = SimpleNamespace(smallest=smallest, largest=3)
        questions += [lambda module, s=sizes, w=w: module._span(s, w) for w in ([1, 2], [-1, 2], [-2, -1])]
    first = own[0]
    questions += [lambda module, makers=makers: module.recommended(first.kernel, 0, makers) for makers in (1, 2)]
    questions += [
        lambda module, a=a: repr(module._losses(sums_of(first), [ONE, a], first.problem.decision, list(THREE))) for a in (ONE, "x")
    ]
    assert unexplained(VALUE / "joint_sums.py", questions, EQUIVALENT) == []


def _joint(module: ModuleType, mechanism: Mechanism) -> Any:
    sums = sums_of(mechanism)
    return module.joint_fits(sums, mechanism.kernel, False), module.joint_payoff(mechanism, sums)


def test_no_comparison_of_the_path_can_change_unnoticed() -> None:
    plain = problem_of(Universe.of(3, TWO), ReplaceOne())
    chances = [Fraction(x) for x in ("0", "1", "1/10", "1/2", "9/10")]
    few = [replace(problem_of(Universe.of(n, TWO), ReplaceOne()), prior=IidPrior((1 - p, p))) for n in (1, 2, 3) for p in chances]
    many = [replace(problem_of(Universe.of(150, TWO), ReplaceOne()), prior=IidPrior((1 - p, p))) for p in chances[2:]]
    others = [problem_of(Universe.of(2, THREE), ReplaceOne()), problem_of(Universe(TWO, 1, 3), AddRemoveOne())]
    others.append(replace(plain, prior=ExchangeablePrior(tuple(((3 - c, c), Fraction(1, 4)) for c in range(4)))))
    questions: list[Question] = [lambda module, p=p: _path(module.path_of(p)) for p in (*few, *many, *others)]
    ratios = [Fraction(x) for x in ("0", "1/10", "1/2", "9/10", "1/3")] + [Fraction(1, 10**280), Fraction(1, 10**281)]
    questions += [lambda module, r=r: module._reach(r) for r in (*ratios, Fraction(999999, 10**6), Fraction(1001, 2000))]
    for problem in (few[3], few[8], few[13], others[2], many[1]):
        n = problem.people.respondents
        for ratio in ratios[: 7 if n < 100 else 2]:
            for ends in ((0, n), (-1, n + 2)):
                questions.append(lambda module, case=(problem, ratio, *ends): _bands(module, *case))
    for terms in (15, 16, 17):
        ask: Question = lambda module: _bands(module, few[13], HALF, 0, 3)  # noqa: E731
        questions.append(lambda module, terms=terms, ask=ask: limited(module, "MOST_TERMS", terms, ask))
    questions.append(lambda module: module._falling(lambda _: 1e-34, 0, 5, 1))
    listing = SimpleNamespace(on_histograms=lambda *_: SimpleNamespace(floats=lambda: np.zeros(1)))
    for n in (20_000, 20_001):
        of = SimpleNamespace(universe=Universe.of(n, TWO), prior=listing)
        questions.append(lambda module, of=of: len(module.path_of(of).counts))
    assert unexplained(VALUE / "path.py", questions, EQUIVALENT) == []


def _path(path: Any) -> Any:
    return path.respondents, path.counts.tolist(), path.masses.tolist(), path.error, path.lost


def _bands(module: ModuleType, problem: Any, ratio: Fraction, low: int, high: int) -> Any:
    found = module.bands(module.path_of(problem), ratio, low, high)
    sums = [(b.joint.sum(axis=0).tolist(), b.joint.sum(axis=1).tolist(), int(b.at.sum())) for b in found]
    return sums, [(b.outputs.tolist(), b.error, b.missed) for b in found]


def test_no_comparison_of_the_losses_on_a_path_can_change_unnoticed() -> None:
    ranged, three = RealActions(ONE, Fraction(2)), ListedActions((ZERO, Fraction(3, 2), Fraction(4)))
    table = TableLoss(((ONE, ZERO, ZERO, ONE), (ZERO, ONE, ONE, ZERO))).tied_to(tuple(map(Fraction, range(4))))
    decisions = [Decision(loss, actions) for loss in ERRORS for actions in (RealActions(), ranged, three, ListedActions((ONE,)))]
    decisions += [Decision(FormulaLoss("a*omega - a**2"), three), Decision(MatchLoss(), three)]
    decisions += [Decision(table, NamedActions(("x", "y")))]
    plain = problem_of(Universe.of(3, TWO), ReplaceOne())
    falling = replace(plain, universe=Universe.of(3, (ONE, ZERO)))
    cases = [(decision, problem) for decision in decisions for problem in (plain, falling)]
    narrow = [RealActions(third - by, third + by) for third, by in ((ONE, Fraction(1, 10**30)), (THIRD, Fraction(1, 10**30)))]
    words = ["a*omega*(1/3 + 1/7) - a**2", "-omega/a - a/10", "abs(a)*omega - a"]
    cases += [(Decision(FormulaLoss(word), ranged), plain) for word in words]
    cases += [(Decision(FormulaLoss("a*omega - a**2"), actions), falling) for actions in narrow]
    questions: list[Question] = []
    joint = np.array([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25], [0.0, 0.0, 0.0, 0.0]])
    for values in (np.arange(4.0), np.arange(4.0)[::-1], np.array([1.0, 0.0])):
        rows, held = np.tile(values, (3, 1)), joint[:, : len(values)]
        for q in (Fraction(1, 5), Fraction(1, 4), HALF, Fraction(3, 4), Fraction(3, 10), Fraction(9, 10)):
            questions.append(lambda module, case=(held, rows, q): [np.asarray(x).tolist() for x in module._quantiles(*case)])
    band = SimpleNamespace(joint=joint[1:], at=np.tile(np.arange(4), (2, 1)))
    questions.append(lambda module: module._means(band, np.arange(4.0)).tolist())
    formula = FormulaLoss(words[0]).formula
    questions.append(lambda module: repr(module._folded(formula)))
    questions += [lambda module, case=case: _losses_on(module, *case) for case in cases]
    assert unexplained(VALUE / "path_losses.py", questions, EQUIVALENT) == []


def _losses_on(module: ModuleType, decision: Decision, problem: Any) -> Any:
    """Least losses, the best actions and both sums of regrets on the path of three respondents."""
    band = bands(path_of(problem), HALF, 0, 3)[0]
    omegas = tuple(problem.universe.values[0] * (3 - c) + problem.universe.values[1] * c for c in range(4))
    least = module.least_loss(decision, omegas)
    listed = [ONE] if isinstance(decision.actions, RealActions) else list(decision.actions)
    followed = module.followed(decision, band, omegas, least, [listed[k % len(listed)] for k in range(4)])
    return least.tolist(), followed, module.least_followed(decision, band, omegas, least)
