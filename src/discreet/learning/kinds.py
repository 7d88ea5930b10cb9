"""Whether cells are of several kinds: finite mixtures, fitted to what was heard and chosen by penalised likelihood.

A cell is of kind k with probability w_k; respondents of a type and above then have the mean share q_k, and cells of one kind differ
by the intra-cell correlation r, the same for all kinds. Two and three kinds are tried: every combination of the lists below whose
mean Σ w_k·q_k is that of all cells as it was fitted, by the numbers of cells above a share; the best `KEPT` of them by all
numbers; then steps from the best, one number at a time, as long as one is better. One kind is treated alike.

*Which is taken.* With m cells asked, K kinds have 2(K − 1) numbers more than one kind of cells that differ, and are taken where
their log-likelihood is larger by more than (K − 1)·log m (Schwarz's criterion), the better penalised one of two and three.

*The same on every machine.* Sums of floats differ in their last digits from machine to machine, and equally good candidates exist.
So every choice is between log-likelihoods rounded to `DECIMALS`, and where these are equal the candidate that was listed first is
kept: a step is taken for a ten-thousandth at least, never for the last digits.

*Uncertainty.* Weights and shares of the best candidates scatter as their likelihoods say (`deviations`); the error of the mean
widens r.

Notation: r → correlation, w → weights, q → shares.
Reference: Schwarz (1978), "Estimating the dimension of a model".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, product
from math import log

import numpy as np

from discreet.learning.heard import LEAST_SHARE, Counted, Heard, Laws
from discreet.learning.laws import Array, beta_binomial

WEIGHTS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Of the upper kind of two."""
OF_THREE = (0.1, 0.2, 0.3, 0.45)
FRACTIONS = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The share of the lowest kind, as a fraction of the mean."""
MIDDLES = (0.5, 0.8, 1.2, 1.8, 2.7)
WITHIN = (0.0, 0.01, 0.03, 0.06, 0.12)
LARGEST_SHARE, LARGEST_CORRELATION = 0.98, 0.9
KEPT = 24
STEPS = (0.15, 0.07, 0.03)
"""Relative steps around the best candidate, each tried at most `ROUNDS` times."""
ROUNDS = 8
DECIMALS = 4
"""Of log-likelihoods that are compared: less says nothing of the cells, and floats are sure of more."""


@dataclass(frozen=True)
class Kinds:
    """Several kinds of cells, lowest share first."""

    weights: tuple[float, ...]
    shares: tuple[float, ...]
    """Of respondents of the middle type and above, in each kind."""
    correlation: float
    """Within a kind."""
    deviations: tuple[tuple[float, float], ...] = ()
    """Of the weight and the share of each kind, how far they may be off."""
    gain: float = 0.0
    """By how much the log-likelihood is larger than that of one kind, and how much was asked for."""
    needed: float = 0.0

    def law(self, n: int) -> Array:
        """Of a cell of n respondents."""
        parts = [w * _law(n, q, self.correlation) for w, q in zip(self.weights, self.shares, strict=True)]
        return np.asarray(sum(parts))


@lru_cache(maxsize=1 << 16)
def _law(n: int, share: float, correlation: float) -> Array:
    return beta_binomial(n, share, correlation)


def kinds_of(pair: Heard, counted: Counted, mean: float, correlations: Sequence[float], cells: int) -> Kinds | None:
    """The kinds that explain what was heard enough better than cells of one kind; None where none do."""
    sizes = {*pair.counts, *counted.sizes}

    def laws(kinds: Kinds) -> Laws:
        return {n: kinds.law(n) for n in sizes}

    def above(kinds: Kinds) -> float:
        return round(counted.log_likelihood(laws(kinds)), DECIMALS)

    def whole(kinds: Kinds) -> float:
        known = laws(kinds)
        heights = counted.log_likelihood(known), pair.log_total(known), pair.log_difference(known, mean)
        return round(sum(heights), DECIMALS)

    best: Kinds | None = None
    margin, alone = 0.0, 0.0
    for many, candidates in ((1, _one(mean, correlations)), (2, _two(mean)), (3, _three(mean))):
        found = _best(list(candidates), above, whole)
        if found is None:
            continue
        kinds, height, deviations = found
        alone = height if many == 1 else alone
        gain, needed = round(height - alone, DECIMALS), round((many - 1) * log(cells), DECIMALS)
        if round(gain - needed, DECIMALS) > margin:
            margin = round(gain - needed, DECIMALS)
            best = Kinds(kinds.weights, kinds.shares, kinds.correlation, deviations, gain, needed)
    _law.cache_clear()
    return best


Likelihood = Callable[[Kinds], float]


def _best(
    candidates: list[Kinds], above: Likelihood, whole: Likelihood
) -> tuple[Kinds, float, tuple[tuple[float, float], ...]] | None:
    """The likeliest candidate, its log-likelihood, and how far the likely ones scatter around it."""
    if not candidates:
        return None
    first = sorted(range(len(candidates)), key=lambda i: (-above(candidates[i]), i))[:KEPT]
    known = {candidates[i]: whole(candidates[i]) for i in first}
    best = max(known, key=lambda kinds: known[kinds])
    for step in STEPS:
        for _ in range(ROUNDS):
            before = best
            for other in _around(best, step):
                if other not in known:
                    known[other] = whole(other)
                if known[other] > known[best]:
                    best = other
            if best is before:
                break
    weights = np.exp(np.array(list(known.values())) - known[best])
    weights /= weights.sum()
    seen = np.array([(kinds.weights, kinds.shares) for kinds in known])
    off = np.sqrt(np.tensordot(weights, (seen - np.array((best.weights, best.shares))) ** 2, axes=1))
    return best, known[best], tuple((float(w), float(q)) for w, q in off.T)


def _one(mean: float, correlations: Sequence[float]) -> Iterator[Kinds]:
    yield from (Kinds((1.0,), (mean,), within) for within in correlations)


def _two(mean: float) -> Iterator[Kinds]:
    for weight, fraction, within in product(WEIGHTS, FRACTIONS, WITHIN):
        yield from _balanced((1 - weight, weight), (fraction * mean,), within, mean)


def _three(mean: float) -> Iterator[Kinds]:
    for second, third, fraction, middle, within in product(OF_THREE, OF_THREE, FRACTIONS[::3], MIDDLES, WITHIN[:3:2]):
        if second + third < 1:
            yield from _balanced((1 - second - third, second, third), (fraction * mean, middle * mean), within, mean)


def _balanced(weights: tuple[float, ...], lower: tuple[float, ...], within: float, mean: float) -> Iterator[Kinds]:
    """These kinds with the highest share such that the mean is kept, if there is one above the others."""
    highest = (mean - sum(w * q for w, q in zip(weights, lower, strict=False))) / weights[-1]
    yield from _valid(Kinds(weights, (*lower, highest), within))


def _around(kinds: Kinds, step: float) -> Iterator[Kinds]:
    """Candidates with one number changed."""
    for sign, k in product((1 + step, 1 / (1 + step)), range(len(kinds.weights))):
        if k > 0:
            moved = [w * sign if i == k else w for i, w in enumerate(kinds.weights)]
            moved[0] = 1 - sum(moved[1:])
            yield from _valid(replace(kinds, weights=tuple(moved)))
        yield from _valid(replace(kinds, shares=tuple(q * sign if i == k else q for i, q in enumerate(kinds.shares))))
        if kinds.correlation and not k:
            yield from _valid(replace(kinds, correlation=kinds.correlation * sign))


def _valid(kinds: Kinds) -> Iterator[Kinds]:
    """Nothing where weights, shares or the correlation are out of range or out of order."""
    rising = all(a < b for a, b in pairwise(kinds.shares))
    if rising and kinds.shares[0] >= LEAST_SHARE and kinds.shares[-1] <= LARGEST_SHARE and min(kinds.weights) > 0:
        yield from (kinds,) if kinds.correlation <= LARGEST_CORRELATION else ()
