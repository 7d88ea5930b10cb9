"""The rule `discreet-fit/1`: from the numbers of a learning release to a prior for the cells of each stratum, with its
uncertainty.

Model. In stratum s a respondent has type t with probability p_st. Cells differ: their shares are Dirichlet with intra-cell
correlation ρ = 1/(A + 1), A the total concentration, the same in all strata; ρ = 0 means cells are alike. Cells answer
different questions, so the numbers are independent and their likelihood is the product of exact laws (`laws`), noise
included. Beforehand p is uniform and ρ is on the list `CORRELATIONS` with the weights `BEFOREHAND`.

For each ρ: p_st has the mean and variance of its likelihood on 21 points; strata are pooled partially (`strata`); the spread
is judged at these means. ρ then has a posterior on the list. What is believed of the next cell mixes all of this, and is
matched by one Dirichlet-multinomial law in its means p̄ and variance:

    ρ* = Σ_t (Var p_t + E ρ·p_t(1 − p_t)) / Σ_t p̄_t(1 − p̄_t)

so a p that is known badly counts as cells that differ. `change` adds (change·p̄_t)² to Var p_t, for a release from elsewhere
or from an earlier year. Where the variance of no cell would grow by more than `ALIKE`, the prior is iid. Probabilities keep
four significant digits and the concentration three: that makes the rule the same on every machine, since sums of floats
differ in the thirteenth digit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.learning.laws import Array, Noise, apart, beta_binomial, log_likelihood
from discreet.learning.questions import Question
from discreet.learning.strata import pooled
from discreet.model.key_set import KeySet
from discreet.model.origin import Origin
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
        return DirichletMultinomialPrior(
            tuple(self.concentration * p for p in self.probabilities), origin=origin
        )


def fit(
    asked: Sequence[Question],
    published: Sequence[int],
    key_set: KeySet,
    types: int,
    ratio: float,
    *,
    change: Fraction = Fraction(0),
) -> dict[tuple[str, ...], Learned]:
    """What follows from published numbers, for each stratum; `ratio` is that of the geometric noise."""
    numbers = {q.key: y for q, y in zip(asked, published, strict=True)}
    strata = sorted({q.stratum for q in asked})
    counted = sorted({q.about for q in asked if q.about is not None})
    log_weights = np.log(np.array(BEFOREHAND))
    means = np.zeros((len(CORRELATIONS), len(strata), types))
    variances = np.zeros_like(means)
    sizes = key_set.sizes
    for i, correlation in enumerate(CORRELATIONS):
        for t in counted:
            here = [q for q in asked if q.about == t]
            found = [_share(q, numbers[q.key], sizes, ratio, correlation) for q in here]
            means[i, :, t], variances[i, :, t] = pooled(
                np.array([f[0] for f in found]), np.array([f[1] for f in found])
            )
            log_weights[i] += sum(f[2] for f in found)
        means[i] = _completed(means[i])
        variances[i, :, 0] = variances[i, :, 1:].sum(axis=1)
        for q in asked:
            if q.about is None:
                log_weights[i] += _spread(
                    q, numbers[q.key], sizes, ratio, means[i, strata.index(q.stratum)], correlation
                )
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    largest = {
        s: max(sizes[place] for q in asked if q.stratum == s for a, b, _ in q.pairs for place in (a, b))
        for s in strata
    }
    return {
        s: _learned(s, weights, means[:, k], variances[:, k], float(change), largest[s])
        for k, s in enumerate(strata)
    }


def _learned(
    stratum: tuple[str, ...], weights: Array, means: Array, variances: Array, change: float, largest: int
) -> Learned:
    mean = weights @ means
    variance = weights @ (variances + (means - mean) ** 2) + (change * mean) ** 2
    rho = np.array(CORRELATIONS)
    within = weights @ (rho[:, None] * np.maximum(means * (1 - means) - variances, 0))
    correlation = float((variance + within).sum() / (mean * (1 - mean)).sum())
    cumulative = np.cumsum(weights)
    low, high = (rho[min(int(np.searchsorted(cumulative, level)), len(rho) - 1)] for level in (0.05, 0.95))
    counted = [max(_digits(p, SIGNIFICANT), Fraction(1, 10**7)) for p in mean[1:]]
    probabilities = (1 - sum(counted, Fraction(0)), *counted)
    alike = correlation * (largest - 1) < ALIKE
    concentration = (
        None if alike else max(_digits(1 / min(correlation, 0.99) - 1, FOR_CONCENTRATION), Fraction(1, 100))
    )
    return Learned(
        stratum,
        probabilities,
        tuple(float(v) for v in np.sqrt(variance)),
        correlation,
        (float(low), float(high)),
        concentration,
    )


def _share(
    q: Question, published: int, sizes: Sequence[int], ratio: float, correlation: float
) -> tuple[float, float, float]:
    """Mean and variance of a share given its number, under a uniform prior, and the logarithm of the number's probability."""
    counts: dict[int, int] = {}
    for a, b, _ in q.pairs:
        for place in (a, b):
            counts[sizes[place]] = counts.get(sizes[place], 0) + 1
    noise = Noise(ratio, q.largest)
    noise_variance = 2 * ratio / (1 - ratio) ** 2
    share = min(max(published / q.largest, 0.0), 1.0)
    room = min((noise_variance**0.5 + 1) / q.largest, 0.5)
    typical = min(max(share, room), 1 - room)
    grown = sum(count * n * (1 + (n - 1) * correlation) for n, count in counts.items())
    deviation = (typical * (1 - typical) * grown + noise_variance) ** 0.5 / q.largest
    low, high = max(share - 6 * deviation, 0.0), min(share + 6 * deviation, 1.0)
    width = (high - low) / POINTS
    points = low + (np.arange(POINTS) + 0.5) * width
    logs = np.array(
        [
            log_likelihood(
                [(beta_binomial(n, p, correlation), c) for n, c in counts.items()], noise, published
            )
            for p in points
        ]
    )
    weights = np.exp(logs - logs.max())
    total = float(weights.sum())
    mean = float(weights @ points) / total
    return (
        mean,
        float(weights @ (points - mean) ** 2) / total + width**2 / 12,
        float(logs.max() + np.log(total * width)),
    )


