"""Beliefs: points of the simplex, as exact rationals, and their projection onto the statistic.

A belief π about n states has π(i) ≥ 0 and Σ_i π(i) = 1. The projection is (Pπ)(ω) = Σ_{θ: ω_θ = ω} π(θ): what a
belief about the database says about the statistic. Reference: SY sections 3-4, eq. (6).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

from discreet.errors import InputError
from discreet.numerics.exact import exact

Belief = tuple[Fraction, ...]


def belief(probabilities: Sequence[object], states: int | None = None, what: str = "the belief") -> Belief:
    """Exact probabilities of all states; numbers off the simplex are refused."""
    found = tuple(exact(p, what) for p in probabilities)
    if states is not None and len(found) != states:
        raise InputError(
            f"{what} does not speak of every state",
            found=f"{len(found)} probabilities",
            allowed=f"{states}",
            remedy="give one probability for each state, in their order",
        )
    negative = [p for p in found if p < 0]
    if negative:
        raise InputError(
            f"{what} lies off the simplex: it has a negative probability",
            found=f"{float(min(negative)):.6g}",
            allowed="numbers from 0 to 1",
            remedy="correct it",
        )
    total = sum(found, Fraction(0))
    if total != 1:
        raise InputError(
            f"{what} lies off the simplex: it does not sum to one",
            found=f"{float(total):.12g}",
            allowed="exactly 1",
            remedy='rescale it, or write its probabilities as fractions such as "1/3"',
        )
    return found


def full_support(prior: Belief, labels: Sequence[str]) -> Belief:
    """The prior itself when it gives every state some probability, which the theory of SY assumes throughout."""
    zeros = [label for label, p in zip(labels, prior, strict=True) if p == 0]
    if zeros:
        raise InputError(
            "The prior gives no probability to some states, and posteriors are measured against it",
            found=", ".join(zeros[:5]) + (f" and {len(zeros) - 5} more" if len(zeros) > 5 else ""),
            allowed="a prior with full support",
            remedy="give every state a small probability, or leave the impossible states out of the data",
        )
    return prior


def project(probabilities: Sequence[Fraction], keys: Sequence[Hashable], order: Sequence[Hashable]) -> Belief:
    """Pπ: the probability of each key of `order`, where state i has the key keys[i]."""
    sums: dict[Hashable, Fraction] = dict.fromkeys(order, Fraction(0))
    for p, key in zip(probabilities, keys, strict=True):
        sums[key] += p
    return tuple(sums[key] for key in order)


def mixture(weights: Sequence[Fraction], points: Sequence[Sequence[Fraction]]) -> tuple[Fraction, ...]:
    """Σ_j weight_j · point_j."""
    width = len(points[0])
    return tuple(sum((w * x[i] for w, x in zip(weights, points, strict=True)), Fraction(0)) for i in range(width))
