"""Fréchet densities: what each rank of an index of the posterior says about the statistic.

With X the rank (uniform on 0 to 1) of an index t(μ) of the posterior and W the statistic, f(w, x) = P(W = w | X = x) is a step
function of x. A mechanism that separates better has densities that climb and fall more steeply (SY App. B, Lemma 3, Figs 7 and 8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.geometry.orders.frechet import FrechetRepresentation
from discreet.numerics.digits import about
from discreet.present.figure import Figure
from discreet.present.legends import line_legend
from discreet.present.theme import HEIGHT, series_scales

MOST_PANELS, ACROSS = 6, 3


def frechet_figure(
    representations: Mapping[str, FrechetRepresentation], states: Sequence[str], index: str = "posterior mean"
) -> Figure:
    """One panel for each value of the statistic (the likeliest when there are many), one stepped line for each mechanism."""
    if not representations or any(len(r.laws[0]) != len(states) for r in representations.values()):
        raise InputError(
            "Fréchet densities are about the values of one statistic",
            found=f"{len(representations)} representations",
            allowed=f"representations about {len(states)} values",
            remedy="give one or more of the same problem",
        )
    names = list(representations)
    marginal = np.array([float(p) for p in next(iter(representations.values())).state_marginal()])
    chosen = sorted(np.argsort(-marginal, kind="stable")[:MOST_PANELS].tolist())
    rows: list[dict[str, Any]] = []
    for name, found in representations.items():
        knots = [float(k) for k in found.knots]
        for w in chosen:
            heights = [float(law[w]) for law in found.laws]
            rows += [
                {"rank": k, "density": h, "way": name, "value": states[w]}
                for k, h in zip(knots, [*heights, heights[-1]], strict=True)
            ]
    scales = series_scales(names)
    legend = line_legend("mechanism")
    top = max(r["density"] for r in rows)
    x = {
        "field": "rank",
        "type": "quantitative",
        "title": f"rank of the {index} (share)",
        "scale": {"domain": [0, 1]},
        "axis": {"values": [0, 0.2, 0.4, 0.6, 0.8, 1]},
    }
    panels: list[dict[str, Any]] = []
    for place, w in enumerate(chosen):
        y: dict[str, Any] = {
            "field": "density",
            "type": "quantitative",
            "scale": {"domain": [0, min(1.0, 1.08 * top)]},
            "title": "density f(ω, rank) (probability of ω)" if place % ACROSS == 0 else None,
        }
        panels.append({
            "title": {"text": f"ω = {states[w]}", "fontSize": 13}, "width": 180, "height": round(HEIGHT * 0.7),
            "data": {"values": [r for r in rows if r["value"] == states[w]]},
            "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2.2},
            "encoding": {
                "x": x, "y": y,
                "color": {"field": "way", "type": "nominal", "scale": scales["color"], "legend": legend},
                "strokeDash": {"field": "way", "type": "nominal", "scale": scales["strokeDash"], "legend": legend},
            },
        })  # fmt: skip
    body: dict[str, Any] = {"concat": panels, "columns": ACROSS, "spacing": 18}
    alt = alt_text(representations, states, chosen, index)
    return Figure("What the rank of a posterior says", alt, body, f"posteriors in order of the {index}")


def alt_text(representations: Mapping[str, FrechetRepresentation], states: Sequence[str], chosen: Sequence[int], index: str) -> str:
    """For each mechanism its steps, and each shown value's density at the lowest and highest rank."""
    words = []
    for name, found in representations.items():
        ends = ", ".join(f"ω = {states[w]} from {about(found.laws[0][w], 3)} to {about(found.laws[-1][w], 3)}" for w in chosen)
        words.append(f"{name} has {len(found.widths)} steps; between the lowest and the highest rank: {ends}.")
    return f"Stepped densities of the statistic against the rank of the {index}. {' '.join(words)}"