def _spread(
    q: Question,
    published: int,
    sizes: Sequence[int],
    ratio: float,
    means: NDArray[np.float64],
    correlation: float,
) -> float:
    """The log-likelihood of a spread."""
    counts: dict[tuple[int, int, int], int] = {}
    for a, b, t in q.pairs:
        key = (min(sizes[a], sizes[b]), max(sizes[a], sizes[b]), t)
        counts[key] = counts.get(key, 0) + 1
    laws: dict[tuple[int, int], Array] = {}
    for n, m, t in counts:
        for size in (n, m):
            if (size, t) not in laws:
                laws[size, t] = beta_binomial(size, float(means[t]), correlation)
    parts = [(apart(laws[n, t], laws[m, t]), count) for (n, m, t), count in counts.items()]
    return log_likelihood(parts, Noise(ratio, q.largest), published)


def _completed(means: Array) -> Array:
    """Type 0 is the rest; where noise leaves nothing for it, the others give way."""
    found = means.copy()
    others = found[:, 1:].sum(axis=1)
    most = 1 - 1e-3
    found[:, 1:] *= np.minimum(1.0, most / others)[:, None]
    found[:, 0] = 1 - found[:, 1:].sum(axis=1)
    return found


def _digits(value: float, digits: int) -> Fraction:
    """A number with so many significant digits."""
    return Fraction(f"{value:.{digits - 1}e}")


def priors(
    learned: Mapping[tuple[str, ...], Learned], release: str, change: Fraction = Fraction(0)
) -> dict[tuple[str, ...], IidPrior | DirichletMultinomialPrior]:
    """The priors that follow from a learning release, each saying so."""
    return {s: found.prior(Origin(release, RULE, s, change)) for s, found in learned.items()}
