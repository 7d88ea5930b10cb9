"""CY, observation: The worst prior for MI-privacy is one in which all others are known.

max I(Xi; Y | others) over all priors equals max I(Xi; Y) over product priors. Drawn for a count of two respondents with geometric
noise at ε = 1: information about the first against the probability that the second says yes. Where the second is known it reaches
the capacity; uncertainty about the other can only hide.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import exp, log

from discreet.currencies.information import mutual_information
from discreet.currencies.semantics import leakage
from discreet.gallery.drawing import axis, curves
from discreet.gallery.papers import figures_problem
from discreet.gallery.picture import Number
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.mechanism import Mechanism
from discreet.model.priors import IndependentPrior
from discreet.model.summary import LinearSummary
from discreet.present.figure import Figure

SHARES = tuple(Fraction(k, 20) for k in range(21))


@cache
def noisy_count() -> Mechanism:
    """Geometric noise on θ1 + θ2."""
    return geometric_mechanism(figures_problem(), LinearSummary((0, 1)))


def told(own: Fraction, other: Fraction) -> float:
    """I(X1; Y) if the first says yes with probability `own` and the second, independently, with `other`."""
    return leakage(noisy_count(), 0, IndependentPrior(((1 - own, own), (1 - other, other)))).alone.middle


def draw() -> Figure:
    """Information about the first, and the capacity."""
    capacity = mutual_information(noisy_count()).bracket.middle
    shown = [(float(s), told(Fraction(1, 2), s)) for s in SHARES]
    return curves(
        "What a noisy count tells about one of two",
        f"A valley: {shown[0][1]:.4f} at both ends, {min(y for _, y in shown):.4f} in the middle, capacity {capacity:.4f}.",
        {"I(X1; Y), first even": shown, "capacity, any prior": [(0.0, capacity), (1.0, capacity)]},
        x=axis("share", "probability that the second says yes"),
        y=axis("information", "mutual information (nats)", zero=False),
        subtitle="geometric noise on a count, ε = 1",
    )


def numbers() -> list[Number]:
    """The best input against a known other attains the capacity, and product priors never pass it."""
    capacity = mutual_information(noisy_count())
    grid = [told(Fraction(k, 50), Fraction(j, 5)) for k in range(1, 50) for j in range(6)]
    a = exp(-1)
    rows = [[1 / (1 + a), (1 - a) / (1 + a) * a, a * a / (1 + a)], [a / (1 + a), (1 - a) / (1 + a), a / (1 + a)]]
    best = max(_information(k / 2000, rows) for k in range(1, 2000))
    return [
        Number("capacity", capacity.bracket.middle, best, "the other says no; best of 2,000 inputs", 1e-7),
        Number("product priors above it", sum(g > capacity.bracket.upper for g in grid), 0, "none of 294"),
        Number("the best of them is near it", capacity.bracket.middle - max(grid) < 1e-4, True, "with the other known"),
    ]


def _information(share: float, rows: list[list[float]]) -> float:
    mixed = [(1 - share) * p + share * q for p, q in zip(*rows, strict=True)]
    return sum(w * p * log(p / m) for w, row in zip((1 - share, share), rows, strict=True) for p, m in zip(row, mixed, strict=True))
