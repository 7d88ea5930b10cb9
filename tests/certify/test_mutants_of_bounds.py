"""Mutation tests of the bounds from multipliers: change any comparison, and some witness proves another number or is refuted.

As in `test_mutants`. Any multipliers prove something, so the corpus needs no solver: random ones on tiny problems (which
`test_bounds` holds against linear programs), forged ones, and numbers where floats must not be believed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from mutation import limited, unexplained
from random_worlds import problem_of

import discreet
from discreet.certify.bounds.averaged_pulls import AveragedRow
from discreet.certify.duality.pulls import Pull, PullStage
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import DualWitness, Multipliers, QuotientWitness
from discreet.model.decision import Decision
from discreet.model.losses import AbsoluteLoss, FormulaLoss, MatchLoss, PinballLoss, SquaredLoss
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.priors import IidPrior, IndependentPrior
from discreet.model.problem import Problem
from discreet.model.states import state_space
from discreet.model.statistic import CountStatistic
from discreet.model.summary import Clamp, HistogramSummary
from discreet.model.universe import Universe

Question = Callable[[ModuleType], Any]

CERTIFY = Path(discreet.__file__).parent / "certify"
ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)
TWO = (ZERO, ONE)
THREE = (ZERO, ONE, Fraction(2))

AT_AN_END = "a least at an end of the piece is the least of the ends"
EQUIVALENT: dict[str, str] = {
    "dual: len(decisions) == 1 [1→0 at 1]": "losses of the only decision maker, added to nothing",
    "quotient: earlier[g] < 0 [0→-1 at 1]": "a state with a negative count is neither listed nor possible",
    "averaged_pulls: x > largest.get(h, 0) [Gt→GtE at 0]": "of equal pulls either is the largest",
    "averaged_pulls: x > largest.get(h, 0) [0→-1 at 1]": "a largest pull of 0 is no doubt",
    "state_masses: 0 <= at <= polynomial.degree() [0→-1 at 0]": "the coefficient before the first is 0",
    "chords: a < turn < b [Lt→LtE at 0]": AT_AN_END,
    "chords: a < turn < b [Lt→LtE at 1]": AT_AN_END,
    "chords: a < omega < b [Lt→LtE at 0]": AT_AN_END,
    "chords: a < omega < b [Lt→LtE at 1]": AT_AN_END,
    "chords: b - a <= NARROW * np.maximum(np.abs(a), np.abs(b)) [LtE→Lt at 0]": "either way: floats judge wider pieces well",
}


def flows(rng: random.Random, edges: list[list[int]], most: int = 40) -> tuple[tuple[int, int, int], ...]:
    some = [edge if rng.random() < 0.5 else edge[::-1] for edge in edges if rng.random() < 0.7]
    return tuple((i, j, rng.randint(0, most)) for i, j in some)


def test_no_comparison_of_the_pulls_can_change_unnoticed() -> None:
    edges = frozenset({(0, 1), (1, 2)})
    flowing = [((0, 1, 5), (1, 0, 2)), ((2, 1, 3),), ((0, 1, 0),), ((0, 1, -1),), ((0, 2, 1),), ((0, 0, 1),), ((0, 2, -1),)]
    questions: list[Question] = [
        lambda module, f=f: module.pull_of(Multipliers(ONE, f), edges, 7, Fraction(5, 2)).at for f in flowing
    ]
    rough = [[0.0, 1e-9, 2e-9], [np.nan, 3.0, 1.0], [np.inf, 5.0], [np.nan, np.nan], [-np.inf, 0.0]]
    questions += [
        lambda module, r=r, size=size: module.contenders(np.array(r), size) for r in rough for size in (1.0, 0.0, np.inf, np.nan)
    ]
    for long, least in product((4095, 4096, 4097), (Fraction(1, 3), Fraction(-1, 3))):
        questions.append(lambda module, total=Fraction(1, 2**long - 1), least=least: module.added(total, least))
    long = [(Fraction(7, 1 << bits), 1) for bits in (4091, 4092, 4093)] + [(ONE, 1 << bits) for bits in (4093, 4094, 4095)]
    long += [("no number", 1 << 4094), ((Fraction(1, 1 << 5000), "some"), 1), ((ONE, "some"), 1 << 4095)]
    questions += [lambda module, a=a, scale=scale: module.pull_of(Multipliers(a, ()), edges, scale, ONE).unit for a, scale in long]
    looks = [(4, 3, 5, 1), (11, 1, 4, 1), (13, 1, 1, 1), (7, 2, 1, 1), (1, 1, 6, 1), (1, 1, 2, 2), (1, 1, 3, 2)]
    questions += [lambda module, each=each: looked(module, *each) for each in looks]
    assert unexplained(CERTIFY / "duality" / "pulls.py", questions, EQUIVALENT) == []


def looked(module: ModuleType, actions: int, states: int, near: int, cost: int) -> str:
    """Whether so much may be looked at where twelve and five are the most."""
    looks = module.Looks()
    looks.rough, looks.exact = 12, 5
    looks.begin(actions, states)
    looks.closely(near, cost)
    return f"{looks.rough} and {looks.exact} are left"


def payoffs() -> list[Decision]:
    """Decisions with real actions, some of which no bound is proved for."""
    ranged = RealActions(Fraction(-1), Fraction(3))
    words = ["a*omega - a**2/2", "-a**4 - omega*a**3", "omega/(a + 5)", "a", "-a**8", "-a**9", "abs(a)*omega"]
    found = [Decision(FormulaLoss(word), ranged, weight=Fraction(2)) for word in words]
    return [*found, Decision(SquaredLoss(), ranged), Decision(SquaredLoss(), RealActions())]


def test_no_comparison_of_the_affine_payoffs_can_change_unnoticed() -> None:
    nodes = [Fraction(-1), ZERO, HALF, Fraction(3)]

    def question(module: ModuleType, decision: Decision) -> Any:
        payoff = module.AffinePayoff.of(decision)
        return [bend.bulge(w) for bend in payoff.bends(nodes) for w in THREE], payoff.least_losses(THREE)

    def believed(module: ModuleType, end: Fraction, omega: float) -> Any:
        bend = module.Kink((ZERO, ONE), (ZERO, ONE), ONE)
        return module.Piece(ZERO, ONE, ((ZERO, ONE), (ONE, end)), bend).rough(omega)

    questions: list[Question] = [lambda module, d=d: question(module, d) for d in payoffs()]
    large = 10**20
    for end, omega in ((large, 1.0), (2 * large, 1.0), (1, 1e20), (1, -2e20), (1, 1.0), (10**400, 1.0)):
        questions.append(lambda module, end=end, omega=omega: believed(module, Fraction(end), omega))
    assert unexplained(CERTIFY / "duality" / "affine.py", questions, EQUIVALENT) == []


def pieces(
    rng: random.Random, decision: Decision, nodes: list[Any], masses: list[Fraction], omegas: tuple[Fraction, ...] = THREE
) -> Question:
    """What the pieces between nodes contribute under random pulls."""
    stage = PullStage(masses, omegas, list(range(len(masses))), frozenset())
    pulls = [Pull(a, {h: Fraction(rng.randint(-9, 9), 10) for h in range(len(masses)) if rng.random() < 0.8}) for a in nodes]
    ends = (min(omegas), max(omegas))

    def question(module: ModuleType) -> Any:
        least = module.least_losses(decision, sorted(set(omegas)))
        return module.over_pieces(decision, ends, stage, least, pulls)

    return question


def test_no_comparison_of_the_chords_can_change_unnoticed() -> None:
    rng = random.Random(3)
    squared, absolute, pinball = (
        Decision(loss, RealActions()) for loss in (SquaredLoss(), AbsoluteLoss(), PinballLoss(Fraction(1, 5)))
    )
    questions: list[Question] = []
    grids: list[list[Any]] = [[-1, 0, 1, 2, 3], [-1, HALF, 3], [-2, 0, 0, 3], [3, 1, -1], [0, 2], [-1, 1], [1, 3], ["x", 1, 3], []]
    for nodes in grids:
        exact = [Fraction(a) if not isinstance(a, str) else a for a in nodes]
        questions += [
            pieces(rng, decision, exact, masses)
            for decision in (squared, absolute)
            for masses in ([Fraction(1, 3)] * 3, [HALF, ZERO, HALF])
        ]
    for decision in (squared, absolute, pinball):
        for ends in ([0, 1], [0, 2], [1, 2], [1], [0, 3]):
            for heights in ([0, 1], [1, -1], [2, 0], [0, 0], [-4, 4]):
                for mass in (ZERO, ONE, Fraction(1, 3)):
                    arguments = (decision, mass, ONE, [Fraction(a) for a in ends], [Fraction(y) for y in heights[: len(ends)]])
                    questions.append(lambda module, arguments=arguments: module._least_on_piece(*arguments))
                    questions.append(lambda module, arguments=arguments: _rough(module, *arguments))
    close = [ONE, ONE + Fraction(1, 10**4), ONE + Fraction(3, 10**4), 1 + Fraction(15, 10**5)]
    for b in close[1:]:
        arguments = (squared, ONE, ONE, [ONE, b], [ZERO, ONE])
        questions.append(lambda module, arguments=arguments: _rough(module, *arguments))
    large = Fraction(10**20)
    weights = [large, large + 1, large**-14, large**-14 / 2, large**-14 * Fraction(3, 2), ONE]
    extreme = [(Fraction(w), [0, 1], ONE, ONE) for w in weights] + [(ONE, [0, 1], ZERO, ONE)]
    extreme += [(ONE, [-3 * large, top], ONE, HALF) for top in (1, 0)]
    extreme += [(ONE, [0, top], ONE, ONE) for top in (large, large + 10**5)]
    extreme += [(ONE, [0, large * 2], ONE, omega) for omega in (large, large + 1)] + [(ONE, [1, large], ONE, large)]
    questions += [lambda module, case=case: _believed(module, *case) for case in extreme]
    bent, exact = payoffs()[0], [Fraction(1, 3)] * 3
    questions += [pieces(rng, bent, [Fraction(a) for a in nodes], exact) for nodes in ([-1, 1, 3], [-1, 2], [0, 3])]
    assert unexplained(CERTIFY / "duality" / "chords.py", questions, EQUIVALENT) == []


def _believed(module: ModuleType, weight: Fraction, nodes: list[Any], mass: Fraction, omega: Fraction) -> list[bool]:
    """Whether floats may rule out pieces, state by state: not where underflow or overflow could mislead them."""
    seen: list[bool] = []

    def spy(rough: np.ndarray, size: float) -> list[int]:
        seen.append(bool(np.isfinite(size)))
        return list(range(len(rough)))

    judged, module.contenders = module.contenders, spy
    decision = Decision(AbsoluteLoss(), RealActions(), weight=weight)
    stage = PullStage([mass], (omega,), [0], frozenset())
    try:
        module.over_pieces(decision, (omega, omega), stage, {omega: ZERO}, [Pull(Fraction(a), {}) for a in nodes])
    finally:  # a spy that stays would tell later questions about this one
        module.contenders = judged
    return seen


def _rough(
    module: ModuleType, decision: Decision, mass: Fraction, omega: Fraction, ends: list[Fraction], heights: list[Fraction]
) -> Any:
    """The least on each piece in floats."""
    numbers = (np.array([float(x) for x in xs]) for xs in (ends, heights))
    return repr(module._rough_pieces(decision, float(mass), float(omega), *numbers))


def listed(problem: Problem, numbers: tuple[int, ...] = (0, 1, 2)) -> Problem:
    return replace(problem, decisions=(Decision(SquaredLoss(), ListedActions(tuple(map(Fraction, numbers)))),))


def test_no_comparison_of_the_dual_bound_can_change_unnoticed() -> None:
    rng = random.Random(5)
    pair, trio = Universe.of(2, TWO), Universe.of(2, THREE)
    sure = replace(problem_of(pair, ReplaceOne()), prior=IndependentPrior(((HALF, HALF), (Fraction(1, 3), Fraction(2, 3)))))
    both = (listed(sure).decision, Decision(MatchLoss(), ListedActions(TWO)))
    twins = replace(problem_of(pair, ReplaceOne()), decisions=both)
    counted = replace(listed(problem_of(trio, ReplaceOne())), statistic=CountStatistic((1, 2)))
    known = [
        listed(problem_of(pair, ReplaceOne())), listed(problem_of(pair, ReplaceOne(), ZERO)), listed(sure), counted,
        listed(problem_of(Universe(TWO, 1, 2), AddRemoveOne())),
    ]  # fmt: skip
    cases: list[tuple[Problem, DualWitness]] = []
    for problem in known:
        edges = problem.finest().edges.tolist()
        made = tuple(Multipliers(Fraction(a), flows(rng, edges)) for a in (0, 1, 2))
        cases.append((problem, DualWitness("dual", None, 300, made)))
    first, made = cases[0][0], cases[0][1].multipliers
    pairs = tuple((Fraction(a), Fraction(b)) for a in (0, 1) for b in (0, 1))
    box = Clamp((0, 0), (1, 1), 0)
    inner = state_space(pair, ReplaceOne(), HistogramSummary(box)).edges.tolist()
    boxed = DualWitness("dual", box, 300, tuple(Multipliers(Fraction(a), flows(rng, inner)) for a in (0, 1)))
    real = problem_of(pair, ReplaceOne())
    cases += [
        (twins, DualWitness("dual", None, 300, tuple(Multipliers(a, flows(rng, [[0, 1], [1, 2]])) for a in pairs))),
        (counted, replace(cases[3][1], multipliers=made, reduction="merged-count")), (first, boxed), (listed(sure), boxed),
        (first, replace(boxed, box=Clamp((0, 0), (1, 0), 0, (3, 3)))),
        (known[4], DualWitness("dual", Clamp((0, 0), (1, 0), None), 1, ())),
        (first, DualWitness("dual", None, 300, (made[0], made[0]))), (first, DualWitness("dual", None, 300, ())),
        (first, DualWitness("dual", None, 300, (replace(made[0], action=Fraction(7)),))), (real, cases[0][1]),
        (real, DualWitness("dual-with-chord", None, 300, made)),
        (first, DualWitness("dual-with-chord", None, 300, made)),
    ]  # fmt: skip
    questions: list[Question] = [lambda module, case=case: module.dual_upper_bound(*case) for case in cases]
    questions += [lambda module, limit=limit: limited(module, "MOST_REGRETS", limit, questions[0]) for limit in (8, 9, 10)]
    assert unexplained(CERTIFY / "bounds" / "dual.py", questions, EQUIVALENT) == []


def averaged(
    rng: random.Random, problem: Problem, groups: tuple[tuple[int, ...], ...], rays: tuple[tuple[int, ...], ...]
) -> QuotientWitness:
    """Random multipliers on all states of a problem whose type t adds t, seen from type 0."""
    n = problem.people.respondents
    states = set()
    for histogram in problem.people.histograms().tolist():
        counts = tuple(sum(histogram[t] for t in group) for group in groups)
        states.add((*counts, sum(t * x for t, x in enumerate(histogram))))
    listed_states = tuple(sorted(states))
    assert all(sum(state[:-1]) <= n for state in listed_states)
    multipliers = tuple(
        Multipliers(Fraction(a), tuple(
            (h, row, rng.randint(0, 30)) for h in range(len(states)) for row in range(2 * len(rays)) if rng.random() < 0.5
        ))
        for a in range(n * 2 + 1)
    )  # fmt: skip
    return QuotientWitness(0, groups, rays, listed_states, 4000, multipliers)


def test_no_comparison_of_the_quotient_bound_can_change_unnoticed() -> None:
    rng = random.Random(11)
    chances = (HALF, Fraction(3, 10), Fraction(1, 5))
    real = replace(problem_of(Universe.of(3, THREE), ReplaceOne()), prior=IidPrior(chances))
    problem, still = listed(real, tuple(range(7))), listed(real.with_epsilon(ZERO), tuple(range(7)))
    fewer = listed(real, (0, 1, 3, 6))
    growing = listed(replace(problem_of(Universe(THREE, 1, 3), AddRemoveOne()), prior=IidPrior(chances, (Fraction(1, 3),) * 3)))
    one = averaged(rng, problem, ((1, 2),), ((1, 0), (0, 1), (2, -1), (0, 0)))
    two = averaged(rng, problem, ((1,), (2,)), ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    states, empty = one.states, tuple(replace(m, flows=()) for m in one.multipliers)
    cases = [(p, w) for p in (problem, still, real) for w in (one, two)]
    cases += [
        (problem, replace(one, multipliers=one.multipliers[:4])), (fewer, one), (fewer, two), (growing, one),
        (problem, replace(two, groups=((1, 2), ()))), (problem, replace(one, groups=((1, 2, 2),))),
        (problem, replace(one, groups=((1,),))), (problem, replace(one, reference=1, groups=((0, 2),), multipliers=empty)),
        (problem, replace(one, states=(states[1], *states[1:]))), (problem, replace(one, rays=((-1, 0), *one.rays[1:]))),
        (problem, replace(one, rays=((2, -2), *one.rays[1:]))), (problem, replace(one, rays=((1, -1), *one.rays[1:]))),
        (problem, replace(one, states=((-1, 0), *states[1:]))), (problem, replace(one, states=((4, 4), *states[1:]))),
        (problem, replace(one, states=((3, 1), *states[1:]), multipliers=empty)),
        (problem, replace(two, states=(*two.states[:-1], (2, 2, 9)), multipliers=two.multipliers[:1])),
        (real, replace(one, multipliers=one.multipliers[1:])), (real, replace(one, multipliers=one.multipliers[::-1])),
    ]  # fmt: skip
    for gone in range(0, len(states), 2):  # an inequality whose larger side is not listed
        kept = (*states[:gone], *states[gone + 1 :])
        for row in (0, 1, 2, 4):
            for h in range(len(kept)):
                for flow in (0, 3):
                    alone = (Multipliers(ZERO, ((h, row, flow),)),)
                    cases.append((problem, replace(one, states=kept, multipliers=alone)))
    wider, named = listed(real, tuple(range(-2, 9))), Multipliers("none", ())
    for h, first, last in product(range(len(states)), (0, 1), (5, 6)):  # listed actions beyond the nodes
        nodes = tuple(Multipliers(Fraction(a), ((h, 0, 90_000),)) for a in range(first, last + 1))
        cases += [(wider, replace(one, multipliers=nodes)), (wider, replace(one, multipliers=(*nodes, named)))]
    cases.append((wider, replace(one, multipliers=())))
    questions: list[Question] = [lambda module, case=case: module.quotient_upper_bound(*case) for case in cases]
    assert unexplained(CERTIFY / "bounds" / "quotient.py", questions, EQUIVALENT) == []


def test_no_comparison_of_what_averaged_multipliers_pull_can_change_unnoticed() -> None:
    rng, questions = random.Random(5), []
    for whole in (True, False):
        rows = {}
        for s, r in product(range(3), (0, 1)):
            rows[s, r] = AveragedRow(rng.randint(0, 5), tuple((h, rng.randint(0, 4)) for h in range(s)), whole)
        for which, flow in product(range(4), (0, 7)):
            flows = tuple((s, which, flow) for s in range(3))
            questions.append(lambda module, told=(Multipliers(ZERO, flows), rows): module.pulled(*told, Fraction(5, 2)))
    for sign in (1, -1):
        nodes = tuple(Multipliers(Fraction(a), ()) for a in range(4))
        pulls = [{h: sign * rng.randint(-9, 9) for h in range(4)} for _ in nodes[1:]]
        pulls.append({4: sign})
        masses = [(low, low + rng.randint(0, 3)) for low in (5, 1, 0, 8)] + [(2, 5)]
        questions.append(lambda module, told=(nodes, pulls, 6, masses): module.weighed(*told))
    assert unexplained(CERTIFY / "bounds" / "averaged_pulls.py", questions, EQUIVALENT) == []


def test_no_comparison_of_the_masses_of_states_can_change_unnoticed() -> None:
    tenth = Fraction(1, 10)
    single = (((3 * tenth, 1), (tenth, 3)),)
    two = (((3 * tenth, 1),), ((tenth, -2), (2 * tenth, 1)))
    laws = [(n, groups) for n in (1, 3) for groups in (single, two)]
    questions: list[Question] = []
    for n, groups in laws:
        counts = product(range(-1, n + 2), repeat=len(groups))
        states = [(*c, w) for c in counts for w in range(-7, 11)]
        real = [s for s in states if min(s[:-1]) >= 0 and sum(s[:-1]) <= n]
        questions.append(lambda module, law=(n, HALF, groups), s=tuple(states): [module.GroupLaw(*law).possible(x) for x in s])
        questions.append(lambda module, law=(n, HALF, groups), s=tuple(real): module.GroupLaw(*law).masses(s))
        limits = [("MOST_RESPONDENTS", n - 1), ("MOST_RESPONDENTS", n)]
        limits += [("MOST_WORK", work) for work in (5, 6, 7, 11, 29, 30, 31, 48, 49, 50)]
        limits += [("MOST_BITS", bits) for bits in (5, 6, 17, 18)]
        limits += [("MOST_BITS_TOGETHER", bits) for bits in (11, 12, 17, 18, 71, 72, 179, 180)]
        for name, most in limits:
            ask: Question = lambda module, law=(n, HALF, groups), s=tuple(real): module.GroupLaw(*law).must_be_small(s)  # noqa: E731
            questions.append(lambda module, limit=(name, most), ask=ask: limited(module, *limit, ask))
    assert unexplained(CERTIFY / "bounds" / "state_masses.py", questions, EQUIVALENT) == []
