"""SY Theorem 1: with magnitude data (sums of values 0..T, T > 1, N ≥ 2) adding noise always loses something.

There is a private posterior π ∝ π0·e^{−εψ} whose projection moves the odds of ω = min(N, T) against 0 beyond ε.
Near-misses: one respondent; two types; values that are not equally spaced.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import InputError
from discreet.geometry.concavification import concavify, concavify_oblivious
from discreet.geometry.noise import by_transport, is_noise_optimal
from discreet.geometry.of_problem import K_of, K_Omega_of, stated
from discreet.geometry.projection import in_PK, widest_odds
from discreet.geometry.witness import magnitude_witness


def test_the_example_of_two_respondents_and_three_values(sy) -> None:
    problem = sy.problem(2, (0, 1, 2), sy.iid(1, 1, 1), sy.squared(4))
    listed = stated(problem, "databases")
    witness = magnitude_witness(listed)
    assert witness.log_shift == pytest.approx(1.45283242526, abs=1e-11)
    ratio = K_of(listed).ratio_bracket()[0]
    posterior = witness.posterior(ratio)
    assert K_of(listed).contains(posterior)
    violated = K_Omega_of(listed).violation(listed.project(posterior))
    assert violated is not None and {violated.state, violated.other} == {"0", "2"}
    assert violated.log_shift == pytest.approx(witness.log_shift, abs=1e-12)
    assert in_PK(listed, listed.project(posterior)).inside


def test_its_values(sy) -> None:
    problem = sy.problem(2, (0, 1, 2), sy.iid(1, 1, 1), sy.squared(4))
    assert float(concavify(problem, "databases").value) == pytest.approx(-1.12568051260, abs=1e-11)
    assert float(concavify_oblivious(problem).value) == pytest.approx(-1.15329883373, abs=1e-11)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("respondents", "types"), [(2, 3), (3, 3), (2, 4), (4, 3)])
def test_any_prior_and_any_epsilon(sy, seed: int, respondents: int, types: int) -> None:
    prior = sy.random_table(seed, respondents, types)
    epsilon = Fraction(1 + seed, 4)
    problem = sy.problem(respondents, range(types), prior, epsilon=epsilon)
    answer = is_noise_optimal(problem)
    assert not answer.optimal and answer.theorem == "SY Theorem 1"
    assert answer.witness is not None and answer.witness.log_shift > epsilon
    assert not by_transport(stated(problem)).optimal


def test_an_affine_map_of_the_values_changes_nothing(sy) -> None:
    plain = sy.problem(2, (0, 1, 2), sy.random_table(7, 2, 3))
    moved = sy.problem(2, (5, 8, 11), sy.random_table(7, 2, 3))
    shifts = [is_noise_optimal(p).witness.log_shift for p in (plain, moved)]
    assert shifts[0] == shifts[1]


def test_the_widest_odds_are_at_least_the_witness(sy) -> None:
    listed = stated(sy.problem(2, (0, 1, 2), sy.random_table(3, 2, 3)), "databases")
    witness = magnitude_witness(listed)
    _, widest = widest_odds(listed, witness.raised, witness.lowered)
    assert widest >= witness.log_shift - 1e-12


@pytest.mark.parametrize(("respondents", "values"), [(1, (0, 1, 2)), (3, (0, 1)), (2, (0, 1, 5))])
def test_near_misses_have_no_such_witness(sy, respondents: int, values: tuple[int, ...]) -> None:
    prior = sy.iid(*range(1, len(values) + 1))
    problem = sy.problem(respondents, values, prior)
    with pytest.raises(InputError):
        magnitude_witness(stated(problem, "databases"))
    assert is_noise_optimal(problem).optimal
    assert by_transport(stated(problem)).optimal


def test_with_whole_number_actions_a_payoff_may_show_no_gap(sy) -> None:
    """Erratum: the theorem is about the set of posteriors; one coarse decision can miss the difference."""
    problem = sy.problem(2, (0, 1, 2), sy.iid(89, 9, 2), sy.squared(4), epsilon=Fraction(1, 2))
    whole, oblivious = concavify(problem), concavify_oblivious(problem)
    assert abs(whole.value - oblivious.value) < Fraction(1, 10**12)
    real = sy.problem(2, (0, 1, 2), sy.iid(89, 9, 2), sy.squared(), epsilon=Fraction(1, 2))
    assert concavify(real).value > concavify_oblivious(real).bound
