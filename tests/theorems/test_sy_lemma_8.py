"""SY Lemma 8: oblivious private mechanisms can induce everything that private mechanisms can say about ω iff K_Ω = PK.

Executed: where K_Ω = PK, a private mechanism's hyper about ω comes from the averaged, still private oblivious channel;
where a witness π exists, {π, π0 − s(π − π0)} is a private hyper that no oblivious private mechanism induces. Our exact
criterion (couplings of the conditional priors along neighbours) agrees with a support-function program. Near-miss: at
δ = 1/4 Appendix A turns from one case to the other.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.geometry.channel import averaged
from discreet.geometry.hyper import hyper_of_channel, statistic_hyper
from discreet.geometry.labellings import beliefs_of_labels, extreme_labels
from discreet.geometry.noise import by_transport, hall_witness
from discreet.geometry.of_problem import K_of, K_Omega_of, stated
from discreet.geometry.projection import hull_of_PK, in_PK, support_value, widest_odds
from discreet.model.statistic import CountStatistic


@pytest.mark.parametrize("seed", range(4))
def test_equal_sets_replicate(sy, seed: int) -> None:
    listed = stated(sy.problem(3, (0, 1), sy.random_exchangeable(seed, 3, 2)), "databases")
    assert by_transport(listed).optimal
    polytope = K_of(listed)
    channel = sy.random_hyper(polytope, seed, polytope.ratio_bracket()[0]).channel(listed.prior)
    oblivious = averaged(channel, listed)
    assert oblivious.leak(listed.statistic_edges, Fraction(1)) is None
    same = hyper_of_channel(oblivious, listed.statistic_prior)
    wanted = statistic_hyper(hyper_of_channel(channel, listed.prior), listed)
    assert dict(zip(same.posteriors, same.weights, strict=True)) == dict(zip(wanted.posteriors, wanted.weights, strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_a_witness_makes_a_hyper_out_of_reach(sy, seed: int) -> None:
    listed = stated(sy.problem(2, (0, 1, 2), sy.random_table(seed, 2, 3)))
    answer = by_transport(listed)
    assert not answer.optimal and answer.witness is not None
    polytope, smaller = K_of(listed), K_Omega_of(listed)
    point = answer.witness.posterior(polytope.ratio_bracket()[0])
    s = Fraction(1, 4)
    while True:
        opposite = tuple(q - s * (p - q) for p, q in zip(point, listed.prior, strict=True))
        if min(opposite) > 0 and polytope.contains(opposite):
            break
        s /= 2
    assert polytope.contains(point) and polytope.contains(opposite)
    projected = listed.project(point)
    assert not smaller.contains(projected)
    assert in_PK(listed, projected).inside


@pytest.mark.parametrize("seed", range(12))
def test_couplings_and_programs_agree(sy, seed: int) -> None:
    """Counts under random dependent exchangeable priors: the widest odds of some pair exceed ε iff no coupling."""
    prior = sy.random_exchangeable(seed, 3, 3)
    listed = stated(sy.problem(3, (0, 1, 2), prior, statistic=CountStatistic((1,))))
    widest = max(
        widest_odds(listed, listed.omegas[a], listed.omegas[b])[1] for i, j in listed.statistic_edges for a, b in ((i, j), (j, i))
    )
    assert by_transport(listed).optimal == (widest <= 1 + 1e-9)


def test_a_separating_payoff(sy) -> None:
    """A belief outside PK comes with the payoff that no private posterior reaches."""
    listed = stated(sy.figures())
    certain = [Fraction(98, 100), Fraction(1, 100), Fraction(1, 100)]
    answer = in_PK(listed, certain)
    assert not answer.inside and answer.separation is not None
    assert answer.separation.at_belief > answer.separation.most_private
    assert support_value(listed, [1.0, 1.0, 1.0]) == pytest.approx(1)


@pytest.mark.parametrize("respondents", [1, 2, 3])
def test_drawn_hulls_coincide_for_counts(sy, respondents: int) -> None:
    """Figure 4: PK has the vertices of K_Ω, all 2^N of them."""
    listed = stated(sy.problem(respondents, (0, 1), sy.random_exchangeable(1, respondents, 2)), "databases")
    hull = hull_of_PK(listed)
    ours = sorted(map(tuple, np.round(hull.vertices, 9).tolist()))
    smaller = K_Omega_of(listed)
    theirs = beliefs_of_labels(extreme_labels(smaller), smaller.prior, 1.0)
    assert ours == sorted(map(tuple, np.round(theirs, 9).tolist())) and len(ours) == 2**respondents
    assert (hull.vertices @ hull.normals.T <= hull.offsets + 1e-9).all()


def test_the_drawn_hull_exceeds_K_Omega_for_sums(sy) -> None:
    listed = stated(sy.problem(2, (0, 1, 2), sy.iid(1, 1, 1)), "databases")
    hull, smaller = hull_of_PK(listed), K_Omega_of(listed)
    theirs = beliefs_of_labels(extreme_labels(smaller), smaller.prior, 1.0)
    assert (theirs @ hull.normals.T <= hull.offsets + 1e-9).all()
    outside = [v for v in hull.vertices if np.log(v[2] / v[0]) - np.log(3) > 1 + 1e-9]
    assert outside


def test_the_boundary_of_appendix_A(sy) -> None:
    inside, outside = (stated(sy.appendix_A(d)) for d in (Fraction(1, 4), Fraction(1, 4) - Fraction(1, 10**9)))
    assert by_transport(inside).optimal
    answer = by_transport(outside)
    assert not answer.optimal and 1 < answer.witness.log_shift < 1 + 1e-8
    with pytest.raises(Exception, match="no more than"):
        fibre = [i for i, omega in enumerate(inside.omega_of) if omega == 1]
        hall_witness(inside, fibre, 1, 2)
