"""Pure ε and ρ beside each other: loss against ρ, and against ε at a small δ, with the proved band of each promise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.design.questions.frontier import Point
from discreet.design.questions.two_promises import TwoPromises
from discreet.numerics.digits import about
from discreet.present.axes import LEVELS, attained, loss_title, shown
from discreet.present.figure import Figure
from discreet.present.panels import beside
from discreet.present.theme import APART, HEIGHT, series_scales

NAMES = {"zcdp": "best under ρ (zCDP)", "pure": "best under pure ε"}
WIDTH = 330
Mark = tuple[str, float, float, float]
"""A mechanism to be marked: its name, what it implies in ρ and in ε at δ, and its loss."""


def two_promises_figure(found: TwoPromises, marked: Sequence[Mark] = ()) -> Figure:
    """Two panels from the same designs: equal ρ on the left, equal (ε, δ) on the right; `marked` mechanisms as points."""
    kinds = tuple(side.problem.promise.kind for side in (found.own, found.other))
    small = f"{float(found.delta):g}"
    left = [(float(e.rho), kinds[0], here) for e, here, _, _ in found.rows]
    left += [(float(e.rho), kinds[1], by_rho) for e, _, by_rho, _ in found.rows]
    right = [(float(e.epsilon), kinds[0], here) for e, here, _, _ in found.rows]
    right += [(float(e.epsilon), kinds[1], by_epsilon) for e, _, _, by_epsilon in found.rows]
    panels = (
        _panel(found, left, "At equal ρ", LEVELS["rho"], [(name, rho, loss) for name, rho, _, loss in marked]),
        _panel(
            found, right, f"At equal ε, δ = {small}", f"ε at δ = {small} (nats)", [(name, e, loss) for name, _, e, loss in marked]
        ),
    )
    return beside("What either promise costs", panels, "bands: between the loss reached and the loss that no such mechanism beats")


def _panel(
    found: TwoPromises,
    placed: Sequence[tuple[float, str, Point]],
    title: str,
    axis: str,
    marked: Sequence[tuple[str, float, float]],
) -> Figure:
    problem = found.own.problem
    names = list(dict.fromkeys(NAMES[kind] for _, kind, _ in placed))
    scales = series_scales(names)
    rows = [
        {
            "x": at,
            "way": NAMES[kind],
            "loss": shown(problem, float(p.value)),
            "bound": shown(problem, float(p.bound)),
        }
        for at, kind, p in placed
    ]
    x: dict[str, Any] = {"field": "x", "type": "quantitative", "title": axis, "scale": {"padding": 6}, "axis": {"tickCount": 6}}
    y: dict[str, Any] = {"field": "loss", "type": "quantitative", "title": loss_title(problem)}
    legend = {"title": "promise", "orient": "bottom", "direction": "vertical"}
    colour = {"field": "way", "type": "nominal", "scale": scales["color"], "legend": None}
    dash = {"field": "way", "type": "nominal", "scale": scales["strokeDash"], "legend": None}
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": rows},
            "mark": {"type": "area", "opacity": 0.25},
            "encoding": {"x": x, "y": {**y, "field": "bound"}, "y2": {"field": "loss"}, "color": colour},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "line", "strokeWidth": 1.8},
            "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "point", "size": 40, "filled": True},
            "encoding": {
                "x": x,
                "y": y,
                "color": {**colour, "legend": legend},
                "shape": {"field": "way", "type": "nominal", "scale": scales["shape"], "legend": legend},
            },
        },
    ]
    if marked:
        values = [{"x": at, "loss": loss, "name": name} for name, at, loss in marked]
        spot = {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "loss", "type": "quantitative"}}
        layers += [
            {
                "data": {"values": values},
                "mark": {"type": "point", "shape": "cross", "size": 90, "color": "#000000"},
                "encoding": spot,
            },
            {
                "data": {"values": values},
                "mark": {"type": "text", "align": "left", "dx": 8, "dy": -6},
                "encoding": {**spot, "text": {"field": "name"}},
            },
        ]
    body = {"width": WIDTH, "height": HEIGHT, "layer": layers, "resolve": APART}
    return Figure(title, _words(found, placed, title, axis, marked), body)


def _words(
    found: TwoPromises,
    placed: Sequence[tuple[float, str, Point]],
    title: str,
    axis: str,
    marked: Sequence[tuple[str, float, float]],
) -> str:
    problem = found.own.problem
    said = [f"{title}: line chart of {loss_title(problem)} against {axis}."]
    for kind in dict.fromkeys(kind for _, kind, _ in placed):
        own = [(at, p) for at, other, p in placed if other == kind]
        (first, start), (last, end) = own[0], own[-1]
        said.append(
            f"The {NAMES[kind]} goes from {attained(problem, start.value)} at {about(first)} to {attained(problem, end.value)} at "
            f"{about(last)}."
        )
    said += [f"{name} stands at {about(at)} with {about(loss)}." for name, at, loss in marked]
    return " ".join(said)
