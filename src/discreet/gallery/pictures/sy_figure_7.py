"""SY Fig. 7, Example 3: The Fréchet representation of the geometric mechanism.

Upper left: how likely each posterior is. Lower left: the posteriors. Right: the same by rank, with the posteriors in the order of
their peaks ω*: over the first 0.37 of the ranks the density of ω is that after 0, and so on. The ranks are uniform and ω has its
prior.
"""

from __future__ import annotations

from math import exp

from discreet.gallery.drawing import bars, stacked
from discreet.gallery.papers import figures_hypers, peaks, truncated_geometric
from discreet.gallery.picture import Number
from discreet.geometry.orders.frechet import frechet
from discreet.present.figure import Figure
from discreet.present.figures.frechet import frechet_figure
from discreet.present.panels import beside

STATES = ("0", "1", "2")


def draw() -> Figure:
    """Weights over posteriors, beside the densities by rank."""
    noise, _ = figures_hypers()
    weights = {f"after {s}": float(w) for s, w in enumerate(noise.weights)}
    above = bars(
        "how likely",
        f"Bars: {', '.join(f'{name} {w:.3f}' for name, w in weights.items())}.",
        {"geometric": weights},
        x="posterior",
        y="probability",
        width=250,
        height=120,
    )
    beliefs = {f"after {s}": {str(w): float(p) for w, p in enumerate(row)} for s, row in enumerate(noise.posteriors)}
    below = bars(
        "what is believed",
        "Bars of the probability of ω after each output; the highest is at the output itself.",
        beliefs,
        x="value ω of the statistic",
        y="probability of ω",
        width=250,
        height=150,
    )
    left = stacked("The posteriors", [above, below])
    right = frechet_figure({"geometric": frechet(noise, peaks(noise))}, STATES, "peak ω*")
    return beside("From posteriors to ranks", [left, right])


def numbers() -> list[Number]:
    """Steps of the representation and its marginals."""
    noise, _ = figures_hypers()
    found = frechet(noise, peaks(noise))
    law = truncated_geometric(3, 1.0).mean(axis=1)
    e = exp(1)
    return [
        Number("first step", float(found.knots[1]), law[0], "probability of publishing 0"),
        Number("second step", float(found.knots[2]), law[0] + law[1], "probability of publishing 0 or 1"),
        Number("density of ω = 0 at the lowest ranks", float(found.laws[0][0]), e * e / (e * e + e + 1), "e²/(e² + e + 1)"),
        *(Number(f"mass of ω = {w}", float(m), 1 / 3, "the prior") for w, m in enumerate(found.state_marginal())),
    ]
