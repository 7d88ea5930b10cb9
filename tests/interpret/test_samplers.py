"""Simulation-based calibration: every posterior sampler returns draws among which the true θ has a uniform rank.

θ ~ prior, s ~ p(s|θ), then L draws given s: the rank of θ among them is uniform on 0..L (Talts et al. 2018). Ranks are
put in 8 bins of equal size and tested by Pearson's X². The alarm is at p < 1e-6, so each test cries wolf once in a
million seeds; seeds are fixed. Near misses: a sampler that ignores the mechanism, and one that returns the prior.

Executes BG eq. (9).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2, kstest
from small_worlds import counting, summing

from discreet.errors import InputError, TooLarge
from discreet.interpret import (
    PoissonLaplace,
    augmentation_sample,
    dirichlet_posterior,
    grid_posterior,
    rejection_sample,
)
from discreet.interpret.models import BinomialModel
from discreet.model.mechanism import Mechanism

FALSE_ALARM = 1e-6
BINS = 8
DRAWS = 31
"""Draws for each data set: ranks 0..31 fall evenly into 8 bins."""


def calibration(rounds: int, draw: Callable[[np.random.Generator], tuple[float, np.ndarray]], seed: int) -> float:
    """The p-value of uniform ranks; `draw` returns a true θ and DRAWS posterior draws for its data."""
    rng = np.random.default_rng(seed)
    counts = np.zeros(BINS)
    for _ in range(rounds):
        truth, found = draw(rng)
        assert found.shape == (DRAWS,)
        counts[int((found < truth).sum()) * BINS // (DRAWS + 1)] += 1
    expected = rounds / BINS
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), BINS - 1))


def publish(mechanism: Mechanism, histogram: np.ndarray, rng: np.random.Generator) -> int:
    """The position of one published value."""
    law = np.asarray(mechanism.probabilities)[:, mechanism.states_of(histogram[None, :])[0]]
    return int(rng.choice(len(law), p=law / law.sum()))


COUNT = counting(6)


def survey(rng: np.random.Generator) -> tuple[float, int]:
    """θ uniform, six respondents, one published count."""
    theta = float(rng.random())
    ones = int(rng.binomial(6, theta))
    return theta, publish(COUNT, np.array([6 - ones, ones]), rng)


def by_rejection(output: int, rng: np.random.Generator) -> np.ndarray:
    """The exact rejection sampler for the published count."""
    logs = np.asarray(COUNT.log_probabilities)[output]
    return rejection_sample(
        lambda k, r: r.random(k),
        lambda theta, r: r.binomial(6, theta),
        lambda x: logs[x],
        float(logs.max()),
        DRAWS,
        rng,
    ).parameters


def test_rejection_is_calibrated() -> None:
    def draw(rng: np.random.Generator) -> tuple[float, np.ndarray]:
        theta, output = survey(rng)
        return theta, by_rejection(output, rng)

    assert calibration(2000, draw, seed=1) > FALSE_ALARM


def test_the_dirichlet_mixture_is_calibrated() -> None:
    mixtures = [dirichlet_posterior(COUNT, s, (Fraction(1), Fraction(1))) for s in range(7)]

    def draw(rng: np.random.Generator) -> tuple[float, np.ndarray]:
        theta, output = survey(rng)
        return theta, mixtures[output].draw(DRAWS, rng)[:, 1]

    assert calibration(4000, draw, seed=2) > FALSE_ALARM


def test_the_single_count_posterior_is_calibrated() -> None:
    # The closed form needs no sampler: the posterior probability below the true θ is uniform itself.
    model = PoissonLaplace(Fraction(3), Fraction(1), 0, 6, Fraction(1))
    theta, t = model.draw_prior_predictive(1500, np.random.default_rng(3))
    levels = [float(model.posterior(y).cdf(x)) for x, y in zip(theta, t, strict=True)]
    assert kstest(levels, "uniform").pvalue > FALSE_ALARM


@pytest.mark.slow
def test_augmentation_is_calibrated() -> None:
    mechanism = summing(3, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)))

    def draw(rng: np.random.Generator) -> tuple[float, np.ndarray]:
        theta = rng.dirichlet([1.0, 2.0, 1.0])
        outputs = [publish(mechanism, rng.multinomial(3, theta), rng) for _ in range(2)]
        chains = augmentation_sample(mechanism, np.array(outputs), [1, 2, 1], rng, chains=1, draws=DRAWS, burn_in=20, thin=4)
        return float(theta[1]), chains.draws[0, :, 1]

    assert calibration(320, draw, seed=4) > FALSE_ALARM


def test_a_sampler_that_ignores_the_mechanism_is_caught() -> None:
    def naive(rng: np.random.Generator) -> tuple[float, np.ndarray]:
        theta, output = survey(rng)
        return theta, rng.beta(1 + output, 7 - output, size=DRAWS)

    def prior_only(rng: np.random.Generator) -> tuple[float, np.ndarray]:
        return survey(rng)[0], rng.beta(2, 2, size=DRAWS)

    assert calibration(2000, naive, seed=5) < FALSE_ALARM
    assert calibration(2000, prior_only, seed=6) < FALSE_ALARM


def test_samplers_agree_with_the_exact_posterior() -> None:
    # Means within 4.9 standard errors of the exact one: false alarm about 1e-6 each.
    exact = dirichlet_posterior(COUNT, 2, (Fraction(1), Fraction(1)))
    spread = quadrature_variance(exact) ** 0.5
    rng = np.random.default_rng(7)
    logs = np.asarray(COUNT.log_probabilities)[2]
    kept = rejection_sample(
        lambda k, r: r.random(k),
        lambda th, r: r.binomial(6, th),
        lambda x: logs[x],
        float(logs.max()),
        4000,
        rng,
    )
    assert abs(kept.parameters.mean() - exact.mean()[1]) < 4.9 * spread / 4000**0.5
    assert kept.acceptance >= np.exp(-6.0)
    chains = augmentation_sample(COUNT, [2], [1, 1], rng, chains=4, draws=600)
    size = min(d.effective_size for d in chains.diagnoses)
    assert abs(chains.mean()[1] - exact.mean()[1]) < 4.9 * spread / size**0.5
    assert chains.acceptance >= np.exp(-1.0) and not chains.warnings
    low, high = chains.interval(0.8)
    assert low == pytest.approx(exact.quantile(0.1), abs=0.05) and high == pytest.approx(exact.quantile(0.9), abs=0.05)


def quadrature_variance(mixture: object) -> float:
    """Posterior variance of θ_1 by quadrature of the mixture's density."""
    grid = np.linspace(0, 1, 4001)
    density = mixture.density(grid)  # type: ignore[attr-defined]
    mean = np.trapezoid(grid * density, grid)
    return float(np.trapezoid((grid - mean) ** 2 * density, grid))


