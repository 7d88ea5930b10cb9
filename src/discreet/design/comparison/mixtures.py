"""The law of (S, ω) in a truth that need not be the prior's, as a mixture of sums of independent respondents, in floats.

A truth multiplies the chance of every respondent of type t by g_t. S = Σ_i w(θ_i) is what a mechanism reads, ω = Σ_i v(θ_i).
`Identical`      one part for each number of respondents n, with probabilities p_t·g_t in proportion: exact
`Overdispersed`  parts are drawn: each cell's shares from the Dirichlet, then multiplied by g; the draws are the same in every
                 truth and every run, so that differences between truths are not those between draws. Of many draws, sorted by
                 their mean of ω, one stands for each stratum; strata are narrow at both ends, where losses are large
`Separate`       one part, whose respondents keep probabilities of their own
`Mixed`          the parts of each kind of cell; a truth changes respondents, not how many cells are of which kind
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.certify.value.laws import Identical, Law, Mixed, Overdispersed, Separate
from discreet.design.ladder.mechanisms.sums import sum_law

DRAWS, STRATA, SEED = 20_000, 160, 7
"""Cells drawn from a Dirichlet, and those that stand for them."""
DROWNED = 1e-15
"""Of masses from fast convolutions that are no more than their errors: ω given such a total may come out anywhere."""
MANY, MOST_SIZES = 8, 2_000
"""Sizes of cells that are added up one respondent after the other."""


@dataclass(frozen=True, eq=False)
class Parts:
    """Shares of a mixture, numbers of respondents, and probabilities of types [part, type] (of `Separate`: [respondent, type])."""

    shares: np.ndarray
    sizes: np.ndarray
    probabilities: np.ndarray
    apart: bool = False

    @property
    def many_sizes(self) -> bool:
        """Whether these are cells of nearly every size up to the largest, with one law."""
        dense = not self.apart and MANY <= len(self.sizes) <= MOST_SIZES and len(self.sizes) > self.sizes.max() / 4
        return dense and bool((self.probabilities == self.probabilities[0]).all())

    @property
    def rows(self) -> np.ndarray:
        """Mean number of respondents of each type [part, type]."""
        if self.apart:
            return self.probabilities.sum(axis=0)[None, :]
        return self.sizes[:, None] * self.probabilities


class Mixture:
    """A prior as parts, and the parts of any truth."""

    def __init__(self, law: Law, values: np.ndarray) -> None:
        self.law, self.values = law, values
        self._kept: dict[tuple[bytes, tuple[int, ...]], tuple[float, int, np.ndarray]] = {}

    @property
    def exact(self) -> bool:
        laws = [law for _, law in self.law.parts] if isinstance(self.law, Mixed) else [self.law]
        return not any(isinstance(law, Overdispersed) for law in laws)

    @cached_property
    def own(self) -> Parts:
        """The prior itself."""
        if not isinstance(self.law, Mixed):
            return self._parts(self.law)
        kinds = [(float(share), self._parts(law)) for share, law in self.law.parts]
        shares, sizes, rows = zip(*((share * p.shares, p.sizes, p.probabilities) for share, p in kinds), strict=True)
        return Parts(np.concatenate(shares), np.concatenate(sizes), np.concatenate(rows))

    def _parts(self, law: Law) -> Parts:
        """One of the laws that are made of nothing else."""
        if isinstance(law, Separate):
            return Parts(np.ones(1), np.array([len(law.rows)]), _floats(law.rows), True)
        if isinstance(law, Identical):
            shares = np.array([float(p) for _, p in law.sizes])
            return Parts(shares, np.array([n for n, _ in law.sizes]), np.tile(_floats([law.probabilities]), (len(shares), 1)))
        assert isinstance(law, Overdispersed)
        rng = np.random.default_rng(SEED)
        concentration = np.array([float(c) for c in law.concentration])
        drawn = np.maximum(rng.gamma(concentration, size=(DRAWS, len(concentration))), 1e-300)
        drawn /= drawn.sum(axis=1)[:, None]
        reached = np.cumsum([float(p) for _, p in law.sizes])
        at = np.searchsorted(reached / reached[-1], rng.permutation((np.arange(DRAWS) + 0.5) / DRAWS))
        sizes = np.array([n for n, _ in law.sizes])[np.minimum(at, len(reached) - 1)]
        return _strata(sizes, drawn, sizes * (drawn @ self.values))

    def moments(self, factors: np.ndarray, weights: tuple[int, ...]) -> tuple[float, int, np.ndarray]:
        """The mean of ω in a truth, the first total of a sum, and moments of ω − mean at each total; computed once."""
        key = factors.tobytes(), weights
        if key not in self._kept:
            parts = self.truth(factors)
            mean = mean_of(parts, self.values)
            self._kept[key] = mean, *moments_of(parts, self.values, np.array(weights), mean)
        return self._kept[key]

    def truth(self, factors: np.ndarray) -> Parts:
        """The parts when each respondent of type t is `factors[t]` times as likely."""
        raised = self.own.probabilities * factors[None, :]
        return Parts(self.own.shares, self.own.sizes, raised / raised.sum(axis=1)[:, None], self.own.apart)


def _strata(sizes: np.ndarray, probabilities: np.ndarray, means: np.ndarray) -> Parts:
    """One draw for each stratum of the means: the one nearest to the mean of its stratum."""
    order = np.argsort(means, kind="stable")
    ends = np.unique(np.round(len(order) * (1 - np.cos(np.pi * np.arange(STRATA + 1) / STRATA)) / 2).astype(int))
    chosen = []
    for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        held = order[first:last]
        chosen.append(int(held[np.abs(means[held] - means[held].mean()).argmin()]))
    return Parts(np.diff(ends) / len(order), sizes[chosen], probabilities[chosen])


def mean_of(parts: Parts, values: np.ndarray) -> float:
    """E ω."""
    return float(parts.shares @ (parts.rows @ values))


def variance_of_parts(parts: Parts, values: np.ndarray) -> float:
    """Var ω: within parts and between them."""
    p = parts.probabilities
    each = p @ values**2 - (p @ values) ** 2
    within = each.sum(keepdims=True) if parts.apart else parts.sizes * each
    centres = parts.rows @ values
    mean = float(parts.shares @ centres)
    return float(parts.shares @ (within + (centres - mean) ** 2))


def moments_of(parts: Parts, values: np.ndarray, weights: np.ndarray, mean: float) -> tuple[int, np.ndarray]:
    """The first total, and at each total its mass with the first and second moments of ω − mean there [3, total]."""
    if parts.many_sizes and weights.min() >= 0:
        return 0, _of_every_size(parts, values, weights, mean)
    if parts.apart:
        found = [(1.0, *_apart(parts.probabilities, values, weights, mean))]
    else:
        found = [
            (float(share), *_alike(p, values, weights, int(n), mean))
            for share, n, p in zip(parts.shares, parts.sizes, parts.probabilities, strict=True)
        ]
    first = min(start for _, start, _ in found)
    last = max(start + moments.shape[1] for _, start, moments in found)
    total = np.zeros((3, last - first))
    for share, start, moments in found:
        total[:, start - first : start - first + moments.shape[1]] += share * moments
    return first, total


def _of_every_size(parts: Parts, values: np.ndarray, weights: np.ndarray, mean: float) -> np.ndarray:
    """Of cells of many sizes with one law, by Horner's rule: Σ_n share(n)·p^n with one respondent more at each step."""
    share = np.zeros(int(parts.sizes.max()) + 1)
    np.add.at(share, parts.sizes, parts.shares)
    start, each = np.array([1.0, -mean, mean**2]), list(zip(parts.probabilities[0].tolist(), values, weights.tolist(), strict=True))
    found = share[-1] * start[:, None]
    for n in range(len(share) - 2, -1, -1):
        found = _one_more(found, each)
        found[:, 0] += share[n] * start
    return found


