"""Posteriors against enumeration of every database, exact against floating point, and the papers' figures."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from small_worlds import HISTOGRAM, counting, listed, problem_of, random_table, summing

from discreet.errors import InputError, TooLarge
from discreet.interpret import posterior, posterior_after
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne
from discreet.model.priors import (
    DirichletMultinomialPrior,
    ExchangeablePrior,
    IidPrior,
    IndependentPrior,
    MixturePrior,
    Prior,
    ReferencePrior,
    TablePrior,
)
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic, of_database
from discreet.model.summary import Clamp, DatabaseSummary, HistogramSummary, LinearSummary
from discreet.model.universe import Universe

CORRELATED = TablePrior(
    (
        ("0,0,0", Fraction(4, 10)),
        ("1,1,1", Fraction(3, 10)),
        ("2,2,2", Fraction(1, 10)),
        ("0,1,2", Fraction(2, 10)),
    )
)
PRIORS: dict[str, Prior] = {
    "iid": IidPrior((Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))),
    "reference": ReferencePrior((5, 3, 2), "a survey"),
    "mixture": MixturePrior(
        (Fraction(2, 3), Fraction(1, 3)),
        (
            IidPrior((Fraction(8, 10), Fraction(1, 10), Fraction(1, 10))),
            DirichletMultinomialPrior((Fraction(1), Fraction(2), Fraction(3))),
        ),
    ),
    "independent": IndependentPrior(
        (
            (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)),
            (Fraction(1, 8), Fraction(5, 8), Fraction(1, 4)),
            (Fraction(0), Fraction(1, 2), Fraction(1, 2)),
        )
    ),
    "exchangeable": ExchangeablePrior((((3, 0, 0), Fraction(1, 2)), ((1, 1, 1), Fraction(1, 3)), ((0, 1, 2), Fraction(1, 6)))),
    "dirichlet": DirichletMultinomialPrior((Fraction(1), Fraction(2), Fraction(1, 2))),
    "table": CORRELATED,
}
SUMMARIES = {
    "histogram": HISTOGRAM,
    "clamped": HistogramSummary(Clamp((0, 0, 0), (3, 1, 1), reference=0)),
    "linear": LinearSummary((0, 1, 2)),
    "proxy": LinearSummary((0, 1, 1)),
    "database": DatabaseSummary(),
}


def state_of(mechanism: Mechanism, database: tuple[int, ...]) -> int:
    """The state of one database."""
    if isinstance(mechanism.summary, DatabaseSummary):
        return mechanism.space.index[",".join(map(str, database))]
    h = tuple(database.count(t) for t in range(3))
    found = mechanism.summary.of_histogram(h)
    label = ",".join(map(str, found)) if isinstance(found, tuple) else str(found)
    return mechanism.space.index[label]


def by_enumeration(mechanism: Mechanism, outputs: list[int], prior: Prior) -> dict[tuple[int, ...], Fraction]:
    """The posterior of every database, in rationals."""
    universe = mechanism.problem.universe
    joint = {}
    for database in product(range(3), repeat=3):
        weight = prior.of_database(database, universe)
        for s in outputs:
            weight *= mechanism.probability(s, state_of(mechanism, database))
        joint[database] = weight
    total = sum(joint.values())
    return {d: w / total for d, w in joint.items()} | {(): total}


@pytest.mark.parametrize("kind", PRIORS)
@pytest.mark.parametrize("summary", SUMMARIES)
def test_posteriors_are_those_of_enumeration(kind: str, summary: str) -> None:
    rng = np.random.default_rng(7)
    prior = PRIORS[kind]
    problem = problem_of(3, (0, 1, 2), PRIORS["iid"])
    mechanism = random_table(problem, SUMMARIES[summary], 4, rng)
    for outputs in ([0], [2], [1, 3]):
        truth = by_enumeration(mechanism, outputs, prior)
        total = truth.pop(())
        releases = [(mechanism, f"s{s}") for s in outputs]
        found = posterior_after(releases, prior, exact=True)
        plain = posterior_after(releases, prior)
        assert found.exact_probability == total
        assert plain.probability == pytest.approx(float(total), rel=1e-12)
        for value, p, q in zip(found.numbers, found.exact or (), plain.probabilities, strict=True):
            wanted = sum(w for d, w in truth.items() if of_database(SumStatistic(), d, problem.universe) == value)
            assert p == wanted
            assert q == pytest.approx(float(wanted), abs=1e-13)
        for i in range(3):
            who = posterior_after(releases, prior, about="respondent", respondent=i, exact=True)
            wanted_types = [sum(w for d, w in truth.items() if d[i] == t) for t in range(3)]
            assert list(who.exact or ()) == wanted_types
            assert np.allclose(who.probabilities, [float(p) for p in wanted_types], atol=1e-13)


def test_the_posterior_about_the_database_is_labelled() -> None:
    mechanism = counting(2, Fraction(1, 3))
    found = posterior(mechanism, 1, about="database", exact=True)
    assert found.labels == ("2,0", "1,1", "0,2")
    assert sum(found.exact or ()) == 1
    with pytest.raises(InputError, match="no order"):
        found.mean()


def test_figures_5_to_7_of_sy() -> None:
    prior = TablePrior((("0,0", Fraction(1, 3)), ("0,1", Fraction(1, 6)), ("1,0", Fraction(1, 6)), ("1,1", Fraction(1, 3))))
    mechanism = counting(2, prior=prior)
    found = [posterior(mechanism, s) for s in range(3)]
    weights = (0.366312673267, 0.267374653466, 0.366312673267)
    assert [p.probability for p in found] == pytest.approx(weights, abs=1e-11)
    assert found[0].probabilities == pytest.approx((0.665240955775, 0.244728471055, 0.0900305731704), abs=1e-11)
    assert found[1].probabilities == pytest.approx((0.211941557617, 0.576116884766, 0.211941557617), abs=1e-11)
    # Near miss: a mechanism with another ε induces other posteriors.
    assert posterior(counting(2, epsilon=Fraction(11, 10), prior=prior), 0).probabilities[0] != pytest.approx(
        0.665240955775, abs=1e-4
    )


def test_a_reader_may_believe_something_else_than_the_designer() -> None:
    mechanism = counting(10, Fraction(1, 10))
    own, other = posterior(mechanism, 8), posterior(mechanism, 8, IidPrior((Fraction(1, 2), Fraction(1, 2))))
    assert own.mean() < other.mean() < 8


def test_listed_universes_have_posteriors() -> None:
    law = np.array([[0.5, 0.25, 0.125], [0.5, 0.75, 0.875]])
    mechanism = listed(3, [(0, 1), (1, 2)], law, np.array([0.5, 0.25, 0.25]))
    found = posterior(mechanism, "s0")
    joint = law[0] * np.array([0.5, 0.25, 0.25])
    assert found.probabilities == pytest.approx(joint / joint.sum(), abs=1e-9)
    with pytest.raises(InputError, match="no respondents"):
        posterior(mechanism, "s0", about="respondent")


def test_sizes_may_vary() -> None:
    universe = Universe((Fraction(0), Fraction(1)), 0, 3)
    prior = IidPrior((Fraction(1, 2), Fraction(1, 2)), size=(Fraction(1, 4),) * 4)
    base = problem_of(3, (0, 1), IidPrior((Fraction(1, 2), Fraction(1, 2))))
    problem = Problem(universe, AddRemoveOne(), prior, SumStatistic(), base.decisions, PurePromise(Fraction(1)))
    mechanism = random_table(problem, HISTOGRAM, 3, np.random.default_rng(3))
    found = posterior(mechanism, "s1", exact=True)
    joint: dict[Fraction, Fraction] = {}
    for n in range(4):
        for d in product(range(2), repeat=n):
            state = mechanism.space.index[f"{d.count(0)},{d.count(1)}"]
            weight = Fraction(1, 4) * Fraction(1, 2) ** n * mechanism.probability(1, state)
            joint[Fraction(sum(d))] = joint.get(Fraction(sum(d)), Fraction(0)) + weight
    total = sum(joint.values())
    assert found.exact == tuple(joint[v] / total for v in found.numbers)


def test_a_million_respondents_need_no_table() -> None:
    mechanism = counting(10**6, Fraction(1, 10))
    with pytest.raises(TooLarge):
        posterior(mechanism, 100_000, about="statistic", exact=True)
    big = counting(20_000, Fraction(1, 10))
    near = posterior(big, 2_010)
    small_side = near.interval(0.99)
    assert small_side[0] <= 2_010 <= small_side[1] and near.mean() == pytest.approx(2_010, abs=0.5)


def test_totals_and_histograms_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = summing(12, (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)))
    by_histograms = posterior(mechanism, 9)
    monkeypatch.setattr("discreet.interpret.beliefs.MOST_STATES", 10)
    by_totals = posterior(mechanism, 9)
    assert by_totals.numbers == by_histograms.numbers
    assert by_totals.probabilities == pytest.approx(by_histograms.probabilities, abs=1e-13)


def test_improbable_values_do_not_underflow() -> None:
    mechanism = counting(400, Fraction(1, 10), Fraction(4))
    found = posterior(mechanism, 400)
    assert found.log_probability < -700 and found.probabilities.sum() == pytest.approx(1)
    assert np.isfinite(found.mean())


@pytest.mark.parametrize("output", ["41", "-1", "0.5", "high", "", "nan"])
def test_a_value_that_cannot_be_published_is_refused(output: str) -> None:
    with pytest.raises(InputError, match="cannot publish"):
        posterior(counting(40), output)


def test_a_prior_about_another_universe_is_refused() -> None:
    with pytest.raises(InputError):
        posterior(counting(4), 1, IidPrior((Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))))
    with pytest.raises(InputError):
        posterior(counting(4), 1, CORRELATED)
    with pytest.raises(InputError, match="different universes"):
        posterior_after([(counting(4), 1), (counting(5), 1)])


def test_a_prior_whose_support_misses_the_data_is_refused() -> None:
    law = np.array([[1.0, 0.0], [0.0, 1.0]])
    mechanism = listed(2, [(0, 1)], law, np.array([0.5, 0.5]))
    with pytest.raises(InputError, match="could not have come about"):
        posterior(mechanism, "s1", TablePrior((("x0", Fraction(1)),)))


def test_empty_and_unknown_questions_are_refused() -> None:
    with pytest.raises(InputError, match="no published values"):
        posterior_after([])
    with pytest.raises(InputError, match="about something else"):
        posterior(counting(3), 1, about="weather")
    with pytest.raises(InputError, match="no such respondent"):
        posterior(counting(3), 1, about="respondent", respondent=3)


def test_with_no_privacy_budget_nothing_is_learned() -> None:
    problem = problem_of(3, (0, 1), IidPrior((Fraction(3, 4), Fraction(1, 4))), Fraction(0))
    from small_worlds import table_mechanism

    mechanism = table_mechanism(problem, LinearSummary((0, 1)), np.full((2, 4), 0.5))
    found = posterior(mechanism, "s1", exact=True)
    assert found.exact == (Fraction(27, 64), Fraction(27, 64), Fraction(9, 64), Fraction(1, 64))
