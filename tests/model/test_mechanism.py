"""Kernels, statistics, problems and mechanisms: values by definition, and nothing invalid can be built.

Executes DR Def. 1.1.2.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from random_worlds import histogram, mechanism_on, problem_of, random_mechanism, random_table

from discreet.errors import InputError, Refuted, TooLarge
from discreet.model.actions import ListedActions
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import (
    GaussianKernel,
    GeometricKernel,
    Output,
    StaircaseKernel,
    TableKernel,
)
from discreet.model.losses import MatchLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.problem import believed
from discreet.model.promises import ApproximatePromise, PurePromise
from discreet.model.states import state_space
from discreet.model.statistic import (
    CountStatistic,
    MeanStatistic,
    SumStatistic,
    TableStatistic,
    of_database,
    on_histograms,
)
from discreet.model.summary import HistogramSummary, LinearSummary
from discreet.model.universe import ListedUniverse, Universe

TWO = (Fraction(0), Fraction(1))
VALUES = (Fraction(-1), Fraction(1, 3), Fraction(5))
PROBLEM = problem_of(Universe.of(2, TWO), ReplaceOne())
COUNT = LinearSummary((0, 1))
HALVING = GeometricKernel(0, 4, 1, Fraction(1, 2))
KERNEL = TableKernel(("0", "1", "2"), (Output("x"), Output("y")), ((5, 4, 3), (3, 4, 5)), 8)


def promising(epsilon: int, neighbours: str, unit: str = "respondent") -> Mechanism:
    return Mechanism(PROBLEM, COUNT, KERNEL, Guarantee(PurePromise(Fraction(epsilon)), neighbours, unit))


@pytest.mark.parametrize("universe", [Universe.of(3, VALUES), Universe(VALUES, 1, 3)])
@pytest.mark.parametrize(
    ("statistic", "law"),
    [
        (SumStatistic(), lambda d: sum((VALUES[t] for t in d), Fraction(0))),
        (MeanStatistic(), lambda d: sum((VALUES[t] for t in d), Fraction(0)) / len(d)),
        (CountStatistic((0, 2)), lambda d: Fraction(sum(t in (0, 2) for t in d))),
    ],
)
def test_statistics_are_what_they_say(universe: Universe, statistic, law) -> None:
    statistic.check(universe)
    databases = list(universe.databases())
    assert [of_database(statistic, d, universe) for d in databases] == [law(d) for d in databases]
    vectors = np.array([histogram(d, 3) for d in databases])
    assert list(on_histograms(statistic, vectors, universe)) == [law(d) for d in databases]
    neighbours = ReplaceOne() if universe.fixed else AddRemoveOne()
    problem = replace(problem_of(universe, neighbours), statistic=statistic)
    found = sorted({law(d) for d in databases})
    assert list(problem.omegas) == found if not isinstance(statistic, CountStatistic) else set(found) <= set(problem.omegas)
    assert problem.omega_range[0] <= found[0] and found[-1] <= problem.omega_range[1]


def test_a_statistic_by_order_keeps_databases_apart() -> None:
    table = TableStatistic(tuple((f"{a},{b}", Fraction(a - b)) for a in range(2) for b in range(2)), by="database")
    problem = replace(PROBLEM, statistic=table)
    assert not problem.exchangeable and problem.omegas == (-1, 0, 1)
    with pytest.raises(InputError, match="order of respondents"):
        table.of_histogram((1, 1), problem.universe)  # type: ignore[arg-type]
    space = problem.finest()
    belief = believed(problem, space)
    assert space.labels == ("0,0", "0,1", "1,0", "1,1") and belief.omegas == (0, -1, 1, 0)


@pytest.mark.parametrize(
    ("statistic", "universe", "words"),
    [
        (MeanStatistic(), Universe(TWO, 0, 2), "mean of no respondents"),
        (CountStatistic(()), Universe.of(2, TWO), "name the types"),
        (CountStatistic((0, 0)), Universe.of(2, TWO), "name the types"),
        (SumStatistic(), ListedUniverse(("a", "b")), "no values to add up"),
        (TableStatistic((("a", Fraction(1)),)), ListedUniverse(("a", "b")), "no value for b"),
        (TableStatistic((("a", Fraction(1)), ("b", Fraction(1)), ("c", Fraction(0)))), ListedUniverse(("a", "b")), "a value for c"),
    ],
)  # fmt: skip
def test_statistics_that_do_not_fit_are_refused(statistic, universe, words: str) -> None:
    with pytest.raises(InputError, match=words):
        statistic.check(universe)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"denominator": 0}, "power of two"), ({"denominator": 6}, "power of two"), ({"denominator": -8}, "power of two"),
        ({"states": (), "weights": ((), ())}, "needs states"), ({"outputs": (), "weights": ()}, "needs states"),
        ({"states": ("0", "0", "2")}, "same label"), ({"outputs": (Output("x"), Output("x"))}, "same label"),
        ({"weights": ((5, 4, 3),)}, "one row for each output"), ({"weights": ((5, 4), (3, 4))}, "one row for each output"),
        ({"weights": ((9, 4, 3), (-1, 4, 5))}, "negative"), ({"weights": ((6, 4, 3), (3, 4, 5))}, "difference of 1"),
    ],
)  # fmt: skip
def test_a_table_that_is_no_kernel_is_refused(change, words: str) -> None:
    with pytest.raises(InputError, match=words):
        replace(KERNEL, **change)


@pytest.mark.parametrize(
    "make",
    [
        lambda: GeometricKernel(1, 1, 1, Fraction(1, 2)), lambda: GeometricKernel(0, 2, 0, Fraction(1, 2)),
        lambda: GeometricKernel(0, 2, 1, Fraction(1)), lambda: GeometricKernel(0, 2, 1, Fraction(0)),
        lambda: GeometricKernel(0, 2, 1, Fraction(1, 2), (Fraction(0),)), lambda: StaircaseKernel(0, 2, 2, 3, Fraction(1, 2)),
        lambda: StaircaseKernel(0, 2, 2, 0, Fraction(1, 2)), lambda: StaircaseKernel(2, 0, 2, 1, Fraction(1, 2)),
        lambda: GeometricKernel(0, 2, 1, Fraction(1, 2)).mass(3, 0),
        lambda: Guarantee(PurePromise(Fraction(-1)), "replace-one", "x"),
        lambda: Guarantee(PurePromise(Fraction(1)), "swap", "x"), lambda: Guarantee(PurePromise(Fraction(1)), "given", " "),
        lambda: Guarantee(ApproximatePromise(Fraction(1), Fraction(1)), "given", "x"),
    ],
)  # fmt: skip
def test_closed_forms_and_promises_that_are_none_are_refused(make) -> None:
    with pytest.raises(InputError):
        make()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: mechanism_on(PROBLEM, COUNT, replace(KERNEL, states=("0", "2", "1"))), Refuted, "state 1 is '2'"),
        (lambda: mechanism_on(PROBLEM, HistogramSummary(), KERNEL), Refuted, "not those"),
        (lambda: mechanism_on(PROBLEM, COUNT, GeometricKernel(0, 1, 1, Fraction(1, 2))), InputError, "does not cover"),
        (lambda: mechanism_on(PROBLEM, COUNT, GeometricKernel(1, 2, 1, Fraction(1, 2))), InputError, "does not cover"),
        (lambda: mechanism_on(PROBLEM, LinearSummary((0, 2)), HALVING), InputError, "step is smaller"),
        (lambda: mechanism_on(PROBLEM, HistogramSummary(), HALVING), InputError, "weighted sum"),
        (lambda: promising(1, "add-remove-one"), InputError, "another relation"),
        (lambda: promising(1, "replace-one", "dog"), InputError, "another relation or unit"),
        (lambda: promising(2, "replace-one"), InputError, "less privacy"),
    ],
)  # fmt: skip
def test_a_mechanism_that_does_not_fit_is_refused(make, error, words: str) -> None:
    with pytest.raises(error, match=words):
        make()


def test_recommended_actions_are_the_decisions() -> None:
    listed = replace(PROBLEM, decisions=(Decision(MatchLoss(), ListedActions(TWO)),))
    good = replace(KERNEL, outputs=(Output("x", Fraction(0)), Output("y", Fraction(1))))
    assert mechanism_on(listed, COUNT, good).outputs == good.outputs
    for action in (Fraction(1, 2), "go", (Fraction(0), Fraction(1))):
        with pytest.raises(InputError, match="does not have"):
            mechanism_on(listed, COUNT, replace(KERNEL, outputs=(Output("x", action), Output("y"))))
    with pytest.raises(InputError, match="does not have"):
        mechanism_on(listed, COUNT, GeometricKernel(0, 2, 1, Fraction(1, 2), (Fraction(0), Fraction(1), Fraction(2))))


@pytest.mark.parametrize("seed", range(30))
def test_probabilities_and_their_logarithms_agree(seed: int) -> None:
    mechanism = random_mechanism(random.Random(seed))
    table = mechanism.probabilities
    assert table.sum(axis=0) == pytest.approx(np.ones(table.shape[1]))
    assert np.exp(mechanism.log_probabilities) == pytest.approx(table)
    integers = mechanism.integer_table()
    assert integers is not None and mechanism.probability(0, 0) == Fraction(integers[0][0][0], integers[1])


def test_tiny_probabilities_have_logarithms() -> None:
    problem = problem_of(Universe.of(900, TWO), ReplaceOne())
    mechanism = mechanism_on(problem, COUNT, GeometricKernel(0, 900, 1, Fraction(2, 5)))
    logs = mechanism.log_probabilities
    assert logs[900, 0] == pytest.approx(900 * np.log(0.4) - np.log(1.4)) and mechanism.probabilities[900, 0] == 0
    assert mechanism.outputs[3].label == "3"


def test_a_billion_outputs_are_not_listed() -> None:
    problem = problem_of(Universe.of(10**9, TWO), ReplaceOne())
    kernel = GeometricKernel(0, 10**9, 1, Fraction(1, 2))
    mechanism = mechanism_on(problem, COUNT, kernel)
    with pytest.raises(TooLarge, match="outputs"):
        assert mechanism.outputs
    with pytest.raises(TooLarge, match="table"):
        kernel.rows(range(100))


def test_a_single_decision_is_asked_for() -> None:
    twice = replace(PROBLEM, decisions=(PROBLEM.decision, PROBLEM.decision))
    with pytest.raises(InputError, match="single decision maker"):
        assert twice.decision
    with pytest.raises(InputError, match="no decision"):
        replace(PROBLEM, decisions=())
    promise = Guarantee(ApproximatePromise(Fraction(1), Fraction(1, 8)), "replace-one", "household")
    assert str(promise) == "ε = 1, δ = 0.125 for replace-one (bounded) neighbours, unit: household"


def test_every_kernel_answers_the_same_questions_about_itself() -> None:
    """What others branch on is asked of the kernel: what it reads, whether it is rational, its logarithms at some places."""
    universe, half = Universe.of(3, (Fraction(0), Fraction(1))), Fraction(1, 2)
    problem = problem_of(universe, ReplaceOne(), Fraction(1))
    geometric, gaussian = GeometricKernel(0, 3, 1, half), GaussianKernel(0, 3, 1, Fraction(2))
    weights, whole = ((8, 4, 2, 0), (8, 12, 14, 16)), 16
    table = TableKernel(("0", "1", "2", "3"), (Output("a"), Output("b")), weights, whole)
    for kernel in (geometric, gaussian, table):
        made = mechanism_on(problem, COUNT, kernel)
        places = kernel.first_place + np.arange(kernel.state_count)
        assert np.array_equal(kernel.logs_at(np.arange(kernel.width), places), made.log_probabilities)
        assert np.array_equal(kernel.logs_at(np.array([1]), places[2:]), made.log_probabilities[1:2, 2:])
        kernel.must_be_drawable()
    assert (geometric.by_state, gaussian.by_state, table.by_state) == (False, False, True)
    assert (geometric.rational, gaussian.rational, table.rational) == (True, False, True)
    assert mechanism_on(problem, COUNT, table).table is table
    with pytest.raises(InputError, match="lists its probabilities"):
        _ = mechanism_on(problem, COUNT, geometric).table
    with pytest.raises(InputError, match="reads a weighted sum"):
        states = state_space(universe, ReplaceOne(), HistogramSummary()).labels
        _ = mechanism_on(problem, HistogramSummary(), random_table(random.Random(3), states, 2)).weighted_sum


@pytest.mark.parametrize(("kernel", "drawn"), [
    (GeometricKernel(0, 2**62 - 1, 2**40, Fraction(1, 2)), True),
    (GeometricKernel(0, 2**62, 1, Fraction(1, 2)), False),
    (StaircaseKernel(0, 3, 2**30 - 1, 1, Fraction(1, 2)), True),
    (StaircaseKernel(0, 3, 2**30, 1, Fraction(1, 2)), False),
])  # fmt: skip
def test_what_is_too_far_out_to_be_drawn_is_refused(kernel: GeometricKernel | StaircaseKernel, drawn: bool) -> None:
    if drawn:
        kernel.must_be_drawable()
        return
    with pytest.raises(TooLarge, match="too far out"):
        kernel.must_be_drawable()
