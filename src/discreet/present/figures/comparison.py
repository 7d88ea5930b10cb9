"""A design beside what people do today: one point for each way to publish, and the line that no private way crosses."""

from __future__ import annotations

from discreet.design.result import Design
from discreet.present.axes import loss_title, shown
from discreet.present.figure import Figure
from discreet.present.theme import COLOURS, WIDTH

OWN = "this design"


def comparison_figure(found: Design) -> Figure:
    """Losses (or payoffs) of the design and every baseline that could be computed."""
    problem = found.mechanism.problem
    rows = [{"way": OWN, "loss": shown(problem, float(found.value)), "kind": "design"}]
    rows += [
        {"way": name, "loss": shown(problem, b.value), "kind": "baseline"}
        for name, b in found.baselines.items() if b.value is not None
    ]
    edge = shown(problem, float(found.bound))
    kinds = ["design", "baseline"]
    x = {"field": "loss", "type": "quantitative", "title": loss_title(problem)}
    body = {
        "width": WIDTH, "height": {"step": 26},
        "layer": [
            {
                "data": {"values": [{"loss": edge}]}, "mark": {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 2},
                "encoding": {"x": {"field": "loss", "type": "quantitative"}},
            },
            {
                "data": {"values": rows}, "mark": {"type": "point", "filled": True, "size": 110},
                "encoding": {
                    "x": x,
                    "y": {"field": "way", "type": "nominal", "sort": {"field": "loss"}, "title": "way to publish"},
                    "color": {"field": "kind", "type": "nominal", "legend": None,
                              "scale": {"domain": kinds, "range": [COLOURS[0], COLOURS[1]]}},
                    "shape": {"field": "kind", "type": "nominal", "legend": None,
                              "scale": {"domain": kinds, "range": ["circle", "square"]}},
                },
            },
        ],
    }
    others = ", ".join(f"{r['way']} {r['loss']:.4g}" for r in rows[1:])
    alt = (
        f"{loss_title(problem).capitalize()} at ε = {float(problem.epsilon):g}: this design {rows[0]['loss']:.4g}; "
        f"{others or 'no baseline'}. No private mechanism passes {edge:.6g}."
    )
    return Figure("This design and what people do today", alt, body, "dashed line: proved, no private mechanism gets past it")
