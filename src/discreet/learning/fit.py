"""The rule `discreet-fit/1`: from the numbers of a learning release to a prior for the cells of each stratum, with its
uncertainty.

Model. In stratum s a respondent has type j or above with probability c_sj. Cells differ: their shares are Dirichlet with
intra-cell correlation ρ = 1/(A + 1), A the total concentration, the same in all strata; ρ = 0 means cells are alike. Each
number, and the sum and the difference of a higher and a lower one, has an exact law, noise included (`laws`). Numbers of
different cells are independent; sum and difference of one pair of numbers are taken to be, their noise being uncorrelated,
and the likelihood is the product. Under Gaussian noise a difference is taken to be no less than `LESS` deviations below what
cells that are alike lead to expect: what is less even than that is no sign that they differ. Beforehand c is uniform and ρ is
on the list `CORRELATIONS` with the weights `BEFOREHAND`.

For each ρ: c_sj has the mean and variance of its likelihood on 21 points; strata are pooled partially (`strata`); the
difference is judged at these means. ρ then has a posterior on the list. What is believed of the next cell mixes all of this,
and is matched by one Dirichlet-multinomial law in its means p̄_t = c_t − c_(t+1) and variance:

    ρ* = Σ_t (Var p_t + E ρ·p_t(1 − p_t)) / Σ_t p̄_t(1 − p̄_t)

so a p that is known badly counts as cells that differ. `change` adds (change·p̄_t)² to Var p_t, for a release from elsewhere
or from an earlier year. Where the variance of no cell would grow by more than `ALIKE`, the prior is iid. Probabilities keep
four significant digits and the concentration three: that makes the rule the same on every machine, since sums of floats
differ in the thirteenth digit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from discreet.learning.laws import Array, Noise, apart, beta_binomial, log_likelihood, moments
from discreet.learning.noise import GeometricLaw, NoiseLaw
from discreet.learning.questions import HIGHER, LOWER, Question
from discreet.learning.strata import pooled
from discreet.model.key_set import KeySet
from discreet.model.origin import Origin
from discreet.model.prior_set import PriorSet
from discreet.model.priors import DirichletMultinomialPrior, IidPrior

RULE = "discreet-fit/1"
CORRELATIONS = (
    0.0,
    0.001,
    0.002,
    0.004,
    0.007,
    0.01,
    0.015,
    0.02,
    0.03,
    0.045,
    0.06,
    0.085,
    0.12,
    0.17,
    0.25,
    0.4,
    0.6,
)
BEFOREHAND = (8.0, *(1.0,) * 16)
"""Weights of the correlations: one in three that cells are alike."""
POINTS = 21
ALIKE = 0.02
SIGNIFICANT, FOR_CONCENTRATION = 4, 3
LESS = 2.0
"""By how many deviations cells may seem to differ less than by chance."""
LEAST_SHARE = 1e-5
"""No type is believed to be rarer than this."""


@dataclass(frozen=True)
class Learned:
    """What is believed of the cells of a stratum."""

    stratum: tuple[str, ...]
    probabilities: tuple[Fraction, ...]
    deviations: tuple[float, ...]
    """Of each probability, how far it may be off."""
    correlation: float
    """ρ*, with the uncertainty of the probabilities."""
    correlations: tuple[float, float]
    """The interval of ρ that holds 90 % of the posterior."""
    concentration: Fraction | None
    """None where cells are taken to be alike."""

    def prior(self, origin: Origin | None = None) -> IidPrior | DirichletMultinomialPrior:
        """As a prior of a problem."""
        if self.concentration is None:
            return IidPrior(self.probabilities, origin=origin)
        return DirichletMultinomialPrior(tuple(self.concentration * p for p in self.probabilities), origin=origin)

    def believed(self) -> PriorSet:
        """What is believed with confidence: each share p up to p + 2d and down to p·e^(−2d/p) with its deviation d, and the 90 %
        interval of ρ. Shares that would leave the most frequent type less than a tenth of its own reach up to there."""
        modal = self.probabilities.index(max(self.probabilities))
        up = [max(_digits(2 * d, 3), Fraction(1, 10**6)) for d in self.deviations]
        beyond = sum(up, Fraction(0)) - up[modal]
        fit_in = min(self.probabilities[modal] * Fraction(9, 10) / beyond, Fraction(1))
        low = [_digits(float(p) * np.exp(-float(u / p)), 3) for p, u in zip(self.probabilities, up, strict=True)]
        reach = [(min(a, p * Fraction(99, 100)), p + u * fit_in) for a, p, u in zip(low, self.probabilities, up, strict=True)]
        first, last = (Fraction(str(c)) for c in self.correlations)
        return PriorSet(self.probabilities, tuple(reach), (first, last))


def fit(
    asked: Sequence[Question],
    published: Sequence[int],
    key_set: KeySet,
    types: int,
    noise: NoiseLaw,
    *,
    change: Fraction = Fraction(0),
) -> dict[tuple[str, ...], Learned]:
    """What follows from published numbers, for each stratum; `noise` is that of every number."""
    numbers = {q.key: y for q, y in zip(asked, published, strict=True)}
    strata = sorted({q.stratum for q in asked})
    log_weights = np.log(np.array(BEFOREHAND))
    means = np.zeros((len(CORRELATIONS), len(strata), types))
    variances = np.zeros_like(means)
    heard = [_Heard(q, numbers, key_set.sizes, noise) for q in asked if q.part != LOWER]
    for i, correlation in enumerate(CORRELATIONS):
        above, off = np.ones((len(strata), types + 1)), np.zeros((len(strata), types + 1))
        above[:, types] = 0
        for j in range(1, types):
            here = [one for one in heard if one.about == j]
            found = [one.share(correlation) for one in here]
            above[:, j], off[:, j] = pooled(np.array([f[0] for f in found]), np.array([f[1] for f in found]))
            log_weights[i] += sum(f[2] for f in found)
            for one, c in zip(here, above[:, j], strict=True):
                log_weights[i] += one.spread(float(c), correlation) if one.twice else 0.0
        means[i], variances[i] = _types(above), off[:, :-1] + off[:, 1:]
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    largest = {s: max(key_set.sizes[place] for q in asked if q.stratum == s for pair in q.pairs for place in pair) for s in strata}
    return {s: _learned(s, weights, means[:, k], variances[:, k], float(change), largest[s]) for k, s in enumerate(strata)}


def _learned(stratum: tuple[str, ...], weights: Array, means: Array, variances: Array, change: float, largest: int) -> Learned:
    mean = weights @ means
    variance = weights @ (variances + (means - mean) ** 2) + (change * mean) ** 2
    rho = np.array(CORRELATIONS)
    within = weights @ (rho[:, None] * np.maximum(means * (1 - means) - variances, 0))
    correlation = float((variance + within).sum() / (mean * (1 - mean)).sum())
    cumulative = np.cumsum(weights)
    low, high = (rho[min(int(np.searchsorted(cumulative, level)), len(rho) - 1)] for level in (0.05, 0.95))
    modal = int(np.argmax(mean))
    rounded = [max(_digits(p, SIGNIFICANT), Fraction(1, 10**7)) for p in mean]
    rounded[modal] = 1 - sum(rounded[:modal] + rounded[modal + 1 :], Fraction(0))
    alike = correlation * (largest - 1) < ALIKE
    concentration = None if alike else max(_digits(1 / min(correlation, 0.99) - 1, FOR_CONCENTRATION), Fraction(1, 100))
    return Learned(
        stratum,
        tuple(rounded),
        tuple(float(v) for v in np.sqrt(variance)),
        correlation,
        (float(low), float(high)),
        concentration,
    )


class _Heard:
    """A question with its published number, or with the two numbers of a higher and a lower one."""

    def __init__(self, q: Question, numbers: Mapping[tuple[str, ...], int], sizes: Sequence[int], noise: NoiseLaw) -> None:
        self.about, self.twice = q.about, q.part == HIGHER
        other = numbers[(*q.stratum, f"at least {q.about}{LOWER}")] if self.twice else 0
        self.total, self.difference = numbers[q.key] + other, numbers[q.key] - other
        self.counts = Counter(sizes[place] for pair in q.pairs for place in pair)
        self.pairs = Counter((min(sizes[a], sizes[b]), max(sizes[a], sizes[b])) for a, b in q.pairs)
        self.respondents = sum(n * count for n, count in self.counts.items())
        self.noise = Noise(noise, self.respondents, 1 + self.twice)

    def share(self, correlation: float) -> tuple[float, float, float]:
        """Mean and variance of the share under a uniform prior, and the logarithm of the number's probability."""
        share = min(max(self.total / self.respondents, 0.0), 1.0)
        room = min((self.noise.variance**0.5 + 1) / self.respondents, 0.5)
        typical = min(max(share, room), 1 - room)
        grown = sum(count * n * (1 + (n - 1) * correlation) for n, count in self.counts.items())
        deviation = (typical * (1 - typical) * grown + self.noise.variance) ** 0.5 / self.respondents
        low, high = max(share - 6 * deviation, 0.0), min(share + 6 * deviation, 1.0)
        width = (high - low) / POINTS
        points = low + (np.arange(POINTS) + 0.5) * width
        logs = np.array([self._log(float(p), correlation) for p in points])
        weights = np.exp(logs - logs.max())
        total = float(weights.sum())
        mean = float(weights @ points) / total
        variance = float(weights @ (points - mean) ** 2) / total + width**2 / 12
        return mean, variance, float(logs.max() + np.log(total * width))

    def _log(self, share: float, correlation: float) -> float:
        parts = [(beta_binomial(n, share, correlation), count) for n, count in self.counts.items()]
        return log_likelihood(parts, self.noise, self.total)

    def spread(self, share: float, correlation: float) -> float:
        """The log-likelihood of the difference."""
        inner = min(max(share, LEAST_SHARE), 1 - LEAST_SHARE)
        return log_likelihood(self._apart(inner, correlation), self.noise, max(self.difference, self._least(inner)))

    def _apart(self, share: float, correlation: float) -> list[tuple[Array, int]]:
        laws = {size: beta_binomial(size, share, correlation) for size in self.counts}
        return [(apart(laws[n], laws[m]), count) for (n, m), count in self.pairs.items()]

    def _least(self, share: float) -> int:
        """Cells that differ even less than by chance are alike: a difference is taken for no less than this. (Under geometric
        noise, whose tails are heavy, every difference is taken as it is.)"""
        if isinstance(self.noise.law, GeometricLaw):
            return self.difference
        mean, variance = moments(self._apart(share, 0.0))
        return ceil(mean - LESS * (variance + self.noise.variance) ** 0.5)


def _types(above: Array) -> Array:
    """Probabilities of the types from those of each type and above; where noise puts them out of order they give way."""
    falling = np.minimum.accumulate(np.clip(above, 0, 1), axis=1)
    found = np.maximum(falling[:, :-1] - falling[:, 1:], LEAST_SHARE)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _digits(value: float, digits: int) -> Fraction:
    """A number with so many significant digits."""
    return Fraction(f"{value:.{digits - 1}e}")


def priors(
    learned: Mapping[tuple[str, ...], Learned], release: str, change: Fraction = Fraction(0)
) -> dict[tuple[str, ...], IidPrior | DirichletMultinomialPrior]:
    """The priors that follow from a learning release, each saying so."""
    return {s: found.prior(Origin(release, RULE, s, change)) for s, found in learned.items()}
