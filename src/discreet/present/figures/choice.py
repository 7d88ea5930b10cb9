"""Choosing ε (or ρ): the attacker's best guess, the analyst's power and the decision's loss side by side over the same values of ε.

Made from the table of `interpret.choose`: three panels with one horizontal axis, so that a person can weigh what is given away
against what is gained. References: SY-OA Prop. S.1 (the guess), BG Thm 8 (the limit on power).
"""

from __future__ import annotations

from typing import Any

from discreet.interpret.choosing import Choices
from discreet.model.promises import LETTERS
from discreet.numerics.digits import about, given, percent_about, percent_at_most, percent_given
from discreet.present.axes import LEVELS
from discreet.present.figure import Figure
from discreet.present.legends import line_legend
from discreet.present.theme import series_scales
from discreet.present.ticks import label_expression

SIZE = {"width": 220, "height": 240}
LIMIT, DESIGN = "limit for any mechanism", "this design"


def choice_figure(choices: Choices, loss_title: str | None = None) -> Figure:
    """Panels of one table; the loss is left out when no design was given. `loss_title` names the loss with its units."""
    rows = [row for row in choices.rows if row.level > 0]
    axis = LEVELS[choices.key].replace("nats", "nats, log scale"), [float(row.level) for row in rows]
    alone, together = "alone", f"{choices.together} who answer alike"
    guesses = {alone: [row.attacker for row in rows]}
    if choices.together > 1:
        guesses[together] = [row.attacker_together for row in rows]
    powers: dict[str, list[float | None]] = {LIMIT: [row.power_limit for row in rows]}
    if any(row.power is not None for row in rows):
        powers = {DESIGN: [row.power for row in rows], **powers}
    most = "; the most any mechanism allows" if len(powers) == 1 else ""
    told = f"telling {given(choices.low)} from {given(choices.high)} (probability)"
    panels = [
        _panel(
            "What an attacker learns",
            f"starting {percent_given(choices.sure)} sure of a fact",
            axis,
            dict(guesses),
            "surest guess at most (probability)",
            [0, 1],
        ),
        _panel("What an analyst sees", f"false alarms {percent_given(choices.alpha)}{most}", axis, powers, told, [0, 1]),
    ]
    losses = [row.loss for row in rows]
    if any(loss is not None for loss in losses):
        title = loss_title or f"{choices.loss_name[:1].lower()}{choices.loss_name[1:]} (units of the loss)"
        panels.append(_panel("What the decision loses", "under the prior", axis, {DESIGN: losses}, title, None))
    body = {
        "hconcat": panels,
        "spacing": 28,
        "resolve": {"scale": dict.fromkeys(("color", "strokeDash", "shape"), "independent")},
    }
    subtitle = "left: privacy given away; right: use gained" if len(panels) == 3 else ""
    return Figure(f"Choosing {LETTERS[choices.key]}", alt_text(choices), body, subtitle)


def _panel(
    title: str, subtitle: str, axis: tuple[str, list[float]], series: dict[str, Any], y_title: str, domain: list[float] | None
) -> dict[str, Any]:
    (x_title, epsilons), names = axis, list(series)
    values = [
        {"epsilon": e, "value": float(v), "way": name}
        for name, numbers in series.items()
        for e, v in zip(epsilons, numbers, strict=True)
        if v is not None
    ]
    scales = series_scales(names)
    x = {
        "field": "epsilon",
        "type": "quantitative",
        "title": x_title,
        "scale": {"type": "log", "domain": _wide(epsilons), "nice": False},
        "axis": {"values": epsilons, "labelExpr": label_expression(epsilons), "labelOverlap": "greedy", "labelFlush": False},
    }
    y: dict[str, Any] = {"field": "value", "type": "quantitative", "title": y_title}
    if domain is not None:
        y["scale"] = {"domain": domain}
    legend = line_legend(orient="bottom", columns=1) if len(names) > 1 else None
    colour = {"field": "way", "type": "nominal", "scale": scales["color"]}
    return {
        **SIZE,
        "title": {"text": title, "subtitle": subtitle, "fontSize": 13},
        "data": {"values": values},
        "resolve": {"scale": dict.fromkeys(("color", "strokeDash", "shape"), "independent")},
        "layer": [
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": {**colour, "legend": legend},
                    "strokeDash": {"field": "way", "type": "nominal", "scale": scales["strokeDash"], "legend": legend},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": {**colour, "legend": None},
                    "shape": {"field": "way", "type": "nominal", "scale": scales["shape"], "legend": None},
                },
            },
        ],
    }


def _wide(epsilons: list[float]) -> list[float]:
    """The range of ε, with some room when there is a single value."""
    low, high = min(epsilons), max(epsilons)
    return [low, high] if low < high else [low / 2, high * 2]


def alt_text(choices: Choices) -> str:
    """Each level in a sentence: guess, power, loss."""
    words, letter = [], LETTERS[choices.key]
    for row in choices.rows:
        power = f"at most {percent_at_most(row.power_limit)}" if row.power is None else percent_about(row.power)
        line = f"{letter} = {given(row.level)}: guess at most {percent_at_most(row.attacker)}, power {power}"
        words.append(line if row.loss is None else f"{line}, loss {about(row.loss)}")
    return (
        f"Panels over {letter}. An attacker who is {percent_given(choices.sure)} sure beforehand, an analyst telling "
        f"{given(choices.low)} from {given(choices.high)} with {percent_given(choices.alpha)} false alarms, and the decision: "
        f"{'; '.join(words)}."
    )
