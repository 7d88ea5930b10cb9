"""Exchangeable respondents: all orderings of a database are equally likely.

Given by a probability for each histogram, or by a Dirichlet-multinomial with concentrations c_t > 0:
P(h) = P(n) · n!/Πh_t! · Π (c_t)_{h_t} / (Σc)_n with rising factorials (x)_k = x(x+1)…(x+k−1). Reference: SY Prop. 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import lcm, prod

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.origin import Origin, PublicCounts
from discreet.model.priors.weights import (
    ExactWeights,
    check_count,
    check_distribution,
    check_size,
    orderings,
    over_one_denominator,
    size_probability,
    with_respondents,
)
from discreet.model.universe import AnyUniverse, Universe
from discreet.numerics.exact import brief, counted


@dataclass(frozen=True)
class ExchangeablePrior:
    """A probability for each histogram; histograms left out have probability zero."""

    histogram: tuple[tuple[tuple[int, ...], Fraction], ...]
    kind = "exchangeable"

    def __post_init__(self) -> None:
        check_distribution([p for _, p in self.histogram], "prior.histogram")
        if len(self.table) != len(self.histogram):
            raise InputError(
                "A histogram is listed twice in the prior",
                found="a repetition",
                allowed="each histogram once",
                remedy="remove the repetition",
            )

    @cached_property
    def table(self) -> dict[tuple[int, ...], Fraction]:
        return dict(self.histogram)

    def check(self, universe: AnyUniverse) -> None:
        u = with_respondents(universe, self.kind)
        for h, _ in self.histogram:
            if len(h) != u.types or not u.smallest <= sum(h) <= u.largest or min(h) < 0:
                raise InputError(
                    "A histogram of the prior does not belong to this universe",
                    found=",".join(map(str, h)),
                    allowed=f"{u.types} counts that sum to {u.smallest}" + ("" if u.fixed else f"..{u.largest}"),
                    remedy="correct prior.histogram or data.respondents",
                )

    def exchangeable(self, universe: AnyUniverse) -> bool:
        return True

    def zeros(self, universe: AnyUniverse) -> tuple[str, ...]:
        named = tuple("histogram " + ",".join(map(str, h)) for h, p in self.histogram if p == 0)
        missing = with_respondents(universe, self.kind).histogram_count - len(self.histogram)
        return named + ((f"{counted(missing)} histograms that are not listed",) if missing else ())

    def of_database(self, types: Sequence[int], universe: Universe) -> Fraction:
        h = universe.histogram_of(types)
        return self.table.get(h, Fraction(0)) / orderings(h)

    def on_histograms(self, vectors: np.ndarray, universe: Universe) -> ExactWeights:
        return over_one_denominator([self.table.get(tuple(h), Fraction(0)) for h in vectors.tolist()])


@dataclass(frozen=True)
class DirichletMultinomialPrior:
    """Type probabilities drawn from a Dirichlet with the given concentration, then iid respondents."""

    concentration: tuple[Fraction, ...]
    size: tuple[Fraction, ...] | None = None
    origin: Origin | PublicCounts | None = None

    @property
    def kind(self) -> str:
        """`release` when it was learned, `reference` when it follows from public counts."""
        if self.origin is None:
            return "exchangeable"
        return "release" if isinstance(self.origin, Origin) else "reference"

    def __post_init__(self) -> None:
        if not self.concentration or any(c <= 0 for c in self.concentration):
            raise InputError(
                "Every concentration must be positive",
                found=", ".join(map(brief, self.concentration)) or "nothing",
                allowed="numbers above 0",
                remedy="correct prior.concentration",
            )
        if self.size is not None:
            check_distribution(self.size, "prior.size")
        if isinstance(self.origin, PublicCounts) and self.origin.concentration != self.concentration:
            raise InputError(
                "This prior does not follow from the public counts that it names",
                found=", ".join(map(brief, self.concentration)),
                allowed=", ".join(map(brief, self.origin.concentration)),
                remedy="leave the concentration to the rule",
            )

    def check(self, universe: AnyUniverse) -> None:
        u = with_respondents(universe, self.kind)
        check_count(len(self.concentration), u.types, "one concentration for each type")
        check_size(self.size, u)

    def exchangeable(self, universe: AnyUniverse) -> bool:
        return True

    def zeros(self, universe: AnyUniverse) -> tuple[str, ...]:
        first = with_respondents(universe, self.kind).smallest
        return tuple(f"{first + i} respondents" for i, p in enumerate(self.size or ()) if p == 0)

    def of_database(self, types: Sequence[int], universe: Universe) -> Fraction:
        h = universe.histogram_of(types)
        return self.on_histograms(np.array([h]), universe)[0] / orderings(h)

    def on_histograms(self, vectors: np.ndarray, universe: Universe) -> ExactWeights:
        """P(n)·n!/Π h_t!·Π (c_t)_{h_t}/(A)_n, in whole numbers: with c = a/s, (c)_k·s^k is whole, and the powers of s cancel."""
        most = int(vectors.sum(axis=1).max(initial=0))
        scale = lcm(*(c.denominator for c in self.concentration))
        rises = [_rising(int(c * scale), scale, most) for c in self.concentration]
        total = _rising(int(sum(self.concentration) * scale), scale, most)
        factorials = _rising(1, 1, most)
        shares = {n: size_probability(self.size, n, universe) / total[n] for n in set(vectors.sum(axis=1).tolist())}
        denominator = lcm(*(share.denominator for share in shares.values()))
        whole = {n: int(share * denominator) * factorials[n] for n, share in shares.items()}
        numerators = []
        for h in vectors.tolist():
            drawn = prod(rises[t][k] for t, k in enumerate(h))
            numerators.append(whole[sum(h)] // prod(factorials[k] for k in h) * drawn)
        return ExactWeights(tuple(numerators), denominator)


def _rising(first: int, step: int, most: int) -> list[int]:
    """The products of the first 0, 1, … most of the numbers first, first + step, …."""
    found = [1]
    for k in range(most):
        found.append(found[-1] * (first + k * step))
    return found
