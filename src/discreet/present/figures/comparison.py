"""A design beside what people do today: one point for each way to publish, and the line that no private way crosses."""

from __future__ import annotations

from typing import Any

from discreet.design.result import Design
from discreet.numerics.digits import about, given
from discreet.present.axes import attained, limit, loss_title, shown
from discreet.present.figure import Figure
from discreet.present.theme import COLOURS, WIDTH

OWN = "this design"


def comparison_figure(found: Design) -> Figure:
    """Losses (or payoffs) of the design and every baseline that could be computed."""
    problem = found.mechanism.problem
    rows: list[dict[str, Any]] = [{"way": OWN, "loss": shown(problem, float(found.value)), "kind": "design"}]
    rows += [
        {"way": name, "loss": shown(problem, b.value), "kind": "baseline"}
        for name, b in found.baselines.items()
        if b.value is not None
    ]
    edge = shown(problem, float(found.bound))
    kinds = ["design", "baseline"]
    x = {"field": "loss", "type": "quantitative", "title": loss_title(problem)}
    body = {
        "width": WIDTH,
        "height": {"step": 26},
        "layer": [
            {
                "data": {"values": [{"loss": edge}]},
                "mark": {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 2},
                "encoding": {"x": {"field": "loss", "type": "quantitative"}},
            },
            {
                "data": {"values": rows},
                "mark": {"type": "point", "filled": True, "size": 110},
                "encoding": {
                    "x": x,
                    "y": {"field": "way", "type": "nominal", "sort": {"field": "loss"}, "title": "way to publish"},
                    "color": {
                        "field": "kind",
                        "type": "nominal",
                        "legend": None,
                        "scale": {"domain": kinds, "range": [COLOURS[0], COLOURS[1]]},
                    },
                    "shape": {
                        "field": "kind",
                        "type": "nominal",
                        "legend": None,
                        "scale": {"domain": kinds, "range": ["circle", "square"]},
                    },
                },
            },
        ],
    }
    kept = found.mechanism.guarantee.promise.adjective
    others = ", ".join(f"{r['way']} {about(r['loss'])}" for r in rows[1:])
    alt = (
        f"{loss_title(problem).capitalize()} at ε = {given(problem.epsilon)}: this design {attained(problem, found.value)}; "
        f"{others or 'no baseline'}. No {kept} mechanism passes {limit(problem, found.bound)}."
    )
    return Figure("This design and what people do today", alt, body, f"dashed line: proved, no {kept} mechanism gets past it")
