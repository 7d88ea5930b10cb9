"""An iid sum: ω = Σ_i v(θ_i) over a fixed number of independent respondents with the same law of types, one replaced at a time.

The setting of chains, quotients, the ladder and of values by the law of a sum: what one respondent adds, and how likely. Types of
probability zero are left out: no database of positive probability holds them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior, ReferencePrior
from discreet.model.problem import Problem
from discreet.model.universe import Universe
from discreet.numerics.exact import whole_steps

Number = int | float | Fraction | Decimal


@dataclass(frozen=True)
class IidSum:
    """N respondents; of each type that may occur its number, its probability and what it adds to ω; what every type adds."""

    respondents: int
    types: tuple[int, ...]
    probabilities: tuple[Fraction, ...]
    values: tuple[Fraction, ...]
    all_values: tuple[Fraction, ...]

    @classmethod
    def of(cls, probabilities: Sequence[Number], values: Sequence[Number], respondents: int) -> IidSum:
        """From plain numbers: floats at face value (the rational they are), probabilities divided by their sum."""
        if len(probabilities) != len(values) or not len(values):
            raise InputError(
                "Each type needs one probability and one value",
                found=f"{len(probabilities)} probabilities and {len(values)} values",
                allowed="lists of the same length, at least one entry each",
                remedy="complete the lists",
            )
        masses, points = (tuple(_exact(x) for x in xs) for xs in (probabilities, values))
        total = sum(masses, Fraction(0))
        if min(masses) < 0 or abs(total - 1) > Fraction(1, 10**6):
            raise InputError(
                "Probabilities of types must be non-negative and sum to one",
                found=[float(m) for m in masses],
                allowed="numbers in 0..1 that sum to one",
                remedy="correct them",
            )
        kept = tuple(t for t, mass in enumerate(masses) if mass > 0)
        return cls(respondents, kept, tuple(masses[t] / total for t in kept), tuple(points[t] for t in kept), points)

    @property
    def mean(self) -> Fraction:
        """E v of one respondent."""
        return sum((p * v for p, v in zip(self.probabilities, self.values, strict=True)), Fraction(0))

    @property
    def variance(self) -> Fraction:
        """Var v of one respondent."""
        return sum((p * v * v for p, v in zip(self.probabilities, self.values, strict=True)), Fraction(0)) - self.mean**2

    @cached_property
    def atoms(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """(value, probability) in increasing order of value; equal values are one atom."""
        merged: dict[Fraction, Fraction] = {}
        for value, mass in zip(self.values, self.probabilities, strict=True):
            merged[value] = merged.get(value, Fraction(0)) + mass
        return tuple(sorted(merged.items()))

    @cached_property
    def lattice(self) -> tuple[Fraction, tuple[int, ...]]:
        """(unit, steps): v = min v + unit·steps of each type, so ω = N·min v + unit·(a whole number)."""
        least = min(self.values)
        return whole_steps([v - least for v in self.values])

    @property
    def floats(self) -> tuple[np.ndarray, list[float]]:
        """Probabilities and values as proposals are searched with."""
        return np.array([float(p) for p in self.probabilities]), [float(v) for v in self.values]


def why_not_iid_sum(problem: Problem) -> str | None:
    """The first condition that fails, in words; None when the problem is about an iid sum."""
    universe = problem.universe
    if not isinstance(universe, Universe) or not universe.fixed or not isinstance(problem.neighbours, ReplaceOne):
        return "neighbours do not replace one of a fixed number of respondents"
    if not isinstance(problem.prior, (IidPrior, ReferencePrior)):
        return "respondents are not independent with the same probabilities"
    if problem.statistic.weights(universe) is None:
        return "the statistic is not a sum, mean or count"
    return None


def iid_sum(problem: Problem) -> IidSum:
    """The iid sum that a problem is about."""
    universe, prior = problem.universe, problem.prior
    values = problem.statistic.weights(universe) if isinstance(universe, Universe) else None
    reason = why_not_iid_sum(problem)
    if values is None or not isinstance(universe, Universe) or not isinstance(prior, (IidPrior, ReferencePrior)) or reason:
        raise InputError(
            "This needs a sum over independent respondents",
            found=reason,
            remedy="use another way",
            allowed="a fixed number of respondents, an iid or reference prior, and a sum, mean or count",
        )
    kept = tuple(t for t, p in enumerate(prior.probabilities) if p > 0)
    chances = tuple(prior.probabilities[t] for t in kept)
    return IidSum(universe.respondents, kept, chances, tuple(values[t] for t in kept), values)


def _exact(x: Number) -> Fraction:
    if isinstance(x, float) and not math.isfinite(x):
        raise InputError("Probabilities and values must be finite numbers", found=x, allowed="finite numbers", remedy="correct it")
    return Fraction(x)
