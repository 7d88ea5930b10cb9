"""Plain pictures that several scripts of the gallery draw: curves, bars, and one above another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.present.figure import Figure
from discreet.present.legends import line_legend
from discreet.present.panels import CHANNELS, panel
from discreet.present.theme import APART, COLOURS, HEIGHT, WIDTH, series_scales

Points = Sequence[tuple[float, float]]


def axis(field: str, title: str, **scale: Any) -> dict[str, Any]:
    """A quantitative axis; `scale` holds Vega-Lite's own settings of its scale."""
    return {"field": field, "type": "quantitative", "title": title, "scale": {"nice": False, **scale}}


def curves(
    title: str,
    alt: str,
    lines: Mapping[str, Points],
    *,
    x: dict[str, Any],
    y: dict[str, Any],
    marks: Mapping[str, Points] | None = None,
    subtitle: str = "",
    width: int = WIDTH,
    height: int = HEIGHT,
) -> Figure:
    """Named lines and named single points over the fields `x` and `y`, in the order given."""
    names = [*lines, *(name for name in marks or {} if name not in lines)]
    scales = series_scales(names)
    layers: list[dict[str, Any]] = []
    legend = line_legend(orient="top", columns=2, columnPadding=36)
    for kind, series in (("line", lines), ("point", marks or {})):
        if not series:
            continue
        rows = [
            {x["field"]: a, y["field"]: b, "way": name, "place": place}
            for name, points in series.items()
            for place, (a, b) in enumerate(points)
        ]
        told = {"field": "way", "type": "nominal", "legend": legend}
        encoding: dict[str, Any] = {"x": x, "y": y, "color": {**told, "scale": _only(scales["color"], series)}}
        if kind == "line":
            mark: dict[str, Any] = {"type": "line", "strokeWidth": 2.2}
            encoding["strokeDash"] = {**told, "scale": _only(scales["strokeDash"], series)}
            encoding["order"] = {"field": "place", "type": "quantitative"}
        else:
            mark = {"type": "point", "filled": True, "size": 80, "opacity": 1}
            own = {"title": None, "orient": "top", "columns": 2}
            encoding["color"]["legend"] = own
            encoding["shape"] = {**told, "legend": own, "scale": _only(scales["shape"], series)}
        layers.append({"data": {"values": rows}, "mark": mark, "encoding": encoding})
    return Figure(title, alt, {"width": width, "height": height, "layer": layers, "resolve": APART}, subtitle)


def bars(
    title: str,
    alt: str,
    groups: Mapping[str, Mapping[str, float]],
    *,
    x: str,
    y: str,
    subtitle: str = "",
    width: int = WIDTH,
    height: int = HEIGHT,
) -> Figure:
    """For each name of a series its values over the same places, side by side; `x` and `y` are the titles of the axes."""
    scales = series_scales(list(groups))
    rows = [{"way": name, "place": place, "value": value} for name, row in groups.items() for place, value in row.items()]
    encoding = {
        "x": {"field": "place", "type": "nominal", "title": x, "sort": None, "axis": {"labelAngle": 0}},
        "y": {"field": "value", "type": "quantitative", "title": y},
        **({"xOffset": {"field": "way", "sort": list(groups)}} if len(groups) > 1 else {}),
        "color": {
            "field": "way",
            "type": "nominal",
            "sort": None,
            "scale": scales["color"] if len(groups) > 1 else {"range": [COLOURS[1]]},
            "legend": {"title": None, "orient": "top", "columns": 2} if len(groups) > 1 else None,
        },
    }
    body = {"width": width, "height": height, "data": {"values": rows}, "mark": {"type": "bar"}, "encoding": encoding}
    return Figure(title, alt, body, subtitle)


def stacked(title: str, figures: Sequence[Figure], subtitle: str = "") -> Figure:
    """One picture from several, one above another."""
    body = {
        "vconcat": [panel(figure) for figure in figures],
        "spacing": 30,
        "resolve": {"scale": dict.fromkeys(CHANNELS, "independent"), "legend": dict.fromkeys(CHANNELS[2:], "independent")},
    }
    return Figure(title, " ".join(figure.alt for figure in figures), body, subtitle)


def _only(scale: dict[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    kept = [(name, look) for name, look in zip(scale["domain"], scale["range"], strict=True) if name in names]
    return {"domain": [name for name, _ in kept], "range": [look for _, look in kept]}
