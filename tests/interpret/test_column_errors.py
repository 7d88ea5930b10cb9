"""Errors of sums of columns, beside sums over every database and output, and a posterior mean without bias."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from test_totals import noisy

import discreet
from discreet.interpret.column_errors import column_errors, column_values, missed_prior


def test_bias_and_variance_are_those_of_every_database_and_output() -> None:
    mechanism = noisy(3)
    other = missed_prior(mechanism)
    assert other is not None and other.probabilities[1] == Fraction(33, 96)
    for prior, chance in ((None, 0.3), (other, float(Fraction(33, 96)))):
        found = column_errors(mechanism, prior)
        for name, column in column_values(mechanism).items():
            errors = [
                (comb(3, k) * chance**k * (1 - chance) ** (3 - k) * mechanism.probabilities[s, k], column[s] - k)
                for k in range(4) for s in range(len(column))
            ]  # fmt: skip
            bias = sum(p * e for p, e in errors)
            assert found[name].bias == pytest.approx(bias, abs=1e-12)
            assert found[name].of_total(7) ** 2 == pytest.approx(7 * sum(p * (e - bias) ** 2 for p, e in errors) + 49 * bias**2)


def test_only_the_unbiased_column_survives_a_wrong_prior() -> None:
    mechanism = noisy(3)
    right, wrong = column_errors(mechanism), column_errors(mechanism, missed_prior(mechanism))
    assert abs(right["posterior_mean"].bias) < 1e-12 < 0.01 < abs(wrong["posterior_mean"].bias)
    assert abs(wrong["unbiased"].bias) < 1e-9
    assert wrong["posterior_mean"].of_total(10_000) > wrong["unbiased"].of_total(10_000)


def test_published_values_that_are_unbiased_stand_once() -> None:
    """Noise at face value, asked for as unbiased: one column of it, without bias under either truth."""
    from discreet.design.program.unbiased_noise import unbiased_noise
    from discreet.model.mechanism import Mechanism

    problem = discreet.problem(
        respondents=3,
        values=[0, 1],
        probabilities=["0.7", "0.3"],
        decision={"kind": "squared-error", "actions": "real", "unbiased": "everywhere"},
        epsilon=1,
    ).problem
    made = unbiased_noise(problem, "geometric")
    mechanism = Mechanism(problem, made.summary, made.kernel, problem.guarantee)
    wrong = column_errors(mechanism, missed_prior(mechanism))
    assert set(wrong) == {"published", "posterior_mean"} and abs(wrong["published"].bias) < 1e-12
