"""SY Proposition 1: choosing a private mechanism is choosing a Bayes-plausible hyper on K.

Executed: HiGHS on the program in m(a|θ) and the best hyper on K have the same value, on random problems; the hyper's
mechanism reaches it. Near-miss: hypers on a larger polytope (more privacy loss) do better than the program allows.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.geometry.concavification import concavify
from discreet.geometry.of_problem import K, stated


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("respondents", "types"), [(2, 2), (3, 2), (2, 3)])
def test_program_and_hyper_have_one_value(sy, seed: int, respondents: int, types: int) -> None:
    values = respondents * (types - 1) + 1
    prior = sy.random_table(seed, respondents, types)
    epsilon = Fraction(1 + seed, 3)
    problem = sy.problem(respondents, range(types), prior, sy.random_payoff(seed, 3, values), epsilon)
    found = concavify(problem)
    assert found.value <= found.bound and float(found.gap) < 1e-9
    assert sy.program_value(problem) == pytest.approx(float(found.value), abs=1e-6)
    listed = stated(problem)
    channel = found.hyper.channel(listed.prior)
    assert channel.leak(listed.edges, epsilon) is None
    assert sy.value_of_channel(channel, listed) == found.value


def test_a_looser_budget_is_the_near_miss(sy) -> None:
    problem = sy.problem(2, (0, 1), sy.random_table(1, 2, 2), sy.squared(2))
    looser = concavify(problem.with_epsilon(Fraction(11, 10)))
    assert float(looser.value) > sy.program_value(problem) + 1e-3
    listed = stated(problem)
    assert looser.hyper.channel(listed.prior).leak(listed.edges, problem.epsilon) is not None
    assert not all(K(problem).contains(p) for p in looser.hyper.posteriors)
