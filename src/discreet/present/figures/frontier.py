"""The frontier: loss of the best mechanism against ε or ρ with its proved band, every baseline beside it, and what is saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.design.questions.frontier import Frontier
from discreet.design.questions.smallest_epsilon import Saving
from discreet.numerics.digits import about, at_most, given, number_at_most, percent_at_most
from discreet.present.axes import LEVELS, attained, loss_title, shown
from discreet.present.figure import Figure
from discreet.present.theme import APART, HEIGHT, WIDTH, series_scales
from discreet.views.frontier import saved_words

OWN = "this design"
HIDDEN = ("full information",)
ROOM = 150
"""Pixels to the left of the bar that its words need."""


def frontier_figure(found: Frontier, saving: Saving | None = None, baselines: Sequence[str] | None = None) -> Figure:
    """The picture of a frontier; `saving` draws the step at equal loss, `baselines` chooses what is beside it."""
    problem, letter = found.problem, found.problem.promise.letter
    top = _top(found)
    names = [
        n
        for n in (baselines or found.baseline_names)
        if n not in HIDDEN and (top is None or any(loss <= top for _, loss in found.baseline(n)))
    ]
    rows: list[dict[str, Any]] = [
        {"level": float(p.level), "loss": shown(problem, float(p.value)), "way": OWN} for p in found.points
    ]
    for name in names:
        rows += [
            {"level": float(p.level), "loss": shown(problem, value), "way": name}
            for p in found.points
            if name in p.baselines and (value := p.baselines[name].value) is not None
        ]
    band = [
        {"level": float(p.level), "low": shown(problem, float(p.bound)), "high": shown(problem, float(p.value))}
        for p in found.points
    ]
    scales = series_scales([OWN, *names])
    x: dict[str, Any] = {"field": "level", "type": "quantitative", "title": LEVELS[problem.promise.keys[0]]}
    x |= {"axis": {"tickCount": 8}, "scale": {"padding": 6}}
    y: dict[str, Any] = {"field": "loss", "type": "quantitative", "title": loss_title(problem)}
    low: dict[str, Any] = {"field": "low", "type": "quantitative", "title": loss_title(problem)}
    if top is not None:
        y["scale"] = low["scale"] = {"domain": [0, top]}
    legend = {"title": "way to publish"}
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": band},
            "mark": {"type": "area", "color": "#999999", "opacity": 0.5},
            "encoding": {"x": x, "y": low, "y2": {"field": "high"}},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "line", "strokeWidth": 1.8, "clip": True},
            "encoding": {
                "x": x,
                "y": y,
                "color": {"field": "way", "type": "nominal", "scale": scales["color"], "legend": None},
                "strokeDash": {"field": "way", "type": "nominal", "scale": scales["strokeDash"], "legend": None},
            },
        },
        {
            "data": {"values": rows},
            "mark": {"type": "point", "size": 40, "filled": True, "clip": True},
            "encoding": {
                "x": x,
                "y": y,
                "color": {"field": "way", "type": "nominal", "scale": scales["color"], "legend": legend},
                "shape": {"field": "way", "type": "nominal", "scale": scales["shape"], "legend": legend},
            },
        },
    ]
    if saving is not None:
        layers += _step(saving, float(found.points[-1].level), letter)
    body = {"width": WIDTH, "height": HEIGHT, "layer": layers, "resolve": APART}
    return Figure("What privacy costs", alt_text(found, saving, names), body, _subtitle(saving, letter))


def _top(found: Frontier) -> float | None:
    """A little above what saying nothing loses: ways that lose more are not worth the room."""
    nothing = [loss for _, loss in found.baseline("no information")]
    if not nothing or not all(d.is_loss for d in found.problem.decisions):
        return None
    return 1.08 * max(nothing)


def _step(saving: Saving, widest: float, letter: str) -> list[dict[str, Any]]:
    """A bar from the smaller level to the baseline's at their common loss; its words stand under the curve where there is room."""
    low, high = number_at_most(saving.reach.above), float(saving.level)
    beside = WIDTH * low / widest > ROOM
    share = percent_at_most(saving.share[1])
    values = [
        {
            "from": low,
            "to": high,
            "loss": saving.loss,
            "middle": (low + high) / 2,
            "words": ["same loss", f"with {share} of {letter}"] if beside else f"same loss with {share} of {letter}",
        }
    ]
    y = {"field": "loss", "type": "quantitative"}
    place = {"align": "right", "dx": -8, "dy": 12} if beside else {"align": "center", "dy": -13}
    x = {"field": "from" if beside else "middle", "type": "quantitative"}
    words = [
        {
            "data": {"values": values},
            "mark": {"type": "text", "fontSize": 12, "fontWeight": "bold", **place, **halo},
            "encoding": {"x": x, "y": y, "text": {"field": "words"}},
        }
        for halo in ({"stroke": "#ffffff", "strokeWidth": 4}, {})
    ]
    rule = {
        "data": {"values": values},
        "mark": {"type": "rule", "strokeWidth": 3, "color": "#000000"},
        "encoding": {"x": {"field": "from", "type": "quantitative"}, "x2": {"field": "to"}, "y": y},
    }
    return [*words, rule]


def _subtitle(saving: Saving | None, letter: str) -> str:
    if saving is None:
        kept = "ε-private" if letter == "ε" else "ρ-zCDP"
        return f"grey band: between the loss reached and the loss that no {kept} mechanism beats"
    return (
        f"the loss of {saving.baseline} at {letter} = {given(saving.level)} is reached at "
        f"{letter} = {at_most(saving.reach.above, 4)}; grey band: what is proved"
    )


def alt_text(found: Frontier, saving: Saving | None, names: Sequence[str]) -> str:
    """The picture in words: range, ends, the baselines at the largest level, the saving."""
    problem, first, last = found.problem, found.points[0], found.points[-1]
    letter = problem.promise.letter
    words = [
        f"Line chart of {loss_title(problem)} against {LEVELS[problem.promise.keys[0]]} at {len(found.points)} levels from "
        f"{given(first.level)} to {given(last.level)}.",
        f"The best mechanism found goes from {attained(problem, first.value)} to {attained(problem, last.value)}.",
    ]
    ends = [
        f"{name} {about(shown(problem, value))}"
        for name in names
        if (b := last.baselines.get(name)) is not None and (value := b.value) is not None
    ]
    if ends:
        words.append(f"At {letter} = {given(last.level)} the others are: {', '.join(ends)}.")
    if saving is not None:
        words.append(
            f"{letter} = {at_most(saving.reach.above, 4)} is enough for the loss that {saving.baseline} has at {letter} = "
            f"{given(saving.level)}; {saved_words(saving, letter)}."
        )
    return " ".join(words)
