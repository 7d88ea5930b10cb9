"""Pictures of frontiers, families, priors, regret and allocations: structure, units, words, drawing without a browser."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import discreet
from discreet.design.best_mechanism import design
from discreet.design.questions.allocation import allocate
from discreet.design.questions.family import design_family
from discreet.design.questions.frontier import Frontier, frontier
from discreet.design.questions.regret_surface import corners, drawn_around, surface
from discreet.design.questions.robust import robust_design
from discreet.design.questions.smallest_epsilon import saving
from discreet.errors import InputError, MissingExtra
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.present import (
    Figure,
    allocation_figure,
    comparison_figure,
    family_figure,
    frontier_figure,
    priors_figure,
    regret_figure,
)
from discreet.present.figure import must_be_drawable
from discreet.present.theme import COLOURS, DASHES, SHAPES, series_scales

NAMES = ("frontier", "comparison", "contamination", "draws", "family", "priors", "allocation")


def school(respondents: int = 3) -> Problem:
    return discreet.problem(respondents=respondents, values=[0, 1, 2], probabilities=["0.89", "0.09", "0.02"], epsilon=1).problem


@pytest.fixture(scope="module")
def curve() -> Frontier:
    return frontier(school(), [Fraction(1, 2), Fraction(1), Fraction(2)], workers=1)


@pytest.fixture(scope="module")
def figures(curve: Frontier, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Figure]:
    """One of each."""
    places = school()
    best = design(places)
    geometric = best.baselines["geometric"].loss
    assert geometric is not None
    other = IidPrior((Fraction(89, 100), Fraction(5, 100), Fraction(6, 100)))
    split, curves = allocate(
        [("places", places, Fraction(1)), ("buses", school(2), Fraction(2))], Fraction(2), steps=3, rounds=1, workers=1
    )
    family = design_family(places, range(1, 4), folder=tmp_path_factory.mktemp("kept"), workers=1)
    return {
        "frontier": frontier_figure(curve, saving(places, "geometric", geometric)),
        "comparison": comparison_figure(best),
        "contamination": regret_figure(surface(best.mechanism, corners(places, [Fraction(1, 20), Fraction(1, 10)]), workers=1)),
        "draws": regret_figure(surface(best.mechanism, drawn_around(places, 4, 1, (89, 9, 2)), workers=1)),
        "family": family_figure(family),
        "priors": priors_figure(robust_design(places, [places.prior, other], gap=1e-3, workers=1)),
        "allocation": allocation_figure(split, curves),
    }


def encodings(part: Any) -> Iterator[dict[str, Any]]:
    """Every encoding of a specification, layers included."""
    if "encoding" in part:
        yield part["encoding"]
    for layer in part.get("layer", ()):
        yield from encodings(layer)


@pytest.mark.parametrize("name", NAMES)
def test_axes_have_titles_with_units(figures: dict[str, Figure], name: str) -> None:
    found = list(encodings(figures[name].specification))
    for axis in ("x", "y"):
        titles = {e[axis]["title"] for e in found if axis in e and "title" in e[axis]}
        assert len(titles) == 1, titles
        assert re.search(r"\(.+\)|probability|way to publish", titles.pop())


@pytest.mark.parametrize("name", NAMES)
def test_the_words_hold_numbers_of_the_picture(figures: dict[str, Figure], name: str) -> None:
    figure = figures[name]
    assert len(figure.alt) > 60 and len(re.findall(r"\d", figure.alt)) > 5
    assert figure.specification["description"] == figure.alt
    json.dumps(figure.specification, allow_nan=False)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_drawn_without_a_browser(figures: dict[str, Figure], name: str, tmp_path: Path) -> None:
    path = figures[name].write(tmp_path / f"{name}.svg")
    root = ElementTree.parse(path).getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert root.find(f"{space}title").text == figures[name].title  # type: ignore[union-attr]
    assert root.find(f"{space}desc").text == figures[name].alt  # type: ignore[union-attr]
    drawn = "".join(root.itertext())
    assert figures[name].title in drawn and len(list(root.iter(f"{space}path"))) > 5


def test_png_and_specification(figures: dict[str, Figure], tmp_path: Path) -> None:
    figure = figures["comparison"]
    assert figure.write(tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads(figure.write(tmp_path / "c.json").read_text()) == figure.specification


def test_the_frontier_shows_the_baselines_and_the_band(curve: Frontier) -> None:
    spec = frontier_figure(curve).specification
    band, lines, _ = spec["layer"]
    assert band["mark"]["type"] == "area" and {"low", "high", "level"} == set(band["data"]["values"][0])
    ways = {row["way"] for row in lines["data"]["values"]}
    assert {"this design", "geometric", "best oblivious", "no information"} <= ways
    assert "full information" not in ways
    for row, point in zip(band["data"]["values"], curve.points, strict=True):
        assert row["low"] == pytest.approx(point.lower_bound) and row["high"] == pytest.approx(point.loss)


def test_ways_that_lose_more_than_silence_do_not_squeeze_the_picture(curve: Frontier) -> None:
    spec = frontier_figure(curve).specification
    top = spec["layer"][1]["encoding"]["y"]["scale"]["domain"][1]
    nothing = max(loss for _, loss in curve.baseline("no information"))
    assert nothing < top < 1.2 * nothing


def test_series_differ_in_colour_dash_and_shape() -> None:
    names = [f"way {i}" for i in range(9)]
    scales = series_scales(names)
    for key in ("color", "strokeDash", "shape"):
        assert len({str(item) for item in scales[key]["range"]}) == len(names) == len(scales[key]["domain"])
    assert len(COLOURS) == len(DASHES) == len(SHAPES)


def test_a_picture_without_the_extra_names_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtra, match=r'pip install "discreet\[figures\]"'):
        must_be_drawable(tmp_path / "x.svg")
    assert must_be_drawable(tmp_path / "x.json").name == "x.json"


@pytest.mark.parametrize("name", ["x.pdf", "x", "x.SVGZ"])
def test_other_endings_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="SVG, PNG"):
        must_be_drawable(name)


def test_markup_in_words_is_escaped() -> None:
    body = {"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x", "type": "quantitative"}}}
    drawn = Figure("a < b & c", "1 < 2 & 3", body).svg()
    assert "<desc>1 &lt; 2 &amp; 3</desc>" in drawn
    ElementTree.fromstring(drawn)
