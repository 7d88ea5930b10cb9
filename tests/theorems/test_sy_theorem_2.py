"""SY Theorem 2: two types and exchangeable respondents make K_Ω = PK, so adding noise loses nothing.

Executed by couplings along neighbours, by projecting random private posteriors, and by equal values of a decision.
Near-miss: Appendix A, where respondents are not exchangeable; the boundary is δ = 1/4.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.geometry.concavification import concavify, concavify_oblivious
from discreet.geometry.labellings import extreme_points
from discreet.geometry.noise import by_transport, is_noise_optimal
from discreet.geometry.of_problem import K, K_Omega_of, stated
from discreet.geometry.projection import widest_odds


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("respondents", [2, 3, 4, 5])
def test_every_exchangeable_prior(sy, seed: int, respondents: int) -> None:
    problem = sy.problem(respondents, (0, 1), sy.random_exchangeable(seed, respondents, 2))
    answer = is_noise_optimal(problem)
    assert answer.optimal and answer.theorem == "SY Theorem 2"
    assert by_transport(stated(problem, "databases")).optimal


@pytest.mark.parametrize("seed", range(3))
def test_every_extreme_private_posterior_projects_into_K_Omega(sy, seed: int) -> None:
    listed = stated(sy.problem(3, (0, 1), sy.random_exchangeable(seed, 3, 2)), "databases")
    polytope, smaller = K(listed.problem, "databases"), K_Omega_of(listed)
    ratio = polytope.ratio_bracket()[0]
    for point in extreme_points(polytope):
        assert smaller.contains(listed.project(point.belief(listed.prior, ratio)))


def test_values_of_databases_histograms_and_noise_agree(sy) -> None:
    problem = sy.problem(4, (0, 1), sy.iid(7, 3), sy.squared(4))
    values = [float(concavify(problem, on).value) for on in ("databases", "histograms")]
    values.append(float(concavify_oblivious(problem).value))
    assert values == pytest.approx([-0.625136476853] * 3, abs=1e-11)


def test_appendix_A_is_the_near_miss(sy) -> None:
    for delta, optimal in ((Fraction(1, 100), False), (Fraction(249, 1000), False), (Fraction(1, 4), True), (Fraction(1, 2), True)):
        assert is_noise_optimal(sy.appendix_A(delta)).optimal is optimal


def test_the_posterior_of_appendix_A(sy) -> None:
    listed = stated(sy.appendix_A(Fraction(1, 100)))
    labels, shift = widest_odds(listed, Fraction(2), Fraction(1))
    assert shift == pytest.approx(2.80204138456, abs=1e-11)
    at = dict(zip(listed.space.labels, labels, strict=True))
    # φ of the paper in exponents: (0,0,0) −2, (1,0,0) −3, (0,1,1) 0, (1,1,1) −1, and so on; ψ's print swaps two.
    assert [at[d] - at["0,1,1"] for d in ("0,0,0", "1,0,0", "0,1,0", "1,1,0", "1,1,1")] == [-2, -3, -1, -2, -1]
    assert all(abs(labels[i] - labels[j]) == 1 for i, j in listed.edges) and len(listed.edges) == 12


def test_its_price_for_the_payoff_of_the_footnote(sy) -> None:
    u = sy.payoff(("0", "-7389056098930650/1000000000000000", "1", "0"), ("0", "0", "0", "0"))
    problem = sy.appendix_A(Fraction(1, 100), u)
    assert float(concavify_oblivious(problem).value) == pytest.approx(0, abs=1e-15)
    assert float(concavify(problem).value) == pytest.approx(0.0668079047978, abs=1e-10)
