"""Each picture shows what its numbers are: marks, scales and data against values computed by another road."""

from __future__ import annotations

from fractions import Fraction
from math import exp, tanh
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from album import correlated, folded, mechanism, pair, peaks_index, picture, problem, write_release

from discreet.currencies.channel import channel_from_rows
from discreet.currencies.profiles import Profile, profile
from discreet.errors import InputError, TooLarge
from discreet.geometry.orders.frechet import frechet
from discreet.model.statistic import on_histograms
from discreet.present import (
    choice_figure,
    compared_risks_figure,
    delta_figure,
    density_band_figure,
    frechet_figure,
    mechanism_figure,
    relative_risk_figure,
    release_figure,
    simplex_figure,
    tradeoff_figure,
)
from discreet.present.axes import statistic_axis
from discreet.present.figures import mechanism as heat
from discreet.present.figures.simplex import K_OMEGA, PK, hull, same
from discreet.present.figures.tradeoff import common_error


def series(rows: list[dict[str, Any]], key: str, x: str, y: str) -> dict[str, list[tuple[float, float]]]:
    """Points by the name of their line."""
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        found.setdefault(row[key], []).append((row[x], row[y]))
    return found


def layer_with(body: dict[str, Any], mark: str, field: str) -> dict[str, Any]:
    """The layer of this mark that shows this field."""
    return next(
        one
        for one in body["layer"]
        if one["mark"]["type"] == mark and any(c.get("field") == field for c in one["encoding"].values() if isinstance(c, dict))
    )


def test_the_profile_falls_from_tanh_to_zero_at_the_tight_epsilon() -> None:
    curves = series(picture("delta").body["data"]["values"], "way", "epsilon", "delta")
    own, worst = curves["this mechanism"], curves["all that ε-DP allows"]
    assert own[0] == (0.0, pytest.approx(tanh(0.5))) and own[-1][1] == pytest.approx(0.0, abs=1e-9)
    assert [d for _, d in own] == sorted((d for _, d in own), reverse=True)
    assert worst[0][1] == pytest.approx(tanh(0.5)) and worst[-1] == (1.0, pytest.approx(0.0, abs=1e-12))
    for (e, d), (f, w) in zip(own[:-1], worst[:-1], strict=False):
        assert e == f and d <= w + 1e-9


def test_a_weaker_mechanism_lies_below_the_promise_and_several_are_named() -> None:
    weak, strong = profile(mechanism()), profile(mechanism(2))
    figure = delta_figure({"weak": weak, "strong": strong}, 2.0)
    curves = series(figure.body["data"]["values"], "way", "epsilon", "delta")
    assert set(curves) == {"weak", "strong", "all that ε-DP allows"}
    promised = dict(curves["all that ε-DP allows"])
    assert all(d < promised[e] for e, d in curves["weak"] if e in promised and e < 1.9)
    with pytest.raises(InputError, match="no mechanism"):
        delta_figure({})


def test_the_tradeoff_has_the_chance_diagonal_and_the_corner_of_the_promise() -> None:
    body = picture("tradeoff").body
    curves = series(body["layer"][-1]["data"]["values"], "way", "alpha", "beta")
    assert curves["guessing"] == [(0.0, 1.0), (1.0, 0.0)]
    knee = 1 / (1 + exp(1))
    assert curves["all that ε-DP allows"][1] == (pytest.approx(knee), pytest.approx(knee))
    own = curves["this mechanism"]
    assert all(a + b <= 1 + 1e-9 for a, b in own) and own[0] == (0.0, 1.0)
    assert all(max(1 - exp(1) * a, exp(-1) * (1 - a)) <= b + 1e-9 for a, b in own)
    assert body["layer"][0]["mark"]["type"] == "area"
    assert body["layer"][-1]["encoding"]["order"]["field"] == "place"


@pytest.mark.parametrize(
    ("corners", "both"),
    [([(0, 1), (1, 0)], 0.5), ([(0, 1), (0.25, 0.25), (1, 0)], 0.25), ([(0, 0.4), (1, 0)], 0.4 / 1.4), ([(0, 0), (1, 0)], 0.0)],
)
def test_both_errors_meet_where_the_curve_crosses_the_diagonal(corners: list[tuple[float, float]], both: float) -> None:
    assert common_error(corners) == pytest.approx(both)


