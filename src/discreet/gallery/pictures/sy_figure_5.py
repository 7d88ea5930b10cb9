"""SY Fig. 5: The only two candidates for an optimum.

An optimal distribution of posteriors about ω sits on linearly independent corners of K_Ω that average to the prior. Left: the
geometric mechanism's three corners, which tell high from low. Right: the peak and the valley, which tell central from extreme.
Marks are larger for likelier posteriors. Which one is better depends on the decision: for payoffs that reward telling the middle
from the ends the right one wins, for every supermodular payoff the left one (SY Thm 3).
"""

from __future__ import annotations

from dataclasses import replace
from math import exp

from discreet.gallery.papers import NAMES, figures_hypers, figures_problem, figures_setting, truncated_geometric
from discreet.gallery.picture import Number
from discreet.geometry.concavification import concavify
from discreet.geometry.interim import Interim
from discreet.present.figure import Figure
from discreet.present.figures.simplex import simplex_figure
from discreet.present.panels import beside

CENTRAL_OR_EXTREME = {"kind": "table", "actions": ["extreme", "central"], "payoff": [["1/2", 0, "1/2"], [0, 1, 0]]}


def draw() -> Figure:
    """Two triangles."""
    panels = []
    for name, found, words in zip(NAMES, figures_hypers(), ("high or low", "central or extreme"), strict=True):
        drawn = simplex_figure(figures_setting(), {name: found})
        panels.append(replace(drawn, title=f"{name}: {words}", subtitle=f"{len(found)} posteriors that average to the prior"))
    return beside("Two ways to be private that nothing dominates", panels)


def numbers() -> list[Number]:
    """Posteriors and weights in closed form; what each hyper is worth when the question is whether ω is central."""
    noise, pair = figures_hypers()
    e = exp(1)
    law = truncated_geometric(3, 1.0).mean(axis=1)
    low, valley = noise.posteriors[0], pair.posteriors[1]
    peak_weight = (1 / 3 - 1 / (2 * e + 1)) / (e / (e + 2) - 1 / (2 * e + 1))
    asked = figures_problem(CENTRAL_OR_EXTREME)
    interim = Interim(asked.decisions, figures_setting().omegas)
    worth = [sum(w * interim.value(p) for p, w in zip(h.posteriors, h.weights, strict=True)) for h in (noise, pair)]
    extremes = e / (2 * e + 1)
    return [
        *(Number(f"probability of geometric output {s}", float(w), law[s], "σ of SY fn 28") for s, w in enumerate(noise.weights)),
        *(
            Number(f"P(ω = {w} | s = 0)", float(p), e ** (2 - w) / (e * e + e + 1), "e^(2−ω)/(e² + e + 1)")
            for w, p in enumerate(low)
        ),
        Number("P(ω = 1 | s = 1)", float(noise.posteriors[1][1]), e / (e + 2), "e/(e + 2)"),
        Number("P(ω = 0) in the valley", float(valley[0]), extremes, "e/(2e + 1)"),
        Number("weight of the peak", float(pair.weights[0]), peak_weight, "the only one that averages to the prior"),
        Number("worth of the pair, central or extreme", float(worth[1]), float(concavify(asked).value), "concavification"),
        Number(
            "worth of the geometric mechanism",
            float(worth[0]),
            2 * law[0] * 0.5 * (e * e + 1) / (e * e + e + 1) + law[1] * e / (e + 2),
            "extreme after 0 and 2, central after 1",
        ),
    ]
