"""Pictures side by side: several become one, each keeping its title, scales and legend, with their words in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.present.figure import Figure

CHANNELS = ("x", "y", "color", "strokeDash", "shape", "size")


def beside(title: str, figures: Sequence[Figure], subtitle: str = "") -> Figure:
    """One picture from several, left to right."""
    panels = [panel(figure) for figure in figures]
    body = {
        "hconcat": panels,
        "spacing": 36,
        "resolve": {"scale": dict.fromkeys(CHANNELS, "independent"), "legend": dict.fromkeys(CHANNELS[2:], "independent")},
    }
    return Figure(title, " ".join(figure.alt for figure in figures), body, subtitle)


def panel(figure: Figure) -> dict[str, Any]:
    """A picture as a part of another."""
    head: dict[str, Any] = {"text": figure.title, "fontSize": 13}
    if figure.subtitle:
        head["subtitle"] = figure.subtitle
    return {"title": head, **figure.body}