def test_limits_hold_the_law_and_the_scale_is_logarithmic() -> None:
    body = picture("density").body
    rows = body["data"]["values"]
    assert len(rows) == len(mechanism().outputs)
    assert all(r["low"] <= r["probability"] <= r["high"] <= 1 for r in rows)
    scale = body["layer"][0]["encoding"]["y"]["scale"]
    assert scale["type"] == "log" and scale["domain"][0] <= min(r["low"] for r in rows) and scale["domain"][1] == 1


def test_a_band_is_drawn_between_its_bounds_and_crossed_bounds_are_refused() -> None:
    body = picture("density-band").body
    band = body["layer"][0]["data"]["values"]
    middle = next(r for r in band if r["t"] == 5.0)
    assert (middle["low"], middle["high"]) == (pytest.approx(0.0183939720586), pytest.approx(0.0824360635350))
    inside = [r for r in body["layer"][1]["data"]["values"] if r["way"] == "five ones"]
    assert all(b["low"] <= r["density"] <= b["high"] for b, r in zip(band, inside, strict=True))
    with pytest.raises(InputError, match="lower bound below an upper"):
        density_band_figure([0, 1], [0.5, 0.5], [0.4, 0.6])


def test_the_triangle_shows_six_extreme_points_and_equal_regions_for_a_count() -> None:
    figure = picture("simplex")
    points = layer_with(figure.body, "point", "kind")["data"]["values"]
    kinds = [p["kind"] for p in points]
    # Two of the six extreme points of K lie on one belief about ω.
    assert kinds.count("extreme points of K, projected") == 5 and kinds.count("extreme points of K_Ω") == 4
    assert kinds.count("geometric") == 3 and kinds.count("peak and valley") == 2 and kinds.count("prior") == 1
    assert "K has 6 extreme points" in figure.alt and "PK and K_Ω are the same" in figure.alt
    prior = next(p for p in points if p["kind"] == "prior")
    assert (prior["x"], prior["y"]) == (pytest.approx(0.5), pytest.approx(3**0.5 / 6))
    sizes = [p["size"] for p in points if p["kind"] == "peak and valley"]
    assert sizes == [pytest.approx(60 + 500 * 0.422980473790), pytest.approx(60 + 500 * 0.577019526210)]


def test_the_triangle_of_a_folded_count_has_room_that_noise_cannot_reach() -> None:
    figure = simplex_figure(folded())
    outline = layer_with(figure.body, "line", "region")["data"]["values"]
    assert {r["region"] for r in outline} == {PK, K_OMEGA}
    assert "PK reaches beyond K_Ω" in figure.alt and "differ" in figure.subtitle
    words = [r["words"] for one in figure.body["layer"] if one["mark"]["type"] == "text" for r in one["data"]["values"]]
    assert {"surely ω = 0", "probability of ω = 2"} <= set(words)


def test_at_zero_epsilon_the_triangle_holds_the_prior_alone() -> None:
    figure = simplex_figure(problem(2, epsilon=0))
    points = layer_with(figure.body, "point", "kind")["data"]["values"]
    assert len({(round(p["x"], 9), round(p["y"], 9)) for p in points}) == 1
    assert figure.svg()


def test_a_triangle_needs_three_values_and_hypers_about_them() -> None:
    with pytest.raises(InputError, match="three values"):
        simplex_figure(problem(3))
    first, _ = pair()
    with pytest.raises(InputError, match="about the statistic"):
        simplex_figure(correlated(), {"wrong": frechet_hyper(first)})


def frechet_hyper(first: Any) -> Any:
    """A hyper about two values only."""
    return first.project([0, 0, 1], [0, 1], ["low", "high"])


def test_a_hull_is_the_outside_of_its_points() -> None:
    rng = np.random.default_rng(4)
    corners = np.eye(3) * 0.8 + 0.2 / 3
    inside = rng.dirichlet([5, 5, 5], 40) * 0.3 + 0.7 / 3
    found = hull(np.vstack([corners, inside]))
    assert same(found, corners) and not same(found, np.eye(3))


