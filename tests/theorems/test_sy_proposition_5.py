"""SY Proposition 5: with exchangeable respondents every private mechanism can be made permutation-invariant without
changing what it says about the statistic. The proof is not printed; averaging over permutations is one.

Executed on random private channels on databases. Near-miss: without exchangeability the average says something else.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import InputError
from discreet.geometry.channel import Channel
from discreet.geometry.concavification import concavify
from discreet.geometry.hyper import hyper_of_channel, statistic_hyper
from discreet.geometry.of_problem import K_of, stated
from discreet.geometry.symmetrisation import symmetrise, symmetrised


def on_databases(channel: Channel, listed, universe) -> Channel:
    """A channel on histograms read at each database."""

    at = [channel.states.index(",".join(map(str, universe.histogram_of(d)))) for d in universe.databases()]
    return Channel(listed.space.labels, channel.outputs, tuple(tuple(row[i] for i in at) for row in channel.rows))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("respondents", "types"), [(3, 2), (2, 3)])
def test_the_average_is_private_and_says_the_same(sy, seed: int, respondents: int, types: int) -> None:
    problem = sy.problem(respondents, range(types), sy.random_exchangeable(seed, respondents, types))
    listed = stated(problem, "databases")
    polytope = K_of(listed)
    channel = sy.random_hyper(polytope, seed, polytope.ratio_bracket()[0]).channel(listed.prior)
    mean = symmetrised(channel, problem.universe)
    histograms = stated(problem, "histograms")
    assert mean.leak(histograms.edges, problem.epsilon) is None
    before = statistic_hyper(hyper_of_channel(channel, listed.prior), listed)
    after = statistic_hyper(hyper_of_channel(mean, histograms.prior), histograms)
    assert sorted(zip(before.posteriors, before.weights, strict=True)) == sorted(zip(after.posteriors, after.weights, strict=True))
    spread = on_databases(mean, listed, problem.universe)
    assert spread.leak(listed.edges, problem.epsilon) is None


def test_so_databases_and_histograms_have_one_value(sy) -> None:
    for seed in range(3):
        problem = sy.problem(2, (0, 1, 2), sy.random_exchangeable(seed, 2, 3), sy.random_payoff(seed, 3, 5))
        values = [float(concavify(problem, on).value) for on in ("databases", "histograms")]
        assert values[0] == pytest.approx(values[1], abs=1e-9)


def test_an_ordered_prior_is_the_near_miss(sy) -> None:
    problem = sy.problem(3, (0, 1), sy.random_table(3, 3, 2))
    listed = stated(problem)
    polytope = K_of(listed)
    channel = sy.random_hyper(polytope, 3, polytope.ratio_bracket()[0]).channel(listed.prior)
    spread = on_databases(symmetrised(channel, problem.universe), listed, problem.universe)
    before = statistic_hyper(hyper_of_channel(channel, listed.prior), listed)
    after = statistic_hyper(hyper_of_channel(spread, listed.prior), listed)
    assert set(before.posteriors) != set(after.posteriors)
    with pytest.raises(InputError, match="exchangeable"):
        symmetrise(sy.geometric(problem, (0, 1)))


def test_a_mechanism_on_the_statistic_is_its_own_average(sy) -> None:
    problem = sy.problem(3, (0, 1), sy.iid(2, 1))
    mean = symmetrise(sy.geometric(problem, (0, 1)))
    assert mean.states == ("3,0", "2,1", "1,2", "0,3")
    assert mean.rows[0][0] == sy.geometric(problem, (0, 1)).probability(0, 0) > Fraction(1, 2)
