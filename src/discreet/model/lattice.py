"""The lattice of a statistic that adds up: ω = origin + unit·S, with S a weighted sum in whole numbers.

S is what "adding noise to the statistic" reads: its weights are as small as they can be, so that one step of it is one unit of ω.
With a fixed number of respondents the least value of a type is taken out; otherwise each respondent's presence counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from discreet.frozen import dataclass
from discreet.model.problem import Problem
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.exact import whole_steps


@dataclass(frozen=True)
class StatisticLattice:
    """S as a summary, and how ω follows from it."""

    summary: LinearSummary
    unit: Fraction
    origin: Fraction

    def omega(self, total: int) -> Fraction:
        """ω at a value of S."""
        if self.unit.denominator == self.origin.denominator == 1:  # sums of fractions take ten times as long
            return Fraction(self.origin.numerator + self.unit.numerator * total)
        return self.origin + self.unit * total

    def omegas(self, low: int, high: int) -> Iterable[Fraction | int]:
        """ω at each value of S from `low` to `high`; whole numbers where all are, which compare with fractions in no time."""
        if self.unit.denominator == self.origin.denominator == 1:
            return (self.origin.numerator + self.unit.numerator * total for total in range(low, high + 1))
        return map(self.omega, range(low, high + 1))


def statistic_lattice(problem: Problem) -> StatisticLattice | None:
    """The lattice of the problem's statistic; None when the statistic is no sum, mean or count."""
    universe = problem.universe
    values = problem.statistic.weights(universe) if isinstance(universe, Universe) else None
    if values is None or not isinstance(universe, Universe):
        return None
    base = min(values) if universe.fixed else Fraction(0)
    unit, steps = whole_steps([v - base for v in values])
    return StatisticLattice(LinearSummary(steps), unit, base * universe.respondents if universe.fixed else Fraction(0))
