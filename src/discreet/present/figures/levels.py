"""Several levels read together, drawn: the cells of the coarsest level with what all levels say, and least squares beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.numerics.digits import about, percent_given
from discreet.present.figure import Figure
from discreet.present.theme import COLOURS
from discreet.publish.levels import LevelledCells

WIDTH = 520
MOST_CELLS = 60
TOGETHER, SQUARES = "all levels together", "least squares"


def levels_figure(found: LevelledCells) -> Figure:
    """A bar and a point for each cell of the coarsest level, and a cross for least squares; only so many are drawn."""
    top = np.flatnonzero(found.levels == found.levels.max())[:MOST_CELLS].tolist()
    bars = [{"cell": ", ".join(found.keys[i]), "low": float(found.lower[i]), "high": float(found.upper[i])} for i in top]
    points: list[dict[str, Any]] = [
        {"cell": ", ".join(found.keys[i]), "total": float(column[i]), "way": way}
        for i in top
        for way, column in ((TOGETHER, found.mean), (SQUARES, found.least_squares))
    ]
    x: dict[str, Any] = {"type": "quantitative", "title": "total of the cell (in units of the statistic)", "axis": {"tickCount": 8}}
    y = {"field": "cell", "type": "nominal", "sort": None, "title": ", ".join(found.columns[-1])}
    scale = {"domain": [TOGETHER, SQUARES]}
    body = {
        "width": WIDTH, "height": {"step": 20},
        "layer": [
            {"data": {"values": bars}, "mark": {"type": "rule", "strokeWidth": 3, "color": "#8aa6c1"},
             "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}},
            {"data": {"values": points}, "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1}, "encoding": {
                "x": {**x, "field": "total"}, "y": y,
                "color": {"field": "way", "type": "nominal", "title": None, "legend": {"orient": "bottom"},
                          "scale": {**scale, "range": [COLOURS[1], COLOURS[2]]}},
                "shape": {"field": "way", "type": "nominal", "title": None, "legend": {"orient": "bottom"},
                          "scale": {**scale, "range": ["circle", "cross"]}}}},
        ],
    }  # fmt: skip
    told = "; ".join(f"{p['cell']} {about(p['total'], 4)} by {p['way']}" for p in points[:4])
    alt = f"Totals of {len(top)} cells of the coarsest of {len(found.columns)} levels with intervals: {told}."
    return Figure("Several levels, one answer", alt, body, f"bars: at least {percent_given(found.level)} of the posterior")
