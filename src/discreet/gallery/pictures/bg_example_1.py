"""BG Example 1: Laplace noise, and why it is private.

A count published with Laplace noise of scale 1/ε, for two neighbouring databases with 3 and 4 (ε = 0.5). The densities differ by
a factor between e^−ε and e^ε at every published value, and by exactly that outside the two counts: a change of one respondent is
hidden, and nothing smaller than ε would be true.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np

from discreet.gallery.drawing import axis, curves
from discreet.gallery.picture import Number
from discreet.interpret.intervals import d_mult
from discreet.mechanisms.laplace import Laplace
from discreet.present.figure import Figure

NOISE = Laplace(Fraction(1, 2), Fraction(1))
GRID = np.linspace(-6, 13, 381)
LAWS = {"3 in truth": NOISE.pdf(GRID - 3), "4 in truth": NOISE.pdf(GRID - 4)}


def draw() -> Figure:
    """Both densities, and the band that one leaves to the other."""
    shown = {
        **LAWS,
        "3 in truth, times e^ε": LAWS["3 in truth"] * exp(0.5),
        "3 in truth, times e^−ε": LAWS["3 in truth"] * exp(-0.5),
    }
    alt = "Two tents with their tips at 3 and 4; the second stays between the first times e^−0.5 and times e^0.5 and touches both."
    return curves(
        "What one respondent changes",
        alt,
        {name: list(zip(GRID.tolist(), row.tolist(), strict=True)) for name, row in shown.items()},
        x=axis("t", "published value t (respondents)"),
        y=axis("density", "density (per respondent)"),
        subtitle="Laplace noise on a count, ε = 0.5",
    )


def numbers() -> list[Number]:
    """The tight ε of the pair, its scale and its mass."""
    three, four = LAWS.values()
    law = np.clip(NOISE.cdf(np.arange(-12, 20)[:, None] - np.array([3.0, 4.0])), 0, 1)
    cells = np.diff(law, axis=0)
    return [
        Number("largest log ratio of densities", float(np.abs(np.log(three / four)).max()), 0.5, "ε"),
        Number(
            "multiplicative distance of the binned laws", d_mult(cells[:, 0], cells[:, 1]), 0.5, "ε, by discreet.interpret.d_mult"
        ),
        Number("standard deviation", NOISE.variance() ** 0.5, 2**0.5 / 0.5, "√2·Δ/ε"),
        Number("density at the count", float(NOISE.pdf(0.0)), 0.25, "ε/(2Δ)"),
    ]
