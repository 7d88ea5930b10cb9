"""A mechanism as a heat map: how likely each output is at each state, on a logarithmic scale.

States stand in the order of the statistic, so that a mechanism which follows it shows a diagonal; histograms with the same
statistic stand together, and where they look different the mechanism reads more than the statistic.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import TooLarge
from discreet.model.mechanism import Mechanism
from discreet.model.statistic import of_database, of_name, on_histograms
from discreet.model.summary import LinearSummary
from discreet.model.universe import ListedUniverse
from discreet.numerics.digits import percent_about
from discreet.numerics.exact import format_exact
from discreet.present.figure import Figure
from discreet.present.theme import HEIGHT, WIDTH
from discreet.present.ticks import label_expression, log_ticks

MOST_CELLS = 20_000
MOST_LABELS = 24
FAINTEST = 1e-12
"""Probabilities below this are drawn like this: a scale must end somewhere, and zero has no logarithm."""


def mechanism_figure(mechanism: Mechanism) -> Figure:
    """The picture of a mechanism's kernel."""
    table = mechanism.probabilities
    if table.size > MOST_CELLS:
        raise TooLarge(
            "The mechanism has too many entries to draw",
            size=f"{table.size:,} probabilities",
            fits=f"{MOST_CELLS:,}",
            remedy="draw its posteriors instead",
        )
    omegas = state_statistics(mechanism)
    order = list(range(len(mechanism.space.labels)))
    if omegas is not None:
        order.sort(key=lambda j: (omegas[j], j))
    states = [mechanism.space.labels[j] for j in order]
    outputs = [o.label for o in mechanism.outputs]
    values: list[dict[str, Any]] = [
        {"place": place, "state": states[place], "output": outputs[i], "probability": max(float(table[i, j]), FAINTEST)}
        for i in range(len(outputs))
        for place, j in enumerate(order)
    ]
    ticks = log_ticks(min(v["probability"] for v in values), max(v["probability"] for v in values))
    row = max(8, min(40, HEIGHT // len(outputs)))
    bar = max(120, min(200, row * len(outputs)))
    body = {
        "width": {"step": max(1, min(70, WIDTH // len(states)))},
        "height": {"step": row},
        "data": {"values": values},
        "mark": {"type": "rect"},
        "encoding": {
            "x": {"field": "place", "type": "ordinal", "title": _title(mechanism, omegas),
                  "axis": {"grid": False, **_axis(states, None if omegas is None else [omegas[j] for j in order])}},
            "y": {"field": "output", "type": "nominal", "sort": outputs[::-1], "title": "published value",
                  "axis": {"grid": False, "labelOverlap": True}},
            "color": {
                "field": "probability", "type": "quantitative", "title": "probability",
                "scale": {"type": "log", "domain": [ticks[0], ticks[-1]], "scheme": "viridis", "reverse": True},
                "legend": {"values": ticks, "labelExpr": label_expression(ticks), "gradientLength": bar},
            },
            "tooltip": [{"field": "state", "type": "nominal"}, {"field": "output", "type": "nominal"},
                        {"field": "probability", "type": "quantitative", "format": ".3g"}],
        },
    }  # fmt: skip
    subtitle = "probability of each output, logarithmic scale"
    if omegas is not None:
        subtitle += "; states in the order of the statistic"
    return Figure("What the mechanism publishes", alt_text(mechanism, table, order), body, subtitle)


def state_statistics(mechanism: Mechanism) -> list[Fraction] | None:
    """The statistic at each state, None where a state does not tell it (a sum that is not the statistic)."""
    problem, space = mechanism.problem, mechanism.space
    universe = problem.universe
    if isinstance(universe, ListedUniverse):
        return [of_name(problem.statistic, label) for label in space.labels]
    if isinstance(mechanism.summary, LinearSummary):
        return None
    vectors = np.asarray(space.vectors)
    if mechanism.summary.kind == "histogram":
        if problem.statistic.ordered:
            return None
        return list(on_histograms(problem.statistic, vectors, universe))
    return [of_database(problem.statistic, tuple(row), universe) for row in vectors.tolist()]


def _title(mechanism: Mechanism, omegas: list[Fraction] | None) -> str:
    clamped = getattr(mechanism.summary, "clamp", None) is not None
    what = {
        "histogram": "clamped counts of types" if clamped else "counts of types",
        "linear": "weighted sum that the mechanism reads",
        "database": "database",
    }[mechanism.summary.kind]
    few = len(mechanism.space.labels) <= MOST_LABELS
    return what if omegas is None or few else f"{what}, by their statistic (its own units)"


def _axis(states: list[str], omegas: list[Fraction] | None) -> dict[str, Any]:
    """Few states carry their own labels; many carry their statistic at its first state, or every tenth or so a label."""
    if len(states) <= MOST_LABELS:
        chosen = dict(enumerate(states))
        angle = -90 if max(map(len, states)) * len(states) > 70 else 0
    else:
        named = states if omegas is None else [format_exact(omega) for omega in omegas]
        firsts = [p for p, name in enumerate(named) if p == 0 or named[p - 1] != name]
        chosen, last = {}, -(10**9)
        room = len(states) / MOST_LABELS
        for place in firsts:
            if place - last >= room:
                chosen[place], last = named[place], place
        angle = 0
    text = "''"
    for place, label in reversed(chosen.items()):
        words = label.replace("\\", "\\\\").replace("'", "\\'")
        text = f"datum.value == {place} ? '{words}' : {text}"
    return {"values": list(chosen), "labelExpr": text, "labelAngle": angle, "labelOverlap": False}


def alt_text(mechanism: Mechanism, table: np.ndarray, order: list[int]) -> str:
    """The heat map in words: size and the likeliest output at the first, middle and last state."""
    labels, states = [o.label for o in mechanism.outputs], mechanism.space.labels
    places = [order[p] for p in sorted({0, len(order) // 2, len(order) - 1})]
    likeliest = [
        f"at {states[j]} it is {labels[int(table[:, j].argmax())]} ({percent_about(float(table[:, j].max()))})" for j in places
    ]
    return f"Heat map of {len(labels)} outputs by {len(states)} states. The likeliest output: {'; '.join(likeliest)}."
