"""The law of a weighted sum S = Σ_t w_t·n_t of the counts of types under any prior, from below, with what is missing known exactly.

Every number is rounded down in units of 2^−bits, and sums and products of smaller non-negative numbers are smaller, so what results
lies below the law everywhere; the law sums to one, so what is missing is one minus its sum. Nothing about rounding or cut tails
has to be estimated.

`Identical`   respondents independent with one law p; N fixed, or n with probability P(n):   Σ_n P(n)·(Σ_t p_t z^{w_t})^n
`Overdispersed`  p drawn from a Dirichlet with concentrations c, A = Σ c: the coefficients of x^n in
              Π_t (1 − x z^{w_t})^{−c_t} = Π_t Σ_k (c_t)_k/k!·(x z^{w_t})^k,  times P(n)·n!/(A)_n. Weighing x by a factor ρ near
              n/(n + A) and each series by a constant keeps the numbers near one; both cancel in the exact total (A)_n/n!·ρ^n.
              Laws too long for that are summed over pairs of counts where three weights count (`dirichlet_pairs`), or drawn
              from an urn (`urn_sums`), in fewer bits.
`Mixed`       a mixture: Σ_k w_k times the laws of its components; a respondent of type t set aside makes w_k·E_k[n_t] of w_k
`Separate`    independent respondents, each with its own law: the product of their polynomials
`Listed`      histograms with their probabilities

Counting. Σ_h P(h)·n_t·g(S) = E[n_t]·E′[g(S + w_t)], where E′ is the law in which one respondent of type t is set aside: sizes
weighed by n, one respondent fewer and, for a Dirichlet, c_t raised by one (`without`). So E[ω g(S)] needs laws of one sum only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import gcd, sqrt
from typing import ClassVar

from discreet.certify.value.dirichlet_pairs import PAIRS_PER_DRAW, pair_masses, pairs_of
from discreet.certify.value.dirichlet_series import blocks_of, series_of
from discreet.certify.value.sizes import Sizes, averaged, fewer, mean_pairs, mean_size, sizes_of
from discreet.certify.value.sum_laws import MOST_LIKELY, Masses, rounded_product, sum_masses, too_long, trimmed
from discreet.certify.value.urn_sums import urn_sums
from discreet.frozen import dataclass
from discreet.model.priors import (
    DirichletMultinomialPrior,
    ExchangeablePrior,
    IidPrior,
    IndependentPrior,
    MixturePrior,
    ReferencePrior,
)
from discreet.model.priors.table import types_of
from discreet.model.problem import Problem
from discreet.model.universe import Universe

MOST_COEFFICIENTS = 5_000_000
"""Of the polynomials behind a random size."""
MOST_IN_SERIES, MOST_DRAWN = 400_000, 500_000_000
"""Respondents × totals × classes up to which the law of a Dirichlet is a product of series, and up to which it is drawn."""
MOST_KEPT = 20_000_000
"""Totals × classes that are kept of what is drawn."""


class Law(ABC):
    """A prior on histograms of types, as the law of any weighted sum of them."""

    @abstractmethod
    def masses(self, weights: Sequence[int], bits: int) -> Masses:
        """The law of S = Σ_t w_t·n_t from below; refuses what is too large to be formed."""

    @abstractmethod
    def fits(self, weights: Sequence[int]) -> bool:
        """Whether `masses` forms this law, as far as can be told without forming it."""

    @abstractmethod
    def mean(self, kind: int) -> Fraction:
        """E[n_t]."""

    sets_aside: ClassVar[bool] = True
    """Whether the law of the others has a form of this kind when a respondent is set aside."""

    def without(self, kind: int) -> Law | None:
        """The law of the others when a respondent of type t is set aside; None when there is none, or it has no such form."""
        return None

    def others(self, weights: Sequence[int], bits: int) -> dict[int, Masses]:
        """The law of S of the others from below, for each type of which a respondent is set aside."""
        laws = {t: law for t in range(len(weights)) if (law := self.without(t)) is not None}
        known = {law: law.masses(weights, bits) for law in set(laws.values())}
        return {t: known[law] for t, law in laws.items()}

    @abstractmethod
    def second(self, values: Sequence[Fraction]) -> Fraction:
        """E[(Σ_t v_t·n_t)²]."""


def law_of(problem: Problem) -> Law | None:
    """The law behind a problem's prior; None when its databases have no types."""
    universe, prior = problem.universe, problem.prior
    if not isinstance(universe, Universe):
        return None
    if isinstance(prior, IndependentPrior):
        return Identical(prior.rows[0], sizes_of(universe, None)) if prior.identical else Separate(prior.rows)
    if isinstance(prior, (IidPrior, ReferencePrior)):
        return Identical(prior.probabilities, sizes_of(universe, prior.size))
    if isinstance(prior, DirichletMultinomialPrior):
        return Overdispersed(prior.concentration, sizes_of(universe, prior.size))
    if isinstance(prior, MixturePrior):
        parts = [(w, law_of(replace(problem, prior=one))) for w, one in prior.parts]
        return Mixed(tuple((w, law) for w, law in parts if law is not None))
    if isinstance(prior, ExchangeablePrior):
        return Listed(prior.histogram)
    return Listed(tuple((universe.histogram_of(types_of(label)), p) for label, p in prior.table))


