"""`--json` of every command: one object and nothing else on standard output, as its schema in views/schemas/ says.

A schema names every key and its type, and which keys are always there; a key that no schema knows is a failure, so that
whoever adds one writes it down. `*_bracket`-like pairs are [lower, upper].
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from office import shell
from problem_texts import small_count

from discreet.cli.main import command_names, load, run
from discreet.views.schema import schema, schema_names

FORGED = "forged.mechanism.json"

CALLS: dict[str, list[str]] = {
    "allocate": [
        "allocate places.toml buses.toml --budget 2 --steps 3 --rounds 1 --workers 1 --gap 0.01 --figure a.svg",
        "allocate buses.toml buses.toml --budget 1 --steps 2 --rounds 1 --workers 1 --gap 0.01 -o parts",
    ],
    "certify": [f"certify {file}" for file in ("places.mechanism.json", FORGED, "sizes.json", "r.robust.json", f"sizes.{FORGED}")],
    "cell-keys.certify": ["cell-keys certify d5v3.txt --delta 0.6", "cell-keys certify d5v3.txt --delta 0.1 --below 2"],
    "cell-keys.convert": ["cell-keys convert d5v3.txt -o t.yaml --format cellkey"],
    "cell-keys.design": [
        "cell-keys design --noise 2 --variance 1 --epsilon 1", "cell-keys design --noise 3 --variance 2 --delta 0.4 -o t.txt",
    ],
    "cell-keys.improve": ["cell-keys improve d5v3.txt --epsilon 1 -o t.txt"],
    "check": [
        "check table.csv --neighbours counts --epsilon 1 --delta 0.1 --rho 1 --at-delta 0.01 --best",
        "check table.csv --for pair.toml", "check table.csv --epsilon 0.1",
    ],
    "check.release": ["check release-2026"],
    "choose": ["choose places.toml --epsilons 1,2", "choose places.toml --limits-only --figure c.svg"],
    "cite": ["cite places.mechanism.json", "cite usual.mechanism.json"],
    "commit": [f"commit {plans} --key publisher.pem" for plans in ("plan.toml", "plan.toml second.toml --batch both")],
    "compare": ["compare places.mechanism.json usual.mechanism.json"],
    "compare.family": ["compare sizes.json sizes.json"],
    "convert": ["convert epsilon=1", "convert rho=0.1 approximate,delta=1e-6", "convert --table", "convert epsilon=1 tradeoff"],
    "design": [
        "design places.toml", "design buses.toml -o b.mechanism.json --figure b.svg",
        "design places.toml --within oblivious --radius 0.01 --alternative other.toml --workers 1",
        "design places.toml --radius 0.02 --figure r.svg --workers 1",
        "design places.toml --draws 2 --counts 89,9,2 --workers 1",
        "design places.toml --slopes --workers 1",
        "design payoff.toml", "design places.toml --hedge 50% --epsilon 2",
    ],
    "design.family": [
        "design places.toml --sizes 4..5 -o f.family.json --workers 1",
        "design places.toml --sizes blocks.csv --hedge 0.5 -o h.json --workers 1",
    ],
    "export": ["export places.mechanism.json -o t.csv", "export usual.mechanism.json -o p.csv --pair"],
    "frontier": [
        "frontier places.toml --points 3 --target 0.9 --gap 0.001 --workers 1 --figure f.svg",
        "frontier places.toml --points 2 --against none --gap 0.01 --workers 1",
    ],
    "learn": ["learn streets.toml question.toml -o new --share 0.2 --until fit --key publisher.pem"],
    "ledger.approve": ["ledger approve both.db --entry 1 --key second.pem"],
    "ledger.backup": ["ledger backup ledger.db -o b.jsonl --key publisher.pem"],
    "ledger.export": ["ledger export ledger.db -o ledger.jsonl"],
    "ledger.head": [f"ledger head ledger.db -o h.json{more}" for more in ("", " --key publisher.pem --request h.tsq")],
    "ledger.heads": ["ledger heads ledger.db", "ledger heads ledger.db --to . --key publisher.pem"],
    "ledger.init": [f"ledger init new.db --population p --unit u --budget 1{key}" for key in ("", " --key k")],
    "ledger.key": ["ledger key publisher.pem", "ledger key fresh.pem --new"],
    "ledger.remaining": ["ledger remaining ledger.db", "ledger remaining both.db"],
    "ledger.restore": ["ledger restore ledger.backup new.db --against release-2026"],
    "ledger.revoke": [],
    "ledger.rotate": ["ledger rotate ledger.db --old publisher.pem --new next.pem"],
    "ledger.show": ["ledger show ledger.db"],
    "ledger.verify": ["ledger verify ledger.db", "ledger verify ledger.db --against release-2026"],
    "levels.plan": ["levels plan counties.toml --level county=usual.mechanism.json -o above"],
    "levels.read": ["levels read by-block by-county -o l.csv --figure l.svg"],
    "limits.family": ["limits sizes.json"],
    "limits": ["limits places.toml", "limits places.mechanism.json", "limits places.mechanism.json --output 1 --figure l.svg"],
    "new": ["new fresh.toml"],
    "noise": ["noise places.toml --seconds 5", "noise buses.toml --no-price", "noise places.toml --no-price"],
    "profile.family": ["profile sizes.json --delta 1e-6 --epsilon 0.5 --times 2"],
    "profile": [
        "profile places.mechanism.json --delta 1e-6 --epsilon 0.5 --times 2", "profile usual.mechanism.json --figure p.svg",
    ],
    "publish": ["publish plan.toml -o again --key publisher.pem", "publish plan.toml --dry-run --against head.json"],
    "read": [
        "read places.mechanism.json 1", "read places.mechanism.json 1 2 --prior mine.toml", "read places.mechanism.json 1 --exact",
        "read places.mechanism.json 1 --about respondent",
    ],
    "register": ['register release-2026 -o r.json --curator A --region B --sector Government --author C --slug D --use E'],
    "report": ["report places.mechanism.json --label", "report release-2026 --label -o l.html",
               "report places.mechanism.json", "report release-2026"],
    "total": [
        "total release-2026 --where block=b0 --share --over 1", "total release-2026 --by block --over 1 --doubt 0.1 --figure t.svg",
        "total release-2026 --where block=b0 --share --doubt 0.1", "total release-2026 --less block=b0 --doubt 0.1",
    ],
    "verify": ["verify release-2026"],
}  # fmt: skip
REFUTED = {"check table.csv --epsilon 0.1", "cell-keys certify d5v3.txt --delta 0.1 --below 2"}
STARTS_FROM = {"commit": "planned", "publish": "committed"}
PAYOFF = small_count(5, decision='kind = "expression"\nactions = ["0", "1", "2"]\npayoff = "omega*a - 0.5*a*a"')


@pytest.fixture
def office(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the office as the command needs it, with a forgery, a second plan and two more problems in it."""
    folder = tmp_path / "office"
    shutil.copytree(request.getfixturevalue(STARTS_FROM.get(request.getfixturevalue("name"), "released")), folder)
    document = json.loads((folder / "places.mechanism.json").read_text(encoding="utf-8"))
    document["guarantee"]["epsilon"] = "1/10"
    document["problem"]["privacy"]["epsilon"] = "1/10"
    (folder / FORGED).write_text(json.dumps(document), encoding="utf-8")
    plan = (folder / "plan.toml").read_text(encoding="utf-8")
    (folder / "second.toml").write_text(plan.replace("children by block", "the same again"), encoding="utf-8")
    (folder / "payoff.toml").write_text(PAYOFF, encoding="utf-8")
    (folder / "pair.toml").write_text(PAYOFF.replace("respondents = 5", "respondents = 2"), encoding="utf-8")
    text = (folder / "places.toml").read_text(encoding="utf-8")
    if request.getfixturevalue("name") in ("certify", "compare.family", "limits.family", "profile.family"):
        few(folder, text)
    kept(folder)
    (folder / "other.toml").write_text(text.replace("0.89, 0.09", "0.79, 0.19"), encoding="utf-8")
    return folder


