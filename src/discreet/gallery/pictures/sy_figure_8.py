"""SY Fig. 8, Example 3 continued: A coarser index averages the densities.

The index t gives the posteriors after 1 and after 2 the same value, so their ranks are no longer told apart: over them the
density of each ω is the average of both. The representation by ω* (dashed) is above it in the supermodular order.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp

from discreet.gallery.papers import figures_hypers, peaks, truncated_geometric
from discreet.gallery.picture import Number
from discreet.geometry.orders.frechet import frechet
from discreet.geometry.orders.supermodular_order import supermodular_violation
from discreet.present.figure import Figure
from discreet.present.figures.frechet import frechet_figure

T = (Fraction(0), Fraction(1), Fraction(1))


def draw() -> Figure:
    """Both representations, one panel for each ω."""
    noise, _ = figures_hypers()
    shown = {"with respect to t": frechet(noise, T), "with respect to ω*": frechet(noise, peaks(noise))}
    drawn = frechet_figure(shown, ("0", "1", "2"), "index")
    return replace(drawn, title="What a coarser index says", subtitle="t does not tell the posteriors after 1 and after 2 apart")


def numbers() -> list[Number]:
    """One step instead of two, at the average."""
    noise, _ = figures_hypers()
    found = frechet(noise, T)
    law = truncated_geometric(3, 1.0).mean(axis=1)
    e = exp(1)
    after = [e / (e + 2), e / (e * e + e + 1)]
    average = (law[1] * after[0] + law[2] * after[1]) / (law[1] + law[2])
    return [
        Number("steps", len(found.laws), 2, "two posteriors share an index"),
        Number("where it steps", float(found.knots[1]), law[0], "probability of publishing 0"),
        Number("density of ω = 1 over the upper ranks", float(found.laws[1][1]), average, "weighted average after 1 and 2"),
        Number(
            "the finer index is above",
            supermodular_violation(frechet(noise, peaks(noise)), found) is None,
            True,
            "supermodular stochastic order",
        ),
    ]