def _one_more(found: np.ndarray, types: list[tuple[float, float, int]]) -> np.ndarray:
    """Masses and moments at each total with one respondent more, of types with their chance, value and weight."""
    zero, one, two = found
    longer = np.zeros((3, found.shape[1] + max(step for _, _, step in types)))
    for p, v, step in types:
        longer[:, step : step + found.shape[1]] += p * np.stack([zero, one + v * zero, two + 2 * v * one + v * v * zero])
    return longer


def _alike(p: np.ndarray, values: np.ndarray, weights: np.ndarray, n: int, mean: float) -> tuple[int, np.ndarray]:
    """Of n respondents with one law."""
    kept = p > 0
    w, v = weights[kept], values[kept]
    least = int(w.min())
    if n == 0 or w.max() == least:  # the sum says nothing about ω
        centre = n * float(p[kept] @ v)
        spread = n * float(p[kept] @ v**2) - centre**2 / n if n else 0.0
        return n * least, np.array([[1.0], [centre - mean], [(centre - mean) ** 2 + max(spread, 0.0)]])
    law = sum_law(p[kept], v.tolist(), (w - least).tolist(), n, quick=True)
    masses, away = np.where(law.masses > DROWNED, law.masses, 0.0) / law.masses.sum(), law.means - mean
    return law.first + n * least, np.stack([masses, masses * away, masses * (away**2 + law.variances)])


def _apart(rows: np.ndarray, values: np.ndarray, weights: np.ndarray, mean: float) -> tuple[int, np.ndarray]:
    """Of respondents with laws of their own, one after the other."""
    least = int(weights.min())
    steps = (weights - least).tolist()
    found = np.array([[1.0], [-mean], [mean**2]])
    for row in rows:
        found = _one_more(found, list(zip(row.tolist(), values.tolist(), steps, strict=True)))
    return len(rows) * least, found


def _floats(rows: object) -> np.ndarray:
    return np.array([[float(p) for p in row] for row in rows])  # type: ignore[attr-defined]