def test_mixture_and_grid_are_the_same_posterior() -> None:
    mixture = dirichlet_posterior(COUNT, 5, (Fraction(1), Fraction(1)))
    grid = grid_posterior([(BinomialModel(COUNT), ["5"])], lambda x: np.zeros_like(x), 0.0, 1.0)
    assert grid.mean() == pytest.approx(float(mixture.mean()[1]), abs=1e-12)
    assert grid.log_evidence == pytest.approx(mixture.log_evidence, abs=1e-12)
    assert grid.standard_deviation() ** 2 == pytest.approx(quadrature_variance(mixture), abs=1e-6)
    assert grid.interval(0.9) == pytest.approx(mixture.interval(0.9), abs=1e-4)
    assert mixture.density(grid.nodes) == pytest.approx(grid.density, rel=1e-8)


def test_short_chains_are_warned_about() -> None:
    chains = augmentation_sample(COUNT, [2] * 5, [1, 1], np.random.default_rng(1), chains=2, draws=20, burn_in=0)
    assert any("independent ones" in words for words in chains.warnings)


def test_rejection_says_when_it_keeps_too_little() -> None:
    logs = np.array([0.0, -40.0])
    with pytest.raises(TooLarge, match="keeps too few"):
        rejection_sample(
            lambda k, r: r.random(k),
            lambda theta, _: np.ones(len(theta), dtype=int),
            lambda x: logs[x],
            0.0,
            5,
            np.random.default_rng(0),
            most_proposals=20_000,
        )
    with pytest.raises(InputError, match="not a bound"):
        rejection_sample(
            lambda k, r: r.random(k),
            lambda theta, _: np.zeros(len(theta), dtype=int),
            lambda x: logs[x],
            -1.0,
            5,
            np.random.default_rng(0),
        )
    with pytest.raises(InputError, match="positive number of draws"):
        rejection_sample(lambda k, r: r.random(k), lambda t, _: t, lambda x: x, 0.0, 0, np.random.default_rng(0))


def test_the_sampler_refuses_what_it_cannot_do() -> None:
    with pytest.raises(InputError, match="positive concentration"):
        augmentation_sample(COUNT, [1], [1, 0], np.random.default_rng(0))
    with pytest.raises(InputError):
        augmentation_sample(COUNT, [], [1, 1], np.random.default_rng(0))
