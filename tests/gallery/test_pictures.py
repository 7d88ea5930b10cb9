"""Every figure and example of the papers is drawn, its numbers hold, and they are the ones computed independently.

The frontier of Example 1 solves seven designs and is left to `make gallery`; its numbers are held by tests/design.
"""

from __future__ import annotations

import math
import runpy
import sys
from pathlib import Path

import pytest

from discreet.errors import InputError, Refuted
from discreet.gallery.picture import PAPERS, Number, Picture, picture, pictures

DEAR = {"sy-example-1-frontier"}

WANTED = {
    *(f"sy-figure-{k}" for k in range(1, 9)),
    *(f"sy-example-1-{part}" for part in ("places", "buses", "frontier")),
    *("sy-appendix-a", "sy-proposition-s1"),
    *("bg-figure-1", "bg-figure-2", "bg-figure-3", "bg-example-1", "bg-example-2", "bg-section-7"),
    *(f"cy-{part}" for part in ("closeness", "detection", "relative-entropy", "pinsker", "information-ball", "total-variation")),
    *(f"cy-{part}" for part in ("finite-alphabet", "subadditivity", "complaint", "ordering", "observation", "sharp-capacity")),
    "dr-economics",
}

REFERENCE = {
    "sy-figure-5": {
        "probability of geometric output 0": 0.366312673267,
        "probability of geometric output 1": 0.267374653466,
        "P(ω = 0 | s = 0)": 0.665240955775,
        "P(ω = 1 | s = 0)": 0.244728471055,
        "P(ω = 2 | s = 0)": 0.0900305731704,
        "P(ω = 1 | s = 1)": 0.576116884766,
        "P(ω = 0) in the valley": 0.422318798252,
        "weight of the peak": 0.422980473790,
        "worth of the pair, central or extreme": 0.487372385753,
        "worth of the geometric mechanism": 0.430704585230,
    },
    "sy-example-1-places": {
        "prior mean": 5.2,
        "no information": 6.124,
        "geometric noise on children": 3.23204002326,
        "the best mechanism": 2.32591922806,
    },
    "sy-example-1-buses": {"payoff, c = 0.1": -1.30273145644, "payoff, c = 1": -4.11959858188},
    "sy-appendix-a": {"log-ratio at δ = 0.01": 2.80204138456, "worth of the best mechanism": 0.0668079047978},
    "sy-proposition-s1": {"equal answers": 2.0},
    "bg-figure-1": {
        "lower limit at t = 5, ε = 0.1": 0.0183939720586,
        "upper limit at t = 5, ε = 0.1": 0.0824360635350,
        "upper limit at t = 0, ε = 0.1": 0.05,
        "lower limit at t = 5, ε = 0.25": 0.0102606248280,
        "upper limit at t = 5, ε = 0.25": 0.436292869683,
        "mass of the upper limit, ε = 0.1": 1.64872127070,
        "mass of the lower limit, ε = 0.1": 0.547296361774,
    },
    "bg-figure-2": {
        "lower limit for 1": 0.268941421370,
        "upper limit for 1": 0.731058578630,
        "lower limit for 10": 1.97959778025e-6,
        "upper limit for 10": 0.0436035427941,
    },
    "bg-figure-3": {
        "standard deviation of the noise": 8.48528137424,
        "prior density at 2": 0.270670566473,
        "lower limit at 2": 0.0995741367357,
        "upper limit at 2": 0.735758882343,
        "density of t = 0": 0.055151844845,
        "posterior density at 2 after 0": 0.300984630483,
        "posterior mean after 0": 2.65708910225,
        "density of t = 6": 0.0513704947161,
        "posterior density at 2 after 6": 0.231657328053,
        "posterior mean after 6": 3.39086930734,
    },
    "bg-section-7": {
        "tight up to ε": 0.230258509299,
        "power at ε = 0.1": 0.135914091423,
        "power at ε = 0.2": 0.369452804947,
        "power at ε = 0.25": 0.589575006881,
        "what Theorem 8 allows at 0.25": 0.609124698035,
    },
    "cy-closeness": {"(1, 0) at ε′ = 0": 0.462117157260, "(1, 0.01) at ε′ = 0.5": 0.294772645279},
    "cy-relative-entropy": {
        "bound at ε = 0.1": 0.00499583749579,
        "bound at ε = 0.5": 0.122459331202,
        "bound at ε = 2": 1.52318831191,
    },
    "cy-total-variation": {
        "its total variation at 0.01": 0.141185140547,
        "its total variation at 0.1": 0.439589252323,
        "its total variation at 0.5": 0.903622508313,
    },
    "cy-sharp-capacity": {
        "two types at 0.5": 0.0302998619808,
        "two types at 1": 0.110944071672,
        "two types at 2": 0.327813325473,
        "sharp bound at ε = 0.5": 0.0311420922612,
        "sharp bound at ε = 1": 0.123301561482,
        "sharp bound at ε = 2": 0.474474647071,
    },
    "cy-subadditivity": {"two answers": 0.198909302146},
    "cy-finite-alphabet": {"erasure of ten inputs": 0.0230258509299, "bound for ten inputs": 0.159960974166},
}
"""Computed independently of this library, to twelve digits."""


def test_every_figure_and_example_has_its_picture() -> None:
    assert set(pictures()) == WANTED
    assert [p.paper for p in pictures().values()] == sorted((p.paper for p in pictures().values()), key=list(PAPERS).index)
    for one in pictures().values():
        assert one.reference.upper().startswith(one.paper.upper()) and one.title and len(one.caption) > 150, one.name


@pytest.mark.parametrize("name", sorted(WANTED - DEAR))
def test_it_is_drawn_and_its_numbers_hold(name: str) -> None:
    one = picture(name)
    drawn = one.draw()
    assert len(drawn.alt) > 60 and drawn.svg().count("<path") > 3
    by_words = {number.words: number.value for number in one.check()}
    assert len(by_words) == len(one.numbers()), "each number has its own words"
    for words, value in REFERENCE.get(name, {}).items():
        assert by_words[words] == pytest.approx(value, rel=2e-11, abs=1e-9), words


@pytest.mark.parametrize("value", [0.5 + 1e-8, math.nan, math.inf, -0.5])
def test_a_number_that_differs_is_refuted(value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Picture, "numbers", lambda _self: [Number("half", value, 0.5, "by hand")])
    with pytest.raises(Refuted, match="half"):
        picture("sy-figure-1").check()


def test_the_command_draws_what_is_named_and_tells_its_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["gallery", str(tmp_path), "sy-figure-3"])
    runpy.run_module("discreet.gallery", run_name="__main__")
    assert {path.name for path in tmp_path.iterdir()} == {"sy-figure-3.svg", "sy-figure-3.json"}
    assert "largest odds of 2 against 0" in capsys.readouterr().out
    with pytest.raises(InputError, match="no picture of this name"):
        picture("sy-figure-9")
