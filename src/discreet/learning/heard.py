"""What was heard from the cells: published numbers with the laws that they would have if cells had given laws.

`Heard` is a sum over pairs of cells, or a higher and a lower one; `Counted` how many of the same cells lie above each of some
shares. Each says how likely its numbers are when a cell of n respondents has the law `laws[n]` of those of a type and above.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np

from discreet.learning.laws import Array, Noise, apart, beta_binomial, log_likelihood, moments
from discreet.learning.noise import GeometricLaw, NoiseLaw
from discreet.learning.questions import HIGHER, LOWER, Question

Laws = Mapping[int, Array]
POINTS = 21
LESS = 2.0
"""By how many deviations cells may seem to differ less than by chance."""
FAR = 3.0
LEAST_SHARE = 1e-5
"""No type is believed to be rarer than this."""


class Heard:
    """A question with its published number, or with the two numbers of a higher and a lower one."""

    def __init__(self, q: Question, numbers: Mapping[tuple[str, ...], int], sizes: Sequence[int], noise: NoiseLaw) -> None:
        self.stratum, self.about, self.twice = q.stratum, q.about, q.part == HIGHER
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
        logs = np.array([self.log_total(self.alike(float(p), correlation)) for p in points])
        weights = np.exp(logs - logs.max())
        total = float(weights.sum())
        mean = float(weights @ points) / total
        variance = float(weights @ (points - mean) ** 2) / total + width**2 / 12
        return mean, variance, float(logs.max() + np.log(total * width))

    def alike(self, share: float, correlation: float) -> Laws:
        """The laws of cells of one kind."""
        return {size: beta_binomial(size, share, correlation) for size in self.counts}

    def log_total(self, laws: Laws) -> float:
        """The log-likelihood of the number, or of the sum of the two."""
        return log_likelihood([(laws[n], count) for n, count in self.counts.items()], self.noise, self.total)

    def log_difference(self, laws: Laws, share: float) -> float:
        """The log-likelihood of the difference between higher and lower; `share` is that of all cells."""
        return log_likelihood(self._apart(laws), self.noise, max(self.difference, self._least(share)))

    def _apart(self, laws: Laws) -> list[tuple[Array, int]]:
        return [(apart(laws[n], laws[m]), count) for (n, m), count in self.pairs.items()]

    def _least(self, share: float) -> int:
        """Cells that differ even less than by chance are alike: a difference is taken for no less than this. (Under geometric
        noise, whose tails are heavy, every difference is taken as it is.)"""
        if isinstance(self.noise.law, GeometricLaw):
            return self.difference
        mean, variance = moments(self._apart(self.alike(share, 0.0)))
        return ceil(mean - LESS * (variance + self.noise.variance) ** 0.5)


class Counted:
    """How many of the same cells have at least so many respondents of a type and above, for each of some shares, as published.

    Each number has an exact law. Together they are correlated, since a cell that lies above a share lies above the smaller ones;
    noise is independent. With R their correlations (exact) and z their distances from their means in deviations, none counted as
    more than `FAR`, the product of the exact probabilities is multiplied by that of normal variables together over alone,
    |R|^(−1/2)·e^(−z·(R⁻¹ − 1)z/2) (a normal copula).
    """

    def __init__(self, asked: Sequence[Question], published: Sequence[int], sizes: Sequence[int], noise: NoiseLaw) -> None:
        self.about, self.published = asked[0].about, published
        places = [place for pair in asked[0].pairs for place in pair]
        each = [[need for pair in q.needs for need in pair] for q in asked]
        self.cells = Counter((sizes[place], needs) for place, needs in zip(places, zip(*each, strict=True), strict=True))
        self.noise = Noise(noise, asked[0].largest)

    @property
    def sizes(self) -> set[int]:
        """Of the cells that were asked."""
        return {n for n, _ in self.cells}

    def log_likelihood(self, laws: Laws) -> float:
        """A cell is above with the probability that its law says: sums of coins, and noise."""
        tails = self._tails(laws)
        counts = list(self.cells.values())
        total = 0.0
        for k, published in enumerate(self.published):
            coins = [(np.array([1 - p[k], p[k]]), count) for p, count in zip(tails, counts, strict=True)]
            total += log_likelihood(coins, self.noise, published)
        return total + self._together(tails, np.array(counts))

    def _together(self, tails: Array, counts: Array) -> float:
        """What the numbers say together beyond what they say alone."""
        both = np.minimum(tails[:, :, None], tails[:, None, :]) - tails[:, :, None] * tails[:, None, :]
        together = np.tensordot(counts, both, axes=1) + self.noise.variance * np.eye(tails.shape[1])
        scale = np.sqrt(np.diag(together))
        correlations = together / np.outer(scale, scale)
        z = np.clip((np.array(self.published) - counts @ tails) / scale, -FAR, FAR)
        return -0.5 * float(np.linalg.slogdet(correlations)[1] + z @ np.linalg.solve(correlations, z) - z @ z)

    def _tails(self, laws: Laws) -> Array:
        """P(above) of each group of like cells for each share; rounding may not lead out of 0..1."""
        beyond = {n: np.append(np.cumsum(laws[n][::-1])[::-1], 0.0) for n in self.sizes}
        return np.clip(np.array([[beyond[n][need] for need in needs] for n, needs in self.cells]), 0.0, 1.0)
