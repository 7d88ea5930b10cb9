"""Noise that follows a count as a rung: what it finds in large cells that differ, for which losses, and where it is not tried."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf, prod
from typing import Any

import numpy as np
import pytest

from discreet.certify.bounds import FULL
from discreet.certify.edges.privacy import privacy
from discreet.certify.value.counted import counted_payoff, moments
from discreet.design.comparison.counted_world import CountedWorld
from discreet.design.comparison.truths import why_not_known, world
from discreet.design.ladder.mechanisms import counted_noise, counts
from discreet.design.ladder.mechanisms.counted_noise import CountedNoise
from discreet.design.ladder.mechanisms.counts import CountedReading, counted_readings, why_not_counted
from discreet.design.ladder.mechanisms.noise import staircase_noise
from discreet.design.ladder.mechanisms.rungs import NoiseByCount
from discreet.design.ladder.rung import Height
from discreet.design.questions.hedge import hedge
from discreet.design.schedule import counted
from discreet.files.mechanism import mechanism_document, mechanism_from_document
from discreet.files.problem import problem_from_document
from discreet.files.problem_document import problem_document
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import Certificate, OptimalityClaim, TheoremWitness
from discreet.model.count_tables import CountTables
from discreet.model.decision import Decision
from discreet.model.kernel import CountedKernel
from discreet.model.losses import AbsoluteLoss, FormulaLoss, PinballLoss, SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.watch import SILENT

CONCENTRATION = ["16", "2", "1", "3/5", "3/10", "1/10"]


def households(respondents: int = 200, epsilon: str = "2", concentration: list[str] | None = None) -> Problem:
    """Children of households, overdispersed: few have five."""
    shares = concentration or CONCENTRATION
    return problem_from_document(
        {
            "data": {"respondents": respondents, "values": list(range(len(shares)))},
            "prior": {"kind": "exchangeable", "concentration": shares},
            "statistic": {"kind": "sum"},
            "decision": {"kind": "squared-error", "actions": "real"},
            "privacy": {"epsilon": epsilon, "unit": "household"},
        }
    )


def first(problem: Problem, below: float = inf) -> CountedReading:
    return next(counted_readings(problem, below, lambda: inf))


def made(problem: Problem, found: CountedReading) -> Mechanism:
    return Mechanism(problem, found.summary, found.kernel, problem.guarantee)


def test_more_tables_follow_as_long_as_they_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ever longer lists, the first that gains too little is the last."""
    asked: list[object] = []
    losses = iter([9.0, 8.0, 7.999])

    def pretended(problem: Problem, lattice: object, cuts: tuple[int, ...], shape: object, *_: object) -> CountedReading:
        asked.append(shape)
        return replace(start, loss=next(losses))

    start = first(households(3))
    monkeypatch.setattr(counts, "_reading", pretended)
    monkeypatch.setattr(counts, "ONE_COUNT", (3, 4, 5, 6, 7))
    monkeypatch.setattr(counts, "GROWS", 1.3)
    lattice = counts.statistic_lattice(households(3))
    assert lattice is not None
    found = list(counts._longer(households(3), lattice, (5,), {(5,): replace(start, loss=10.0)}, lambda: inf))
    assert [each.loss for each in found] == [9.0, 8.0, 7.999] and asked == [5, 6, 7]


@pytest.fixture(scope="module")
def best() -> CountedReading:
    return first(households())


def test_two_hundred_respondents_lose_a_quarter_less_than_by_noise_for_all(best: CountedReading) -> None:
    """7.77 where noise on the plain sum loses 10.5; proved private, and the value is the one that is proved."""
    mechanism = made(households(), best)
    assert isinstance(privacy(mechanism), Certificate)
    assert best.loss < 7.78 and staircase_noise(2.0, 5).variance() > 10.4
    assert best.loss == -float(counted_payoff(mechanism) or 0)
    assert best.starts == (5,) and len(best.kernel.weights) == counts.ONE_COUNT[0]


