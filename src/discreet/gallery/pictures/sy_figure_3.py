"""SY Fig. 3: The posteriors that private noise allows.

Beliefs about ω = 0, 1, 2 in a triangle, around the prior (1/3, 1/3, 1/3). Mechanisms that read only ω may move the odds of
neighbouring values by at most ε: between the two lines of each bound, K_Ω. The odds of 0 against 2 are not bounded directly,
which makes it a kite rather than a hexagon.
"""

from __future__ import annotations

from math import exp

from discreet.gallery.papers import figures_setting
from discreet.gallery.picture import Number
from discreet.geometry.labellings import extreme_points
from discreet.geometry.of_problem import K_Omega_of
from discreet.present.figure import Figure
from discreet.present.figures.simplex import simplex_figure


def draw() -> Figure:
    """The triangle with the lines of both bounds."""
    return simplex_figure(figures_setting(), bounds=True)


def numbers() -> list[Number]:
    """Four corners, and how far each bound reaches."""
    beliefs = K_Omega_of(figures_setting())
    points = [[float(p) for p in point.belief(beliefs.prior, beliefs.ratio_bracket()[0])] for point in extreme_points(beliefs)]
    return [
        Number("corners of K_Ω", len(points), 2**2, "one choice of sign for each bound"),
        Number("bounded pairs of values", len(beliefs.edges), 2, "0 and 1, 1 and 2; not 0 and 2"),
        Number("largest odds of 1 against 0", max(p[1] / p[0] for p in points), exp(1), "e^ε times the prior's odds"),
        Number("largest odds of 2 against 0", max(p[2] / p[0] for p in points), exp(2), "two steps: e^2ε"),
        Number("prior of ω = 1", float(beliefs.prior[1]), 1 / 3, "1/6 + 1/6"),
    ]
