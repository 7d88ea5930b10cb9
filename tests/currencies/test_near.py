"""Discrete Gaussian noise by a table near it: entries within 2^-200, closed forms inside, refusals of what is too large."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import discreet
from discreet.currencies.near import near_table, outward
from discreet.currencies.profiles import profile
from discreet.errors import InputError, TooLarge
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.model.kernel import GaussianKernel, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary
from discreet.views.profile import profile_view


def noisy(respondents: int = 2, reach: int = 30, variance: str = "9/4") -> Mechanism:
    problem = discreet.problem(
        respondents=respondents,
        values=[0, 1],
        probabilities=["0.7", "0.3"],
        actions="real",
        rho=str(Fraction(1) / (2 * Fraction(variance))),
    ).problem
    kernel = GaussianKernel(-reach, respondents + reach, 1, Fraction(variance))
    return Mechanism(problem, LinearSummary((0, 1)), kernel.with_actions([Fraction(0)] * kernel.width), problem.guarantee)


def test_every_entry_is_within_the_brackets_of_the_truth() -> None:
    mechanism = noisy()
    kernel, table = mechanism.kernel, near_table(mechanism).kernel
    assert isinstance(kernel, GaussianKernel) and isinstance(table, TableKernel)
    finer = kernel.brackets(table.denominator.bit_length() + 300)
    for total in range(3):
        for output in range(kernel.low + 1, kernel.high):
            low, high = (Fraction(side, 1 << finer.bits) for side in finer.masses[abs(output - total)])
            near = Fraction(table.weights[output - kernel.low][total], table.denominator)
            assert abs(near / low - 1) < Fraction(1, 2**200) and abs(near / high - 1) < Fraction(1, 2**200)


def test_delta_agrees_with_the_formula_of_unclipped_noise() -> None:
    """Far windows clip next to nothing: δ(ε) of the formula (Canonne et al., Thm 7) lies inside, and a wrong σ outside."""
    seen = profile(near_table(noisy()))
    for epsilon in ("0", "0.5", "2"):
        found = seen.delta_for_epsilon(epsilon)
        low, high = outward(found.lower, found.upper)
        true = DiscreteGaussian(Fraction(3, 2)).delta_bracket(epsilon)
        assert low - 1e-15 <= true[1] and true[0] <= high + 1e-15
        other = DiscreteGaussian(Fraction(3, 2) * Fraction(1001, 1000)).delta_bracket(epsilon)
        assert not low - 1e-15 <= other[1] <= high + 1e-15


def test_the_view_states_rho_by_the_formula_and_no_exact_ratio() -> None:
    facts = profile_view(noisy(reach=6), deltas=["1e-6"]).facts
    assert (
        facts["ratio"] is None and facts["rho"] == pytest.approx(2 / 9, rel=1e-6) and facts["rho"] <= 2 / 9
    )  # clipping hides a little more
    assert facts["epsilon_bracket"][0] < facts["epsilon_bracket"][1]
    assert profile_view(noisy(reach=6), size=2).facts["rho"] <= 4 * (2 / 9) * (1 + 1e-12)


def test_a_table_is_its_own_and_what_cannot_be_listed_is_refused() -> None:
    table = near_table(noisy())
    assert near_table(table) is table
    with pytest.raises(TooLarge):
        near_table(noisy(reach=2000))
    with pytest.raises(InputError):
        replace(noisy(), kernel=GaussianKernel(-1, 3, 1, Fraction(1, 10))).kernel.probability(0, 0)