def test_several_counts_lose_a_tenth_less_than_one() -> None:
    """6.86 of 7.76 with two hundred respondents; most of it with the few tables that a short time allows."""
    problem = households()
    one, *_, last = counted_readings(problem, 8.0, lambda: 3.0)
    assert one.starts == (5,) and last.starts[:2] == (5, 4) and last.loss < 6.95 and last.kernel.tables
    mechanism = made(problem, last)
    assert isinstance(privacy(mechanism), Certificate) and last.loss == -float(counted_payoff(mechanism) or 0)
    again = mechanism_from_document(mechanism_document(mechanism))
    assert again.kernel == mechanism.kernel
    *_, hurried = counted_readings(problem, 8.0, lambda: 1.2)
    assert hurried.starts[:2] == (5, 4) and last.loss < hurried.loss < 7.2


def test_many_values_are_counted_by_several_classes() -> None:
    """Values 0..10 with a hundred respondents: three counts and more lose a tenth less than the best two, and all are private."""
    shares = [str(20 * Fraction(3, 5) ** t) for t in range(11)]
    problem = households(100, "2", shares)
    found = list(counted_readings(problem, inf, lambda: 8.0))
    two = min(each.loss for each in found if len(each.starts) < 3)
    best = min(found, key=lambda each: each.loss)
    assert len(best.starts) > 3 and best.loss < 0.93 * two
    mechanism = made(problem, best)
    assert isinstance(privacy(mechanism), Certificate) and best.loss == -float(counted_payoff(mechanism) or 0)
    again = mechanism_from_document(mechanism_document(mechanism))
    assert again.kernel == mechanism.kernel and again.weighted_sum == mechanism.weighted_sum


def test_classes_that_lose_nearly_as_little_with_few_tables_have_more() -> None:
    """Two hundred independent respondents: few tables are best for one count (7.714), more for three (7.615)."""
    six = ["0.8", "0.1", "0.05", "0.03", "0.015", "0.005"]
    document = problem_document(households(200, "2"))
    problem = problem_from_document({**document, "prior": {"kind": "iid", "probabilities": six}})
    with counted():
        found = list(counted_readings(problem, 7.63, lambda: 1.0))
    best = min(found, key=lambda each: each.loss)
    few = [each.loss for each in found if len(each.kernel.weights) <= 20]
    assert len(best.starts) > 1 and best.loss < 7.62 < 7.71 < min(few)
    assert isinstance(privacy(made(problem, best)), Certificate)


def test_tables_are_those_of_counts_that_are_likely_together() -> None:
    """Π(c_k + 1) up to a number, in any order of the classes, and the last place of each list serves all larger counts."""
    for classes, most in ((1, 4), (2, 5), (3, 6), (4, 4)):
        told = CountTables(counts.cross(classes, most))
        each = [c for c in product(range(most), repeat=classes) if prod(x + 1 for x in c) <= most]
        assert sorted(told.of(c) for c in each) == list(range(len(told)))
        assert told.growing == told


def test_classes_of_several_values_follow_where_the_best_single_one_has_many() -> None:
    levels = list(range(12))
    each = [(11, 10, 9), (11, 10, 9, 8), (11, 10, 9, 8, 7), (11, 10, 9, 8, 7, 6)]
    assert list(counts._rows({11: 2.0, 9: 1.0}, levels)) == each
    assert list(counts._rows({11: 2.0, 8: 1.0}, levels)) == [(10, 8, 6), (10, 8, 6, 4), (10, 8, 6, 4, 2)]
    assert list(counts._rows({4: 1.0}, [0, 1, 2, 3, 4])) == [(4, 3, 2)] and list(counts._rows({3: 1.0}, [0, 1, 2, 3])) == []
    assert list(counts._rows({}, levels)) == []


def test_counts_that_no_total_of_64_bits_tells_are_not_asked_for() -> None:
    """Five classes of a million respondents would need strides of more than a hundred binary digits."""
    problem = households(12_000)
    lattice = counts.statistic_lattice(problem)
    assert lattice is not None
    assert counts._reading(problem, lattice, (5, 4, 3, 2, 1), counts.cross(5, 3), inf, lambda: inf) is None


