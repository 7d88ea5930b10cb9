"""SY Corollary 1: with two types and exchangeable respondents, an oblivious mechanism is optimal iff its hyper about ω
solves the problem on K_Ω.

Executed: HiGHS on the 2^N databases equals HiGHS on K_Ω and the concavification there. Near-miss: Appendix A.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.geometry.concavification import concavify_oblivious
from discreet.geometry.of_problem import oblivious_problem


@pytest.mark.parametrize("seed", range(6))
def test_databases_and_counts_have_one_value(sy, seed: int) -> None:
    respondents = 2 + seed % 3
    decision = sy.random_payoff(seed, 3, respondents + 1)
    problem = sy.problem(respondents, (0, 1), sy.random_exchangeable(seed, respondents, 2), decision)
    whole = sy.program_value(problem, "databases")
    assert sy.program_value(oblivious_problem(problem)) == pytest.approx(whole, abs=1e-7)
    assert float(concavify_oblivious(problem).value) == pytest.approx(whole, abs=1e-7)


def test_appendix_A_is_the_near_miss(sy) -> None:
    problem = sy.appendix_A(Fraction(1, 100), sy.payoff((0, -7, 1, 0), (0, 0, 0, 0)))
    assert sy.program_value(problem) > sy.program_value(oblivious_problem(problem)) + 0.05
