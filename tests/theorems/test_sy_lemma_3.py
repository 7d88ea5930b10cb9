"""SY Lemma 3: a Fréchet representation has marginals μ0 and uniform; it reproduces E h(ω, t(μ)); and the best reply to
each posterior beats any rule that acts on quantiles.

Executed exactly on random hypers; Figures 7 and 8. Near-misses: a hyper that is not Bayes-plausible has another
marginal; a pooled index loses against the best reply.
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from discreet.geometry.hyper import hyper, hyper_of, statistic_hyper
from discreet.geometry.interim import Interim
from discreet.geometry.of_problem import K_Omega_of, stated
from discreet.geometry.orders.frechet import frechet


def random_case(sy, seed: int):
    listed = stated(sy.problem(3, (0, 1), sy.random_exchangeable(seed, 3, 2)))
    found = sy.random_hyper(K_Omega_of(listed), seed, Fraction(5, 2))
    draw = random.Random(seed)
    return listed, found, [draw.randint(0, 3) for _ in found.posteriors], draw


@pytest.mark.parametrize("seed", range(6))
def test_marginals_and_expectations(sy, seed: int) -> None:
    listed, found, index, draw = random_case(sy, seed)
    representation = frechet(found, index)
    assert representation.state_marginal() == listed.statistic_prior
    top = len(listed.omegas) - 1
    assert all(representation.cdf(top, Fraction(x, 7)) == Fraction(x, 7) for x in range(8))
    h = {(w, t): Fraction(draw.randint(-9, 9)) for w in range(top + 1) for t in range(4)}
    direct = sum(
        weight * p * h[w, t]
        for weight, posterior, t in zip(found.weights, found.posteriors, index, strict=True)
        for w, p in enumerate(posterior)
    )
    assert representation.expectation(lambda w, t: h[w, int(t)]) == direct


@pytest.mark.parametrize("seed", range(6))
def test_the_best_reply_beats_quantile_rules(sy, seed: int) -> None:
    listed, found, index, draw = random_case(sy, seed)
    representation = frechet(found, index)
    decision = sy.random_payoff(seed, 4, 4).tied_to(listed.omegas)
    interim = Interim((decision,), listed.omegas)
    best = sum(w * interim.value(p) for p, w in zip(found.posteriors, found.weights, strict=True))
    rule = {t: draw.randrange(4) for t in range(4)}
    table = decision.loss.rows
    assert best >= representation.expectation(lambda w, t: table[rule[int(t)]][w])


def test_figures_7_and_8(sy) -> None:
    listed = stated(sy.figures())
    found = statistic_hyper(hyper_of(sy.geometric(sy.figures(), (0, 1))), listed)
    sharp = frechet(found, [0, 1, 2])
    assert [float(x) for x in sharp.knots] == pytest.approx([0, 0.366312673267, 0.633687326733, 1], abs=1e-12)
    assert float(sharp.density(1, Fraction(1, 2))) == pytest.approx(0.576116884766, abs=1e-12)
    pooled = frechet(found, [0, 1, 1])
    assert len(pooled.widths) == 2 and pooled.knots[1] == sharp.knots[1]
    a, b = sharp.widths[1], sharp.widths[2]
    for w in range(3):
        mean = (a * sharp.laws[1][w] + b * sharp.laws[2][w]) / (a + b)
        assert pooled.density(w, Fraction(9, 10)) == mean


def test_near_misses(sy) -> None:
    listed, found, _, _ = random_case(sy, 1)
    skewed = hyper(found.states, found.posteriors, [Fraction(1, len(found))] * len(found))
    assert frechet(skewed, range(len(found))).state_marginal() != listed.statistic_prior
    figures = stated(sy.figures(sy.squared()))
    sharp = statistic_hyper(hyper_of(sy.geometric(sy.figures(), (0, 1))), figures)
    interim = Interim(figures.problem.decisions, figures.omegas)
    best = sum(w * interim.value(p) for p, w in zip(sharp.posteriors, sharp.weights, strict=True))
    pooled = frechet(sharp, [0, 1, 1])
    worth = sum(w * interim.value(law) for law, w in zip(pooled.laws, pooled.widths, strict=True))
    assert worth < best