@pytest.mark.parametrize(("two", "longer", "classes", "tables"), [(0.9, 2.0, 1, 21), (2.0, 0.8, 4, 19), (0.9, 0.8, 1, 11)])
def test_where_few_tables_lose_far_more_no_others_are_tried(
    monkeypatch: pytest.MonkeyPatch, two: float, longer: float, classes: int, tables: int
) -> None:
    """They would take the time of the bounds: 37 of 100 seconds with fifty independent respondents."""
    monkeypatch.setattr(counts, "NEAR_TWO", two)
    monkeypatch.setattr(counts, "NEAR_LONGER", longer)
    found = list(counted_readings(households(), 8.0, lambda: 3.0))
    assert max(len(each.starts) for each in found) == classes
    assert max(len(each.kernel.weights) for each in found) == tables


def test_two_classes_lie_around_the_best_single_one() -> None:
    """Those first whose cuts lose least by themselves; of a cut that was not tried, as of the worst."""
    tried = [2, 3, 5, 9]
    assert counts._pairs({9: 1.0, 5: 2.0}, tried) == [(9, 5)]
    assert counts._pairs({9: 3.0, 5: 1.0, 3: 2.0}, tried) == [(5, 3), (9, 5), (9, 3)]
    assert counts._pairs({9: 3.0, 5: 1.0}, tried) == [(5, 3), (9, 5), (9, 3)]
    assert counts._pairs({2: 1.0}, tried) == [(3, 2)]
    assert counts._pairs({}, tried) == [] == counts._pairs({4: 1.0}, [4])


def test_few_respondents_have_no_tables_for_more() -> None:
    assert CountTables((5, 3, 1, 1)).held(2).shape == (3, 2, 1)
    assert CountTables(((5, 2), (3, 1, 1), (1,))).held(1).shape == ((2, 1), (1,))
    problem = households(2)
    found = list(counted_readings(problem, inf, lambda: inf))
    assert found[-1].kernel.tables and all(isinstance(privacy(made(problem, each)), Certificate) for each in found)


def test_tables_fit_their_counts(best: CountedReading) -> None:
    """Nobody with five: nearly the noise for steps of four. Many: no less than noise for steps of five, which they must hide."""
    seconds = [float(second) for _, _, second in moments(best.kernel)]
    assert staircase_noise(2.0, 4).variance() - 1e-6 <= seconds[0] < 7.2
    assert staircase_noise(2.0, 5).variance() - 1e-6 <= seconds[-1]


@pytest.mark.parametrize(
    "decisions",
    [
        (Decision(AbsoluteLoss(), RealActions()),),
        (Decision(PinballLoss(Fraction(9, 10)), RealActions()),),
        (Decision(SquaredLoss(), RealActions()), Decision(AbsoluteLoss(), RealActions(), Fraction(3))),
        (Decision(SquaredLoss(), ListedActions(tuple(map(Fraction, range(151))))),),
    ],
)
def test_other_errors_and_several_decision_makers(decisions: tuple[Decision, ...]) -> None:
    problem = replace(households(30), decisions=decisions)
    found = first(problem)
    mechanism = made(problem, found)
    assert isinstance(privacy(mechanism), Certificate) and found.loss == -float(counted_payoff(mechanism) or 0) > 0


def test_a_choice_that_cannot_win_is_not_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a program was solved")

    monkeypatch.setattr(CountedNoise, "kernel", never)
    assert list(counted_readings(households(), 0.1, lambda: inf)) == []
    assert list(counted_readings(households(epsilon="1/100"), inf, lambda: 60.0)) == [], (
        "a program that would take longer than the time"
    )


