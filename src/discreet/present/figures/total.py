"""Totals drawn: the posterior of one total with its interval, or the totals of many regions side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.numerics.digits import about, given, percent_given
from discreet.present.figure import Figure
from discreet.present.theme import COLOURS
from discreet.views.total import AskedRegion, AskedTotal

WIDTH, HEIGHT = 520, 240
MOST_BARS = 200
MOST_REGIONS = 60


def total_figure(asked: AskedTotal) -> Figure:
    """Bars of the posterior with mean and interval below; neighbouring values are put together when there are many."""
    found = asked.found
    low, high = found.interval(asked.level)
    masses = found.law.masses
    likely = np.flatnonzero(masses > masses.max() * 1e-4)
    first, last = int(likely[0]), int(likely[-1]) + 1
    together = max(1, -(-(last - first) // MOST_BARS))
    half = float(found.unit) / 2
    values = []
    for begin in range(first, last, together):
        end = min(begin + together, last)
        left, right = (float(found.value(found.law.start + place)) for place in (begin, end - 1))
        values.append({"from": left - half, "to": right + half, "probability": float(masses[begin:end].sum())})
    x = {"type": "quantitative", "title": "total over the cells (in units of the statistic)", "scale": {"zero": False}}
    y = {"type": "quantitative", "title": "probability"}
    mark = {"low": float(low), "high": float(high), "mean": found.mean, "probability": -max(v["probability"] for v in values) / 25}
    body = {
        "width": WIDTH, "height": HEIGHT,
        "layer": [
            {"data": {"values": values}, "mark": {"type": "bar", "color": "#8aa6c1"}, "encoding": {
                "x": {**x, "field": "from"}, "x2": {"field": "to"}, "y": {**y, "field": "probability"}, "y2": {"datum": 0}}},
            {"data": {"values": [mark]}, "mark": {"type": "rule", "strokeWidth": 3, "color": COLOURS[1]}, "encoding": {
                "x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": {**y, "field": "probability"}}},
            {"data": {"values": [mark]}, "mark": {"type": "point", "filled": True, "size": 60, "color": COLOURS[0], "opacity": 1},
             "encoding": {"x": {**x, "field": "mean"}, "y": {**y, "field": "probability"}}},
        ],
    }  # fmt: skip
    alt = (
        f"Bars of the probability of each total over {found.cells:,} cells ({asked.words}). Mean {about(found.mean, 6)}; "
        f"{percent_given(asked.level)} interval {given(low)} to {given(high)}."
    )
    return Figure("What the total may be", alt, body, f"{asked.words}; below: mean and {percent_given(asked.level)} interval")


def regions_figure(regions: Sequence[AskedRegion], level: float = 0.9) -> Figure:
    """A point and a bar for each region, the largest first; only so many are drawn."""
    ordered = sorted(regions, key=lambda region: -region.found.mean)
    shown = ordered[:MOST_REGIONS]
    values = []
    for region in shown:
        low, high = region.found.interval(level)
        values.append({"region": region.name, "mean": region.found.mean, "low": float(low), "high": float(high)})
    x = {"field": "mean", "type": "quantitative", "title": "total over the cells (mean and interval)", "axis": {"tickCount": 8}}
    y = {"field": "region", "type": "nominal", "sort": None, "title": "region"}
    layers = [
        {"mark": {"type": "rule", "strokeWidth": 2.5, "color": "#8aa6c1"},
         "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}},
        {"mark": {"type": "point", "filled": True, "size": 55, "color": COLOURS[1], "opacity": 1}, "encoding": {"x": x, "y": y}},
    ]  # fmt: skip
    body = {"width": WIDTH, "height": {"step": 17}, "data": {"values": values}, "layer": layers}
    told = "; ".join(f"{region.name} {about(region.found.mean, 4)}" for region in shown[:3])
    alt = f"Totals of {len(shown)} of {len(regions)} regions with intervals, the largest first: {told}."
    more = "" if len(shown) == len(regions) else f"; the largest {len(shown)} of {len(regions):,}"
    return Figure("Totals by region", alt, body, f"points: means; bars: at least {percent_given(level)} of the posterior{more}")
