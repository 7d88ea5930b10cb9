"""A whole table of releases: rows agree with single posteriors; intervals cover as often as computed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from small_worlds import HISTOGRAM, counting, problem_of, random_table, summing, table_mechanism

from discreet.errors import InputError, TooLarge
from discreet.interpret import best_actions, posterior, readings
from discreet.interpret.reading import Readings
from discreet.interpret.regions import highest_density_mask
from discreet.model.kernel import GeometricKernel, Output
from discreet.model.mechanism import Mechanism
from discreet.model.priors import IidPrior
from discreet.model.summary import LinearSummary

RELEASES = 10_000
DEVIATIONS = 4.9
"""Standard deviations of a binomial share that count as an alarm: a false one has probability about 1e-6."""
THREE = (Fraction(89, 100), Fraction(9, 100), Fraction(2, 100))


def mechanisms() -> dict[str, Mechanism]:
    """Closed forms and tables."""
    rng = np.random.default_rng(5)
    return {
        "count": counting(12, Fraction(3, 10)),
        "sum": summing(6, THREE),
        "table": random_table(problem_of(4, (0, 1, 5), IidPrior(THREE)), HISTOGRAM, 5, rng),
    }


@pytest.mark.parametrize("name", mechanisms())
def test_rows_are_posteriors(name: str) -> None:
    mechanism = mechanisms()[name]
    table = readings(mechanism, level=0.8)
    for i, label in enumerate(table.labels()):
        one = posterior(mechanism, label)
        assert table.mean[i] == pytest.approx(one.mean(), abs=1e-11)
        assert table.standard_deviation[i] == pytest.approx(one.variance() ** 0.5, abs=1e-7)
        assert (table.lower[i], table.upper[i]) == tuple(float(x) for x in one.interval(0.8))
        assert table.log_probability[i] == pytest.approx(one.log_probability, abs=1e-11)
        assert table.posteriors[i] == pytest.approx(one.probabilities, abs=1e-12)


def simulate(mechanism: Mechanism, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """True values and positions of outputs of many releases under prior and mechanism."""
    universe, problem = mechanism.problem.universe, mechanism.problem
    chances = [float(p) for p in problem.prior.probabilities]  # type: ignore[union-attr]
    histograms = rng.multinomial(universe.respondents, chances, size=RELEASES)  # type: ignore[union-attr]
    truth = histograms @ np.array([float(v) for v in universe.values])  # type: ignore[union-attr]
    law = np.asarray(mechanism.probabilities)[:, mechanism.states_of(histograms)]
    draws = (rng.random(RELEASES) > np.cumsum(law, axis=0)).sum(axis=0)
    return truth, np.minimum(draws, len(law) - 1)


@pytest.mark.parametrize("name", mechanisms())
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_credible_sets_cover_as_often_as_computed(name: str, level: float) -> None:
    mechanism = mechanisms()[name]
    table: Readings = readings(mechanism, level=level)
    truth, outputs = simulate(mechanism, np.random.default_rng(2024))
    cells = table.at(outputs)
    computed = table.coverage()
    assert computed >= level
    spread = (computed * (1 - computed) / RELEASES) ** 0.5
    seen = float(((truth >= cells.lower) & (truth <= cells.upper)).mean())
    assert abs(seen - computed) <= DEVIATIONS * spread + 1e-12
    mask = highest_density_mask(table.posteriors, level)
    dense = float(np.exp(table.log_probability) @ (table.posteriors * mask).sum(axis=1))
    place = np.searchsorted([float(v) for v in table.values], truth)
    seen_dense = float(mask[outputs, place].mean())
    assert dense >= level and abs(seen_dense - dense) <= DEVIATIONS * (dense * (1 - dense) / RELEASES) ** 0.5 + 1e-12


def test_another_prior_would_not_cover_as_computed() -> None:
    mechanism = counting(12, Fraction(3, 10))
    wrong = readings(mechanism, IidPrior((Fraction(1, 10), Fraction(9, 10))), level=0.9)
    truth, outputs = simulate(mechanism, np.random.default_rng(2024))
    cells = wrong.at(outputs)
    seen = float(((truth >= cells.lower) & (truth <= cells.upper)).mean())
    computed = wrong.coverage()
    assert abs(seen - computed) > DEVIATIONS * (computed * (1 - computed) / RELEASES) ** 0.5


def test_a_large_table_is_computed_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = counting(30, Fraction(3, 10))
    whole = readings(mechanism)
    monkeypatch.setattr("discreet.interpret.reading.MOST_ENTRIES", 31 * 8 * 4)
    pieces = readings(mechanism)
    assert np.allclose(whole.table, pieces.table, rtol=1e-13) and pieces.coverage() == pytest.approx(whole.coverage())
    monkeypatch.setattr("discreet.interpret.reading.MOST_ENTRIES", 31)
    with pytest.raises(TooLarge, match="too many posteriors to keep"):
        readings(mechanism).posteriors  # noqa: B018
    monkeypatch.setattr("discreet.interpret.reading.MOST_WORK", 900)
    with pytest.raises(TooLarge, match="too many posteriors to compute"):
        readings(mechanism)


def test_cells_are_looked_up_by_value_or_position() -> None:
    table = readings(counting(5))
    by_value, by_place = table.of(["0", "3", 3]), table.at(np.array([0, 3, 3]))
    assert np.array_equal(by_value.mean, by_place.mean) and by_value.mean[1] == by_value.mean[2]
    for numbers in (np.array([0, 3, 3]), np.array([0.0, 3.0, 3.0])):
        assert np.array_equal(table.of(numbers).upper, by_place.upper)


def test_numbers_are_values_and_never_positions() -> None:
    problem = counting(5).problem
    shifted = Mechanism(problem, LinearSummary((2, 3)), GeometricKernel(8, 17, 1, Fraction(1, 2)), counting(5).guarantee)
    table = readings(shifted)
    assert table.of(np.array([12])).mean[0] == table.of(["12"]).mean[0] == table.at(np.array([4])).mean[0]
    labelled = mechanisms()["table"]
    outputs = tuple(Output(str(10 * i)) for i in range(5))
    tens = replace(labelled, kernel=replace(labelled.kernel, outputs=outputs))  # type: ignore[type-var]
    table = readings(tens)
    for numbers in (np.array([10, 40, 10]), np.array([10.0, 40.0, 10.0])):
        assert np.array_equal(table.of(numbers).mean, table.at(np.array([1, 4, 1])).mean)
    with pytest.raises(InputError, match="cannot publish"):
        table.of(np.array([10, 41]))


@pytest.mark.parametrize("outputs", [["6"], np.array([6]), np.array([-1]), np.array([np.nan]), [], np.array([])])
def test_cells_that_were_never_published_are_refused(outputs: object) -> None:
    with pytest.raises(InputError):
        readings(counting(5)).of(outputs)  # type: ignore[arg-type]


@pytest.mark.parametrize("place", [-1, 6])
def test_positions_that_do_not_exist_are_refused(place: int) -> None:
    with pytest.raises(InputError, match="no output at this position"):
        readings(counting(5)).at(np.array([0, place]))


def test_an_output_that_never_appears_has_no_reading() -> None:
    problem = problem_of(2, (0, 1), IidPrior((Fraction(1, 2), Fraction(1, 2))))
    mechanism = table_mechanism(problem, HISTOGRAM, np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0]]))
    table = readings(mechanism)
    assert np.isnan(table.mean[2]) and table.log_probability[2] == -np.inf
    assert table.mean[:2] == pytest.approx([1, 1]) and table.coverage() == pytest.approx(1)
    assert best_actions(problem.decision, table) == [pytest.approx(1), pytest.approx(1), None]
