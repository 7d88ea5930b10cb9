"""SY Fig. 6, Example 2: Every geometric posterior has one peak.

Above: the four corners of K_Ω as probabilities of ω. Below: the ratios of each of the geometric mechanism's posteriors to those
of the peak and the valley. Each has its peak at one value of ω against both, 0, 1 and 2 in turn: the geometric mechanism is
higher in the UPRR order, hence better for every supermodular decision. The other way round no common peak exists.
"""

from __future__ import annotations

from math import exp

from discreet.gallery.drawing import bars, stacked
from discreet.gallery.papers import NAMES, figures_hypers
from discreet.gallery.picture import Number
from discreet.geometry.orders.uprr import uprr
from discreet.present.figure import Figure
from discreet.present.figures.relative_risk import relative_risk_figure

POSTERIORS = ("after 0", "after 1, the peak", "after 2", "the valley")


def draw() -> Figure:
    """Probabilities above, ratios below."""
    noise, pair = figures_hypers()
    rows = [*noise.posteriors, pair.posteriors[1]]
    beliefs = {name: {str(w): float(p) for w, p in enumerate(row)} for name, row in zip(POSTERIORS, rows, strict=True)}
    told = "; ".join(f"{name}: {', '.join(f'{p:.3f}' for p in row.values())}" for name, row in beliefs.items())
    above = bars(
        "The corners of K_Ω",
        f"Bars of the probability of ω = 0, 1, 2. {told}.",
        beliefs,
        x="value ω of the statistic",
        y="probability of ω",
        width=420,
        height=170,
    )
    below = relative_risk_figure(
        noise, pair, NAMES, first_labels=["after 0", "after 1", "after 2"], second_labels=["peak", "valley"]
    )
    return stacked("The geometric mechanism in the UPRR order", [above, below])


def numbers() -> list[Number]:
    """The peaks, that the order fails in reverse, and one ratio in closed form."""
    noise, pair = figures_hypers()
    answer = uprr(noise.posteriors, pair.posteriors)
    e = exp(1)
    ratio = float(noise.posteriors[0][0] / pair.posteriors[1][0])
    return [
        Number("geometric is above peak and valley", answer.holds, True, "one peak each"),
        Number("peak and valley is above geometric", uprr(pair.posteriors, noise.posteriors).holds, False, "no common peak"),
        *(Number(f"peak of the posterior after {s}", peak, s, "its own value") for s, (peak, _) in enumerate(answer.peaks or ())),
        Number("relative risk at 0 against the valley", ratio, e * (2 * e + 1) / (e * e + e + 1), "e(2e + 1)/(e² + e + 1)"),
    ]
