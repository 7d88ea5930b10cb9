"""SY Proposition 4: with two types and two respondents K_Ω = PK whatever the prior.

Executed on random priors by couplings and by projecting every extreme point. Near-misses: a third respondent
(Appendix A) and a third type.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.geometry.labellings import extreme_points
from discreet.geometry.noise import by_transport, is_noise_optimal
from discreet.geometry.of_problem import K_of, K_Omega_of, stated


@pytest.mark.parametrize("seed", range(10))
def test_any_prior_of_two_respondents(sy, seed: int) -> None:
    problem = sy.problem(2, (0, 1), sy.random_table(seed, 2, 2), epsilon=Fraction(1 + seed, 2))
    answer = is_noise_optimal(problem)
    assert answer.optimal and answer.theorem == "SY Proposition 4"
    listed = stated(problem)
    assert by_transport(listed).optimal
    polytope, smaller = K_of(listed), K_Omega_of(listed)
    ratio = polytope.ratio_bracket()[0]
    assert all(smaller.contains(listed.project(p.belief(listed.prior, ratio))) for p in extreme_points(polytope))


def test_a_third_respondent_and_a_third_type_are_near_misses(sy) -> None:
    third = sy.table([97, 2, 2, 50, 50, 2, 2, 97], 3, 2)
    assert not is_noise_optimal(sy.problem(3, (0, 1), third)).optimal
    assert not is_noise_optimal(sy.problem(2, (0, 1, 2), sy.random_table(0, 2, 3))).optimal
