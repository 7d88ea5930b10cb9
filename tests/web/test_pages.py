"""Pages about a design and a frontier: the views of the command line, moves that solved points answer, priors of readers."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from urllib.parse import urlencode

from serving import POINTS, SMALL, Visitor

from discreet.currencies.statements import KINDS
from discreet.files.mechanism import read_mechanism
from discreet.views.frontier_moves import move_view, reach_view
from discreet.views.limits import output_limits_view
from discreet.views.plain import plain
from discreet.views.profile import profile_view
from discreet.views.reading import reading_view
from discreet.web.refining import next_level


def mechanism_of(visitor: Visitor, design: str):  # type: ignore[no-untyped-def]
    return read_mechanism(visitor.served.bench.shelf.answers / design / "design.mechanism.json")


def test_a_reading_is_the_view_of_the_command_line(visitor: Visitor, design: str) -> None:
    mechanism = mechanism_of(visitor, design)
    label = mechanism.outputs[0].label
    shown = visitor.get(f"/design/{design}/reading.json?" + urlencode({"output": label, "level": "0.8"})).json
    assert shown == plain((reading_view(mechanism, [label], level=0.8) + output_limits_view(mechanism, label)).facts)
    assert shown["limits"]["outputs"][0]["output"] == label
    page = visitor.get(f"/design/{design}/reading").text
    assert "best action" in page and "data-figure" in page


def test_a_reader_brings_a_prior_or_is_told_what_is_wrong_with_it(visitor: Visitor, design: str) -> None:
    prior = '[prior]\nkind = "iid"\nprobabilities = [0.2, 0.8]\n'
    mine = visitor.get(f"/design/{design}/reading.json?" + urlencode({"prior": prior})).json
    assert mine["prior"] == "the reader" and mine["mean"] > visitor.get(f"/design/{design}/reading.json").json["mean"]
    bad = visitor.get(f"/design/{design}/reading.json?" + urlencode({"prior": prior.replace("0.8", "0.7")}))
    assert bad.status == 422 and "sum" in bad.json["error"]
    none = visitor.get(f"/design/{design}/reading.json?output=nonsense")
    assert none.status == 422


def test_guarantees_are_the_views_of_the_command_line(visitor: Visitor, design: str) -> None:
    shown = visitor.get(f"/design/{design}/guarantees.json?sure=0.1").json
    assert shown["profile"] == plain(profile_view(mechanism_of(visitor, design), deltas=["1e-6"]).facts)
    assert shown["limits"]["attacker"]["sure"] == 0.1
    assert escape(shown["limits"]["attacker"]["sentences"][0]) in visitor.get(f"/design/{design}/guarantees?sure=0.1").text
    follows = {row["kind"]: row for row in shown["conversions"]["results"]}
    assert set(follows) == set(KINDS) - {"epsilon"} and all(row["follows"] for row in follows.values())
    for name, own in (("zcdp", "rho"), ("kl", "kl")):  # what the mechanism keeps is never more than what every such mechanism keeps
        kept = shown["profile"][own]
        assert (kept[0] if isinstance(kept, list) else kept) <= follows[name][own] * (1 + 1e-9)
    two = visitor.get(f"/design/{design}/guarantees.json?size=2&delta=0.01").json["profile"]
    assert two["group"] == 2 and two["epsilon"] > shown["profile"]["epsilon"] and two["epsilon_for_delta"][0][0] == "0.01"
    for bad in ("size=0", "size=99", "size=-1", "delta=2", "sure=x"):
        assert visitor.get(f"/design/{design}/guarantees.json?{bad}").status == 422, bad


def test_regret_is_against_the_best_mechanism_for_each_prior(visitor: Visitor, design: str) -> None:
    shown = visitor.get(f"/design/{design}/regret.json?" + urlencode({"radius": "25%"})).json["regret"]
    assert len(shown["corners"]) == 2
    for corner in shown["corners"]:
        assert 0 <= corner["regret_at_most"] <= shown["worst_regret_at_most"] and corner["best"][0] <= corner["reread"] + 1e-9
    small = visitor.get(f"/design/{design}/regret.json?" + urlencode({"radius": "5%"})).json["regret"]
    assert small["worst_regret_at_most"] < shown["worst_regret_at_most"]
    assert "its regret" in visitor.get(f"/design/{design}/regret?" + urlencode({"radius": "25%"})).text
    assert visitor.get(f"/design/{design}/regret.json?radius=7").status == 422


def test_a_frontier_answers_at_once_and_refines_itself(visitor: Visitor, design: str) -> None:
    """The point that the design proved answers before anything is asked; looking alone brings the rest."""
    problem = visitor.keep(SMALL)
    first = visitor.get(f"/frontier/{problem}.json").json
    assert first["solved"] >= 1 and [p["epsilon"] for p in first["points"] if p["epsilon"] == "1"]
    here = visitor.get(f"/frontier/{problem}/at.json?epsilon=1").json
    assert here["solved_here"] and here["loss_at_least"] <= here["loss_at_most"]
    assert "event: ended" in visitor.get(f"/frontier/{problem}/events").text  # until it is fine enough
    fine = visitor.get(f"/frontier/{problem}.json").json
    assert fine["state"] == "fine" and len(fine["points"]) == POINTS
    assert [row["epsilon"] for row in fine["beside"]["levels"]] == ["1/2", "1", "2"] and fine["beside"]["other"] == "zcdp"
    assert "points are solved" in visitor.get(f"/frontier/{problem}").text
    odd = visitor.get(f"/frontier/{problem}/at.json?epsilon=1.2345").json
    assert not odd["solved_here"] and odd["loss_at_least"] < odd["loss_at_most"]
    visitor.get(f"/frontier/{problem}/events")  # who stands where nothing is solved gets that point
    sharper = visitor.get(f"/frontier/{problem}/at.json?epsilon=1.2345").json
    assert sharper["solved_here"]
    assert odd["loss_at_least"] <= sharper["loss_at_least"] <= sharper["loss_at_most"] <= odd["loss_at_most"]
    target = visitor.get(f"/frontier/{problem}/at.json?" + urlencode({"loss": str(here["loss_at_most"])})).json
    assert Fraction(target["enough"]) <= 1


def test_a_frontier_of_rho_is_refined_beside_pure_epsilon(visitor: Visitor) -> None:
    problem = visitor.keep(SMALL.replace("epsilon = 1", "rho = 0.5"))
    visitor.get(f"/frontier/{problem}.json")
    visitor.get(f"/frontier/{problem}/events")
    shown = visitor.get(f"/frontier/{problem}.json").json
    assert shown["state"] == "fine" and shown["beside"]["other"] == "pure"
    assert visitor.get(f"/frontier/{problem}/at.json?rho=0.5").json["solved_here"]
    assert "move along ρ" in visitor.get(f"/frontier/{problem}").text


def test_a_frontier_that_cannot_be_solved_says_so_and_is_not_asked_for_ever(visitor: Visitor) -> None:
    problem = visitor.keep(SMALL.replace("epsilon = 1", 'epsilon = 1\ndelta = "1e-6"'))
    visitor.get(f"/frontier/{problem}")
    visitor.get(f"/frontier/{problem}/events")
    asked = len(visitor.served.bench.desk.jobs)
    page = visitor.get(f"/frontier/{problem}").text
    assert "Go on" in page and visitor.get(f"/frontier/{problem}.json").json["state"] == "failed"
    assert len(visitor.served.bench.desk.jobs) == asked
    assert visitor.post(f"/frontier/{problem}").status == 201
    visitor.get(f"/frontier/{problem}/events")


def test_the_next_point_halves_the_widest_step_or_is_where_one_looks() -> None:
    def point(level: str, loss: float, bound: float) -> dict[str, object]:
        return {"level": level, "loss": loss, "lower_bound": bound, "own": level == "1"}

    begun = [point("1", 2.0, 1.9)]
    assert next_level(begun, None, 9) == next_level(begun, Fraction(1), 9) == Fraction(1, 2)
    assert next_level(begun, Fraction(7), 0) == 7
    falls = {"1/8": 9.0, "1/4": 8.9, "1/2": 8.0, "1": 4.0, "3/2": 3.0, "2": 2.5, "3": 2.4}
    whole = [point(level, loss, loss - 0.1) for level, loss in falls.items()]
    assert next_level(whole, None, 9) == Fraction(3, 4)
    flat = [point(level, 2.0, 2.0) for level in falls]
    assert next_level(flat, None, 9) is None
    assert next_level(whole, None, 7) is None


def test_moves_promise_no_more_than_points_prove() -> None:
    points = [
        {"level": "1/2", "loss": 3.0, "lower_bound": 2.9, "baselines": {}},
        {"level": "2", "loss": 1.0, "lower_bound": 0.9, "baselines": {}},
    ]
    at = {level: move_view(points, Fraction(level)).facts for level in ("1", "1/4", "3")}
    assert (at["1"]["loss_at_most"], at["1"]["loss_at_least"]) == (3.0, 0.9)
    assert at["1/4"]["loss_at_most"] is None and at["3"]["loss_at_least"] is None
    assert reach_view(points, 1.5).facts == {"target": 1.5, "enough": Fraction(2), "too_small": Fraction(1, 2), "points": 2}
    assert reach_view(points, 0.5).facts["enough"] is None


def test_the_gallery_lists_what_the_gallery_draws(visitor: Visitor) -> None:
    from discreet.gallery.picture import pictures

    listed = visitor.get("/gallery").text
    assert visitor.get("/gallery.json").json["pictures"] == list(pictures())
    assert all(f'href="/gallery/{name}"' in listed for name in pictures())
    assert visitor.get("/gallery/nothing.json").status == 404
