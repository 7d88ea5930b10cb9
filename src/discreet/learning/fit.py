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
four significant digits and the concentration three, halves rounded up (from a billionth below), and percentiles are read off
sums with nine digits: that makes the rule the same on every machine, since sums of floats differ in the thirteenth digit.

`discreet-fit/2` (`WITH_KINDS`) is the rule for releases that also tell how many cells lie above some shares. These numbers join the
likelihood of ρ (`Counted`); and where several kinds of cells explain everything enough better than one (`kinds`), the prior is the
mixture of these kinds, each stratum having its own. A kind has the types of the middle and above in the proportions of all cells,
and so the types below. The error of the mean widens the correlation within kinds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.learning.heard import LEAST_SHARE, Counted, Heard
from discreet.learning.kinds import Kinds, kinds_of
from discreet.learning.laws import Array, beta_binomial
from discreet.learning.noise import NoiseLaw
from discreet.learning.questions import ABOVE, LOWER, Question, middle_of
from discreet.learning.strata import pooled
from discreet.model.key_set import KeySet
from discreet.model.origin import Origin
from discreet.model.prior_set import PriorSet
from discreet.model.priors import DirichletMultinomialPrior, IidPrior, MixturePrior

RULE = "discreet-fit/1"
WITH_KINDS = "discreet-fit/2"
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
ALIKE = 0.02
SIGNIFICANT, FOR_CONCENTRATION = 4, 3
UPWARD = 1 + 1e-9
"""A number that is a half in its last digit, but for what sums of floats differ in, is rounded up on every machine."""


LearnedPrior = IidPrior | DirichletMultinomialPrior | MixturePrior


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
    kinds: Kinds | None = None
    """Where cells are of several kinds; the concentration is then that within a kind."""

    def prior(self, origin: Origin | None = None) -> LearnedPrior:
        """As a prior of a problem."""
        if self.kinds is not None:
            return self._mixture(self.kinds, origin)
        if self.concentration is None:
            return IidPrior(self.probabilities, origin=origin)
        return DirichletMultinomialPrior(tuple(self.concentration * p for p in self.probabilities), origin=origin)

    def _mixture(self, kinds: Kinds, origin: Origin | None) -> MixturePrior:
        middle = middle_of(len(self.probabilities))
        lower, upper = self.probabilities[:middle], self.probabilities[middle:]
        components = []
        for share in kinds.shares:
            parts = [p / sum(lower, Fraction(0)) * (1 - _digits(share, SIGNIFICANT)) for p in lower]
            law = tuple(parts + [p / sum(upper, Fraction(0)) * _digits(share, SIGNIFICANT) for p in upper])
            components.append(replace(self, probabilities=law, kinds=None).prior())
        weights = [_digits(w, FOR_CONCENTRATION) for w in kinds.weights[1:]]
        return MixturePrior((1 - sum(weights, Fraction(0)), *weights), tuple(components), origin=origin)  # type: ignore[arg-type]

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
    heard = [Heard(q, numbers, key_set.sizes, noise) for q in asked if q.part not in (LOWER, ABOVE)]
    counted = _counted(asked, numbers, key_set, noise)
    for i, correlation in enumerate(CORRELATIONS):
        above, off = np.ones((len(strata), types + 1)), np.zeros((len(strata), types + 1))
        above[:, types] = 0
        for j in range(1, types):
            here = [one for one in heard if one.about == j]
            found = [one.share(correlation) for one in here]
            above[:, j], off[:, j] = pooled(np.array([f[0] for f in found]), np.array([f[1] for f in found]))
            log_weights[i] += sum(f[2] for f in found)
            for one, c in zip(here, above[:, j], strict=True):
                if one.twice:
                    inner = min(max(float(c), LEAST_SHARE), 1 - LEAST_SHARE)
                    log_weights[i] += one.log_difference(one.alike(inner, correlation), inner)
        means[i], variances[i] = _types(above), off[:, :-1] + off[:, 1:]
        for k, stratum in enumerate(strata if counted else ()):
            cells = counted[stratum]
            share = min(max(float(above[k, cells.about]), LEAST_SHARE), 1 - LEAST_SHARE)
            log_weights[i] += cells.log_likelihood({n: beta_binomial(n, share, correlation) for n in cells.sizes})
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    largest = {s: max(key_set.sizes[place] for q in asked if q.stratum == s for pair in q.pairs for place in pair) for s in strata}
    learned = {s: _learned(s, weights, means[:, k], variances[:, k], float(change), largest[s]) for k, s in enumerate(strata)}
    if not counted:
        return learned
    return {s: _of_kinds(one, [h for h in heard if h.stratum == s], counted[s], largest[s]) for s, one in learned.items()}


