"""How pictures look: one palette, one set of dashes and shapes, one type size.

Colours are Okabe and Ito's, which people with any common colour blindness tell apart; every series also has its own dash and
shape, so that a print in grey says the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#8c6d31")
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (8, 3), (2, 2), (8, 3, 2, 3), (4, 4), (12, 3), (2, 5), (6, 2, 2, 2, 2, 2), (10, 6))
STAR = "M0,-1L.24,-.31L.95,-.31L.36,.12L.59,.81L0,.38L-.59,.81L-.36,.12L-.95,-.31L-.24,-.31Z"
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left", "triangle-right", STAR)
WIDTH, HEIGHT = 520, 340

CONFIG: dict[str, Any] = {
    "padding": {"left": 5, "top": 5, "right": 34, "bottom": 5},  # room for wider fonts where Helvetica is missing
    "font": "Helvetica, Arial, sans-serif",
    "axis": {"labelFontSize": 12, "titleFontSize": 13, "grid": True, "gridColor": "#e5e5e5", "tickColor": "#888888"},
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "symbolStrokeWidth": 2, "labelLimit": 240},
    "title": {"fontSize": 15, "anchor": "start", "subtitleFontSize": 12, "subtitleColor": "#444444"},
    "view": {"stroke": None},
}

APART = {"scale": {"color": "independent", "strokeDash": "independent", "shape": "independent"}}
"""Scales are given in full, so layers need not share them, and the legend can be that of the points alone."""


def series_scales(names: Sequence[str]) -> dict[str, Any]:
    """Colour, dash and shape for each series by its place, the design first in black."""
    count = len(names)
    return {
        "color": {"domain": list(names), "range": [COLOURS[i % len(COLOURS)] for i in range(count)]},
        "strokeDash": {"domain": list(names), "range": [list(DASHES[i % len(DASHES)]) for i in range(count)]},
        "shape": {"domain": list(names), "range": [SHAPES[i % len(SHAPES)] for i in range(count)]},
    }
