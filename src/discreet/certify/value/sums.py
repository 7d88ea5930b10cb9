"""Two sums over the same respondents: S = Σ_t w_t·n_t, which a mechanism reads, and ω = Σ_t v_t·n_t, which decisions are about."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from discreet.certify.value.laws import Law, law_of
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.exact import whole_steps


@dataclass(frozen=True)
class Sums:
    """Two sums over the same respondents: S = Σ_t w_t·n_t, which a mechanism reads, and ω = Σ_t v_t·n_t."""

    law: Law = field(repr=False)
    weights: tuple[int, ...]
    values: tuple[Fraction, ...]
    smallest: int
    largest: int

    def mean(self) -> Fraction:
        """E[ω]."""
        return sum((v * self.law.mean(t) for t, v in enumerate(self.values)), Fraction(0))

    def second(self) -> Fraction:
        """E[ω²]."""
        return self.law.second(self.values)

    @cached_property
    def tied(self) -> tuple[Fraction, Fraction] | None:
        """(r, c) with ω = r·S + c for every database; None when S does not determine ω."""
        likely = {(w, v) for t, (w, v) in enumerate(zip(self.weights, self.values, strict=True)) if self.law.mean(t)}
        pairs = dict(sorted(likely))
        if len(likely) != len(pairs) or len(pairs) < 2:
            return None
        (w, v), (other_w, other_v), *_ = pairs.items()
        rate = (v - other_v) / (w - other_w)
        rest = v - rate * w
        if any(y != rate * x + rest for x, y in pairs.items()) or (rest and self.smallest < self.largest):
            return None
        return rate, rest * self.largest

    def lattice(self) -> tuple[list[int], Fraction]:
        """v_t as whole multiples of a unit; of a fixed number of respondents, v_t − min v."""
        least = min(self.values) if self.smallest == self.largest else Fraction(0)
        unit, steps = whole_steps([v - least for v in self.values])
        return list(steps), unit

    @cached_property
    def origin(self) -> Fraction:
        """ω of the steps of `lattice` being zero."""
        return self.largest * min(self.values) if self.smallest == self.largest else Fraction(0)


def sums_of(mechanism: Mechanism) -> Sums | None:
    """The sums behind a mechanism on a weighted sum; None when it reads something else, or ω is no sum."""
    problem, summary = mechanism.problem, mechanism.summary
    universe, law = problem.universe, law_of(problem)
    if law is None or not isinstance(universe, Universe) or not isinstance(summary, LinearSummary):
        return None
    values = problem.statistic.weights(universe)
    return None if values is None else Sums(law, summary.weights, values, universe.smallest, universe.largest)
