"""A release by cell: what each published value means, cell by cell, or how cells of each size turned out when there are many.

Read from a release folder's table alone: posterior mean and interval under the design's prior where the release gives them, else
the recommended action. Everything shown is a function of what was published.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.files.atomic import read_bytes
from discreet.numerics.digits import about, between, percent_given
from discreet.present.figure import Figure
from discreet.present.theme import COLOURS, HEIGHT, WIDTH

MOST_CELLS = 60
TABLE = "release.csv"
FIXED = ("size", "published")
MEANING = "posterior mean of the statistic (its own units)"
TITLE = "The release, cell by cell"
LABELS = 220
"""Room for the names of cells, whose keys are named above them."""


def release_figure(folder: str | Path) -> Figure:
    """The picture of a release folder: intervals for up to sixty cells, a heat map by size for more."""
    keys, rows = release_rows(folder)
    if not rows:
        raise InputError("The release has no cells", found="an empty table", allowed="one line for each cell", remedy="check it")
    numbers = all(row["mean"] is not None for row in rows)
    if not numbers:
        return _counts(rows)
    if len(rows) <= MOST_CELLS:
        return _intervals(keys, rows)
    return _by_size(rows) if len({row["size"] for row in rows}) > 1 else _one_size(rows)


def release_rows(folder: str | Path) -> tuple[list[str], list[dict[str, Any]]]:
    """Names of the keys, and for each cell its name, size, published value, mean and interval (None where not given)."""
    text = read_bytes(Path(folder) / TABLE, TABLE).decode("utf-8")
    reader = csv.DictReader(io.StringIO(text, newline=""))
    columns = list(reader.fieldnames or ())
    if not set(FIXED) <= set(columns):
        raise InputError(
            "This is not the table of a release",
            found=", ".join(columns) or "no columns",
            allowed=list(FIXED),
            remedy="give the folder that publish wrote",
        )
    keys = columns[: columns.index("size")]
    low = next((c for c in columns if c.startswith("interval_low")), "")
    high = next((c for c in columns if c.startswith("interval_high")), "")
    rows = []
    for line in reader:
        mean = _number(line.get("posterior_mean")) if "posterior_mean" in columns else None
        rows.append({
            "keys": [line[k] for k in keys], "cell": ", ".join(line[k] for k in keys),
            "size": int(line["size"]), "published": line["published"],
            "mean": _number(line.get("action", line["published"])) if mean is None else mean,
            "low": _number(line.get(low)), "high": _number(line.get(high)), "level": _number(low.rpartition("_")[2]),
        })  # fmt: skip
    return keys, rows


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def _intervals(keys: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Figure:
    """A point and a bar for each cell, in the order of the table."""
    x = {"field": "mean", "type": "quantitative", "title": MEANING, "axis": {"tickCount": 8}}
    beside = {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "start", "titleX": -LABELS, "titleY": -6, "labelLimit": LABELS}
    y = {"field": "cell", "type": "nominal", "sort": None, "title": ", ".join(keys) or "cell", "axis": beside}
    layers: list[dict[str, Any]] = []
    if all(row["low"] is not None for row in rows):
        layers.append({
            "mark": {"type": "rule", "strokeWidth": 2.5, "color": "#8aa6c1"},
            "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y},
        })  # fmt: skip
    layers.append({
        "mark": {"type": "point", "filled": True, "size": 55, "color": COLOURS[0], "opacity": 1},
        "encoding": {"x": x, "y": y, "tooltip": [
            {"field": name, "type": kind} for name, kind in
            (("cell", "nominal"), ("size", "quantitative"), ("published", "nominal"), ("mean", "quantitative"),
             ("low", "quantitative"), ("high", "quantitative"))]},
    })  # fmt: skip
    values = [{name: r[name] for name in r if name != "keys"} for r in rows]
    body = {"width": WIDTH, "height": {"step": 17}, "data": {"values": values}, "layer": layers}
    ordered = sorted(rows, key=lambda r: r["mean"])
    told = [f"{r['cell']} {about(r['mean'], 3)}{_between(r)}" for r in (ordered[0], ordered[len(ordered) // 2], ordered[-1])]
    alt = f"Posterior mean and interval of {len(rows)} cells. Lowest, middle and highest: {'; '.join(told)}."
    level = rows[0]["level"]
    bars = f"; bars: at least {percent_given(level)} of the posterior" if len(layers) > 1 and level else ""
    return Figure(TITLE, alt, body, f"points: mean after the published value{bars}")


def _between(row: Mapping[str, Any]) -> str:
    return "" if row["low"] is None or row["high"] is None else f" ({between(row['low'], row['high'], 12, words='{} to {}')})"


def _by_size(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """How many cells of each size have each mean, darker for more."""
    means, sizes = np.array([r["mean"] for r in rows]), np.array([r["size"] for r in rows])
    across = min(40, int(sizes.max() - sizes.min()) + 1)
    counts, size_edges, mean_edges = np.histogram2d(
        sizes, means, bins=(across, 30), range=((sizes.min() - 0.5, sizes.max() + 0.5), _span(means))
    )
    values = [
        {
            "size": size_edges[i],
            "size_end": size_edges[i + 1],
            "mean": mean_edges[j],
            "mean_end": mean_edges[j + 1],
            "cells": int(counts[i, j]),
        }
        for i, j in np.argwhere(counts > 0).tolist()
    ]
    x, y = {"field": "size", "type": "quantitative", "scale": {"zero": False}}, {"field": "mean", "type": "quantitative"}
    body = {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": values},
        "mark": {"type": "rect"},
        "encoding": {
            "x": {**x, "title": "size of the cell (respondents)"},
            "x2": {"field": "size_end"},
            "y": {**y, "title": MEANING},
            "y2": {"field": "mean_end"},
            "color": {"field": "cells", "type": "quantitative", "title": "cells", "scale": {"scheme": "viridis", "reverse": True}},
        },
    }
    alt = (
        f"Heat map of {len(rows):,} cells with {sizes.min()} to {sizes.max()} respondents. Posterior means run from "
        f"{about(float(means.min()), 3)} to {about(float(means.max()), 3)} and average {about(float(means.mean()), 3)}."
    )
    return Figure(TITLE, alt, body, f"{len(rows):,} cells by size and by the mean after the published value")


def _one_size(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """How many cells have each mean, when all cells have one size."""
    counts = Counter(float(r["mean"]) for r in rows)
    values = [{"mean": mean, "cells": count} for mean, count in sorted(counts.items())]
    body = {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": values},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 4, "color": COLOURS[1]},
                "encoding": {
                    "x": {"field": "mean", "type": "quantitative", "title": MEANING},
                    "y": {"field": "cells", "type": "quantitative", "title": "number of cells"},
                    "y2": {"datum": 0},
                },
            },
        ],
    }
    told = ", ".join(f"{about(mean, 3)} in {count}" for mean, count in counts.most_common(6))
    alt = f"Bars of the posterior means of {len(rows):,} cells of {rows[0]['size']} respondents; the most frequent: {told}."
    return Figure(TITLE, alt, body, f"{len(rows):,} cells of {rows[0]['size']} respondents by the mean after the published value")


def _span(means: np.ndarray) -> tuple[float, float]:
    low, high = float(means.min()), float(means.max())
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _counts(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """How often each value was published, for outputs that are names."""
    counts = Counter(str(r["published"]) for r in rows)
    order = [name for name, _ in counts.most_common()]
    body = {
        "width": WIDTH,
        "height": {"step": 22},
        "data": {"values": [{"published": n, "cells": counts[n]} for n in order]},
        "mark": {"type": "bar", "color": COLOURS[1]},
        "encoding": {
            "x": {"field": "cells", "type": "quantitative", "title": "number of cells"},
            "y": {"field": "published", "type": "nominal", "sort": order, "title": "published value"},
        },
    }
    told = ", ".join(f"{name} in {counts[name]}" for name in order[:6])
    return Figure(TITLE, f"Bars of how often each value was published in {len(rows):,} cells: {told}.", body)