def kept(folder: Path) -> None:
    """A head, a backup, and a ledger in which two people approve."""
    from discreet.ledger.keys import Signer

    second = Signer.create(folder / "second.pem").public
    place = str(folder / "both.db")
    asked = ["--population", "p", "--unit", "u", "--budget", "1", "--key", str(folder / "first.pem")]
    assert run(["ledger", "init", place, *asked, "--also", second, "--approvals", "2"]) == 0
    assert run(["ledger", "head", str(folder / "ledger.db"), "-o", str(folder / "head.json")]) == 0
    assert run(["ledger", "backup", str(folder / "ledger.db"), "-o", str(folder / "ledger.backup")]) == 0


def few(folder: Path, text: str) -> None:
    """A family, a forged one and a robust file of two respondents."""
    (folder / "few.toml").write_text(text.replace("respondents = 40", "respondents = 2"), encoding="utf-8")
    (folder / "priors.toml").write_text('[[prior]]\nkind = "iid"\nprobabilities = [0.5, 0.3, 0.2]\n', encoding="utf-8")
    few = ["design", str(folder / "few.toml"), "--workers", "1", "-o"]
    assert run([*few, str(folder / "sizes.json"), "--sizes", "2..3", "--kept", str(folder / "kept")]) == 0
    assert run([*few, str(folder / "r.mechanism.json"), "--priors", str(folder / "priors.toml")]) == 0
    document = json.loads((folder / "sizes.json").read_text(encoding="utf-8"))
    document["members"][0]["values"]["2"] = "0"
    (folder / f"sizes.{FORGED}").write_text(json.dumps(document), encoding="utf-8")


