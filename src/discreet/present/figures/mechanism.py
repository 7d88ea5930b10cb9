"""A mechanism as a heat map: how likely each output is at each state, on a logarithmic scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.errors import TooLarge
from discreet.model.mechanism import Mechanism
from discreet.present.figure import Figure
from discreet.present.theme import HEIGHT, WIDTH

MOST_CELLS = 20_000
FAINTEST = 1e-12
"""Probabilities below this are drawn like this: a scale must end somewhere, and zero has no logarithm."""


def mechanism_figure(mechanism: Mechanism) -> Figure:
    """The picture of a mechanism's kernel."""
    table = mechanism.probabilities
    if table.size > MOST_CELLS:
        raise TooLarge(
            "The mechanism has too many entries to draw", size=f"{table.size:,} probabilities", fits=f"{MOST_CELLS:,}",
            remedy="draw its posteriors instead",
        )
    states = mechanism.space.labels
    outputs = [o.label for o in mechanism.outputs]
    values = [
        {"state": states[j], "output": outputs[i], "probability": max(float(table[i, j]), FAINTEST)}
        for i in range(len(outputs)) for j in range(len(states))
    ]
    many = len(states) > 45
    state_axis: dict[str, Any] = {"labels": not many, "ticks": not many, "labelAngle": -90 if len(states) > 12 else 0}
    body = {
        "width": WIDTH,
        "height": max(HEIGHT // 2, min(HEIGHT, 22 * len(outputs))),
        "data": {"values": values},
        "mark": {"type": "rect"},
        "encoding": {
            "x": {"field": "state", "type": "nominal", "sort": list(states), "title": _states_title(mechanism), "axis": state_axis},
            "y": {"field": "output", "type": "nominal", "sort": outputs[::-1], "title": "published value"},
            "color": {
                "field": "probability", "type": "quantitative", "title": "probability",
                "scale": {"type": "log", "scheme": "viridis", "reverse": True},
            },
        },
    }
    return Figure("What the mechanism publishes", alt_text(mechanism, table), body, "probability of each output, logarithmic scale")


def _states_title(mechanism: Mechanism) -> str:
    return {
        "histogram": "counts of types", "linear": "weighted sum that the mechanism reads", "database": "database",
    }[mechanism.summary.kind]


def alt_text(mechanism: Mechanism, table: np.ndarray) -> str:
    """The heat map in words: size and the likeliest output at the first, middle and last state."""
    labels, states = [o.label for o in mechanism.outputs], mechanism.space.labels
    places = sorted({0, len(states) // 2, len(states) - 1})
    likeliest = [f"at {states[j]} it is {labels[int(table[:, j].argmax())]} ({table[:, j].max():.0%})" for j in places]
    return f"Heat map of {len(labels)} outputs by {len(states)} states. The likeliest output: {'; '.join(likeliest)}."