def test_what_the_solver_leaves_broken_is_repaired_or_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that errs in the fifth digit costs that much; one that answers nothing yields nothing."""
    honest, problem = counted_noise.solved, households(10)

    def sloppy(*asked: Any) -> Any:
        found = honest(*asked)
        found[::2] *= 1 + 1e-5
        return found

    before = first(problem)

    def broken(*_: object) -> None:
        raise np.linalg.LinAlgError

    monkeypatch.setattr(counted_noise, "solved", sloppy)
    after = first(problem)
    assert isinstance(privacy(made(problem, after)), Certificate)
    assert before.loss <= after.loss * (1 + 1e-9) and after.loss < before.loss * 1.001
    monkeypatch.setattr(counted_noise, "solved", broken)
    assert list(counted_readings(problem, inf, lambda: inf)) == []


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (
            replace(households(), decisions=(Decision(FormulaLoss("-omega*a"), RealActions(Fraction(0), Fraction(1))),)),
            "not errors",
        ),
        (replace(households(), decisions=(Decision(SquaredLoss(), ListedActions((Fraction(0), Fraction(5)))),)), "no action"),
        (households(concentration=["16", "4"]), "three values"),
        (households(100_000), "500,000 values"),
        (households(epsilon="21"), "hardly any noise"),
    ],
)
def test_where_it_is_not_tried(problem: Problem, words: str) -> None:
    assert words in (why_not_counted(problem) or "")
    assert why_not_counted(households()) is None


def test_a_type_that_nobody_has_is_hidden_all_the_same() -> None:
    """The prior gives five children no chance; a respondent may have them, and the proof covers that."""
    alike = IidPrior((Fraction(4, 5), Fraction(1, 10), Fraction(1, 10), Fraction(0)))
    problem = replace(households(12, concentration=["16", "2", "1", "1"]), prior=alike)
    found = first(problem)
    assert isinstance(found.kernel, CountedKernel) and found.kernel.step == 3
    assert isinstance(privacy(made(problem, found)), Certificate)


def test_wide_steps_have_coarser_tables_that_are_private_all_the_same() -> None:
    """Values 0, 1 and 30: three numbers in a row are alike, as 30 is ten threes; shifts of 1 are compared number by number."""
    document = problem_document(households(40, concentration=["16", "3", "1/10"]))
    document["data"]["values"] = ["0", "1", "30"]
    problem = problem_from_document(document)
    found = first(problem)
    unlike = [k for row in found.kernel.weights for k in range(0, len(row), 3) if len(set(row[k : k + 3])) > 1]
    assert len(unlike) <= found.kernel.most + 1, "what rounding left over stands at the likeliest number alone"
    assert isinstance(privacy(made(problem, found)), Certificate)
    assert found.loss < 0.7 * staircase_noise(2.0, 30).variance()


def test_a_wrong_prior_and_a_hedge_see_the_count(best: CountedReading) -> None:
    """Two hundred respondents: what is lost in other truths is known, and the design stands among what a hedge may take."""
    mechanism = made(households(), best)
    assert why_not_known(mechanism) is None and isinstance(world(mechanism), CountedWorld)
    proof = privacy(mechanism)
    assert isinstance(proof, Certificate)
    claim = OptimalityClaim(
        Fraction(best.loss).limit_denominator(10**6) * -Fraction(101, 100), Fraction(0), TheoremWitness(FULL, ())
    )
    safe = hedge(mechanism, replace(proof, optimality=claim), Fraction(1, 5))
    assert safe.limit is not None and max(safe.losses) <= safe.limit.loss * (1 + 1e-6)
    assert safe.unhedged[len(safe.unhedged) // 2] < 11


def test_it_is_climbed_where_no_weights_were_found() -> None:
    """Where the law of a sum is never formed the ladder has a line alone; noise that follows a count needs the law of a count."""
    height = Height(households(), 1e-6, SILENT)
    with counted():
        found = NoiseByCount().climb(height, 6.0)
    assert found is not None and found.loss is not None and found.loss < 6.97 and not height.weights
    assert NoiseByCount().climb(height, 60.0) is None, "once is enough"
    assert not NoiseByCount.needs_weights and NoiseByCount().why_not(households()) is None
