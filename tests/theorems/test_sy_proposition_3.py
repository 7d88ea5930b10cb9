"""SY Proposition 3: an oblivious mechanism is ε-private iff |log σ(s|ω)/σ(s|ω−t)| ≤ ε for 1 ≤ t ≤ min(T, ω), iff its
posteriors about ω lie in K_Ω. (The proof picks an infeasible database when ω−t > (N−1)T; the statement stands.)

Executed on the graph of ω and on random oblivious channels. Near-misses: a ratio a hair beyond e^ε at some t ≤ T fails;
the same ratio at t = T + 1 does not.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.geometry.channel import Channel
from discreet.geometry.hyper import hyper_of_channel, statistic_hyper
from discreet.geometry.of_problem import K_Omega, K_Omega_of, stated


@pytest.mark.parametrize(("respondents", "types"), [(1, 3), (2, 3), (3, 3), (4, 2), (2, 5), (5, 4)])
def test_adjacent_values_differ_by_at_most_T(sy, respondents: int, types: int) -> None:
    polytope = K_Omega(sy.problem(respondents, range(types), sy.iid(*range(1, types + 1))))
    largest = respondents * (types - 1)
    wanted = {(w - t, w) for w in range(1, largest + 1) for t in range(1, min(types - 1, w) + 1)}
    assert set(polytope.edges) == wanted


def two_outputs(listed, first: list[Fraction]) -> Channel:
    """An oblivious channel with σ(0|ω) given."""
    at = dict(zip(listed.omegas, first, strict=True))
    row = tuple(at[omega] for omega in listed.omega_of)
    return Channel(listed.space.labels, ("0", "1"), (row, tuple(1 - p for p in row)))


@pytest.mark.parametrize("seed", range(4))
def test_the_three_statements_agree(sy, seed: int) -> None:
    listed = stated(sy.problem(2, (0, 1, 2), sy.random_table(seed, 2, 3)), "databases")
    polytope = K_Omega_of(listed)
    ratio = polytope.ratio_bracket()[0]
    for start in range(3, 9):
        sigma = [Fraction(start, 100) * ratio ** (min(w, 2) % 3) for w in range(5)]
        channel = two_outputs(listed, sigma)
        private = channel.leak(listed.edges, listed.problem.epsilon) is None
        direct = all(
            max(p[w], p[w - t]) <= ratio * min(p[w], p[w - t])
            for p in (sigma, [1 - s for s in sigma])
            for w in range(1, 5)
            for t in range(1, min(2, w) + 1)
        )
        posteriors = statistic_hyper(hyper_of_channel(channel, listed.prior), listed).posteriors
        assert private == direct == all(polytope.contains(p) for p in posteriors)


def test_a_hair_beyond_is_the_near_miss(sy) -> None:
    listed = stated(sy.problem(2, (0, 1, 2), sy.iid(1, 2, 3)), "databases")
    below, above = K_Omega_of(listed).ratio_bracket()
    base = Fraction(1, 20)
    for steps, ratio, private in (
        ([0, 1, 1, 1, 1], below, True),
        ([0, 1, 1, 1, 1], above, False),
        ([0, 1, 2, 2, 2], below, False),
        ([0, 0, 0, 1, 1], above, False),
        ([0, 1, 1, 2, 2], below, True),
    ):
        # In the last case ω = 0 and ω = 3 differ by two steps: allowed, since no replacement joins them.
        channel = two_outputs(listed, [base * ratio**k for k in steps])
        assert (channel.leak(listed.edges, Fraction(1)) is None) is private, steps