def answers(name: str) -> list[tuple[str, str]]:
    """Every call with its command's name."""
    return [(name, call) for call in CALLS[name]]


@pytest.mark.parametrize(("name", "call"), [pair for name in CALLS for pair in answers(name)])
def test_json_is_one_object_that_its_schema_allows(
    name: str, call: str, office: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(office)
    capfd.readouterr()
    code = run([*call.split(), "--json"])
    out, err = capfd.readouterr()
    assert code == (1 if FORGED in call or call in REFUTED else 0), err
    wrong = [f"{list(e.absolute_path)}: {e.message}"[:300] for e in Draft202012Validator(schema(name)).iter_errors(json.loads(out))]
    assert wrong == []


def test_every_command_has_a_schema() -> None:
    found = set()
    for name in command_names():
        inner = getattr(load(name), "commands", {})
        found |= {f"{name}.{one}" for one in inner} if inner else {name}
    assert found - {"serve", "demo"} <= set(CALLS)
    assert set(schema_names()) == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_schemas_are_schemas_that_refuse_strangers(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    assert list(Draft202012Validator(schema(name)).iter_errors({"a stranger": 1})), "a schema that allows anything tests nothing"


@pytest.mark.parametrize(
    ("name", "promised"),
    [
        (
            "design",
            "value bound relative_gap reduction theorem states outputs baselines seconds",
        ),
        ("profile", "epsilon delta rho renyi tradeoff mi witness"),
        ("read", "probability posterior"),
    ],
)
def test_promised_keys_are_always_there(name: str, promised: str) -> None:
    assert set(promised.split()) <= set(schema(name)["required"])


@pytest.mark.parametrize("name", ["ledger.revoke"])
def test_revoking_prints_json(name: str, office: Path) -> None:
    from discreet.ledger.keys import Signer

    old = Signer.read(office / "publisher.pem").fingerprint
    assert shell(office, "ledger", "rotate", "ledger.db", "--old", "publisher.pem", "--new", "next.pem").returncode == 0
    done = shell(office, "ledger", "revoke", "ledger.db", "--fingerprint", old, "--key", "next.pem", "--json")
    assert list(Draft202012Validator(schema(name)).iter_errors(json.loads(done.stdout))) == []


def test_every_outcome_of_two_orders_is_allowed() -> None:
    """Which evidence an order has depends on the mechanisms: a garbling, a decision, a deficiency, peaks, or nothing."""
    pair = Draft202012Validator(schema("compare")["properties"]["orders"]["items"])
    named = {"first": "a", "second": "b"}
    assert pair.is_valid(named | {"undecided": "too large"}) and not pair.is_valid(named)
    decision = {"values": ["0", "1"], "payoff_times_prior": [["1", "-1"]], "advantage": 0.1}
    every = [
        {"holds": True, "within": True, "garbling": [[1.0, 0.0]]}, {"holds": False, "within": False, "decision": decision},
        {"holds": None, "within": False, "deficiency": 0.2},
        {"holds": False, "within": True, "decision": decision, "deficiency": 1e-9},
    ]  # fmt: skip
    plain = {"holds": None, "within": None}
    ways = {"first_over_second": plain, "second_over_first": plain}
    peaked = {"first_over_second": {"holds": True, "within": True, "peaks": {"0": "1"}}, "second_over_first": plain}
    indexed = {way: plain | {"index": "posterior mean"} for way in ways}
    chains = {"first": plain | {"order": ["0", "1"]}, "second": plain | {"counterexample": ["0", "1"]}}
    for way in every:
        found = named | {
            "statistic": ["0", "1"], "exact": True, "outputs": [["0"], ["0"]], "oblivious": [True, True], "monotone": ways,
            "blackwell": ways | {"first_over_second": way}, "uprr": peaked, "supermodular": indexed, "mlrp": chains,
            "first_order": chains,
        }  # fmt: skip
        assert list(pair.iter_errors(found)) == []
        assert not pair.is_valid(found | {"blackwell": ways | {"first_over_second": way | {"strange": 1}}})
