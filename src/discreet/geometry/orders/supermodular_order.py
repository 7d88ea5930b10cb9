"""The supermodular stochastic order between Fréchet representations with the same marginals.

(W, X) ≥ (Ŵ, X̂) when E h(W, X) ≥ E h(Ŵ, X̂) for every supermodular h, which for two coordinates means F ≥ G for their
distribution functions. Both are piecewise linear in x, so they are compared at the knots of both, exactly.
Reference: SY Appendix B, Prop. 6; Shaked & Shanthikumar 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InputError
from discreet.geometry.orders.frechet import FrechetRepresentation


@dataclass(frozen=True)
class Crossing:
    """A corner at which the second distribution function is higher: 1[W ≤ w, X ≤ x] is supermodular and prefers it."""

    w: int
    x: Fraction
    first: Fraction
    second: Fraction


def supermodular_violation(
    first: FrechetRepresentation, second: FrechetRepresentation, tolerance: Fraction = Fraction(0)
) -> Crossing | None:
    """None when the first dominates, else the corner (w, x) at which it falls behind most."""
    prior, other = first.state_marginal(), second.state_marginal()
    if prior != other:
        raise InputError(
            "The supermodular order compares laws with the same marginals",
            found="two different priors",
            allowed="Bayes-plausible hypers of one prior",
            remedy="compare mechanisms of the same problem",
        )
    worst: Crossing | None = None
    knots = sorted({*first.knots, *second.knots})
    for x, ours, theirs in zip(knots, first.cdf_along(knots), second.cdf_along(knots), strict=True):
        for w, (f, g) in enumerate(zip(ours, theirs, strict=True)):
            if g - f > tolerance and (worst is None or g - f > worst.second - worst.first):
                worst = Crossing(w, x, f, g)
    return worst
