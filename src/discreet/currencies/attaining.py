"""The pairs that attain the tight conversions: what shows that a formula cannot be improved.

Finite pairs are floats within rounding of the ideal ones (e^ε is irrational); the Gaussian pair is N(0, 1) and
N(μ, 1). Subset selection is named by its parameters, since its outputs are too many to list.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class FinitePair:
    """Two distributions over the same outputs."""

    first: tuple[float, ...]
    second: tuple[float, ...]
    name: str


@dataclass(frozen=True)
class GaussianPair:
    """N(0, 1) and N(μ, 1)."""

    mu: Fraction
    name: str = "two unit normals μ apart"


@dataclass(frozen=True)
class SubsetSelection:
    """Outputs are the sets of `chosen` among `types` types, e^ε likelier when they hold the true type."""

    epsilon: Fraction
    types: int
    chosen: int
    name: str = "subset selection"


Attaining = FinitePair | GaussianPair | SubsetSelection


def randomised_response(epsilon: Fraction) -> FinitePair:
    """(e^ε, 1)/(1+e^ε) and its reverse."""
    low = 1 / (1 + math.exp(float(epsilon)))
    high = 1 / (1 + math.exp(-float(epsilon)))
    return FinitePair((high, low), (low, high), "randomised response")


def equal() -> FinitePair:
    """Two equal distributions."""
    return FinitePair((1.0,), (1.0,), "two equal distributions")


def leaky_response(epsilon: Fraction, delta: Fraction) -> FinitePair:
    """(δ, (1−δ)e^ε/(1+e^ε), (1−δ)/(1+e^ε), 0) and its reverse: it dominates every (ε, δ)-DP pair (CY)."""
    plain, leak = randomised_response(epsilon).first, float(delta)
    first = (leak, (1 - leak) * plain[0], (1 - leak) * plain[1], 0.0)
    return FinitePair(first, first[::-1], "randomised response that gives itself away with chance δ")


def erasure(variation: Fraction) -> FinitePair:
    """(δ, 1−δ, 0) and its reverse."""
    leak = float(variation)
    return FinitePair((leak, 1 - leak, 0.0), (0.0, 1 - leak, leak), "erasure")


def symmetric_channel(variation: float) -> FinitePair:
    """A binary symmetric channel of the given total variation."""
    high, low = (1 + variation) / 2, (1 - variation) / 2
    return FinitePair((high, low), (low, high), "binary symmetric channel")


def near_sharp_selection(epsilon: Fraction, types: int = 10**7) -> SubsetSelection:
    """Subset selection whose mean ratio is g as nearly as its number of types allows."""
    rate = float(epsilon)
    if rate < 1e-6:
        share = 0.5
    else:
        share = (rate / -math.expm1(-rate) - 1) / math.expm1(rate)
    return SubsetSelection(epsilon, types, min(max(round(share * types), 1), types - 1))
