"""How much of ε, or of ρ, to learn with: what less of it costs the release, against what a prior that is known badly costs it.

For a cell of n respondents with prior variance V of its statistic and noise variance W(ε), a linear reading loses L = V·W/(V
+ W). Under ρ, W is that of discrete Gaussian noise. With share s of ε for learning the release loses

    L at (1 − s)·ε                                     the slope of the frontier
    + (W/(V + W))²·Var(mean)                           the mean is learned with an error
    + W²/(V + W)³·Var(V)                               so is the variance

where the errors follow from the questions: how many cells each asks, and noise of ε·s on each number. Nothing is known of the
data yet, so this is averaged, relative to a prior that is known, over a list of possible truths. Chosen is the largest of
`SHARES` that costs nearly the least. Not learning means noise at face value, W(ε). What is said against it, on average and at
the `worst` truth of the list, counts the release at min(L + 1/4, W) at (1 − s)·ε: actions in whole steps add up to a quarter of
a step² to a linear reading, and where they would add more, noise at face value is among the candidates. The errors of learning
are predictions by formula; `bench/learn.py truths` holds what was said against what happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InputError
from discreet.learning.questions import ABOVE, HIGHER, LOWER, Question
from discreet.model.key_set import KeySet
from discreet.model.promises import ConcentratedPromise, Promise, pure_epsilon
from discreet.numerics.exact import brief

SHARES = tuple(Fraction(n, 1000) for n in (2, 5, 10, 20, 30, 40, 50, 75, 100, 150, 200, 300))
FREQUENCIES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5)
"""The share of respondents who are not of type 0, at the possible truths; the types share it evenly."""
CORRELATIONS = (0.0, 0.02, 0.1)
NEARLY = 1.1
"""Among shares that cost nearly the least the largest is taken: the formula does not know how heavy the tails of noise are."""
GINI = 1.128
"""E|X − Y| of two normal variables, in deviations of one of them."""


@dataclass(frozen=True)
class Considered:
    """One share: what it costs by less ε and by an uncertain prior, as shares of the loss with a known prior and the whole ε."""

    share: Fraction
    less_epsilon: float
    uncertainty: float
    against_noise: float
    """The average loss, as a share of what noise at face value loses."""
    worst: float
    """The same at the worst truth."""

    @property
    def cost(self) -> float:
        """Both costs."""
        return self.less_epsilon + self.uncertainty


@dataclass(frozen=True)
class LearningShare:
    """The share that was chosen, by the rule or by the publisher, and everything that was considered."""

    share: Fraction
    auto: bool
    considered: tuple[Considered, ...]

    @property
    def chosen(self) -> Considered:
        """What is expected of the share."""
        return next(one for one in self.considered if one.share == self.share)


def split(
    asked: Sequence[Question],
    key_set: KeySet,
    weights: Sequence[float],
    promise: Promise,
    share: str | Fraction = "auto",
) -> LearningShare:
    """The share of a promise to learn with; `weights` is what a respondent of each type adds to the statistic."""
    if share != "auto":
        wanted = Fraction(share)
        if not 0 < wanted < 1:
            raise InputError(
                f"The share of {promise.letter} for learning leaves nothing for one side",
                found=brief(wanted),
                allowed="above 0, below 1, or auto",
                remedy="leave the share out, or give for instance 0.05",
            )
        return LearningShare(wanted, False, (_considered(asked, key_set, weights, promise, wanted),))
    considered = tuple(_considered(asked, key_set, weights, promise, one) for one in SHARES)
    least = min(one.cost for one in considered)
    best = max((one for one in considered if one.cost <= NEARLY * least), key=lambda one: one.share)
    return LearningShare(best.share, True, considered)


def _considered(
    asked: Sequence[Question], key_set: KeySet, weights: Sequence[float], promise: Promise, share: Fraction
) -> Considered:
    found = [
        _at(asked, key_set, np.array(weights, dtype=float), promise, share, frequency, correlation)
        for frequency in FREQUENCIES
        for correlation in CORRELATIONS
    ]
    less, uncertain, against = (np.array(column) for column in zip(*found, strict=True))
    return Considered(share, float(less.mean()), float(uncertain.mean()), float(against.mean()), float(against.max()))


def _at(
    asked: Sequence[Question],
    key_set: KeySet,
    weights: np.ndarray,
    promise: Promise,
    share: Fraction,
    frequency: float,
    correlation: float,
) -> tuple[float, float, float]:
    """Relative costs of less ε and of uncertainty, and the loss against noise at face value, at one truth."""
    types = len(weights)
    p = np.array([1 - frequency, *[frequency / (types - 1)] * (types - 1)])
    sizes, counts = np.unique(np.array(key_set.sizes, dtype=float), return_counts=True)
    reach = float(weights.max() - weights.min()) or 1.0
    per_respondent = float(p @ weights**2 - (p @ weights) ** 2)
    variance = sizes * (1 + (sizes - 1) * correlation) * per_respondent
    whole, rest = (_noise(promise.at(part * promise.level), reach) for part in (Fraction(1), 1 - share))
    known = counts @ (variance * whole / (variance + whole))
    later = counts @ (variance * rest / (variance + rest))
    mean_error, spread_error = _errors(asked, key_set, p, correlation, _noise(promise.at(share * promise.level), 1.0))
    of_mean = float(mean_error[1:] @ np.diff(weights) ** 2)
    off = np.minimum((spread_error * variance) ** 2, variance**2)
    regret = (rest / (variance + rest)) ** 2 * sizes**2 * of_mean + rest**2 / (variance + rest) ** 3 * off
    uncertain = counts @ np.minimum(regret, rest)
    steps = counts @ np.minimum(variance * rest / (variance + rest) + min(reach, 1.0) ** 2 / 4, rest)
    return (
        float(later / known - 1),
        float(uncertain / known),
        float((steps + uncertain) / (counts.sum() * whole)),
    )


def _errors(
    asked: Sequence[Question], key_set: KeySet, p: np.ndarray, correlation: float, noise: float
) -> tuple[np.ndarray, float]:
    """Variance of the share of each type and above, and the relative error of the learned variance of a cell."""
    above = 1 - np.cumsum(p)
    shares = np.zeros(len(p))
    strata = len({q.stratum for q in asked})
    total, spread = 0.0, 0.0
    for q in asked:
        if q.part in (LOWER, ABOVE):
            continue
        sizes = np.array([key_set.sizes[place] for pair in q.pairs for place in pair], dtype=float)
        c = float(above[q.about - 1])
        grown = c * (1 - c) * sizes * (1 + (sizes - 1) * correlation)
        drawn = noise * (2 if q.part == HIGHER else 1)
        shares[q.about] += (grown.sum() + drawn) / sizes.sum() ** 2 / strata
        if q.part == HIGHER:
            total += GINI * np.sqrt(grown).sum() / 2
            spread += (2 - GINI**2) * grown.sum() / 2 + drawn
    return shares, 2 * spread**0.5 / max(total, 1e-9)


def _noise(promise: Promise, reach: float) -> float:
    """The variance of noise on whole steps of the statistic."""
    if isinstance(promise, ConcentratedPromise):
        return reach**2 / (2 * float(promise.rho))
    epsilon = float(pure_epsilon(promise))
    r = np.exp(-epsilon / reach) if reach >= 1 else np.exp(-epsilon)
    scale = 1.0 if reach >= 1 else reach
    return float(2 * r / (1 - r) ** 2 * scale**2)