def _counted(
    asked: Sequence[Question], numbers: Mapping[tuple[str, ...], int], key_set: KeySet, noise: NoiseLaw
) -> dict[tuple[str, ...], Counted]:
    """The numbers of cells above shares, stratum by stratum; none where that was not asked."""
    found: dict[tuple[str, ...], list[Question]] = {}
    for q in asked:
        if q.part == ABOVE:
            found.setdefault(q.stratum, []).append(q)
    return {s: Counted(each, [numbers[q.key] for q in each], key_set.sizes, noise) for s, each in found.items()}


def _of_kinds(one: Learned, heard: Sequence[Heard], counted: Counted, largest: int) -> Learned:
    """The same with kinds of cells, where several explain enough more than one; what was heard in the cells of its own stratum."""
    pair = next(each for each in heard if each.twice)
    asked = sum(sum(each.counts.values()) for each in heard) + sum(counted.cells.values())
    mean = float(sum(one.probabilities[pair.about :], Fraction(0)))
    kinds = kinds_of(pair, counted, mean, CORRELATIONS, asked)
    if kinds is None:
        return one
    variance = sum(d**2 for d in one.deviations[pair.about :])
    within = min(kinds.correlation + variance / (mean * (1 - mean)), 0.99)
    return replace(one, kinds=kinds, concentration=_concentration(within, largest))


def _concentration(correlation: float, largest: int) -> Fraction | None:
    """With three digits; None where it changes the variance of no cell by more than `ALIKE`."""
    if round(correlation * (largest - 1), 9) < ALIKE:
        return None
    return max(_digits(1 / min(correlation, 0.99) - 1, FOR_CONCENTRATION), Fraction(1, 100))


def _learned(stratum: tuple[str, ...], weights: Array, means: Array, variances: Array, change: float, largest: int) -> Learned:
    mean = weights @ means
    variance = weights @ (variances + (means - mean) ** 2) + (change * mean) ** 2
    rho = np.array(CORRELATIONS)
    within = weights @ (rho[:, None] * np.maximum(means * (1 - means) - variances, 0))
    correlation = float((variance + within).sum() / (mean * (1 - mean)).sum())
    cumulative = np.round(np.cumsum(weights), 9)
    low, high = (rho[min(int(np.searchsorted(cumulative, level)), len(rho) - 1)] for level in (0.05, 0.95))
    modal = int(np.argmax(mean))
    rounded = [max(_digits(p, SIGNIFICANT), Fraction(1, 10**7)) for p in mean]
    rounded[modal] = 1 - sum(rounded[:modal] + rounded[modal + 1 :], Fraction(0))
    return Learned(
        stratum,
        tuple(rounded),
        tuple(float(v) for v in np.sqrt(variance)),
        correlation,
        (float(low), float(high)),
        _concentration(correlation, largest),
    )


def _types(above: Array) -> Array:
    """Probabilities of the types from those of each type and above; where noise puts them out of order they give way."""
    falling = np.minimum.accumulate(np.clip(above, 0, 1), axis=1)
    found = np.maximum(falling[:, :-1] - falling[:, 1:], LEAST_SHARE)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _digits(value: float, digits: int) -> Fraction:
    """A number with so many significant digits."""
    return Fraction(f"{value * UPWARD:.{digits - 1}e}")


def priors(
    learned: Mapping[tuple[str, ...], Learned], release: str, change: Fraction = Fraction(0), rule: str = RULE
) -> dict[tuple[str, ...], LearnedPrior]:
    """The priors that follow from a learning release by a rule, each saying so."""
    return {s: found.prior(Origin(release, rule, s, change)) for s, found in learned.items()}
