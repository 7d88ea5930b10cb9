"""Likelihoods by exact convolution, estimates that a search confirms, and the naive analysis with its bias.

Executes BG eq. (3).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from small_worlds import counting, problem_of, promise, summing, table_mechanism

from discreet.errors import InputError
from discreet.interpret import (
    BinomialModel,
    GivenModel,
    MultinomialModel,
    PoissonModel,
    expected_naive,
    fit,
    fit_simplex,
    output_law,
)
from discreet.model.kernel import GeometricKernel
from discreet.model.mechanism import Mechanism
from discreet.model.priors import IidPrior
from discreet.model.summary import LinearSummary
from discreet.numerics.brackets import rational_above_exp

DEVIATIONS = 4.9
"""Standard errors that count as an alarm; a false one has probability about 1e-6."""


def clamped_counts(top: int, epsilon: Fraction = Fraction(1)) -> Mechanism:
    """A count clamped to 0..top, published with geometric noise."""
    problem = problem_of(30, (0, 1), IidPrior((Fraction(1, 2), Fraction(1, 2))), epsilon)
    kernel = GeometricKernel(0, top, 1, rational_above_exp(-epsilon, 80))
    return Mechanism(problem, LinearSummary((0, 1), low=0, high=top), kernel, promise(epsilon))


def draws(model: BinomialModel | PoissonModel | MultinomialModel, theta: object, cells: int, seed: int) -> np.ndarray:
    """Positions of published values under θ."""
    law = np.exp(output_law(model, theta))  # type: ignore[arg-type]
    return np.random.default_rng(seed).choice(len(law), size=cells, p=law / law.sum())


@pytest.mark.parametrize("theta", [0.0, 0.2, 1.0])
def test_binomial_likelihood_is_the_sum_over_all_databases(theta: float) -> None:
    mechanism = counting(4)
    wanted = np.zeros(5)
    for d in product((0, 1), repeat=4):
        chance = theta ** sum(d) * (1 - theta) ** (4 - sum(d))
        wanted += chance * np.asarray(mechanism.probabilities)[:, sum(d)]
    assert np.exp(output_law(BinomialModel(mechanism), theta)) == pytest.approx(wanted, abs=1e-14)


def test_multinomial_likelihood_is_the_sum_over_all_databases() -> None:
    mechanism, theta = summing(3, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))), np.array([0.6, 0.1, 0.3])
    wanted = np.zeros(7)
    for d in product((0, 1, 2), repeat=3):
        wanted += np.prod(theta[list(d)]) * np.asarray(mechanism.probabilities)[:, sum(d)]
    assert np.exp(output_law(MultinomialModel(mechanism), theta)) == pytest.approx(wanted, abs=1e-14)


def test_many_respondents_use_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, theta = summing(9, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))), np.array([0.6, 0.1, 0.3])
    wanted = output_law(MultinomialModel(mechanism), theta)
    monkeypatch.setattr("discreet.interpret.models.MOST_STATES", 5)
    model = MultinomialModel(mechanism)
    assert model.by_totals and output_law(model, theta) == pytest.approx(wanted, abs=1e-12)


def test_poisson_counts_are_clamped() -> None:
    model = PoissonModel(clamped_counts(6))
    from scipy.stats import poisson

    law = np.append(poisson.pmf(np.arange(6), 3.0), poisson.sf(5, 3.0))
    assert np.exp(model.log_atoms(3.0)) == pytest.approx(law, abs=1e-14)
    assert np.exp(model.log_atoms(0.0)).tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert np.exp(output_law(model, 3.0)).sum() == pytest.approx(1)


def test_the_estimate_is_the_maximum_and_its_interval_is_the_profile() -> None:
    model = BinomialModel(counting(20))
    cells = draws(model, 0.15, 300, seed=4)
    found = fit([(model, cells)], level=0.95)
    counts = np.bincount(cells, minlength=21)
    grid = np.linspace(0.001, 0.999, 999)
    heights = np.array([counts @ output_law(model, float(x)) for x in grid])
    assert found.log_likelihood >= heights.max() - 1e-9
    assert found.estimate == pytest.approx(grid[heights.argmax()], abs=2e-3)
    inside = 2 * (found.log_likelihood - heights) <= 3.841458820694124
    assert found.interval[0] == pytest.approx(grid[inside][0], abs=2e-3)
    assert found.interval[1] == pytest.approx(grid[inside][-1], abs=2e-3)
    assert abs(found.estimate - 0.15) < DEVIATIONS * (found.standard_error or 0)


def test_the_standard_error_is_the_inverse_of_the_expected_information() -> None:
    model, theta, cells = BinomialModel(counting(20)), 0.3, 400_000
    counts = np.exp(output_law(model, theta)) * cells
    outputs = np.repeat(np.arange(21), np.rint(counts).astype(int))
    found = fit([(model, outputs)])
    step = 1e-5
    slope = (output_law(model, theta + step) - output_law(model, theta - step)) / (2 * step)
    information = cells * float(np.exp(output_law(model, theta)) @ slope**2)
    assert found.estimate == pytest.approx(theta, abs=1e-4)
    assert found.standard_error == pytest.approx(information**-0.5, rel=2e-3)


def test_profile_intervals_cover() -> None:
    # 300 simulated surveys; the true coverage is close to 0.95. Alarm below 0.88: probability about 1e-6.
    model = BinomialModel(counting(10))
    law = np.exp(output_law(model, 0.3))
    rng = np.random.default_rng(12)
    grid = np.linspace(0.005, 0.995, 199)
    logs = np.array([output_law(model, float(x)) for x in grid])
    hits = 0
    for _ in range(300):
        counts = rng.multinomial(60, law / law.sum())
        heights = logs @ counts
        hits += 2 * (heights.max() - counts @ output_law(model, 0.3)) <= 3.8415
    assert hits / 300 > 0.88
    counts = rng.multinomial(60, law / law.sum())
    found = fit([(model, np.repeat(np.arange(11), counts))])
    assert found.interval[0] < found.estimate < found.interval[1]


def test_cells_of_different_sizes_share_the_parameter() -> None:
    small, large = BinomialModel(counting(5)), BinomialModel(counting(40))
    groups = [(small, draws(small, 0.2, 100, 1)), (large, draws(large, 0.2, 100, 2))]
    both, only = fit(groups), fit(groups[1:])
    assert both.cells == 200 and (both.standard_error or 1) < (only.standard_error or 0)
    assert abs(both.estimate - 0.2) < DEVIATIONS * (both.standard_error or 0)


def test_at_the_edge_there_is_no_standard_error() -> None:
    found = fit([(BinomialModel(counting(20)), ["0"] * 6)])
    assert found.estimate == pytest.approx(0, abs=1e-6) and found.at_edge and found.standard_error is None
    assert found.interval[0] == 0 < found.interval[1]


@pytest.mark.parametrize("theta", [0.02, 0.1, 0.5])
def test_the_bias_of_the_naive_analysis_is_reproduced(theta: float) -> None:
    # Published counts pile up at zero, so taking them for the truth overstates small proportions.
    model, cells = BinomialModel(counting(20)), 20_000
    outputs = draws(model, theta, cells, seed=9)
    found = expected_naive(model, theta)
    assert found is not None and found.parameter_bias is not None
    errors = outputs - 20 * theta
    assert abs(errors.mean() - found.bias) < DEVIATIONS * errors.std() / cells**0.5
    assert found.parameter_bias == pytest.approx(found.bias / 20)
    fitted = fit([(model, outputs)])
    assert fitted.naive is not None and fitted.naive.parameter is not None
    assert abs(fitted.naive.parameter - theta - found.parameter_bias) < DEVIATIONS * errors.std() / 20 / cells**0.5
    if theta < 0.05:
        # The naive claim is wrong by many of its own standard errors; the fit that heeds the mechanism is not.
        assert fitted.naive.mean - 20 * theta > 10 * fitted.naive.claimed_standard_error
        assert abs(fitted.estimate - theta) < DEVIATIONS * (fitted.standard_error or 0)
    assert found.overconfidence > 1


def test_clamping_biases_the_naive_count() -> None:
    model = PoissonModel(clamped_counts(6, Fraction(4)))
    found = expected_naive(model, 8.0)
    assert found is not None and fit([(model, draws(model, 4.0, 500, 3))]).estimate == pytest.approx(4.0, abs=0.6)


def test_a_given_model_is_fitted() -> None:
    mechanism = counting(3)

    def all_or_nothing(theta: float) -> list[float]:
        return [1 - theta, 0.0, 0.0, theta]

    model = GivenModel(mechanism, all_or_nothing, 0.0, 1.0, line=(3.0, 0.0))
    law = 0.25 * np.asarray(mechanism.probabilities)[:, 3] + 0.75 * np.asarray(mechanism.probabilities)[:, 0]
    assert np.exp(output_law(model, 0.25)) == pytest.approx(law)
    outputs = np.random.default_rng(1).choice(4, size=2000, p=law / law.sum())
    found = fit([(model, outputs)])
    assert abs(found.estimate - 0.25) < DEVIATIONS * (found.standard_error or 0)


def test_a_model_that_is_none_is_refused() -> None:
    mechanism = counting(3)
    with pytest.raises(InputError, match="not a probability"):
        GivenModel(mechanism, lambda t: [t, t, t, t], 0.0, 1.0).log_atoms(0.9)
    with pytest.raises(InputError, match="finite range"):
        GivenModel(mechanism, lambda _: [1, 0, 0, 0], 0.0, np.inf)
    with pytest.raises(InputError, match="two types"):
        BinomialModel(summing(3, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))))
    with pytest.raises(InputError, match="probability for each type"):
        MultinomialModel(mechanism).log_atoms([0.5, 0.6])


def test_a_model_whose_support_misses_the_data_is_refused() -> None:
    problem = problem_of(1, (0, 1), IidPrior((Fraction(1, 2), Fraction(1, 2))))
    mechanism = table_mechanism(problem, LinearSummary((0, 1)), np.eye(2))
    model = GivenModel(mechanism, lambda _: [1.0, 0.0], 0.0, 1.0)
    with pytest.raises(InputError, match="No value of the parameter"):
        fit([(model, ["s1"])])


@pytest.mark.parametrize("outputs", [[], np.array([np.nan]), np.array([np.inf]), ["x"]])
def test_empty_and_non_finite_observations_are_refused(outputs: object) -> None:
    with pytest.raises(InputError):
        fit([(BinomialModel(counting(3)), outputs)])  # type: ignore[list-item]
    with pytest.raises(InputError):
        fit([])


def test_type_probabilities_are_fitted_on_the_simplex() -> None:
    theta = np.array([0.6, 0.3, 0.1])
    model = MultinomialModel(summing(5, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))))
    cells = draws(model, theta, 3000, seed=0)
    found = fit_simplex([(model, cells)])
    assert found.identified and found.standard_errors is not None
    for t in range(3):
        assert abs(found.estimate[t] - theta[t]) < DEVIATIONS * found.standard_errors[t]
        low, high = found.intervals[t]
        assert low < found.estimate[t] < high
        half = (high - low) / 2
        assert half == pytest.approx(1.96 * found.standard_errors[t], rel=0.15)
    counts = np.bincount(cells, minlength=11)
    rng = np.random.default_rng(1)
    others = rng.dirichlet(50 * np.array(found.estimate), size=200)
    assert all(counts @ output_law(model, x) <= found.log_likelihood + 1e-6 for x in others)


def test_a_mechanism_that_merges_types_does_not_identify_them() -> None:
    problem = problem_of(4, (0, 1, 2), IidPrior((Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))))
    kernel = GeometricKernel(0, 4, 1, rational_above_exp(Fraction(-1), 80))
    mechanism = Mechanism(problem, LinearSummary((0, 1, 1)), kernel, promise(Fraction(1)))
    model = MultinomialModel(mechanism)
    found = fit_simplex([(model, draws(model, np.array([0.5, 0.25, 0.25]), 500, 5))], profiles=False)
    assert not found.identified and found.standard_errors is None
