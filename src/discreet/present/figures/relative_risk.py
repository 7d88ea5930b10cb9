"""Relative risks: the ratio μ(ω)/μ′(ω) of every posterior of one mechanism to every posterior of another, with its peaks.

The first tells more to every supermodular decision when in each panel all lines rise up to one common place and fall after it
(the UPRR order, SY section 5.2, Thm 4, Fig. 6). Each panel is one posterior μ of the first, each line one rival μ′.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from discreet.errors import InputError, TooLarge
from discreet.geometry.channel import averaged_own, own_channel
from discreet.geometry.hyper import Hyper, hyper_of_channel
from discreet.geometry.of_problem import stated
from discreet.geometry.orders.comparison import check_same_problem
from discreet.geometry.orders.uprr import UprrAnswer, uprr
from discreet.model.mechanism import Mechanism
from discreet.present.figure import Figure
from discreet.present.legends import line_legend
from discreet.present.theme import HEIGHT, series_scales
from discreet.present.ticks import label_expression, log_ticks

MOST_PANELS, MOST_LINES, ACROSS = 6, 5, 3
ROUNDING = Fraction(1, 10**9)
MOST_ENTRIES, MOST_BITS, ROUNDED_BITS = 20_000, 400_000, 256
"""The most probabilities that are compared, and when they are rounded first."""


def relative_risk_figure(
    first: Hyper,
    second: Hyper,
    names: tuple[str, str] = ("first", "second"),
    *,
    first_labels: Sequence[str] | None = None,
    second_labels: Sequence[str] | None = None,
) -> Figure:
    """Panels of ratios about the statistic, the likeliest posteriors when there are many; labels name the posteriors."""
    if first.states != second.states:
        raise InputError(
            "Relative risks compare beliefs about the same values",
            found="different states",
            allowed="one statistic",
            remedy="compare mechanisms of the same problem",
        )
    answer = uprr(first.posteriors, second.posteriors, ROUNDING)
    ours = _labels(first, first_labels, names[0])
    rivals = _labels(second, second_labels, names[1])
    shown, against = _likeliest(first, MOST_PANELS), _likeliest(second, MOST_LINES)
    omegas = [float(Fraction(s)) for s in first.states]
    rows: list[dict[str, Any]] = [
        {"omega": omega, "ratio": float(p / q), "rival": rivals[j], "posterior": ours[i]}
        for i, j in product(shown, against)
        for omega, p, q in zip(omegas, first.posteriors[i], second.posteriors[j], strict=True)
        if p and q
    ]
    ticks = log_ticks(min(r["ratio"] for r in rows), max(r["ratio"] for r in rows))
    drawn = [rivals[j] for j in against]
    axis = {"tickCount": 6} if len(omegas) > 8 else {"values": omegas, "labelExpr": "format(datum.value, '.4~g')"}
    x = {
        "field": "omega",
        "type": "quantitative",
        "title": "value ω of the statistic (its own units)",
        "scale": {"zero": False},
        "axis": axis,
    }
    y = {
        "field": "ratio",
        "type": "quantitative",
        "title": "relative risk μ(ω)/μ′(ω) (ratio, log scale)",
        "scale": {"type": "log", "domain": [ticks[0], ticks[-1]]},
        "axis": {"values": ticks, "labelExpr": label_expression(ticks)},
    }
    legends = [None] * (len(shown) - 1) + [line_legend(f"against μ′ of {names[1]}")]
    panels: list[dict[str, Any]] = [
        {
            "title": {"text": f"μ: {ours[i]}", "subtitle": _peak_words(answer, i, first.states), "fontSize": 13},
            "width": 200,
            "height": round(HEIGHT * 0.7),
            "data": {"values": [r for r in rows if r["posterior"] == ours[i]]},
            "resolve": {"scale": dict.fromkeys(("color", "shape", "strokeDash"), "independent")},
            "layer": [*_peak_mark(answer, i, omegas, x), *_curves(x, y, series_scales(drawn), legend)],
        }
        for i, legend in zip(shown, legends, strict=True)
    ]
    for place, panel in enumerate(panels):
        if place % ACROSS:
            panel["layer"] = [_untitled(layer) for layer in panel["layer"]]
    body: dict[str, Any] = {"concat": panels, "columns": ACROSS, "spacing": 18}
    better = f"{names[0]} tells more than {names[1]} to every supermodular decision"
    verdict = better if answer.holds else f"{names[0]} is not above {names[1]}: a panel has no common peak"
    return Figure("Relative risks", alt_text(answer, first.states, ours, rivals, names), body, verdict)


def _curves(x: dict[str, Any], y: dict[str, Any], scales: dict[str, Any], legend: dict[str, Any] | None) -> list[dict[str, Any]]:
    """A line against each rival, with points."""

    def shown(of: dict[str, Any] | None, *channels: str) -> dict[str, Any]:
        return {
            channel: {"field": "rival", "type": "nominal", "scale": scales[channel], "legend": of} for channel in channels
        }  # fmt: skip

    line = {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"x": x, "y": y, **shown(legend, "color", "strokeDash")}}
    points = {
        "mark": {"type": "point", "filled": True, "size": 45}, "encoding": {"x": x, "y": y, **shown(None, "color", "shape")},
    }  # fmt: skip
    return [line, points]


def compared_risks_figure(first: Mechanism, second: Mechanism, names: tuple[str, str] = ("first", "second")) -> Figure:
    """The relative risks of two mechanisms of one problem, about its statistic; posteriors are named by their outputs."""
    check_same_problem(first, second)
    whole = any(m.summary.ordered for m in (first, second))
    listed = stated(first.problem, "databases" if whole else "finest")
    hypers, labels = [], []
    for mechanism in (first, second):
        own = own_channel(mechanism)
        if len(own.outputs) * len(listed.omegas) > MOST_ENTRIES:
            raise TooLarge(
                "The mechanism has too many posteriors to compare",
                size=f"{len(own.outputs):,} outputs × {len(listed.omegas):,} values",
                fits=f"{MOST_ENTRIES:,} probabilities",
                remedy="compare smaller mechanisms",
            )
        about, _ = averaged_own(own if own.bits() <= MOST_BITS else own.rounded(ROUNDED_BITS), mechanism, listed)
        merged = about.merged()
        hypers.append(hyper_of_channel(merged, listed.statistic_prior))
        labels.append([f"after {label}" for label in merged.outputs])
    return relative_risk_figure(hypers[0], hypers[1], names, first_labels=labels[0], second_labels=labels[1])


def _likeliest(hyper: Hyper, most: int) -> list[int]:
    """Positions of the likeliest posteriors in their own order."""
    order = np.argsort([-float(w) for w in hyper.weights], kind="stable")[:most]
    return sorted(order.tolist())


def _labels(hyper: Hyper, labels: Sequence[str] | None, name: str) -> list[str]:
    if labels is None:
        return [f"{name} {i + 1}" for i in range(len(hyper))]
    if len(labels) != len(hyper) or len(set(labels)) != len(labels):
        raise InputError(
            "Every posterior has a label of its own",
            found=f"{len(labels)} labels",
            allowed=f"{len(hyper)} different ones",
            remedy="name each posterior once",
        )
    return list(labels)


def _peak_words(answer: UprrAnswer, i: int, states: Sequence[str]) -> str:
    if answer.peaks is not None:
        low, high = answer.peaks[i]
        return f"peak at ω = {states[low]}" + (f" to {states[high]}" if high > low else "")
    assert answer.counterexample is not None
    return "no common peak" if answer.counterexample.posterior == i else " "


def _peak_mark(answer: UprrAnswer, i: int, omegas: Sequence[float], x: dict[str, Any]) -> list[dict[str, Any]]:
    if answer.peaks is None:
        return []
    low, high = answer.peaks[i]
    values = [{"omega": omegas[low], "end": omegas[high]}]
    mark: dict[str, Any] = {"type": "rule", "color": "#aaaaaa", "strokeWidth": 5, "opacity": 0.6}
    encoding: dict[str, Any] = {"x": x}
    if high > low:
        mark, encoding = {"type": "rect", "color": "#bbbbbb", "opacity": 0.4}, {"x": x, "x2": {"field": "end"}}
    return [{"data": {"values": values}, "mark": mark, "encoding": encoding}]


def _untitled(layer: dict[str, Any]) -> dict[str, Any]:
    """Panels after the first of a row share its vertical title."""
    encoding = dict(layer["encoding"])
    if "y" in encoding:
        encoding["y"] = {**encoding["y"], "title": None}
    return {**layer, "encoding": encoding}


def alt_text(answer: UprrAnswer, states: Sequence[str], ours: Sequence[str], rivals: Sequence[str], names: tuple[str, str]) -> str:
    """The verdict with the peaks, or with the fall and the rise that rule one out."""
    head = f"Ratios of {len(ours)} posteriors of {names[0]} to {len(rivals)} of {names[1]} against the statistic."
    if answer.peaks is not None:
        told = "; ".join(f"{ours[i]} {_peak_words(answer, i, states)}" for i in range(min(len(ours), MOST_PANELS)))
        return f"{head} Every posterior has a common peak: {told}. So {names[0]} is above {names[1]}."
    found = answer.counterexample
    assert found is not None
    return (
        f"{head} {ours[found.posterior]} has no common peak: its ratio to {rivals[found.falls_against]} falls from ω = "
        f"{states[found.falls[0]]} to {states[found.falls[1]]}, and to {rivals[found.rises_against]} it rises from ω = "
        f"{states[found.rises[0]]} to {states[found.rises[1]]}."
    )