@dataclass(frozen=True)
class Identical(Law):
    """Independent respondents with one law."""

    probabilities: tuple[Fraction, ...]
    sizes: Sizes

    @cached_property
    def _size(self) -> Fraction:
        return mean_size(self.sizes)

    def mean(self, kind: int) -> Fraction:
        return self._size * self.probabilities[kind]

    def second(self, values: Sequence[Fraction]) -> Fraction:
        """E[n]·Σ_t p_t v_t² + E[n(n − 1)]·(Σ_t p_t v_t)²."""
        mean, square = averaged(self.probabilities, values)
        return self._size * square + mean_pairs(self.sizes) * mean**2

    def without(self, kind: int) -> Law | None:
        return replace(self, sizes=fewer(self.sizes)) if self.mean(kind) else None

    def others(self, weights: Sequence[int], bits: int) -> dict[int, Masses]:
        """Whoever is set aside, the others have one law."""
        kinds = [t for t in range(len(weights)) if self.mean(t)]
        return dict.fromkeys(kinds, replace(self, sizes=fewer(self.sizes)).masses(weights, bits)) if kinds else {}

    def fits(self, weights: Sequence[int]) -> bool:
        kept = [w for p, w in zip(self.probabilities, weights, strict=True) if p > 0]
        n = self.sizes[-1][0]
        if len(self.sizes) > 1:
            return n * n * (max(0, *kept) - min(0, *kept)) <= MOST_COEFFICIENTS
        mean = sum(float(p) * w for p, w in zip(self.probabilities, weights, strict=True))
        spread = sqrt(n * sum(float(p) * (w - mean) ** 2 for p, w in zip(self.probabilities, weights, strict=True)))
        reach = max(kept) - min(kept)
        return min(n * reach, 24 * spread + 30 * reach) <= MOST_LIKELY

    def masses(self, weights: Sequence[int], bits: int) -> Masses:
        kept = [(p, w) for p, w in zip(self.probabilities, weights, strict=True) if p > 0]
        if len(self.sizes) == 1:
            n = self.sizes[0][0]
            return Masses(*sum_masses([p for p, _ in kept], [w for _, w in kept], n, bits))
        low = min(0, *(w for _, w in kept))
        span, largest = max(w for _, w in kept) - low, self.sizes[-1][0]
        _must_fit(self, weights)
        atoms = [0] * (span + 1)
        for p, w in kept:
            atoms[w - low] += _floor(p, bits)
        from flint import fmpz_poly

        # Horner: Σ_n P(n)·z^{(largest − n)·|low|}·(Σ p z^{w − low})^n, so that negative weights keep exponents from zero
        one, total, chances = fmpz_poly(atoms), fmpz_poly([0]), dict(self.sizes)
        for n in range(largest, -1, -1):
            if n < largest:
                total = total * one // (1 << bits)
            if n in chances:
                total += fmpz_poly([0] * ((largest - n) * -low) + [_floor(chances[n], bits)])
        return trimmed(largest * low, [int(c) for c in total.coeffs()], bits)


