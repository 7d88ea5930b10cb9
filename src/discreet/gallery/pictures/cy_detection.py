"""CY, detection: Which pairs of errors an attacker can have.

Telling P from Q by a test with false alarms α and misses β. (ε, δ)-closeness leaves the region α + e^ε β ≥ 1 − δ, e^ε α + β ≥ 1 −
δ. Drawn for ε = 1 and δ = 0.1, beside δ = 0; dots: all tests of the pair that attains it, whose corners lie on the border.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp

from discreet.currencies.attaining import FinitePair, leaky_response
from discreet.currencies.profiles import profile
from discreet.currencies.tradeoffs import approximate_tradeoff, tradeoff
from discreet.gallery.converting import along, channel
from discreet.gallery.drawing import axis, curves
from discreet.gallery.picture import Number
from discreet.present.figure import Figure

EPSILON, DELTA = Fraction(1), Fraction(1, 10)


def tests(pair: FinitePair) -> list[tuple[float, float]]:
    """False alarms and misses of every test that flags a set of outputs."""
    found = []
    for flagged in product((False, True), repeat=len(pair.first)):
        alarm = sum(p for p, f in zip(pair.first, flagged, strict=True) if f)
        miss = sum(q for q, f in zip(pair.second, flagged, strict=True) if not f)
        found.append((alarm, miss))
    return found


def draw() -> Figure:
    """The border for δ = 0.1 and δ = 0, guessing, and the tests."""
    levels = [k / 100 for k in range(101)]
    lines = {
        "border, δ = 0.1": along(levels, approximate_tradeoff(EPSILON, DELTA)),
        "border, δ = 0": along(levels, approximate_tradeoff(EPSILON)),
        "guessing": [(0.0, 1.0), (1.0, 0.0)],
    }
    return curves(
        "Errors in telling P from Q",
        "Two convex borders under the diagonal of guessing; sixteen tests of the attaining pair lie on or above the lower one.",
        lines,
        x=axis("alpha", "false alarms α (probability)", domain=[0, 1]),
        y=axis("beta", "misses β (probability)", domain=[0, 1]),
        marks={"tests of the attaining pair": tests(leaky_response(EPSILON, DELTA))},
        subtitle="below its border no test of (1, δ)-close distributions lies",
        width=360,
        height=360,
    )


def numbers() -> list[Number]:
    """The knee, the slack of the best test, and the measured curve."""
    pair = leaky_response(EPSILON, DELTA)
    e = exp(1)
    slack = min(min(a + e * b, e * a + b) for a, b in tests(pair))
    knee = 0.9 / (1 + e)
    border = approximate_tradeoff(EPSILON, DELTA)
    return [
        Number("smallest α + e^ε β over all tests", slack, 0.9, "1 − δ"),
        Number("border where both errors agree", border(knee), knee, "(1−δ)/(1+e^ε)"),
        Number(
            "the pair's own curve there",
            tradeoff(profile(channel(pair))).beta(str(round(knee, 6))),
            border(round(knee, 6)),
            "measured",
        ),
        Number("misses without false alarms", border(0.0), 0.9, "1 − δ"),
    ]
