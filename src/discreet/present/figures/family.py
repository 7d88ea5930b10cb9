"""A family: expected loss of each member against the size of the cell, and which members are proved best to 10^-6."""

from __future__ import annotations

from typing import Any

from discreet.design.questions.family import FamilyDesign
from discreet.numerics.digits import about, percent_about
from discreet.present.axes import loss_title, shown
from discreet.present.figure import Figure
from discreet.present.theme import COLOURS, HEIGHT, WIDTH

NEAR = 1e-6
PROVED, WIDER = "proved within 1e-6 of best", "proved with a wider gap"


def family_figure(found: FamilyDesign) -> Figure:
    """Loss by size; filled circles are proved best to 10^-6, open squares are proved with a wider gap."""
    problem = found.family.members[0].mechanism.problem
    rows: list[dict[str, Any]] = [
        {
            "size": size,
            "loss": shown(problem, float(value)),
            "proof": PROVED if how.relative_gap <= NEAR else WIDER,
            "member": f"{member.low}-{member.high}",
        }
        for member, how in zip(found.family.members, found.made, strict=True)
        for size, value in member.values
    ]
    legend = {"title": "proof", "orient": "bottom"}
    proofs = [PROVED, WIDER]
    x = {
        "field": "size",
        "type": "quantitative",
        "title": "size of the cell (respondents)",
        "scale": {"zero": False},
        "axis": {"format": "d", "tickMinStep": 1},
    }
    y = {"field": "loss", "type": "quantitative", "title": loss_title(problem)}
    body = {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": rows},
        "layer": [
            {"mark": {"type": "line", "color": "#999999"}, "encoding": {"x": x, "y": y}},
            {
                "mark": {"type": "point", "size": 55, "filled": False, "strokeWidth": 1.6},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": {
                        "field": "proof",
                        "type": "nominal",
                        "legend": legend,
                        "scale": {"domain": proofs, "range": [COLOURS[1], COLOURS[2]]},
                    },
                    "shape": {
                        "field": "proof",
                        "type": "nominal",
                        "legend": legend,
                        "scale": {"domain": proofs, "range": ["circle", "square"]},
                    },
                },
            },
        ],
    }
    share = found.share_within(NEAR)
    alt = (
        f"Expected loss against cell size for {len(found.made)} mechanisms serving sizes {found.family.words}. Losses run from "
        f"{about(rows[0]['loss'])} at size {rows[0]['size']} to {about(rows[-1]['loss'])} at size {rows[-1]['size']}. "
        f"{percent_about(share)} of the mechanisms are proved within 1e-6 of the best possible."
    )
    return Figure("A mechanism for every size of cell", alt, body)
