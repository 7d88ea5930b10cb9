"""Legends of lines: long enough a sample that its dashes can be told apart in grey."""

from __future__ import annotations

from typing import Any


def line_legend(title: str | None = None, **more: Any) -> dict[str, Any]:
    """A legend whose samples are strokes of 30 pixels; further settings are Vega-Lite's own."""
    return {"title": title, "symbolType": "stroke", "symbolSize": 900, "symbolStrokeWidth": 2.2, **more}