def test_relative_risks_peak_at_each_value_in_turn_and_not_the_other_way_round() -> None:
    figure = picture("relative-risk")
    panels = figure.body["concat"]
    assert [p["title"]["subtitle"] for p in panels] == ["peak at ω = 0", "peak at ω = 1", "peak at ω = 2"]
    rows = panels[0]["data"]["values"]
    lines = series(rows, "rival", "omega", "ratio")
    first, second = pair()
    assert lines["peak"][0] == (0.0, pytest.approx(float(first.posteriors[0][0] / second.posteriors[0][0])))
    assert panels[0]["layer"][-1]["encoding"]["y"]["scale"]["type"] == "log"
    swapped = relative_risk_figure(second, first, ("peak and valley", "geometric"))
    assert "no common peak" in swapped.alt and "is not above" in swapped.subtitle
    assert all(one["mark"]["type"] != "rule" for p in swapped.body["concat"] for one in p["layer"])
    with pytest.raises(InputError, match="label of its own"):
        relative_risk_figure(first, second, first_labels=["same"] * 3)


def test_mechanisms_are_compared_by_their_outputs() -> None:
    panels = picture("compared-risks").body["concat"]
    assert len(panels) == 6 and panels[0]["title"]["text"].startswith("μ: after ")
    assert "after 0" in {r["rival"] for r in panels[0]["data"]["values"]}
    with pytest.raises(InputError, match="different"):
        compared_risks_figure(mechanism(), mechanism(6, 3))


def test_frechet_densities_step_at_the_weights_and_average_to_the_prior() -> None:
    panels = picture("frechet").body["concat"]
    assert [p["title"]["text"] for p in panels] == ["ω = 0", "ω = 1", "ω = 2"]
    assert all(p["mark"]["interpolate"] == "step-after" for p in panels)
    for panel in panels:
        steps = series(panel["data"]["values"], "way", "rank", "density")["geometric"]
        ranks, heights = np.array(steps).T
        assert ranks == pytest.approx([0, 0.366312673267, 0.633687326733, 1])
        assert float(np.diff(ranks) @ heights[:-1]) == pytest.approx(1 / 3)
    first, _ = pair()
    with pytest.raises(InputError, match="values of one statistic"):
        frechet_figure({"geometric": frechet(first, peaks_index(first))}, ["0", "1"])


def test_choosing_shows_three_panels_with_a_design_and_two_without() -> None:
    panels = picture("choice").body["hconcat"]
    assert [p["title"]["text"] for p in panels] == ["What an attacker learns", "What an analyst sees", "What the decision loses"]
    guesses = dict(series(panels[0]["data"]["values"], "way", "epsilon", "value")["alone"])
    assert guesses[1.0] == pytest.approx(exp(1) / (1 + exp(1)))
    losses = [v for _, v in series(panels[2]["data"]["values"], "way", "epsilon", "value")["this design"]]
    assert losses == sorted(losses, reverse=True)
    power = series(panels[1]["data"]["values"], "way", "epsilon", "value")
    assert all(p <= q + 1e-9 for (_, p), (_, q) in zip(power["this design"], power["limit for any mechanism"], strict=True))
    assert len(picture("choice-limits").body["hconcat"]) == 2