@dataclass(frozen=True)
class Overdispersed(Law):
    """Type probabilities drawn from a Dirichlet."""

    concentration: tuple[Fraction, ...]
    sizes: Sizes

    @cached_property
    def _total(self) -> Fraction:
        return sum(self.concentration, Fraction(0))

    @cached_property
    def _size(self) -> Fraction:
        return mean_size(self.sizes)

    def mean(self, kind: int) -> Fraction:
        return self._size * self.concentration[kind] / self._total

    def second(self, values: Sequence[Fraction]) -> Fraction:
        """With A = Σ c, m = Σ c v/A and s = Σ c v²/A:  E[n]·s + E[n(n − 1)]·(A·m² + s)/(A + 1)."""
        mean, square = (x / self._total for x in averaged(self.concentration, values))
        return self._size * square + mean_pairs(self.sizes) * (self._total * mean**2 + square) / (self._total + 1)

    def without(self, kind: int) -> Law | None:
        raised = tuple(c + (t == kind) for t, c in enumerate(self.concentration))
        return Overdispersed(raised, fewer(self.sizes)) if self.mean(kind) else None

    def fits(self, weights: Sequence[int]) -> bool:
        totals = self.sizes[-1][0] * (max(0, *weights) - min(0, *weights))
        kept = totals * len(set(weights))
        return self._work(weights) <= MOST_DRAWN and totals <= MOST_LIKELY and kept <= MOST_KEPT

    def _work(self, weights: Sequence[int]) -> int:
        """Respondents × totals × classes."""
        unit, n = gcd(*weights) or 1, self.sizes[-1][0]
        span = (max(0, *weights) - min(0, *weights)) // unit
        return (n * span + 1) * (n + 1) * len(set(weights))

    def _in_pairs(self, weights: Sequence[int], laws: int = 1) -> bool:
        """Whether so many laws are summed over pairs of counts in less time than one is drawn."""
        pairs = pairs_of(self._classes(weights, 1), self.sizes)
        return pairs is not None and laws * PAIRS_PER_DRAW * pairs <= self._work(weights)

    def _classes(self, weights: Sequence[int], unit: int) -> dict[int, Fraction]:
        """The concentrations of types with one weight, in steps of `unit`."""
        merged: dict[int, Fraction] = {}
        for c, w in zip(self.concentration, weights, strict=True):
            merged[w // unit] = merged.get(w // unit, Fraction(0)) + c
        return merged

    def others(self, weights: Sequence[int], bits: int) -> dict[int, Masses]:
        """One law for each weight: which type of that weight is set aside makes no difference to S."""
        kinds = [t for t in range(len(weights)) if self.mean(t)]
        if self._work(weights) <= MOST_IN_SERIES or self._in_pairs(weights, len(set(weights))):
            laws = ((w, self.without(t)) for w, t in {weights[t]: t for t in kinds}.items())
            known = {w: law.masses(weights, bits) for w, law in laws if law is not None}
            return {t: known[weights[t]] for t in kinds}
        _must_fit(self, weights)
        found, known = urn_sums(self._classes(weights, 1), self.sizes, bits), {}
        for w, c in self._classes(weights, 1).items():
            if c:
                share = self._total / (c * self._size)  # 1/E[n_k]
                known[w] = trimmed(found.first - w, [x * share.numerator // share.denominator for x in found.counts[w]], bits)
        return {t: known[weights[t]] for t in kinds}

    def masses(self, weights: Sequence[int], bits: int) -> Masses:
        _must_fit(self, weights)
        if self._work(weights) > MOST_IN_SERIES:
            return self._of_long_sums(weights, bits)
        unit = gcd(*weights) or 1
        merged = self._classes(weights, unit)
        low, largest = min(0, *merged), self.sizes[-1][0]
        stride = largest * (max(0, *merged) - low) + 1
        total = sum(merged.values(), Fraction(0))
        mean = max(mean_size(self.sizes), Fraction(1))
        factor = (mean / (mean + total)).limit_denominator(1 << 20)
        scale, factors = Fraction(1), []
        for w, c in sorted(merged.items()):
            series, shift = series_of(c, factor, largest, bits)
            scale *= Fraction(2) ** shift
            factors.append((w - low, series))
        blocks = blocks_of(factors, [n for n, _ in self.sizes], stride, bits)
        found: dict[int, int] = {}
        whole, at = Fraction(1), 0
        for n, chance in self.sizes:
            while at < n:
                whole *= (total + at) * factor / (at + 1)
                at += 1
            share = chance / (whole * scale)
            top, bottom = share.numerator, share.denominator
            for s, mass in enumerate(blocks[n]):
                if mass:
                    at_total = unit * (s + n * low)
                    found[at_total] = found.get(at_total, 0) + int(mass) * top // bottom
        return _dense(found, bits)

    def _of_long_sums(self, weights: Sequence[int], bits: int) -> Masses:
        """By pairs of counts, or drawn."""
        classes = self._classes(weights, 1)
        if self._in_pairs(weights):
            first, masses = pair_masses(classes, self.sizes, bits)
            return trimmed(first, masses, bits)
        drawn = urn_sums(classes, self.sizes, bits)
        return trimmed(drawn.first, drawn.masses, bits)


@dataclass(frozen=True)
class Mixed(Law):
    """One of several laws, each with its probability."""

    parts: tuple[tuple[Fraction, Law], ...]

    def mean(self, kind: int) -> Fraction:
        return sum((w * law.mean(kind) for w, law in self.parts), Fraction(0))

    def without(self, kind: int) -> Law | None:
        mean = self.mean(kind)
        others = [(w * law.mean(kind), law.without(kind)) for w, law in self.parts]
        return Mixed(tuple((w / mean, law) for w, law in others if law is not None)) if mean else None

    def second(self, values: Sequence[Fraction]) -> Fraction:
        return sum((w * law.second(values) for w, law in self.parts), Fraction(0))

    def fits(self, weights: Sequence[int]) -> bool:
        return all(law.fits(weights) for _, law in self.parts)

    def masses(self, weights: Sequence[int], bits: int) -> Masses:
        found: dict[int, int] = {}
        for w, law in self.parts:
            part = law.masses(weights, bits)
            for i, mass in enumerate(part.masses):
                found[part.first + i] = found.get(part.first + i, 0) + mass * w.numerator // w.denominator
        return _dense(found, bits)


@dataclass(frozen=True)
class Separate(Law):
    """Independent respondents, each with its own law."""

    rows: tuple[tuple[Fraction, ...], ...]
    sets_aside = False

    def second(self, values: Sequence[Fraction]) -> Fraction:
        total, variance = Fraction(0), Fraction(0)
        for row in self.rows:
            mean = sum((p * v for p, v in zip(row, values, strict=True)), Fraction(0))
            variance += sum((p * v * v for p, v in zip(row, values, strict=True)), Fraction(0)) - mean**2
            total += mean
        return total**2 + variance

    def mean(self, kind: int) -> Fraction:
        return sum((row[kind] for row in self.rows), Fraction(0))

    def fits(self, weights: Sequence[int]) -> bool:
        return len(self.rows) * (max(weights) - min(weights)) <= 2 * MOST_LIKELY

    def masses(self, weights: Sequence[int], bits: int) -> Masses:
        from flint import fmpz_poly

        _must_fit(self, weights)
        low = min(weights)
        factors = []
        for row in self.rows:
            atoms = [0] * (max(weights) - low + 1)
            for p, w in zip(row, weights, strict=True):
                atoms[w - low] += _floor(p, bits)
            factors.append((fmpz_poly(atoms), 0))
        while len(factors) > 1:
            paired = []
            for (left, first), (right, second) in zip(factors[::2], factors[1::2], strict=False):
                product, skipped = rounded_product(left, right, bits)
                paired.append((product, first + second + skipped))
            factors = paired + ([factors[-1]] if len(factors) % 2 else [])
        polynomial, first = factors[0]
        return trimmed(len(self.rows) * low + first, [int(c) for c in polynomial.coeffs()], bits)


@dataclass(frozen=True)
class Listed(Law):
    """Histograms with their probabilities."""

    histograms: tuple[tuple[tuple[int, ...], Fraction], ...]

    @cached_property
    def _likely(self) -> list[tuple[tuple[int, ...], Fraction]]:
        return [(h, p) for h, p in self.histograms if p > 0]

    def mean(self, kind: int) -> Fraction:
        return sum((p * h[kind] for h, p in self._likely), Fraction(0))

    def second(self, values: Sequence[Fraction]) -> Fraction:
        totals = ((p, sum((v * c for v, c in zip(values, h, strict=True)), Fraction(0))) for h, p in self._likely)
        return sum((p * total**2 for p, total in totals), Fraction(0))

    def without(self, kind: int) -> Law | None:
        mean = self.mean(kind)
        if not mean:
            return None
        return Listed(tuple(((*h[:kind], h[kind] - 1, *h[kind + 1 :]), p * h[kind] / mean) for h, p in self._likely if h[kind]))

    def fits(self, weights: Sequence[int]) -> bool:
        sizes = [sum(w * c for w, c in zip(weights, h, strict=True)) for h, _ in self._likely]
        return max(sizes) - min(sizes) <= MOST_LIKELY

    def masses(self, weights: Sequence[int], bits: int) -> Masses:
        exact: dict[int, Fraction] = {}
        for h, p in self._likely:
            total = sum(w * c for w, c in zip(weights, h, strict=True))
            exact[total] = exact.get(total, Fraction(0)) + p
        return _dense({s: _floor(p, bits) for s, p in exact.items()}, bits)


def _floor(p: Fraction, bits: int) -> int:
    return (p.numerator << bits) // p.denominator


def _dense(found: dict[int, int], bits: int) -> Masses:
    """A sparse law as a list without its empty ends."""
    held = {s: mass for s, mass in found.items() if mass}
    if not held:
        return Masses(0, [0], 1 << bits)
    first, last = min(held), max(held)
    if last - first > MOST_LIKELY:
        raise too_long(last - first)
    return trimmed(first, [held.get(s, 0) for s in range(first, last + 1)], bits)


def _must_fit(law: Law, weights: Sequence[int]) -> None:
    if not law.fits(weights):
        raise too_long(max(weights) - min(weights))
