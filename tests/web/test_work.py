"""Work: queued, bounded, stopped, kept across reloads, lost in words when the server ends."""

from __future__ import annotations

import json
from pathlib import Path

from serving import SMALL, Visitor, running

from discreet.web.desk import LOST, Limits

LARGE = (
    SMALL.replace("respondents = 4", "respondents = 25")
    .replace("values = [0, 1]", "values = [0, 1, 2]")
    .replace("[0.7, 0.3]", "[0.6, 0.3, 0.1]")
)  # takes long enough to be stopped, unless the machine is fast


def test_a_design_ends_certified_and_is_asked_once(visitor: Visitor, design: str) -> None:
    facts = visitor.get(f"/design/{design}.json").json
    assert facts["state"] == "done" and facts["loss"] >= facts["lower_bound"] and facts["shape"]["outputs"] >= 2
    assert "wrong_prior" in facts and "evaluation" in facts
    assert visitor.designed() == design  # the same question has the same name
    mechanism = visitor.get(f"/design/{design}/files/design.mechanism.json").json
    assert mechanism["format"] == "discreet-mechanism/1"
    page = visitor.get(f"/design/{design}").text
    for words in ("expected loss", "no private way below", "bias", "total of 1,000 cells", "regret", "break-even"):
        assert words in page
    assert "Why this shape" in page
    figure = visitor.get(f"/jobs/{design}/figures/0.json").json
    assert figure["description"]


def test_a_choice_is_not_said_to_be_biased(visitor: Visitor) -> None:
    """Near-miss: opening a clinic or not had a bias of 87 % and a total of a thousand cells."""
    toml = SMALL.replace(
        'kind = "squared-error"\nactions = "integer"', 'kind = "expression"\nactions = [0, 1]\npayoff = "a*(omega - 2)"'
    )
    page = visitor.get(f"/design/{visitor.designed(toml)}").text
    assert "choices here, not estimates" in page and "pulled towards the prior</dd>" not in page and "expected payoff" in page


def test_the_twin_holds_what_the_command_line_prints(visitor: Visitor, design: str, tmp_path: Path) -> None:
    from discreet.cli.main import run

    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run(["design", str(tmp_path / "small.toml"), "--gap", "1e-4", "--json"]) == 0
    printed, shown = json.loads(out.getvalue()), visitor.get(f"/design/{design}.json").json
    for name in set(printed) - {"seconds"}:
        assert shown[name] == printed[name], name


def test_events_can_be_followed_from_where_one_was(visitor: Visitor, design: str) -> None:
    whole = visitor.get(f"/jobs/{design}/events").text
    assert whole.startswith("retry:") and whole.rstrip().endswith('data: {"state": "done"}')
    last = max(int(line[4:]) for line in whole.splitlines() if line.startswith("id: "))
    rest = visitor.get(f"/jobs/{design}/events", last_event_id=str(last)).text
    assert "id:" not in rest and "event: ended" in rest


def test_stopping_keeps_what_is_certified(visitor: Visitor) -> None:
    begun = visitor.post("/problem", {"toml": LARGE, "written": "toml", "then": "design", "gap": "1e-9", "seconds": "120"})
    name = begun.json["design"]
    assert visitor.post(f"/jobs/{name}/stop").status == 201
    visitor.ended(name)
    facts = visitor.get(f"/design/{name}.json").json
    if facts["state"] in ("stopped", "done"):  # it had begun
        assert facts["loss"] >= facts["lower_bound"]
        assert visitor.get(f"/design/{name}/files/design.certificate.json").status == 200
    else:
        assert facts["state"] == "failed" and "before it began" in facts["words"]


def test_a_failure_is_told_in_words_and_can_be_asked_again(visitor: Visitor) -> None:
    name = visitor.designed(hedge="50 dogs")
    page = visitor.get(f"/design/{name}")
    assert "Ask again" in page.text and visitor.get(f"/design/{name}.json").json["state"] == "failed"
    assert visitor.post(f"/jobs/{name}/again").status == 201
    visitor.ended(name)


