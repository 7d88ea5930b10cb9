"""Respondents as weighted sums see them: for any weights the law of S = Σ_i w(θ_i) with ω, in floats that propose.

Independent respondents with one law are convolved (`sums`), those of a Dirichlet are drawn from an urn. Other priors are read from
their listed states where those are few, and from the law of their sums (`certify.value.laws`) where they are many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import gcd, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.certify.value.joint_sums import joint_cells, joint_masses
from discreet.certify.value.laws import Identical, Law, Overdispersed, law_of
from discreet.certify.value.sum_laws import Masses
from discreet.certify.value.sums import Sums
from discreet.design.ladder.mechanisms.sums import LARGEST_JOINT, SumLaw, SumPairs, likely_length, sum_law, urn_law
from discreet.design.program.sections import ground
from discreet.design.schedule import (
    GRACE,
    SECONDS_PER_CELL,
    SECONDS_PER_COEFFICIENT,
    SECONDS_PER_CONVOLVED_PAIR,
    SECONDS_PER_DRAW,
    SECONDS_PER_DRAWN_TOTAL,
    SECONDS_PER_PROVED_TOTAL,
    spend,
)
from discreet.errors import TooLarge
from discreet.model.neighbours import AddRemoveOne
from discreet.model.problem import Problem
from discreet.numerics.arrays import Floats

Weights = tuple[int, ...]

MOST_LISTED = 30_000
"""States that are listed rather than summed."""
LAW_BITS = 96


@dataclass(frozen=True, eq=False)
class Population:
    """The respondents of a problem: types that may occur, with the law of their counts and their values."""

    counts: Law
    exact_values: tuple[Fraction, ...]
    smallest: int
    largest: int
    epsilon: float
    presence: bool = False
    """Whether neighbours add or remove a respondent."""
    listed: tuple[NDArray[np.int64], Floats] | None = None
    """Histograms [state, type] and their masses, where they are few."""

    @classmethod
    def alike(cls, probabilities: ArrayLike, values: Sequence[float | Fraction], respondents: int, epsilon: float) -> Population:
        """Independent respondents with one law."""
        shares = [Fraction(float(p)) for p in np.asarray(probabilities, dtype=np.float64)]
        law = Identical(tuple(p / sum(shares) for p in shares), ((respondents, Fraction(1)),))
        return cls(law, tuple(Fraction(v) for v in values), respondents, respondents, epsilon)

    @cached_property
    def values(self) -> list[float]:
        return [float(v) for v in self.exact_values]

    @cached_property
    def size(self) -> float:
        """The mean number of respondents."""
        return float(sum((self.counts.mean(t) for t in range(len(self.exact_values))), Fraction(0)))

    @cached_property
    def shares(self) -> Floats:
        """The mean share of each type."""
        means = np.array([float(self.counts.mean(t)) for t in range(len(self.exact_values))])
        return np.asarray(means / means.sum())

    @property
    def convolved(self) -> bool:
        """Whether respondents are independent with one law, and their number is fixed."""
        return isinstance(self.counts, Identical) and self.smallest == self.largest

    @property
    def drawn(self) -> bool:
        """Whether a fixed number of respondents is drawn from an urn, and too many states to be listed."""
        return isinstance(self.counts, Overdispersed) and self.smallest == self.largest and self.listed is None

    def sums(self, weights: Sequence[int]) -> Sums:
        """S and ω as `certify` sees them."""
        return Sums(self.counts, tuple(int(w) for w in weights), self.exact_values, self.smallest, self.largest)

    def step(self, weights: Sequence[int]) -> int:
        """How far one neighbour moves S."""
        return max(map(abs, weights)) if self.presence else max(weights) - min(weights)

    def settled(self, weights: Sequence[int]) -> Weights | None:
        """The same information in the smallest weights from zero; None when they tell nothing."""
        low = 0 if self.presence else min(weights)
        found = tuple(int(w) - low for w in weights)
        return found if self.step(found) else None

    def length(self, weights: Sequence[int]) -> int:
        """About how many totals are likely."""
        if self.convolved:
            return likely_length(self.shares, weights, self.largest)
        reach = self.largest * (max(0, *weights) - min(0, *weights)) + 1
        return reach if self.listed is None else min(reach, len(self.listed[1]) + 60 * self.step(weights))

    def law(self, weights: Sequence[int], quick: bool = False) -> SumLaw:
        """P(S = s) with mean and variance of ω given s."""
        if self.convolved:
            return sum_law(self.shares, self.values, weights, self.largest, quick)
        if self.listed is not None:
            histograms, masses = self.listed
            totals, omegas = histograms @ np.asarray(weights), histograms @ np.asarray(self.values)
            first = int(totals.min())
            at = totals - first
            found = [np.bincount(at, masses * omegas**k).astype(np.float64) for k in range(3)]
            return _given(first, found[0], found[1], found[2])
        if isinstance(self.counts, Overdispersed) and self.drawn:
            if not self.counts.fits(weights):
                raise TooLarge(
                    "the law of a weighted sum", size=f"steps of {self.step(weights):,}", fits="fewer", remedy="coarser weights"
                )
            spend(self._law_seconds(weights))
            return urn_law(self.counts.concentration, self.values, weights, self.largest)
        return self._on_a_line(weights) if quick or not self.counts.sets_aside else self._from_laws(weights)

    def _from_laws(self, weights: Sequence[int]) -> SumLaw:
        """Masses and means from the laws with one respondent set aside; the variance is that of all totals together."""
        whole = self._masses(self.counts, weights)
        masses = np.array([float(m) for m in whole.masses]) / 2.0**LAW_BITS
        sums = np.zeros(len(masses))
        spend(len(self.values) * self._law_seconds(weights))
        for t, part in self.counts.others(weights, LAW_BITS).items():
            value = self.values[t]
            start = part.first + weights[t] - whole.first
            seen = float(self.counts.mean(t)) * value * np.array([float(m) for m in part.masses]) / 2.0**LAW_BITS
            low, high = max(start, 0), min(start + len(seen), len(masses))
            if low < high:
                sums[low:high] += seen[low - start : high - start]
        means = np.where(masses > 0, sums / np.where(masses > 0, masses, 1.0), 0.0)
        left = max(float(self.sums(weights).second()) - float(masses @ means**2), 0.0)
        return SumLaw(whole.first, masses, means, np.full(len(masses), left / float(masses.sum())))

    def _masses(self, law: Law, weights: Sequence[int]) -> Masses:
        spend(self._law_seconds(weights))
        return law.masses(weights, LAW_BITS)

    def _law_seconds(self, weights: Sequence[int]) -> float:
        totals, levels = self.length(weights) / (gcd(*weights) or 1), len(set(weights))
        if self.drawn:
            return self.largest * levels * (SECONDS_PER_DRAW + SECONDS_PER_DRAWN_TOTAL * totals)
        return SECONDS_PER_COEFFICIENT * self.largest * totals * max(levels - 3, 0.5)

    def seconds(self, weights: Sequence[int]) -> float:
        """A guess of what a weighted sum takes until it is valued, beyond what proofs are allowed in any case: nothing where
        histograms are listed, or where convolutions are short."""
        if self.convolved:
            totals = self.length(weights) / (gcd(*weights) or 1)
            return max(0.0, SECONDS_PER_CONVOLVED_PAIR * totals**2 + SECONDS_PER_PROVED_TOTAL * totals - GRACE)
        if self.listed is not None:
            return 0.0
        return self._law_seconds(weights) * (1 if self.drawn else 1 + len(self.exact_values) * self.counts.sets_aside)

    def _on_a_line(self, weights: Sequence[int]) -> SumLaw:
        """Masses alone from a law; E[ω|S] as the regression of ω on S, which exact moments give."""
        whole = self._masses(self.counts, weights)
        masses = np.array([float(m) for m in whole.masses]) / 2.0**LAW_BITS
        own = Sums(self.counts, tuple(weights), tuple(map(Fraction, weights)), self.smallest, self.largest)
        both = replace(own, values=tuple(v + w for v, w in zip(self.exact_values, weights, strict=True)))
        omega = self.sums(weights)
        (mean, second), (mean_s, second_s), (mean_b, second_b) = ((x.mean(), x.second()) for x in (omega, own, both))
        variance, variance_s = float(second - mean**2), float(second_s - mean_s**2)
        slope = (float(second_b - mean_b**2) - variance - variance_s) / (2 * variance_s) if variance_s > 0 else 0.0
        means = float(mean) + slope * (np.arange(len(masses)) + whole.first - float(mean_s))
        left = max(variance - slope**2 * variance_s, 0.0)
        return SumLaw(whole.first, masses, means.astype(np.float64), np.full(len(masses), left))

    def joint(self, weights: Sequence[int]) -> SumPairs:
        """P(ω, S); refused when it is too large."""
        if self.listed is not None and not self.convolved:
            histograms, chances = self.listed
            totals = histograms @ np.asarray(weights)
            omegas = [self._omega(h) for h in histograms.tolist()]
            distinct = sorted(set(omegas))
            place = {w: i for i, w in enumerate(distinct)}
            first = int(totals.min())
            self._must_fit(len(distinct) * (int(totals.max()) - first + 1))
            table = np.zeros((len(distinct), int(totals.max()) - first + 1))
            np.add.at(table, ([place[w] for w in omegas], totals - first), chances)
            return SumPairs(tuple(distinct), first, table)
        sums = self.sums(weights)
        pairs = joint_cells(sums)
        self._must_fit(pairs if sums.tied is None else pairs**2)  # of each total one value, but a table of all
        spend(self.joint_seconds(weights))
        found = joint_masses(sums, exact=False)
        first = min(found.totals)
        self._must_fit(len(found.omegas) * (max(found.totals) - first + 1))
        table = np.zeros((len(found.omegas), max(found.totals) - first + 1))
        at = np.array(found.totals) - first
        np.add.at(table, (found.row, at[found.total]), found.masses)
        return SumPairs(tuple(found.omegas), first, table)

    def joint_seconds(self, weights: Sequence[int]) -> float:
        """A guess of what the joint law takes; refused when it cannot be formed."""
        if self.listed is not None and not self.convolved:
            return SECONDS_PER_CELL * len(self.listed[1])
        sums = self.sums(weights)
        alone = self.convolved or sums.tied is not None or len(set(weights)) == 1
        return SECONDS_PER_CELL * joint_cells(sums) * (1 if alone else sqrt(self.largest))

    def _omega(self, histogram: Sequence[int]) -> Fraction:
        return sum((v * c for v, c in zip(self.exact_values, histogram, strict=True)), Fraction(0))

    @staticmethod
    def _must_fit(cells: int) -> None:
        if cells > LARGEST_JOINT:
            raise TooLarge(
                "the joint law of the weighted sum and the statistic",
                size=f"{cells:,} cells",
                fits=f"{LARGEST_JOINT:,} cells",
                remedy="Use coarser weights, fewer respondents, or squared error, which needs moments only.",
            )

    def spread(self) -> float:
        """The standard deviation of ω."""
        sums = self.sums([0] * len(self.exact_values))
        return sqrt(max(float(sums.second() - sums.mean() ** 2), 0.0))


def population_of(problem: Problem) -> tuple[Population, list[int]]:
    """The population behind a problem whose statistic adds up, and the numbers of the types that may occur."""
    universe, law = problem.people, law_of(problem)
    assert law is not None
    values = problem.statistic.weights(universe)
    assert values is not None
    kept = [t for t in range(universe.types) if law.mean(t)]
    presence = isinstance(problem.neighbours, AddRemoveOne)
    plain = Population(law, values, universe.smallest, universe.largest, float(problem.epsilon), presence)
    if not plain.convolved and (universe.histogram_count if problem.exchangeable else universe.database_count) <= MOST_LISTED:
        base = ground(problem)
        vectors = np.asarray(base.space.vectors)
        if not problem.exchangeable:
            vectors = universe.histograms_of(vectors)
        plain = replace(plain, listed=(vectors, base.masses))
    if len(kept) == universe.types or not isinstance(law, Identical):
        return plain, list(range(universe.types))
    only = replace(law, probabilities=tuple(law.probabilities[t] for t in kept))
    listed = None if plain.listed is None else (plain.listed[0][:, kept], plain.listed[1])
    return replace(plain, counts=only, exact_values=tuple(values[t] for t in kept), listed=listed), kept


def _given(first: int, masses: Floats, sums: Floats, squares: Floats) -> SumLaw:
    safe = np.where(masses > 0, masses, 1.0)
    means = np.where(masses > 0, sums / safe, float(sums.sum() / masses.sum()))
    return SumLaw(first, masses, means, np.maximum(squares / safe - means**2, 0.0) * (masses > 0))
