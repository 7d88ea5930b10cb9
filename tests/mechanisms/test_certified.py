"""Every exact kernel of a named family passes the checker at its ε, and is refuted at a slightly smaller one."""

from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.certify.edges.privacy import privacy
from discreet.errors import InputError
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.geometric import TruncatedGeometric, geometric_mechanism
from discreet.mechanisms.inverse_sensitivity import InverseSensitivity
from discreet.mechanisms.randomised_response import RandomisedResponse
from discreet.mechanisms.staircase import DiscreteStaircase, staircase_mechanism
from discreet.model.actions import RealActions
from discreet.model.certificate import Certificate, Counterexample
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import Output
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import GivenGraph, ReplaceOne
from discreet.model.priors import IidPrior, TablePrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.states import state_space
from discreet.model.statistic import SumStatistic, TableStatistic
from discreet.model.summary import DatabaseSummary, HistogramSummary, LinearSummary
from discreet.model.universe import ListedUniverse, Universe

ONE = Fraction(1)


def school(respondents: int, types: int = 3, epsilon: Fraction = ONE) -> Problem:
    universe = Universe.of(respondents, tuple(Fraction(t) for t in range(types)))
    prior = IidPrior((Fraction(1, types),) * types)
    return Problem(universe, ReplaceOne(), prior, SumStatistic(), (Decision(SquaredLoss(), RealActions()),), PurePromise(epsilon))


def geometric_table() -> Mechanism:
    problem = school(40, 2)
    return Mechanism(
        problem,
        LinearSummary((0, 1)),
        TruncatedGeometric(ONE, 0, 40).table(),
        Guarantee(PurePromise(ONE), "replace-one", problem.unit),
    )


def staircase_table() -> Mechanism:
    problem = school(6)
    return Mechanism(
        problem,
        LinearSummary((0, 1, 2)),
        DiscreteStaircase(ONE, 2, 1).table(0, 12),
        Guarantee(PurePromise(ONE), "replace-one", problem.unit),
    )


def inverse_sensitivity_table() -> Mechanism:
    problem = school(4)
    space = state_space(problem.universe, problem.neighbours, HistogramSummary())
    totals = tuple(Fraction(int(h[1] + 2 * h[2])) for h in space.vectors)
    kernel = InverseSensitivity(ONE, space, totals).table()
    return Mechanism(problem, HistogramSummary(), kernel, Guarantee(PurePromise(ONE), "replace-one", problem.unit))


def randomised_response_of_each() -> Mechanism:
    problem = school(3)
    kernel = RandomisedResponse(ONE, 3).of_each(3)
    return Mechanism(problem, DatabaseSummary(), kernel, Guarantee(PurePromise(ONE), "replace-one", problem.unit))


def exponential_table() -> Mechanism:
    problem = school(5)
    space = state_space(problem.universe, problem.neighbours, HistogramSummary())
    outputs = [Output(f"type {t}") for t in range(3)]
    scores = tuple(tuple(Fraction(int(h[t])) for h in space.vectors) for t in range(3))
    edges = tuple((int(a), int(b)) for a, b in space.edges)
    kernel = Exponential(ONE, scores, edges).table(space.labels, outputs)
    return Mechanism(problem, HistogramSummary(), kernel, Guarantee(PurePromise(ONE), "replace-one", problem.unit))


BUILDERS = {
    "geometric table": geometric_table,
    "geometric closed form": lambda: geometric_mechanism(school(40, 2), LinearSummary((0, 1))),
    "geometric on a sum": lambda: geometric_mechanism(school(9), LinearSummary((0, 1, 2))),
    "staircase table": staircase_table,
    "staircase closed form": lambda: staircase_mechanism(school(9, 5), LinearSummary((0, 1, 2, 3, 4))),
    "inverse sensitivity": inverse_sensitivity_table,
    "randomised response": randomised_response_of_each,
    "exponential": exponential_table,
}


@pytest.mark.parametrize("family", BUILDERS)
def test_every_exact_kernel_is_certified(family: str) -> None:
    verdict = privacy(BUILDERS[family]())
    assert isinstance(verdict, Certificate)
    assert verdict.privacy.tight_high <= ONE
    if not family.startswith(("exponential", "inverse")):
        assert verdict.privacy.tight_low > 1 - Fraction(1, 10**12)


@pytest.mark.parametrize("family", BUILDERS)
def test_a_smaller_promise_is_refuted(family: str) -> None:
    """Near-miss: 1e-9 less than the tight ε is too little for the same kernel."""
    mechanism = BUILDERS[family]()
    certificate = privacy(mechanism)
    assert isinstance(certificate, Certificate)
    less = certificate.privacy.tight_low - Fraction(1, 10**9)
    refuted = privacy(replace(mechanism, guarantee=replace(mechanism.guarantee, promise=PurePromise(less))))
    assert isinstance(refuted, Counterexample)
    assert refuted.edge is not None and refuted.output is not None


def test_closed_forms_need_respondents() -> None:
    names = ("a", "b")
    listed = Problem(
        ListedUniverse(names),
        GivenGraph((names,)),
        TablePrior((("a", Fraction(1, 2)), ("b", Fraction(1, 2)))),
        TableStatistic((("a", Fraction(0)), ("b", ONE)), by="database"),
        (Decision(SquaredLoss(), RealActions()),),
        PurePromise(ONE),
    )
    with pytest.raises(InputError):
        geometric_mechanism(listed, LinearSummary((0, 1)))
    with pytest.raises(InputError):
        staircase_mechanism(listed, LinearSummary((0, 1)))