def test_a_hedge_takes_the_limit_beside_plain_noise(visitor: Visitor) -> None:
    """A limit that is no number fails before any search; a limit without a hedge is refused at once."""
    strict, loose = (visitor.get(f"/design/{visitor.designed(hedge='50%', never=n)}.json").json for n in ("1", "none"))
    assert strict["hedge"]["limit"]["loss"] < loose["hedge"]["limit"]["loss"] < 1.6 * strict["hedge"]["limit"]["loss"]
    wrong = visitor.designed(hedge="50%", never="half")
    assert visitor.get(f"/design/{wrong}.json").json["state"] == "failed"
    alone = visitor.post("/problem", {"toml": SMALL, "written": "toml", "then": "design", "never": "1.5"})
    assert alone.status == 422 and "hedge" in alone.json["error"]


def test_too_much_is_refused_before_it_waits(tmp_path: Path) -> None:
    with running(tmp_path, Limits(workers=1, waiting=1, seconds=5)) as visitor:
        problem = visitor.keep()
        assert visitor.post("/design", {"problem": problem, "seconds": "6"}).status == 422
        lane = visitor.served.bench.desk.lanes["long"]
        lane.room = 0
        refused = visitor.post("/design", {"problem": problem})
        assert refused.status == 503 and "queue" in refused.json["error"]
        assert visitor.get("/designs.json").json["designs"] == []
        lane.room, visitor.served.bench.desk.limits = 1, Limits(seconds=5, kept=0)
        full = visitor.post("/design", {"problem": problem})
        assert full.status == 422 and "shelf" in full.json["error"]


def test_a_question_whose_time_is_up_is_ended(tmp_path: Path) -> None:
    with running(tmp_path, Limits(workers=1, grace=-1e9)) as visitor:  # the time is up at once
        problem = visitor.served.bench.shelf.keep_problem(SMALL)
        begun = visitor.post("/design", {"problem": problem}).json["design"]
        assert visitor.get(f"/design/{visitor.ended(begun)}.json").json["state"] == "failed"


def test_a_restart_says_what_was_lost(tmp_path: Path) -> None:
    with running(tmp_path) as visitor:
        name = visitor.designed()
        shelf = visitor.served.bench.shelf
    state = shelf.answers / name / "state.json"
    state.write_text(json.dumps({"state": "running"}), encoding="utf-8")  # as a server that was killed leaves it
    with running(tmp_path) as visitor:
        assert visitor.get("/index.json").json["lost"] == [name]
        assert "restarted" in visitor.get("/").text
        facts = visitor.get(f"/design/{name}.json").json
        assert facts["state"] == "lost" and facts["words"] == LOST
        assert "design.mechanism.json" in visitor.get(f"/design/{name}").text  # what had been certified is still there
        visitor.post(f"/jobs/{name}/again")
        assert visitor.get(f"/design/{visitor.ended(name)}.json").json["state"] == "done"
        assert visitor.get("/index.json").json["lost"] == []


def test_a_key_set_gives_a_mechanism_for_every_size(visitor: Visitor) -> None:
    name = visitor.designed(sizes="street,size\na,3\nb,4\n")
    facts = visitor.get(f"/design/{name}.json").json
    assert facts["state"] == "done" and [member["from"] for member in facts["members"]] == [3, 4]
    assert visitor.get(f"/design/{name}/files/design.family.json").json["format"] == "discreet-family/1"
    assert visitor.get(f"/design/{name}").status == 200


def test_other_promises_are_designed_and_told(visitor: Visitor) -> None:
    name = visitor.designed(SMALL.replace("epsilon = 1", "rho = 0.5"))
    assert visitor.get(f"/design/{name}.json").json["state"] == "done"
    for page in ("", "/reading", "/guarantees", "/report"):
        assert visitor.get(f"/design/{name}{page}").status == 200, page
    promised = visitor.get(f"/design/{name}/guarantees.json").json
    assert "except with a chance" in promised["limits"]["attacker"]["sentences"][0]
    assert [row["kind"] for row in promised["conversions"]["results"] if not row["follows"]] == ["epsilon", "gaussian"]
