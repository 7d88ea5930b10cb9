"""What holds for every picture: titles on its axes, words from its data, no colour alone, and it can be drawn."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import album
import pytest
from album import picture, views
from said import strangers, wrong_sides

import discreet.present
from discreet.present.theme import COLOURS

QUIET = {"#dddddd", "#bbbbbb", "#aaaaaa", "#999999", "#444444", "#555555", "#333333", "#c8d7e8", "#8aa6c1", "#000000", "#ffffff"}


DEFINED = "1e-6"
"""The gap below which the picture of a family calls a member as good as best."""
DELTA = "1e-06"
"""The δ at which both promises are compared."""


@pytest.fixture(params=album.NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_album_holds_every_picture_of_the_house() -> None:
    offered = {n for n in discreet.present.__all__ if n.endswith("_figure")}
    used = {n for n in vars(album) if n.endswith("_figure")}
    assert offered - used <= {"release_figure"}


def test_every_view_has_a_title_on_both_axes(name: str) -> None:
    titles_of_first: set[str] = set()
    for place, layers in views(picture(name).body):
        for axis in ("x", "y"):
            channels = [layer["encoding"][axis] for layer in layers if axis in layer["encoding"]]
            hidden = all("axis" in c and c["axis"] is None for c in channels)
            titled = any(c.get("title") for c in channels)
            shared = place > 0 and axis in titles_of_first and all("title" in c for c in channels)
            assert hidden or titled or shared, f"{axis} of view {place}"
            if titled and place == 0:
                titles_of_first.add(axis)


def test_quantities_have_units_or_are_probabilities(name: str) -> None:
    for _, layers in views(picture(name).body):
        for layer in layers:
            for axis in ("x", "y"):
                channel = layer["encoding"].get(axis, {})
                title = channel.get("title")
                if channel.get("type") == "quantitative" and title:
                    assert "(" in title or "probability" in title or "number" in title, title


def test_the_words_come_from_the_data(name: str) -> None:
    figure = picture(name)
    assert len(figure.alt) > 40 and figure.alt.endswith(".") and re.search(r"\d", figure.alt)
    assert "nan" not in figure.alt.lower().split() and figure.specification["description"] == figure.alt


def test_every_decimal_in_words_goes_back_to_a_number_and_its_side(name: str) -> None:
    figure = picture(name)
    said = album.SAID[name]
    names = [output.label for made in (album.mechanism(), album.mechanism(6, 3)) for output in made.outputs]
    assert wrong_sides(said) == []
    assert strangers([figure.title, figure.subtitle, figure.alt, *words_in(figure.body)], said, [DEFINED, DELTA, *names]) == []


def words_in(body: Any, key: str = "") -> Iterator[str]:
    """Titles, labels and other words of a specification."""
    if isinstance(body, dict):
        for name, value in body.items():
            yield from words_in(value, name)
    elif isinstance(body, list):
        for value in body:
            yield from words_in(value, key)
    elif (
        isinstance(body, str)
        and not body.startswith("#")
        and key not in ("labelExpr", "expr", "calculate", "filter", "format", "test")
    ):
        yield body


def test_no_series_is_told_by_colour_alone(name: str) -> None:
    for _, layers in views(picture(name).body):
        told = {
            channel["field"]
            for layer in layers
            for key, channel in layer["encoding"].items()
            if key in ("shape", "strokeDash", "x", "y", "text") and "field" in channel
        }
        for layer in layers:
            colour = layer["encoding"].get("color", {})
            if colour.get("type") == "nominal":
                assert colour["field"] in told


def test_colours_are_those_of_the_palette(name: str) -> None:
    text = json.dumps(picture(name).body)
    assert set(re.findall(r"#[0-9a-f]{6}", text)) <= {*COLOURS, *QUIET, "#d7d7d7", "#e5e5e5"}
    assert set(re.findall(r'"scheme": "(\w+)"', text)) <= {"viridis"}


def test_numbers_are_finite_and_the_picture_can_be_drawn(name: str) -> None:
    figure = picture(name)
    assert "NaN" not in figure.json() and "Infinity" not in figure.json()
    svg = figure.svg()
    assert svg.startswith("<svg") and "<title>" in svg and "<desc>" in svg and "NaN" not in svg and "undefined" not in svg
