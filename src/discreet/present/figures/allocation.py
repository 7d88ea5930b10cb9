"""An allocation: the loss curve of each statistic and the point of it that the split of the budget chose."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.design.questions.allocation import Allocation
from discreet.design.questions.frontier import Frontier
from discreet.numerics.digits import about, at_least, at_most, given
from discreet.present.axes import LEVELS
from discreet.present.figure import Figure
from discreet.present.theme import APART, HEIGHT, WIDTH, series_scales


def allocation_figure(found: Allocation, frontiers: Sequence[Frontier]) -> Figure:
    """Curves of all statistics with the chosen points ringed."""
    names = [part.name for part in found.parts]
    letter = found.promise.letter
    rows = [
        {"level": float(p.level), "loss": p.loss, "statistic": name}
        for name, frontier in zip(names, frontiers, strict=True)
        for p in frontier.points
    ]
    chosen = [
        {
            "level": float(part.level),
            "loss": float(part.loss),
            "statistic": part.name,
            "words": f"{part.name}: {letter} = {about(part.level, 3)}",
        }
        for part in found.parts
    ]
    scales = series_scales(names)
    x = {"field": "level", "type": "quantitative", "title": LEVELS[found.promise.keys[0]]}
    y = {"field": "loss", "type": "quantitative", "title": "expected loss (units of each statistic's loss)"}
    legend = {"title": "statistic"}
    colour = {"field": "statistic", "type": "nominal", "scale": scales["color"], "legend": legend}
    body = {
        "width": WIDTH,
        "height": HEIGHT,
        "resolve": APART,
        "layer": [
            {
                "data": {"values": rows},
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": colour,
                    "strokeDash": {"field": "statistic", "type": "nominal", "scale": scales["strokeDash"], "legend": legend},
                },
            },
            {
                "data": {"values": rows},
                "mark": {"type": "point", "size": 16, "filled": True},
                "encoding": {"x": x, "y": y, "color": {**colour, "legend": None}},
            },
            {
                "data": {"values": chosen},
                "mark": {"type": "point", "size": 160, "strokeWidth": 3},
                "encoding": {"x": x, "y": y, "color": {**colour, "legend": None}},
            },
            {
                "data": {"values": chosen},
                "mark": {"type": "text", "align": "left", "dx": 10, "dy": -8, "fontSize": 12},
                "encoding": {"x": x, "y": y, "text": {"field": "words"}},
            },
        ],
    }
    parts = ", ".join(f"{p.name} gets {letter} = {about(p.level)} and loses at most {at_most(p.loss, 4)}" for p in found.parts)
    alt = (
        f"Loss against {letter} for {len(names)} statistics, with the split of a budget of {given(found.budget)}: {parts}. The "
        f"weighted loss is at most {at_most(found.loss, 4)}; no split has less than {at_least(found.lower_bound, 4)}."
    )
    return Figure("Splitting the budget", alt, body, f"dots: proved by a mechanism at this {letter}; rings: what the split gives")
