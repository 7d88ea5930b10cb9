"""What a published value means: the posterior of the statistic after each output, against the prior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.interpret.channel import position_of
from discreet.interpret.reading import Readings, readings
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.numerics.digits import about, between, percent_given
from discreet.present.axes import statistic_axis
from discreet.present.figure import Figure
from discreet.present.theme import HEIGHT, WIDTH, series_scales

MOST_SHOWN = 6
PRIOR = "before (prior)"


def posterior_figure(
    mechanism: Mechanism, level: float = 0.9, *, outputs: Sequence[str] | None = None, prior: Prior | None = None
) -> Figure:
    """Posteriors after these outputs, or after a handful that are likely and spread over the range, under any prior."""
    found = readings(mechanism, prior, level=level)
    chosen = _chosen(found) if outputs is None else [position_of(mechanism, output) for output in outputs]
    weights = np.exp(found.log_probability)
    before = np.nan_to_num(weights @ np.nan_to_num(found.posteriors))
    numbers = [float(v) for v in found.values]
    last = int(np.flatnonzero(before > 1e-4)[-1]) + 1
    labels = found.labels()
    names = [PRIOR, *(f"after {labels[i]}" for i in chosen)]
    rows: list[dict[str, Any]] = []
    for name, law in zip(names, [before, *(found.posteriors[i] for i in chosen)], strict=True):
        rows += [{"omega": numbers[j], "probability": float(law[j]), "belief": name} for j in range(last)]
    scales = series_scales(names)
    legend = {"title": "belief"}
    body = {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": rows},
        "mark": {"type": "line", "point": True, "strokeWidth": 2},
        "encoding": {
            "x": {
                "field": "omega",
                "type": "quantitative",
                "title": "the statistic (its own units)",
                "axis": statistic_axis(found.values),
            },
            "y": {"field": "probability", "type": "quantitative", "title": "probability"},
            "color": {"field": "belief", "type": "nominal", "scale": scales["color"], "legend": legend},
            "strokeDash": {"field": "belief", "type": "nominal", "scale": scales["strokeDash"], "legend": legend},
        },
    }
    return Figure("What a published value means", alt_text(found, chosen), body, "belief about the statistic before and after")


def _chosen(found: Readings) -> list[int]:
    """Outputs at even steps of the cumulative probability, so that likely ones are shown."""
    weights = np.exp(found.log_probability)
    order = np.argsort(np.nan_to_num(found.mean, nan=np.inf))
    order = order[weights[order] > 1e-6]
    reached = np.cumsum(weights[order])
    wanted = np.linspace(0.02, 0.98, min(MOST_SHOWN, len(order)))
    return [int(order[i]) for i in sorted({int(np.searchsorted(reached, w)) for w in wanted}) if i < len(order)]


def alt_text(found: Readings, chosen: list[int]) -> str:
    """The curves in words: mean and interval after each shown output."""
    labels = found.labels()
    parts = [
        f"after {labels[i]} the mean is {about(found.mean[i], 3)}, at least {percent_given(found.level)} "
        + between(found.lower[i], found.upper[i], 12, words="between {} and {}")
        for i in chosen
    ]
    return f"Curves of belief about the statistic: {'; '.join(parts)}."
