"""BG Fig. 2, Example 4: What no model of the data can leave, for randomised response.

Each record is published by randomised response at ε = 1. The probability of any published vector of |t| answers lies between the
two lines, whatever the model; both depend on the number of answers alone and fall as more are published.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np

from discreet.gallery.drawing import axis, curves
from discreet.gallery.picture import Number
from discreet.interpret.bounds import density_bounds, randomised_response_bounds
from discreet.mechanisms.randomised_response import RandomisedResponse
from discreet.present.figure import Figure

LENGTHS = tuple(range(1, 11))


def draw() -> Figure:
    """Both limits against the number of answers, on a logarithmic scale."""
    lower, upper = randomised_response_bounds(LENGTHS, 1.0)
    shown = {"upper limit": upper, "lower limit": lower}
    points = {name: list(zip(map(float, LENGTHS), row.tolist(), strict=True)) for name, row in shown.items()}
    alt = (
        f"Two falling lines from one to ten answers. The upper limit falls from {upper[0]:.3f} to {upper[-1]:.4f}, the lower "
        f"from {lower[0]:.3f} to two in a million."
    )
    return curves(
        "Limits on the probability of published answers, for every model",
        alt,
        points,
        x={**axis("answers", "number of published answers |t|"), "axis": {"values": list(LENGTHS), "format": "d"}},
        y={**axis("probability", "probability of the published vector (log scale)", type="log"), "axis": {"format": "~g"}},
        marks=points,
        subtitle="randomised response, ε = 1",
    )


def numbers() -> list[Number]:
    """Closed forms, and Theorem 6 on all eight databases of three respondents."""
    found = []
    for length in (1, 10):
        low, high = (float(x) for x in randomised_response_bounds(length, 1.0))
        found.append(Number(f"lower limit for {length}", low, (exp(1) + 1.0) ** -length, "(e + 1)^−|t|"))
        found.append(Number(f"upper limit for {length}", high, (exp(1) / (exp(1) + 1)) ** length, "(e/(e + 1))^|t|"))
    one = RandomisedResponse(Fraction(1)).matrix()
    three = np.kron(np.kron(one, one), one)
    apart = np.array([[bin(i ^ j).count("1") for j in range(8)] for i in range(8)], dtype=float)
    bounds = density_bounds(three, apart, 1.0)
    low, high = (float(x) for x in randomised_response_bounds(3, 1.0))
    found.append(Number("upper limit for 3 by Thm 6", float(bounds.upper[0]), high, "all eight databases"))
    found.append(Number("lower limit for 3 by Thm 6", float(bounds.lower[0]), low, "all eight databases"))
    return found
