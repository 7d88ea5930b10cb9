"""Mutation tests of the bounds by theorem: change any comparison, and some problem gets another bound or another refusal.

As in `test_mutants`: tiny problems, sets of types of every kind, and limits of size lowered to where they decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from mutation import limited, unexplained
from random_worlds import problem_of

import discreet
from discreet.certify.bounds.concentrated_chain import CONCENTRATED
from discreet.model.actions import ListedActions, NamedActions, RealActions
from discreet.model.certificate import TheoremWitness
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import GeometricKernel
from discreet.model.losses import AbsoluteLoss, FormulaLoss, MatchLoss, PinballLoss, SquaredLoss, TableLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne, GivenGraph, ReplaceOne
from discreet.model.priors import DirichletMultinomialPrior, ExchangeablePrior, IidPrior, IndependentPrior
from discreet.model.problem import Problem
from discreet.model.promises import ConcentratedPromise, PurePromise
from discreet.model.statistic import CountStatistic, MeanStatistic, TableStatistic
from discreet.model.summary import HistogramSummary, LinearSummary
from discreet.model.universe import ListedUniverse, Universe

Question = Callable[[ModuleType], Any]

BOUNDS = Path(discreet.__file__).parent / "certify" / "bounds"
ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)
NEVER = Fraction(1, 1 << 900)
TWO = (ZERO, ONE)
THREE = (ZERO, ONE, Fraction(2))
UNSEEN = "e^−299 is less than FAINT, which is taken off anyway"
EQUIVALENT: dict[str, str] = {
    "chain: size == 1 [1→0 at 1]": "of one state nothing is hidden, by the formula too",
    "chain: density > FAINT [Gt→GtE at 0]": "FAINT is taken off anyway",
    "chain: epsilon < 300 [Lt→LtE at 0]": UNSEEN,
    "chain: epsilon < 300 [300→301 at 1]": UNSEEN,
    "chain: epsilon < 300 [300→299 at 1]": UNSEEN,
    "other_chains: epsilon < 300 [Lt→LtE at 0]": UNSEEN,
    "other_chains: epsilon < 300 [300→301 at 1]": UNSEEN,
    "other_chains: epsilon < 300 [300→299 at 1]": UNSEEN,
    "other_chains: mean >= 0 [GtE→Gt at 0]": "nothing is lost on values that are all 0",
    "chain: ratio == 0 [0→-1 at 1]": "nothing times anything",
    "full_information: len(found[0]) <= MOST_KEPT [LtE→Lt at 0]": "what is kept is what would be found again",
    "full_information: len(found[0]) <= MOST_KEPT [LtE→Gt at 0]": "what is kept is what would be found again",
}


def chained(chances: str, values: str, n: int = 3, decision: Decision | None = None) -> Problem:
    """Independent respondents of these chances and values."""
    worth = tuple(map(Fraction, values.split()))
    problem = problem_of(Universe.of(n, worth), ReplaceOne(), decision=decision)
    return replace(problem, prior=IidPrior(tuple(map(Fraction, chances.split()))))


def named(theorem: str, **sets: str) -> TheoremWitness:
    return TheoremWitness(theorem, tuple(sets.items()))


def errors(weight: Fraction = ONE) -> list[Decision]:
    return [Decision(loss, RealActions(), weight=weight) for loss in (SquaredLoss(), AbsoluteLoss(), PinballLoss(Fraction(1, 5)))]


def test_no_comparison_of_the_chain_can_change_unnoticed() -> None:
    four = ("1/2 1/5 1/5 1/10", "0 1 3 3")
    match = Decision(MatchLoss(), ListedActions(THREE))
    plain, gone = chained(*four), chained("1/2 1/2 0", "0 1 2")
    sets = "0 2 | 0 3,2 | 0,1 2,3 | 0,0 2 | 0 0 | 0 4 | -1 2 | 3 2 | 2 1 | 1 0 | 0,2 1 | 1 0,2"
    cases = [(plain, named("chain", low=low, high=high)) for low, high in (pair.split() for pair in sets.split(" | "))]
    cases += [(gone, named("chain", low=low, high=high)) for low, high in (("0", "1"), ("0", "2"), ("0", "1,2"), ("2", "1"))]
    cases += [(chained(*four, decision=d), named("chain", low="0,1", high="2,3")) for d in errors(Fraction(2))[1:]]
    twice = replace(plain, decisions=(plain.decision, plain.decision))

    cases += [(replace(plain, decisions=(match,)), cases[0][1]), (twice, cases[0][1])]
    cases += [(plain, named("chain", low="0")), (plain, named("chain", low="0", high="2", more="3"))]
    cases += [(plain, TheoremWitness("chain", (("low", "0"), ("high", "2"), ("low", "0"))))]
    cases += [(plain, named("chain", low="x", high="2"))]
    cases += [(plain.with_epsilon(Fraction(e)), cases[0][1]) for e in ("0", "20", "300", "301")]
    questions: list[Question] = [lambda module, case=case: module.chain_upper_bound(*case) for case in cases]
    questions += [
        lambda module, trials=trials, p=p: module.binomial_below(trials, p)[1].tolist()
        for trials in (0, 1, 2, 5, 400) for p in (Fraction(1, 10), HALF, Fraction(99, 100), ONE)
    ]  # fmt: skip
    questions += [
        lambda module, trials=trials, p=p: (module.binomial_below(trials, p)[0], module.binomial_below(trials, p)[1].tolist())
        for trials in (1, 7) for p in (NEVER, 2 * NEVER, NEVER / 9, 1 - NEVER / 9)
    ]  # fmt: skip
    questions += [lambda module, ratio=ratio: module._tail(0.25, ratio) for ratio in (0.0, 0.5, 1 - 1e-6, 0.9999995, 1.0, 1.5)]
    for size in (1, 2, 3, 7):
        masses = np.linspace(0.1, 0.3, size)
        questions.append(lambda module, m=masses: repr(module.hidden_variances(np.stack([m, m[::-1]], axis=1), 0.4)))
        questions += [lambda module, m=masses, q=q: module.pinball_loss(m, 0.4, q) for q in (HALF, Fraction(1, 5))]
    faint = np.array([[0.5], [0.0], [1e-121], [1e-120], [0.0], [0.0]])
    questions.append(lambda module: repr(module.hidden_variances(faint, 0.0)))
    for decision in errors()[::2]:
        many = chained(*four, n=60, decision=decision)
        for name in ("LINEAR_WORK", "QUADRATIC_WORK"):
            ask: Question = lambda module, many=many: module.chain_upper_bound(many, named("chain", low="0", high="2"))  # noqa: E731
            questions.append(lambda module, name=name, ask=ask: limited(module, name, 1000, ask))
    assert unexplained(BOUNDS / "chain.py", questions, EQUIVALENT) == []


def test_no_comparison_of_the_chain_under_rho_can_change_unnoticed() -> None:
    four = ("1/2 1/5 1/5 1/10", "0 1 3 3")
    under = lambda rho, **more: chained(*four, **more).with_promise(ConcentratedPromise(Fraction(rho)))  # noqa: E731
    plain, sets = under("1/2"), named(CONCENTRATED, low="0", high="2")
    cases = [(under(rho), sets) for rho in ("1/9", "99", "100", "100.5", "101", "101.5", "102")]
    cases += [(plain, named(CONCENTRATED, low="0,1", high="2,3")), (plain, named(CONCENTRATED, low="2", high="0"))]
    cases += [(plain, named(CONCENTRATED, low="0")), (plain, named(CONCENTRATED, low="0", high="2", more="3"))]
    cases += [(plain, TheoremWitness(CONCENTRATED, (("low", "0"), ("high", "2"), ("low", "0"))))]
    cases += [(under("1/2", decision=d), sets) for d in errors()[1:]] + [(chained(*four), sets)]
    cases += [(replace(plain, decisions=(plain.decision, plain.decision)), sets)]
    questions: list[Question] = [lambda module, case=case: module.concentrated_chain_bound(*case) for case in cases]
    for size in (1, 2, 3, 7):
        laws = np.stack([np.linspace(0.1, 0.3, size), np.linspace(0.3, 0.1, size)], axis=1)
        laws[size // 2 + 1 :, 1] = 0.0
        questions.append(lambda module, laws=laws: repr(module.path_losses(laws, 0.4, 1.5, 0.5)))
    questions.append(lambda module: repr(module.path_losses(np.array([[1.0, 1e-300], [0.0, 1e-300]]), 1e300, 1.5, 0.5)))
    many = under("1/2", n=60)
    ask: Question = lambda module: module.concentrated_chain_bound(many, sets)  # noqa: E731
    questions += [lambda module, name=name: limited(module, name, 1000, ask) for name in ("LINEAR_WORK",)]
    assert unexplained(BOUNDS / "concentrated_chain.py", questions, EQUIVALENT) == []


def test_no_comparison_of_the_other_chains_can_change_unnoticed() -> None:
    spread = DirichletMultinomialPrior((ONE, Fraction(3, 2), Fraction(2), Fraction(1, 3)))
    values = tuple(map(Fraction, (0, 1, 3, 3)))
    fixed, sized = Universe.of(3, values), Universe(values, 1, 3)
    sizes = (HALF, Fraction(1, 3), Fraction(1, 6))
    problems = [replace(problem_of(fixed, ReplaceOne(), decision=d), prior=spread) for d in errors(Fraction(2))]
    growing = [
        replace(problem_of(universe, AddRemoveOne(), decision=d), prior=prior)
        for d in errors()
        for universe in (sized, replace(sized, values=tuple(-v for v in values)))
        for prior in (IidPrior((HALF, Fraction(1, 4), Fraction(1, 4), ZERO), sizes), replace(spread, size=sizes))
    ]
    sets = "0 2 | 0 3,2 | 0,1 2,3 | 0,0 2 | 0 0 | 0 4 | -1 2 | 3 2 | 2 1 | 1 0 | 0,2 1 | 1 0,2 | 0,1 1,2"
    pairs = [named("chain", low=low, high=high) for low, high in (pair.split() for pair in sets.split(" | "))]
    cases = [(p, pair) for p in problems for pair in pairs]
    first = cases[0][1]
    cases += [(problems[0], w) for w in (named("chain", low="0"), named("chain", low="0", high="2", more="1"))]
    cases += [(problems[0], TheoremWitness("chain", (("low", "0"), ("high", "2"), ("low", "0"))))]
    listed = replace(problems[0], decisions=(Decision(MatchLoss(), ListedActions(THREE)),))
    twice = replace(problems[0], decisions=(problems[0].decision,) * 2)
    cases += [(p, first) for p in (listed, twice, growing[0], growing[1], problem_of(fixed, ReplaceOne()))]
    cases += [(problems[0].with_epsilon(Fraction(e)), first) for e in ("0", "20", "300", "301")]
    questions: list[Question] = [lambda module, case=case: module.any_chain_bound(*case) for case in cases]
    questions += [lambda module, case=case: module.overdispersed_chain_bound(*case) for case in cases[-9:]]
    rising = [(p, named("growing chain", high=high)) for p in growing for high in ("1", "2,3", "0", "1,2", "3", "0,1,2,3")]
    mixed = replace(growing[1], universe=replace(sized, values=tuple(map(Fraction, (-1, 1, 3, 0)))))
    rising += [(mixed, named("growing chain", high=high)) for high in ("0,1", "0", "0,3", "1,3", "1,1", "9", "-1")]
    rising += [(growing[0], w) for w in (named("growing chain"), named("growing chain", high="1", low="0"))]
    both = replace(growing[0], decisions=growing[0].decisions * 2)
    rising += [(p, named("growing chain", high="1")) for p in (problems[0], both)]
    questions += [lambda module, case=case: module.growing_chain_bound(*case) for case in rising]
    limits = [("MOST_RESPONDENTS", 2), ("MOST_RESPONDENTS", 3), ("MATRIX", 3), ("MATRIX", 6)]
    limits += [("LEAST_EXPONENT", least) for least in range(-3, 1)]
    limits += [("QUADRATIC_WORK", work) for work in (3, 4, 9, 13, 14, 29, 30)]
    short = replace(growing[-1], universe=replace(sized, values=tuple(v / 2 for v in values)))
    questions.append(lambda module: module.growing_chain_bound(short, named("growing chain", high="1")))
    everyone = named("chain", low="0,1", high="2,3")
    asks: list[Question] = [
        lambda module: module.any_chain_bound(problems[0], first), lambda module: module.any_chain_bound(problems[2], first),
        lambda module: module.any_chain_bound(problems[0], everyone),
        lambda module: module.growing_chain_bound(growing[1], named("growing chain", high="1")),
    ]  # fmt: skip
    questions += [lambda module, limit=limit, ask=ask: limited(module, *limit, ask) for limit in limits for ask in asks]
    assert unexplained(BOUNDS / "other_chains.py", questions, EQUIVALENT) == []


def test_no_comparison_of_full_information_can_change_unnoticed() -> None:
    pair, sized = Universe.of(2, THREE), Universe(THREE, 1, 2)
    payoff = TableLoss(((Fraction(1), Fraction(0), Fraction(2), Fraction(5), Fraction(-1)), (Fraction(2),) * 5))
    three = ListedActions((ZERO, Fraction(3, 2), Fraction(4)))
    formula = Decision(FormulaLoss("-(a - omega)**2 + omega"), three, weight=Fraction(3))
    decisions = [
        Decision(SquaredLoss(), RealActions()), Decision(SquaredLoss(), RealActions(ONE, Fraction(2)), weight=Fraction(2)), formula,
        Decision(AbsoluteLoss(), ListedActions((HALF, Fraction(3, 2), Fraction(7, 2)))), Decision(payoff, NamedActions(("x", "y"))),
        Decision(MatchLoss(), ListedActions(THREE)), Decision(FormulaLoss("a*omega - a**2"), RealActions(ZERO, Fraction(2))),
    ]  # fmt: skip
    problems = [problem_of(pair, ReplaceOne(), decision=d) for d in decisions]
    problems.append(problem_of(sized, AddRemoveOne(), decision=formula))
    problems.append(replace(problems[0], decisions=(decisions[0], formula)))
    problems.append(replace(problems[0], decisions=(decisions[0], decisions[1])))
    uneven = IndependentPrior(((HALF, HALF), (Fraction(1, 3), Fraction(2, 3))))
    ordered = replace(problem_of(Universe.of(2, TWO), ReplaceOne(), decision=formula), prior=uneven)
    table = tuple((f"{a},{2 - a}", Fraction(a * a)) for a in range(3))
    squares = replace(problem_of(Universe.of(2, TWO), ReplaceOne(), decision=formula), statistic=TableStatistic(table))
    names = problem_of(ListedUniverse(("a", "b", "c")), GivenGraph(()), decision=formula)
    problems += [ordered, squares, names]
    questions: list[Question] = [lambda module, p=p: module.full_information(p) for p in problems]
    questions += [
        lambda module, p=p, most=most: limited(module, "MOST_LISTED", most, lambda module: module.masses_of_statistic(p))
        for p in (*problems[:1], *problems[7:8], ordered, squares, names) for most in (2, 3, 5, 6, 7)
    ]  # fmt: skip
    questions += [
        lambda module, p=p, most=most: limited(module, "MOST_PAYOFFS", most, lambda module: module.full_information(p))
        for p in (problems[2], problems[4], ordered) for most in (8, 9, 10, 14, 15)
    ]  # fmt: skip
    questions += [
        lambda module, p=p, most=most: limited(module, "MOST_PAYOFFS", most, lambda module: module._anywhere(p))
        for p in problems for most in (4, 5, 6, 10**6)
    ]  # fmt: skip
    questions += [
        lambda module, known=known: module._anywhere(problems[2], known)
        for known in (
            {},
            {ZERO: ONE},
            {Fraction(4): Fraction(5)},
            {Fraction(4): Fraction(20)},
            {Fraction(w): ZERO for w in range(5)},
        )
    ]
    problems.append(replace(problems[6], decisions=(decisions[6], formula)))
    problems.append(replace(problems[6], decisions=(decisions[6], decisions[6])))
    problems.append(replace(squares, decisions=(decisions[6],)))
    questions += [lambda module, p=p: module._along_a_chord(p) for p in problems]
    whole = Decision(AbsoluteLoss(), ListedActions(tuple(map(Fraction, range(5)))))
    answered = [replace(p, decisions=(whole,)) for p in (problems[0], squares, names)]
    questions += [lambda module, p=p: module.is_answered(p) for p in (*problems, *answered)]
    questions += [lambda module, w=w: module.lattice(list(map(Fraction, w))) for w in ((2, 4), (0, 0), ("1/2", "1/3"))]
    assert unexplained(BOUNDS / "full_information.py", questions, EQUIVALENT) == []


def theorem_problems() -> list[Problem]:
    """Problems of two types for which the geometric mechanism is optimal, and some that miss one condition each."""
    two, three = Universe.of(3, TWO), Universe.of(2, THREE)
    apart = Universe.of(3, (ZERO, HALF))
    table = TableLoss(((ONE, ZERO, ZERO, ZERO), (ZERO, ZERO, ONE, ONE)))
    falling = TableLoss(((ZERO, ZERO, ONE, ONE), (ONE, ZERO, ZERO, ZERO)))
    decisions = [
        *errors(Fraction(2)), Decision(SquaredLoss(), ListedActions((ZERO, HALF, Fraction(3)))),
        Decision(AbsoluteLoss(), RealActions(ONE, Fraction(2))),
        Decision(table, ListedActions(TWO)), Decision(falling, ListedActions(TWO)),
        Decision(FormulaLoss("a*omega - a**2"), RealActions(ZERO, Fraction(2))),
    ]  # fmt: skip
    found = [problem_of(two, ReplaceOne(), decision=d) for d in decisions]
    plain = found[0]
    even = ExchangeablePrior(tuple(((3 - c, c), Fraction(1, 4)) for c in range(4)))
    uneven = IndependentPrior(((HALF, HALF), (Fraction(1, 3), Fraction(2, 3)), (HALF, HALF)))
    squares = tuple((f"{3 - c},{c}", Fraction(c * c)) for c in range(4))
    return [
        *found, plain.with_epsilon(ZERO), problem_of(three, ReplaceOne()), problem_of(Universe(TWO, 1, 3), AddRemoveOne()),
        replace(plain, prior=even), replace(plain, prior=uneven), replace(plain, statistic=TableStatistic(squares)),
        replace(plain, statistic=MeanStatistic()), replace(plain, decisions=plain.decisions * 2),
        replace(plain, universe=Universe.of(3, (Fraction(5), Fraction(1)))), replace(plain, universe=Universe.of(3, (ONE, ONE))),
        problem_of(ListedUniverse(("a", "b")), GivenGraph(())),
        *(problem_of(apart, ReplaceOne(), decision=d) for d in decisions[4:6]),
        *(problem_of(Universe.of(n, TWO), ReplaceOne(), decision=Decision(MatchLoss(), ListedActions(TWO))) for n in (5000, 5001)),
    ]  # fmt: skip


def test_no_comparison_of_the_theorems_can_change_unnoticed() -> None:
    third = TheoremWitness("SY Thm 3")
    problems = theorem_problems()
    questions: list[Question] = [lambda module, p=p: module.theorem_upper_bound(p, third) for p in problems]
    counted = replace(problem_of(Universe.of(2, THREE), ReplaceOne()), statistic=CountStatistic((1, 2)))
    merged = named("SY Thm 3", reduction="merged-count")
    others = [TheoremWitness("full information"), named("full information", more="1"), TheoremWitness("?"), merged]
    questions += [lambda module, p=p, w=w: module.theorem_upper_bound(p, w) for p in (problems[0], counted) for w in others]
    read = LinearSummary((0, 1))
    for problem in (*problems[:6], *problems[11:13], *problems[-4:-2]):
        for kernel in _kernels(problem):
            for summary in (read, LinearSummary((1, 0)), replace(read, low=1), replace(read, high=2)):
                questions.append(lambda module, case=(problem, kernel, summary): _followed(module, *case, third))
    plain, kernel = problems[0], _kernels(problems[0])[0]
    questions.append(lambda module: _followed(module, plain, kernel, HistogramSummary(), third))
    questions += [lambda module, w=w: _followed(module, plain, kernel, LinearSummary((0, 1)), w) for w in others]
    short = GeometricKernel(0, 2, 1, HALF, (ZERO, ONE, Fraction(2)))
    for weights in ((0, 1, 1), (0, 0, 1)):
        questions.append(lambda module, weights=weights: _followed(module, counted, short, LinearSummary(weights), merged))
    assert unexplained(BOUNDS / "theorems.py", questions, EQUIVALENT) == []


def _kernels(problem: Problem) -> list[GeometricKernel]:
    actions = list(problem.decision.actions) if not problem.real_actions else [ONE, Fraction(2)]  # type: ignore[arg-type]
    four = tuple((actions * 4)[k] for k in (0, 0, 1, 1))
    base = GeometricKernel(0, 3, 1, HALF, four)
    clipped = [replace(base, low=1, actions=four[1:]), replace(base, high=2, actions=four[1:])]
    return [base, replace(base, actions=None), replace(base, step=2), *clipped]


def _followed(module: ModuleType, problem: Problem, kernel: Any, summary: Any, witness: TheoremWitness) -> Any:
    """What the theorem says a mechanism is worth."""
    guarantee = Guarantee(PurePromise(ONE), problem.neighbours.name, problem.unit)
    return module.theorem_value(Mechanism(problem, summary, kernel, guarantee), witness)
