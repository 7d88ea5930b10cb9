"""Density bounds: between which limits the probability of each published value lies, whatever the model of the data.

L(t) = sup e^(−ε d*) p_x*(t) and U(t) = inf e^(ε d*) p_x*(t) over databases x* (BG Thms 6 and 10, Figs 1 and 2). A bar that reaches
1 rules nothing out on that side. The law under one prior is drawn inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InputError, TooLarge
from discreet.interpret.bounds import density_bounds, outward
from discreet.interpret.channel import output_at, state_logs
from discreet.interpret.distances import state_distances
from discreet.interpret.predictive import prior_predictive
from discreet.model.mechanism import Mechanism
from discreet.numerics.digits import about, between, given
from discreet.present.figure import Figure
from discreet.present.legends import line_legend
from discreet.present.theme import COLOURS, HEIGHT, WIDTH, series_scales
from discreet.present.ticks import label_expression, log_ticks

MOST_STATES = 2000
MOST_OUTPUTS = 80
FLOOR = 1e-12
TITLE = "What no model can leave"


def density_figure(mechanism: Mechanism) -> Figure:
    """Bars from the lower to the upper bound of each output's probability, logarithmic, with the law under the design's prior."""
    space = mechanism.space
    if len(space) > MOST_STATES:
        raise TooLarge(
            "There are too many states to bound every output",
            size=f"{len(space):,} states",
            fits=f"{MOST_STATES:,}",
            remedy="ask for the limits of single outputs",
        )
    bounds = density_bounds(np.exp(state_logs(mechanism)), state_distances(space), float(mechanism.guarantee.epsilon))
    law = np.asarray(prior_predictive(mechanism), dtype=np.float64)
    chosen = _chosen(law)
    labels = [output_at(mechanism, i).label for i in chosen]
    rows: list[dict[str, Any]] = [
        {
            "output": label,
            "low": max(float(bounds.lower[i]), FLOOR),
            "high": min(float(bounds.upper[i]), 1.0),
            "probability": max(float(law[i]), FLOOR),
        }
        for label, i in zip(labels, chosen, strict=True)
    ]
    ticks = log_ticks(min(r["low"] for r in rows), 1.0)
    angle = -90 if len(rows) > 16 or max(map(len, labels)) > 5 else 0
    x = {"field": "output", "type": "nominal", "sort": None, "title": "published value", "axis": {"labelAngle": angle}}
    y = {
        "type": "quantitative",
        "title": "probability of the value (log scale)",
        "scale": {"type": "log", "domain": [ticks[0], ticks[-1]]},
        "axis": {"values": ticks, "labelExpr": label_expression(ticks)},
    }
    body: dict[str, Any] = {
        "width": max(320, min(WIDTH, 40 * len(rows))),
        "height": HEIGHT,
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "bar", "width": {"band": 0.55}, "color": "#c8d7e8", "stroke": COLOURS[1]},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "shape": "diamond", "size": 70, "color": COLOURS[0], "opacity": 1},
                "encoding": {"x": x, "y": {**y, "field": "probability"}},
            },
        ],
    }
    subtitle = "bars: limits for any model of the data; diamonds: probability under the design's prior"
    told = list(zip(labels, chosen, strict=True))[:: max(1, len(rows) // 4)]
    words = [f"{label} {_between(*bounds.stated(i))}" for label, i in told]
    empty = sum(bool(bounds.upper[i] >= 1) for i in chosen)
    alt = (
        f"Bars of limits on the probability of {len(rows)} published values at ε = {given(mechanism.guarantee.epsilon)}: "
        f"{'; '.join(words)}. For {empty} of them the upper limit is 1 and rules nothing out."
    )
    return Figure(TITLE, alt, body, subtitle)


def density_band_figure(
    places: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    curves: Mapping[str, Sequence[float]] | None = None,
    *,
    place_title: str = "published value t (its own units)",
    density_title: str = "density (per unit of t)",
) -> Figure:
    """A band between two bounds along a line of places, with densities inside it as named lines (BG Figs 1 and 3)."""
    t, low, high = (np.asarray(a, dtype=np.float64) for a in (places, lower, upper))
    if not len(t) or not len(t) == len(low) == len(high) or not (low <= high * (1 + 1e-9)).all():
        raise InputError(
            "A band needs a lower bound below an upper bound at every place",
            found=f"{len(t)}, {len(low)} and {len(high)} numbers",
            allowed="as many of each, lower ≤ upper",
            remedy="correct the bounds",
        )
    band = [{"t": float(a), "low": float(b), "high": float(c)} for a, b, c in zip(t, low, high, strict=True)]
    lines = {"upper limit": high, **(curves or {}), "lower limit": low}
    names = list(lines)
    scales = series_scales(names)
    rows = [{"t": float(a), "density": float(d), "way": name} for name in names for a, d in zip(t, lines[name], strict=True)]
    x = {"field": "t", "type": "quantitative", "title": place_title, "scale": {"nice": False}}
    legend = line_legend(orient="top", columns=4)
    body: dict[str, Any] = {
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [
            {
                "data": {"values": band},
                "mark": {"type": "area", "color": "#bbbbbb", "opacity": 0.4},
                "encoding": {
                    "x": x,
                    "y": {"field": "low", "type": "quantitative", "title": density_title},
                    "y2": {"field": "high"},
                },
            },
            {
                "data": {"values": rows},
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    "x": x,
                    "y": {"field": "density", "type": "quantitative", "title": density_title},
                    "color": {"field": "way", "type": "nominal", "scale": scales["color"], "legend": legend},
                    "strokeDash": {"field": "way", "type": "nominal", "scale": scales["strokeDash"], "legend": legend},
                },
            },
        ],
    }
    peak = int(high.argmax())
    alt = (
        f"A band of densities from {about(t[0])} to {about(t[-1])}. At its highest, {about(t[peak])}, it lies "
        f"{_between(*outward(low[peak], high[peak]), 4)}; at the ends {_between(*outward(low[0], high[0]), 4)} and "
        f"{_between(*outward(low[-1], high[-1]), 4)}."
    )
    return Figure(TITLE, alt, body, "no model of the data leads out of the grey band")


def _chosen(law: np.ndarray) -> list[int]:
    """All outputs, or the likeliest in their order when there are many."""
    if len(law) <= MOST_OUTPUTS:
        return list(range(len(law)))
    return sorted(np.argsort(-law)[:MOST_OUTPUTS].tolist())


def _between(lower: float, upper: float, digits: int = 3) -> str:
    """Both limits; none above 1 is told for a probability, which has that one anyway."""
    return between(float(lower), float(upper), digits)
