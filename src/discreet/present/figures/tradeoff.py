"""The trade-off curve: how often an attacker must err in telling two neighbours apart, beside guessing and the promise.

f(α) is the least rate of misses β of any test with α false alarms. Guessing has α + β = 1; pure ε-DP allows no less than
max(1 − e^ε α, e^−ε(1 − α)). Below a mechanism's own curve there is no attack. References: Dong, Roth & Su (2022); CY (detection).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import exp
from typing import Any

from discreet.currencies.profiles import Profile
from discreet.currencies.tradeoffs import tradeoff
from discreet.numerics.digits import at_least
from discreet.present.figure import Figure
from discreet.present.figures.delta import PROMISE, named_profiles
from discreet.present.legends import line_legend
from discreet.present.theme import HEIGHT, series_scales

GUESSING = "guessing"
X_TITLE = "false alarms α (probability)"
Y_TITLE = "misses β (probability)"
Corners = Sequence[tuple[float, float]]


def tradeoff_figure(profiles: Profile | Mapping[str, Profile], promised: float | None = None) -> Figure:
    """Trade-off curves of one mechanism or of several by name; `promised` is the ε whose limit is drawn beside them."""
    named = named_profiles(profiles)
    curves: dict[str, Corners] = {name: tradeoff(profile).corners for name, profile in named.items()}
    own = next(iter(curves.values()))
    if promised is not None:
        knee = 1 / (1 + exp(promised))
        curves[PROMISE] = ((0.0, 1.0), (knee, knee), (1.0, 0.0))
    curves[GUESSING] = ((0.0, 1.0), (1.0, 0.0))
    rows = [
        {"alpha": float(a), "beta": float(b), "way": name, "place": i}
        for name, corners in curves.items()
        for i, (a, b) in enumerate(corners)
    ]
    scales = series_scales(list(curves))
    legend = line_legend(orient="top", columns=3)
    unit = {"domain": [0, 1]}
    x = {"field": "alpha", "type": "quantitative", "title": X_TITLE, "scale": unit}
    y = {"field": "beta", "type": "quantitative", "title": Y_TITLE, "scale": unit}
    body: dict[str, Any] = {
        "width": HEIGHT,
        "height": HEIGHT,
        "layer": [
            {
                "data": {"values": [{"alpha": float(a), "beta": float(b)} for a, b in own]},
                "mark": {"type": "area", "color": "#bbbbbb", "opacity": 0.45},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"values": [{"alpha": 0.03, "beta": 0.04, "words": "no attack gets here"}]},
                "mark": {"type": "text", "align": "left", "fontSize": 12},
                "encoding": {"x": x, "y": y, "text": {"field": "words"}},
            },
            {
                "data": {"values": rows},
                "mark": {"type": "line", "strokeWidth": 2.2},
                "encoding": {
                    "x": x,
                    "y": y,
                    "order": {"field": "place", "type": "quantitative"},
                    "color": {"field": "way", "type": "nominal", "scale": scales["color"], "legend": legend},
                    "strokeDash": {"field": "way", "type": "nominal", "scale": scales["strokeDash"], "legend": legend},
                },
            },
        ],
    }
    subtitle = "telling one respondent's record from another"
    return Figure("How often an attacker must err", alt_text(curves), body, subtitle)


def alt_text(curves: Mapping[str, Corners]) -> str:
    """The curves in words: the smallest common rate of both errors, which is one half for guessing."""
    words = [f"{name} at least {at_least(common_error(corners), 4)}" for name, corners in curves.items()]
    return (
        "Misses against false alarms of the best attack, falling from 1 to 0. Where both errors are equally frequent they are: "
        f"{', '.join(words)}."
    )


def common_error(corners: Corners) -> float:
    """Where the curve crosses α = β."""
    for (a, b), (c, d) in pairwise(corners):
        if c >= d:
            if a >= b:
                return b
            share = (b - a) / ((b - a) + (c - d))
            return a + share * (c - a)
    return 0.0
