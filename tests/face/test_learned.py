"""From a plan without a prior to a release whose prior anyone computes again; and everybody who would like to cheat on the way."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import pytest
from learned_folders import adds_up, altered, one_digit
from learners import QUESTION, County, make

from discreet.engines import ReferenceEngine
from discreet.engines.selection import Counts
from discreet.errors import BudgetExceeded, DiscreetError, InputError, Refuted
from discreet.files.canonical import canonical_bytes
from discreet.files.mechanism import mechanism_document
from discreet.files.plan import read_plan
from discreet.files.problem import read_problem
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan
from discreet.model.priors import MixturePrior
from discreet.numerics.digits import at_most
from discreet.publish import commit, gather, verify
from discreet.publish.agreement import agreement
from discreet.publish.cells import published_cells
from discreet.publish.learned import does_not_follow, read_learned
from discreet.publish.release import STEPS
from discreet.views.learning import designed_view
from discreet.views.subject import subject_of
from discreet.watch import Silent


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> County:
    county = make(tmp_path_factory.mktemp("learned") / "county")
    county.learn()
    return county


@pytest.fixture
def county(done: County, tmp_path: Path) -> County:
    """A copy of a county in which everything was published."""
    shutil.copytree(done.folder, tmp_path / "county")
    return County(tmp_path / "county")


def test_the_prior_is_enforced_and_both_releases_are_paid_for(done: County) -> None:
    verdict = verify(done.folder / "out" / "release", done.signer.fingerprint)
    assert verdict.holds
    assert [c.kind for c in verdict.checks if "learning release that it names" in c.words] == ["enforced"]
    with done.ledger() as ledger:
        assert ledger.remaining("the towns", "person") == 2  # ε = 1 for each of two cells that a move reaches
    problem = read_problem(done.folder / "out" / "problem.toml")
    assert problem.prior.kind == "release" and problem.epsilon == Fraction(4, 5)
    assert agreement(done.folder / "out" / "release").cells == 28


def test_a_learned_release_adds_up_and_the_numbers_that_were_learned_do_not(done: County) -> None:
    adds_up(done.folder / "out" / "release")
    with pytest.raises(InputError, match="learning release are no cells"):
        published_cells(done.folder / "out" / "learned")


def test_a_hedged_release_has_the_least_worst_regret_over_all_that_was_learned(tmp_path: Path) -> None:
    """Members are ordinary mechanisms under the learned prior; asked again, nothing is made twice; other choices are refused."""
    county = make(tmp_path / "county")
    found = county.learn(hedged=True, gap=0.05)
    assert found.designs is not None and found.release is not None
    made = found.designs[()].made
    for one in made:
        assert one.regret is not None and one.regret.finished
        assert 0 <= one.regret.least <= one.regret.worst <= one.regret.unhedged + Fraction(1, 10)
    members = found.designs[()].family.members
    assert {m.mechanism.provenance["reduction"] for m in members} == {"hedge"}
    for member, one in zip(members, made, strict=True):  # what was computed goes wherever the mechanism goes
        assert one.regret is not None
        assert member.mechanism.provenance["hedge, worst regret"].startswith(at_most(one.regret.worst))
    assert verify(found.release, county.signer.fingerprint).holds
    again = county.learn(hedged=True, gap=0.05).designs
    assert again is not None and all(one.cached for one in again[()].made)
    assert [one.regret for one in again[()].made] == [one.regret for one in made]
    shown = designed_view(found.designs).facts["hedged"]
    assert shown["least_worst_regret"] <= shown["worst_regret"] and shown["unfinished"] == 0
    with pytest.raises(InputError, match="begun with other choices"):
        county.learn()


def test_both_releases_are_counted_by_the_engine_that_was_asked_for(tmp_path: Path) -> None:
    """A plan that runs on Spark learns on Spark: whichever engine is named counts what is learned from and what is published."""

    class Counting(ReferenceEngine):
        asked: ClassVar[list[str]] = []

        def counts(self, plan: Plan, key_set: KeySet, key: bytes, frame: object = None) -> Counts:
            self.asked.append(plan.dataset)
            return super().counts(plan, key_set, key, frame)

    found = make(tmp_path / "county").learn(engine=Counting())
    assert found.release is not None
    assert Counting.asked == ["answers by street: to learn from", "answers by street"]


def test_asking_again_changes_nothing(done: County) -> None:
    before = {path: path.read_bytes() for path in (done.folder / "out").rglob("*") if path.is_file()}
    done.learn()
    assert before == {path: path.read_bytes() for path in (done.folder / "out").rglob("*") if path.is_file()}


def forgetful(prior: dict[str, object]) -> None:
    """The same numbers, without saying where they come from."""
    for key in ("release", "rule"):
        prior.pop(key)
    prior["kind"] = "exchangeable" if "concentration" in prior else "iid"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (one_digit, "not what follows"),
        (lambda prior: prior.update(release="0" * 64), "another learning release"),
        (lambda prior: prior.update(rule="discreet-fit/0"), "rule that is not known"),
        (lambda prior: prior.update(change="1/2"), "not what follows"),
        (lambda prior: prior.update(stratum=["town 0"]), "another stratum"),
        (forgetful, "not every prior names it"),
    ],
)  # fmt: skip
def test_a_prior_that_does_not_follow_is_refuted_before_it_is_committed(
    county: County, change: Callable[[dict[str, object]], None], words: str
) -> None:
    altered(county, change)
    with pytest.raises(Refuted, match=words):
        gather(county.folder / "out" / "plan.toml")


def test_a_prior_with_one_digit_changed_is_refuted_by_whoever_verifies(county: County) -> None:
    """The forger owns the key and commits, publishes and signs: only the rule contradicts."""
    altered(county, one_digit)
    bundle = gather_unchecked(county)
    assert does_not_follow(bundle) is not None
    with county.ledger() as ledger, pytest.raises(Refuted):
        commit(bundle, ledger, county.signer)


def gather_unchecked(county: County):  # type: ignore[no-untyped-def]
    from discreet.files.canonical import parse_json
    from discreet.files.plan import located, read_key_set
    from discreet.publish.bundle import Bundle, members_of

    place = county.folder / "out"
    written = read_plan(place / "plan.toml")
    plan = located(written, place)
    document = parse_json((place / "mechanism.family.json").read_bytes(), "the family")
    learned = read_learned(place / "learned")
    return Bundle(plan, written, read_key_set(plan.key_set, plan), members_of(document), document, learned=learned)


def test_a_forged_release_is_refuted_from_its_folder_alone(county: County, monkeypatch: pytest.MonkeyPatch) -> None:
    altered(county, one_digit)
    bundle = gather_unchecked(county)
    import discreet.publish.commitment as commitments
    from discreet.publish import publish

    monkeypatch.setattr(commitments, "does_not_follow", lambda *_: None)  # the forger's own software
    with county.ledger() as ledger:
        commit(bundle, ledger, county.signer)
        publish(bundle, county.folder / "forged", ledger, signer=county.signer)
    verdict = verify(county.folder / "forged", county.signer.fingerprint)
    assert not verdict.holds
    failed = [check for check in verdict.checks if check.holds is False]
    assert ["learning release that it names" in check.words for check in failed] == [True]
    assert "not what follows" in failed[0].found


def test_a_tampered_learning_folder_is_refused(county: County) -> None:
    table = county.folder / "out" / "learned" / "release.csv"
    table.write_bytes(table.read_bytes().replace(b"at least 1", b"at least 2", 1))
    with pytest.raises(Refuted, match="changed after it was published"):
        gather(county.folder / "out" / "plan.toml")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('population = "the towns"', 'population = "elsewhere"', "another population"),
        ('absent = 0', 'absent = 1', "another plan"),
        ('padding = true', 'padding = true\nsize = "size"', None),
    ],
)  # fmt: skip
def test_a_learning_release_of_something_else_is_refused(county: County, old: str, new: str, words: str | None) -> None:
    place = county.folder / "out" / "plan.toml"
    text = place.read_text(encoding="utf-8")
    if words is None:
        text, old, new = text.replace('size = "size"\n', ""), "padding = true", 'padding = true\nsize = "size"'
    assert old in text
    place.write_text(text.replace(old, new), encoding="utf-8")
    if words is None:
        gather(place)
        return
    with pytest.raises(Refuted, match=words):
        gather(place)


def test_a_learning_release_of_another_ledger_is_refused(county: County) -> None:
    bundle = gather(county.folder / "out" / "plan.toml")
    other = make(county.folder.parent / "other")
    with other.ledger() as ledger, pytest.raises(Refuted, match="another ledger"):
        commit(bundle, ledger, other.signer)


def test_a_plan_whose_prior_names_a_release_must_bring_it(county: County) -> None:
    place = county.folder / "out" / "plan.toml"
    place.write_text(place.read_text(encoding="utf-8").replace('learned = "learned"\n', ""), encoding="utf-8")
    with pytest.raises(Refuted, match="does not bring"):
        gather(place)


@pytest.mark.parametrize("killed", ["learn", "fit", "design", "publish"])
def test_an_interruption_before_any_step_loses_nothing(tmp_path: Path, killed: str) -> None:
    county = make(tmp_path / "county")

    def die(step: str) -> None:
        if step == killed:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        county.learn(step=die, strata=("town",))
    assert verify(county.learn(strata=("town",)).release or Path()).holds
    with county.ledger() as ledger:
        assert ledger.remaining("the towns", "person") == 2


class Heard(Silent):
    """Keeps the names of the stages that it is told."""

    def __init__(self) -> None:
        self.stages: set[str] = set()

    def report(self, *, stage: str, **_unused: object) -> None:
        self.stages.add(stage)


def test_strata_have_priors_and_mechanisms_of_their_own(tmp_path: Path) -> None:
    county = make(tmp_path / "county")
    heard = Heard()
    found = county.learn(strata=("town",), watch=heard)
    assert not heard.stages & set(STEPS), "whoever watches designs with a clock hears nothing of counting and drawing"
    assert found.found is not None and set(found.found) == {("town 0",), ("town 1",)}
    adds_up(county.folder / "out" / "release")
    document = json.loads((county.folder / "out" / "mechanism.strata.json").read_text(encoding="utf-8"))
    priors = [one["family"]["members"][0]["mechanism"]["problem"]["prior"] for one in document["strata"]]
    assert [prior["stratum"] for prior in priors] == [["town 0"], ["town 1"]]
    assert found.release is not None
    with (found.release / "release.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in (rows[0], rows[-1]):
        read = subject_of(found.release, where=[f"{name}={row[name]}" for name in ("town", "street")])
        assert mechanism_document(read.mechanism)["problem"]["prior"]["stratum"] == [row["town"]]
    with pytest.raises(InputError, match="keys of a cell"):
        subject_of(found.release)
    document["strata"][0]["stratum"], document["strata"][1]["stratum"] = ["town 1"], ["town 0"]
    (county.folder / "out" / "mechanism.strata.json").write_bytes(canonical_bytes(document) + b"\n")
    with pytest.raises(DiscreetError):
        gather(county.folder / "out" / "plan.toml")


def test_what_cannot_work_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    poor = make(tmp_path / "poor", budget=1)
    with pytest.raises(BudgetExceeded):
        poor.learn()
    for share in ("0", "1"):
        with pytest.raises(InputError, match="leaves nothing"):
            poor.learn(share=share)
    question = poor.folder / "question.toml"
    question.write_text(QUESTION + '[prior]\nkind = "iid"\nprobabilities = [0.5, 0.5]\n', encoding="utf-8")
    with pytest.raises(InputError, match="brings a prior"):
        poor.learn()
    question.write_text(QUESTION.replace("[0, 1]", "[0, 1, 2]"), encoding="utf-8")
    with pytest.raises(InputError, match="other types"):
        poor.learn()
    with poor.ledger() as ledger:
        assert ledger.remaining("the towns", "person") == 1


def test_streets_of_two_kinds_are_learned_as_a_mixture_and_enforced(tmp_path: Path) -> None:
    """Every third street is full, the others nearly empty; then the weights, and the rule, are forged."""
    county = make(tmp_path / "county", 64, question=QUESTION.replace("epsilon = 1", "epsilon = 16"), full=120)
    found = county.learn(kinds=True)
    assert found.found is not None and found.release is not None
    kinds = found.found[()].kinds
    assert kinds is not None and kinds.gain > kinds.needed
    assert kinds.weights[-1] == pytest.approx(1 / 3, abs=0.08) and kinds.shares[-1] == pytest.approx(0.52, abs=0.08)
    problem = read_problem(county.folder / "out" / "problem.toml")
    assert isinstance(problem.prior, MixturePrior) and problem.prior.origin is not None
    assert problem.prior.kind == "release" and problem.prior.origin.rule == "discreet-fit/2"
    verdict = verify(found.release, county.signer.fingerprint)
    assert verdict.holds and [c.kind for c in verdict.checks if "learning release that it names" in c.words] == ["enforced"]
    assert agreement(found.release).cells == 120 and published_cells(found.release) is not None
    family = county.folder / "out" / "mechanism.family.json"
    kept = family.read_bytes()

    def shift(prior: dict[str, object]) -> None:
        first, *_, last = prior["components"]  # type: ignore[misc]
        for one, by in ((first, 1), (last, -1)):
            one["weight"] = str(Fraction(one["weight"]) + Fraction(by, 1000))

    for change, words in ((shift, "not what follows"), (lambda p: p.update(rule="discreet-fit/1"), "rule that is not known")):
        altered(county, change)
        with pytest.raises(Refuted, match=words):
            gather(county.folder / "out" / "plan.toml")
        family.write_bytes(kept)
    gather(county.folder / "out" / "plan.toml")


def test_kinds_do_not_go_with_a_hedge_and_nothing_is_spent(tmp_path: Path) -> None:
    county = make(tmp_path / "county")
    with pytest.raises(InputError, match="of cells"):
        county.learn(kinds=True, hedged=True)
    with county.ledger() as ledger:
        assert ledger.remaining("the towns", "person") == 4


def test_other_choices_in_the_same_folder_are_refused(done: County) -> None:
    with pytest.raises(InputError, match="begun with other choices"):
        done.learn(share="0.3")