def test_one_epsilon_has_room_on_its_axis() -> None:
    from discreet.interpret.choosing import choose

    panel = choice_figure(choose(problem(4), [Fraction(1)])).body["hconcat"][0]
    assert panel["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0.5, 2.0]


def test_states_of_a_heat_map_stand_in_the_order_of_the_statistic() -> None:
    made = mechanism(6, 3)
    figure = mechanism_figure(made)
    rows = figure.body["data"]["values"]
    assert len(rows) == len(made.outputs) * len(made.space.labels)
    places = {r["place"]: r["state"] for r in rows}
    counts = np.array([[int(x) for x in places[p].split(",")] for p in range(len(places))])
    omegas = list(on_histograms(made.problem.statistic, counts, made.problem.universe))  # type: ignore[arg-type]
    assert omegas == sorted(omegas) and "order of the statistic" in figure.subtitle
    colour = figure.body["encoding"]["color"]
    assert colour["scale"]["type"] == "log" and len(colour["legend"]["values"]) <= 9
    at = {(r["state"], r["output"]): r["probability"] for r in rows}
    label, output = made.space.labels[0], made.outputs[0].label
    assert at[label, output] == pytest.approx(float(made.probabilities[0, 0]), rel=1e-9)


def test_a_heat_map_of_a_weighted_sum_keeps_its_order_and_a_huge_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = mechanism_figure(mechanism())
    assert figure.body["encoding"]["x"]["title"] == "weighted sum that the mechanism reads"
    assert "order" not in figure.subtitle
    monkeypatch.setattr(heat, "MOST_CELLS", 3)
    with pytest.raises(TooLarge, match="too many entries"):
        mechanism_figure(mechanism())


def test_a_small_release_has_an_interval_for_each_cell(tmp_path: Path) -> None:
    rows = [f"s{i},4,{i % 3},{i % 3},{i % 3}.5,0,{i % 3 + 1}" for i in range(5)]
    figure = release_figure(write_release(tmp_path / "r", rows))
    bar, point = figure.body["layer"]
    assert bar["mark"]["type"] == "rule" and bar["encoding"]["x2"]["field"] == "high"
    assert point["encoding"]["y"]["field"] == "cell" and point["encoding"]["y"]["title"] == "street"
    assert [r["cell"] for r in figure.body["data"]["values"]] == [f"s{i}" for i in range(5)]
    assert "at least 90 % of the posterior" in figure.subtitle and "5 cells" in figure.alt and figure.svg()


def test_a_large_release_is_counted_by_size_and_mean(tmp_path: Path) -> None:
    rows = [f"s{i},{40 + i % 20},1,1,{i % 7}.5,0,9" for i in range(700)]
    figure = release_figure(write_release(tmp_path / "r", rows))
    assert figure.body["mark"]["type"] == "rect"
    assert sum(r["cells"] for r in figure.body["data"]["values"]) == 700
    assert "700 cells with 40 to 59 respondents" in figure.alt and figure.svg()
    same_size = [f"s{i},40,1,1,{i % 7}.5,0,9" for i in range(700)]
    figure = release_figure(write_release(tmp_path / "q", same_size))
    assert sum(r["cells"] for r in figure.body["data"]["values"]) == 700 and "of 40 respondents" in figure.alt and figure.svg()


def test_a_release_of_names_is_counted_by_name(tmp_path: Path) -> None:
    figure = release_figure(
        write_release(tmp_path / "r", ["a,4,build,build", "b,4,wait,wait", "c,4,wait,wait"], "street,size,published,action")
    )
    assert figure.body["data"]["values"] == [{"published": "wait", "cells": 2}, {"published": "build", "cells": 1}]


def test_what_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not the table of a release"):
        release_figure(write_release(tmp_path / "r", ["1,2"], "a,b"))
    with pytest.raises(InputError, match="no cells"):
        release_figure(write_release(tmp_path / "q", []))
    with pytest.raises(InputError):
        release_figure(tmp_path / "nothing")


def test_profiles_without_a_promise_show_no_promise() -> None:
    seen = profile(mechanism())
    assert {r["way"] for r in delta_figure(seen).body["data"]["values"]} == {"this mechanism"}
    assert {r["way"] for r in tradeoff_figure(seen).body["layer"][-1]["data"]["values"]} == {"this mechanism", "guessing"}


def test_a_mechanism_that_leaks_never_reaches_zero() -> None:
    leaky = profile(channel_from_rows([[0.9, 0.1, 0.0], [0.0, 0.4, 0.6]]))
    figure = delta_figure({"leaky": leaky, "private": profile(mechanism())}, 1.0)
    assert "leaky starts at δ = 0.9 and never reaches 0" in figure.alt
    curves = series(figure.body["data"]["values"], "way", "epsilon", "delta")
    assert all(d > 0.5 for _, d in curves["leaky"]) and delta_figure(leaky).svg()
    assert tradeoff_figure(leaky).svg()


def test_silence_is_drawn_too() -> None:
    silent = profile(channel_from_rows([[0.5, 0.5], [0.5, 0.5]]))
    assert "starts at δ = 0" in delta_figure(silent, 0.0).alt
    assert common_error(tradeoff_corners(silent)) == pytest.approx(0.5)


def tradeoff_corners(seen: Profile) -> list[tuple[float, float]]:
    """The corners that the picture draws for a single mechanism."""
    rows = tradeoff_figure(seen).body["layer"][-1]["data"]["values"]
    return [(r["alpha"], r["beta"]) for r in rows if r["way"] == "this mechanism"]


def test_whole_numbers_get_whole_ticks() -> None:
    assert statistic_axis([Fraction(0), Fraction(3)]) == {"format": "d", "tickMinStep": 1}
    assert statistic_axis([Fraction(0), Fraction(1, 2)]) == {}
