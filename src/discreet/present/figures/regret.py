"""The regret surface: what following a mechanism costs as the truth moves away from its prior."""

from __future__ import annotations

from typing import Any

from discreet.design.questions.regret_surface import Place, Surface
from discreet.numerics.digits import about, at_most, between
from discreet.numerics.exact import format_exact
from discreet.present.figure import Figure
from discreet.present.theme import APART, HEIGHT, WIDTH, series_scales

UNITS = "units of the loss"


def regret_figure(surface: Surface) -> Figure:
    """Lines towards each type for a contamination, points in the plane of two probabilities otherwise."""
    return _lines(surface) if surface.kind == "contamination" else _cloud(surface)


def _lines(surface: Surface) -> Figure:
    names = list(dict.fromkeys(_towards(surface, p) for p in surface.places))
    rows: list[dict[str, Any]] = [{"radius": 0.0, "low": 0.0, "high": 0.0, "towards": n} for n in names]
    rows += [{"radius": p.radius, "low": p.low, "high": p.high, "towards": _towards(surface, p)} for p in surface.places]
    scales = series_scales(names)
    x = {"field": "radius", "type": "quantitative", "title": "share κ of the prior that is replaced (probability)"}
    title = f"regret of following ({UNITS})"
    legend = {"title": "replaced by"}
    colour = {"field": "towards", "type": "nominal", "scale": scales["color"], "legend": None}
    encoding = {"x": x, "color": colour}
    body = {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": rows},
        "resolve": APART,
        "layer": [
            {
                "mark": {"type": "area", "opacity": 0.3},
                "encoding": {
                    **encoding,
                    "y": {"field": "low", "type": "quantitative", "title": title, "stack": None},
                    "y2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    **encoding,
                    "y": {"field": "high", "type": "quantitative", "title": title},
                    "strokeDash": {"field": "towards", "type": "nominal", "scale": scales["strokeDash"], "legend": None},
                },
            },
            {
                "mark": {"type": "point", "size": 40, "filled": True},
                "encoding": {
                    "x": x,
                    "y": {"field": "high", "type": "quantitative", "title": title},
                    "color": {**colour, "legend": legend},
                    "shape": {"field": "towards", "type": "nominal", "scale": scales["shape"], "legend": legend},
                },
            },
        ],
    }
    return Figure("If the prior is wrong", _alt(surface), body, "band: both proved sides of the regret")


def _cloud(surface: Surface) -> Figure:
    first, second = (1, 2) if len(surface.places[0].prior) > 2 else (0, 1)
    rows = [{"x": float(p.prior[first]), "y": float(p.prior[second]), "regret": p.high} for p in surface.places]
    body = {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": rows},
        "mark": {"type": "point", "filled": True, "stroke": "#000000", "strokeWidth": 0.5},
        "encoding": {
            "x": {
                "field": "x",
                "type": "quantitative",
                "title": f"probability of {_named(surface, first)}",
                "scale": {"zero": False},
            },
            "y": {
                "field": "y",
                "type": "quantitative",
                "title": f"probability of {_named(surface, second)}",
                "scale": {"zero": False},
            },
            "size": {"field": "regret", "type": "quantitative", "title": f"regret ({UNITS})"},
            "color": {
                "field": "regret",
                "type": "quantitative",
                "title": f"regret ({UNITS})",
                "scale": {"scheme": "viridis", "reverse": True},
            },
        },
    }
    return Figure("If the prior is wrong", _alt(surface), body, "priors drawn around the reference counts")


def _towards(surface: Surface, place: Place) -> str:
    return _named(surface, place.towards or 0)


def _named(surface: Surface, kind: int) -> str:
    """A type by its value, where values are known."""
    return f"value {format_exact(surface.values[kind])}" if surface.values else f"type {kind}"


def _alt(surface: Surface) -> str:
    worst = surface.worst
    prior = ", ".join(about(p, 3) for p in worst.prior)
    return (
        f"Regret of following one mechanism at {len(surface.places)} other priors. It is at most {at_most(worst.high, 4)}, at the "
        f"prior ({prior}), where following loses {about(worst.followed)} and the best possible is "
        f"{between(worst.least, worst.reached, 4)}."
    )
