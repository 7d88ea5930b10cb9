"""How far a total over n cells is off, for each column, where the prior is right and where it is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.interpret.column_errors import OFF, ColumnError
from discreet.numerics.digits import about, percent_given
from discreet.present.figure import Figure
from discreet.present.legends import line_legend
from discreet.present.theme import WIDTH, series_scales

CELLS = (1, 10, 100, 1_000, 10_000)
HEIGHT = 260


def named(right: Mapping[str, ColumnError], wrong: Mapping[str, ColumnError] | None = None) -> dict[str, ColumnError]:
    """Every column under each truth by its name in words."""
    found = {f"{name}, prior right": error for name, error in right.items()}
    return found | {f"{name}, {percent_given(OFF)} off": error for name, error in (wrong or {}).items()}


def adding_figure(right: Mapping[str, ColumnError], wrong: Mapping[str, ColumnError] | None = None) -> Figure:
    """Error of a total against the number of cells, for each column; both axes in powers of ten."""
    series = named(right, wrong)
    values = [
        {"cells": n, "error": error.of_total(n), "column": name}
        for name, error in series.items()
        for n in CELLS
        if error.of_total(n) > 0
    ]
    scales = series_scales(list(series))
    legend = line_legend("column added up", orient="bottom", columns=2, columnPadding=40)
    x = {"field": "cells", "type": "quantitative", "title": "number of cells added up", "scale": {"type": "log"}}
    y = {"field": "error", "type": "quantitative", "title": "error of the total (root mean square)", "scale": {"type": "log"}}
    line: dict[str, Any] = {"mark": {"type": "line", "strokeWidth": 2.2}, "encoding": {"x": x, "y": y, **{
        channel: {"field": "column", "type": "nominal", "sort": None, "scale": scales[channel], "legend": legend}
        for channel in ("color", "strokeDash")
    }}}  # fmt: skip
    body = {"width": WIDTH, "height": HEIGHT, "data": {"values": values}, "layer": [line]}
    told = "; ".join(f"{name} {about(error.of_total(CELLS[-1]), 3)}" for name, error in series.items())
    alt = f"Error of a total against the number of cells for each column. Over {CELLS[-1]:,} cells: {told}."
    return Figure("How far a total is off", alt, body)
