"""Batches from commitment to release: one charge, each plan drawn once, and every kind of tampering found."""

from __future__ import annotations

import json
import multiprocessing
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from forging import restated_metadata
from test_verification import edited, failed, resealed
from towns import Town, bell_mechanism, make_batch, make_town, publish_until_done, town_mechanism

from discreet import files
from discreet.errors import BudgetExceeded, InputError
from discreet.ledger.batches import KNOWN_EPSILON, KNOWN_LOSS, Batch
from discreet.ledger.chain import Entry
from discreet.publish import commit, commit_batch, publish, verify
from discreet.publish.commitment import Commitment
from discreet.publish.verdict import ATTESTED
from discreet.publish.verification import verified

KILLING = Path(__file__).parent / "killing.py"
DELTA = Fraction(1, 10**5)


def batch_of(town: Town) -> Batch:
    with town.ledger() as book:
        [event] = book.state.commitments.values()
    return Batch.from_event(event)


def test_the_whole_batch_is_reserved_at_the_first_publication_and_never_more(tmp_path: Path) -> None:
    towns = make_batch(tmp_path / "town")
    assert towns[0].remaining() == 5 and towns[0].stages() == []
    for town in (towns[1], towns[0], towns[2]):
        town.publish(signer=town.signer)
        assert town.remaining() == 2
        assert verify(town.target, town.signer.fingerprint).holds
    with towns[0].ledger() as book:
        assert book.verify() is None
    assert towns[0].stages() == ["released"] * 3


def test_a_second_draw_of_a_member_is_refused_and_a_commitment_of_its_own_is_charged(tmp_path: Path) -> None:
    [town, *_] = make_batch(tmp_path / "town")
    town.publish()
    with pytest.raises(InputError, match="at most once"):
        town.publish(town.folder / "again")
    assert town.remaining() == 2 and not list(town.folder.glob(".again*"))
    with town.ledger() as book:
        commit(town.bundle(), book, town.signer)
    town.publish(town.folder / "again")
    assert town.remaining() == 1


def test_twenty_tables_at_a_tenth_cost_less_than_two(tmp_path: Path) -> None:
    towns = make_batch(
        tmp_path / "town", 20, currency="approximate", cap=Fraction(2), delta=DELTA, mechanism=town_mechanism(epsilon="1/10")
    )
    batch = batch_of(towns[0])
    assert batch.rule == KNOWN_EPSILON and Fraction(3, 2) < batch.cost.epsilon < Fraction(9, 5)
    assert batch.cost.delta == DELTA / 4, "half of the half that releases may spend"
    for town in towns[:2]:
        town.publish()
    assert town.remaining() >= 2 - batch.cost.epsilon
    verdict = verify(town.target)
    assert verdict.holds
    assert any("20 plans" in c.words and KNOWN_EPSILON in c.words and c.holds for c in verdict.checks)
    assert any("other members" in c.words and c.kind == ATTESTED and c.holds is None for c in verdict.checks)
    stated = json.loads((town.target / "facts.json").read_text())
    assert stated["accounting"]["batch"]["plans"] == 20
    assert "one of 20 that were committed together (waves)" in (town.target / "index.html").read_text()


def test_known_losses_cost_less_and_are_held_to_the_mechanism(tmp_path: Path) -> None:
    """Bell curves at ε = 2: their losses are mostly small. A pair that promises too much is refused at publishing."""
    towns = make_batch(tmp_path / "town", 6, currency="approximate", cap=Fraction(12), delta=DELTA, mechanism=bell_mechanism())
    batch = batch_of(towns[0])
    alone = sum(member.cost.epsilon for member in batch.members)
    assert batch.rule == KNOWN_LOSS and batch.cost.epsilon < 5 < alone / 2 + 1
    assert len({member.part.pair for member in batch.members}) == 1
    towns[0].publish()
    assert verify(towns[0].target).holds
    with towns[1].ledger() as book:
        [event] = [dict(e) for e in book.state.commitments.values()]
    bundle = towns[1].bundle()
    assert Commitment("0" * 64, event, 1).shortfall(bundle) is None
    event["pairs"] = [{"first": ["1", "1"], "second": ["1", "1"], "denominator": "2"}]
    event["cost"] = event["cost"] | {"epsilon": "1"}
    assert "does not hold" in str(Commitment("0" * 64, event, 1).shortfall(bundle))


def test_moves_touch_two_cells_in_composition_too(tmp_path: Path) -> None:
    town, *_ = make_batch(
        tmp_path / "town", 4, currency="approximate", cap=Fraction(12), delta=DELTA, protects="moves",
        mechanism=town_mechanism(epsilon="1/10"),
    )  # fmt: skip
    batch = batch_of(town)
    assert [(member.part.epsilon, member.part.times) for member in batch.members] == [(Fraction(1, 10), 2)] * 4
    assert batch.cost.epsilon <= Fraction(8, 10)


@pytest.mark.parametrize("currency", ["pure", "zcdp", "approximate"])
def test_a_batch_that_exceeds_the_budget_draws_nothing(tmp_path: Path, currency: str) -> None:
    cap = Fraction(1, 2)
    towns = make_batch(tmp_path / "town", currency=currency, cap=cap, delta=DELTA if currency == "approximate" else Fraction(0))
    for town in towns:
        (town.folder / "people.csv").unlink(missing_ok=True)
        with pytest.raises(BudgetExceeded):
            town.publish()
    assert towns[0].remaining() == cap and towns[0].stages() == []


def test_missing_data_gives_the_batch_back_only_while_nothing_was_drawn(tmp_path: Path) -> None:
    towns = make_batch(tmp_path / "town")
    people = towns[0].folder / "people.csv"
    kept = people.read_text()
    people.unlink()
    with pytest.raises(InputError):
        towns[0].publish()
    assert towns[0].remaining() == 5
    people.write_text(kept)
    towns[1].publish()
    people.unlink()
    with pytest.raises(InputError):
        towns[0].publish()
    assert towns[0].remaining() == 2 and towns[0].stages() == ["withdrawn", "released", "withdrawn"]
    people.write_text(kept)
    towns[0].publish()
    assert towns[0].remaining() == 2 and verify(towns[0].target).holds


@pytest.mark.parametrize("step", ["count", "spend", "draw", "stage", "write", "rename", "record"])
def test_killed_in_a_batch(tmp_path: Path, step: str) -> None:
    """The batch counts as spent, the member that was interrupted is finished or burned, the others go on."""
    first, second, _ = make_batch(tmp_path / "town")
    done = subprocess.run(
        [sys.executable, str(KILLING), "step", str(first.folder), step, first.member],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert first.remaining() == 2
    second.publish()
    assert verify(second.target).holds
    if step in ("write", "rename", "record"):
        assert publish_until_done(first) == 0
        assert verify(first.target).holds
    else:
        with pytest.raises(InputError, match="Commit this plan again"):
            first.publish()
        with pytest.raises(InputError, match="at most once"):
            first.publish()
        assert first.stages() == ["burned", "released"] and not first.target.exists()
    assert first.remaining() == 2, "never more, never refunded"
    assert not list(first.folder.glob(".release*"))
    with first.ledger() as book:
        assert book.verify() is None


def _publish(folder: str, member: str, results: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    try:
        town = Town(Path(folder), member)
        town.publish(town.folder / f"by-{multiprocessing.current_process().pid}")
        results.put(member)
    except InputError:
        results.put(None)


def test_eight_processes_publish_the_members_of_one_batch(tmp_path: Path) -> None:
    """Two for each of four plans: one charge, each plan published once."""
    towns = make_batch(tmp_path / "town", 4)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    workers = [context.Process(target=_publish, args=(str(town.folder), town.member, results)) for town in towns for _ in range(2)]
    for worker in workers:
        worker.start()
    drawn = [results.get(timeout=600) for _ in workers]
    for worker in workers:
        worker.join(timeout=600)
    assert sorted(member for member in drawn if member is not None) == ["0", "1", "2", "3"]
    assert towns[0].stages() == ["released"] * 4 and towns[0].remaining() == 1
    folders = list(towns[0].folder.glob("by-*"))
    assert len(folders) == 4 and all(verify(folder).holds for folder in folders)


def test_a_member_swapped_after_the_commitment(tmp_path: Path) -> None:
    town, *_ = make_batch(tmp_path / "town")
    files.write_mechanism(town.folder / "yes.mechanism.json", town_mechanism(epsilon="1/2"))
    (town.folder / "people.csv").unlink()
    with pytest.raises(InputError, match="not committed"):
        town.publish()
    assert town.stages() == []


def test_a_plan_that_is_no_member_is_not_drawn_under_the_batch(tmp_path: Path) -> None:
    town, *_ = make_batch(tmp_path / "town")
    town.plan.write_text(town.plan.read_text().replace("wave 0", "wave 9"))
    with town.ledger() as book, pytest.raises(InputError, match="not committed"):
        publish(town.bundle(), town.target, book, signer=town.signer)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Town:
    towns = make_batch(
        tmp_path_factory.mktemp("batch") / "town", 5, currency="approximate", cap=Fraction(3), delta=Fraction(1, 100),
        mechanism=town_mechanism(epsilon="1/10"), signed=False, share=Fraction(1, 200),
    )  # fmt: skip
    towns[3].publish()
    return towns[3]


def rechained(document: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> None:
    """The folder's entries made anew with another batch, hashes and all, as a forger without a key would."""
    last, renamed = None, {}
    for i, entry in enumerate(document["entries"]):
        event = json.loads(json.dumps(entry["event"]))
        if "members" in event:
            change(event)
        event |= {key: renamed[event[key]] for key in ("commitment", "reservation") if key in event}
        last = Entry.after(last, entry["time"], event)
        renamed[entry["hash"]] = last.hash
        document["entries"][i] = last.document()
    assert last is not None
    document |= {key: renamed[document[key]] for key in ("commitment", "reservation")}
    document["head"] = {"sequence": last.sequence, "hash": last.hash}


FORGERIES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "the cost lowered by a billionth": (
        lambda e: e["cost"].update(epsilon=str(Fraction(e["cost"]["epsilon"]) - Fraction(1, 10**9))), "The cost of the whole batch",
    ),
    "a member added": (
        lambda e: e["members"].append(e["members"][0] | {"hashes": {"plan": "f" * 64}}), "The cost of the whole batch",
    ),
    "this member swapped for another": (
        lambda e: e["members"].__setitem__(3, e["members"][1]), "The plan is",
    ),
    "this member cheaper": (
        lambda e: e["members"][3]["part"].update(epsilon="0.05"), "The cost in the ledger",
    ),
    "this member cheaper alone": (
        lambda e: e["members"][3]["cost"].update(epsilon="0.05"), "The cost in the ledger",
    ),
    "another currency's rule": (lambda e: e.update(rule="sum"), "The cost of the whole batch"),
}  # fmt: skip


@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_batches_are_found_from_the_folder(released: Town, tmp_path: Path, forgery: str) -> None:
    folder = Path(shutil.copytree(released.target, tmp_path / "release"))
    assert verify(folder).holds
    change, words = FORGERIES[forgery]
    edited(folder, "ledger.json", lambda document: rechained(document, change))
    resealed(folder)
    found = failed(verified(folder))
    assert any(text.startswith(words) for text in found), found


def test_a_member_drawn_twice_is_found_from_the_folder(released: Town, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(released.target, tmp_path / "release"))

    def twice(document: dict[str, Any]) -> None:
        last = Entry.from_document(document["entries"][-1])
        more = Entry.after(last, last.time, {"kind": "reserve", "commitment": document["commitment"], "member": 3})
        document["entries"].append(more.document())
        document["head"] = {"sequence": more.sequence, "hash": more.hash}

    edited(folder, "ledger.json", twice)
    resealed(folder)
    assert "Each member of the batch was drawn at most once" in failed(verified(folder))


def with_steps(document: dict[str, Any], before: str, kinds: tuple[str, ...]) -> None:
    """The folder's chain made anew with more steps of this member before its reservation or its draw."""
    entries = [dict(entry) for entry in document["entries"]]
    place = next(i for i, entry in enumerate(entries) if entry["event"]["kind"] == before)
    name = "0" * 64 if before == "reserve" else document["reservation"]
    bare: dict[str, Any] = {"reserve": {"commitment": document["commitment"], "member": 3}}
    steps = [{"kind": kind} | bare.get(kind, {"reservation": name}) for kind in kinds]
    more = [{"time": entries[place]["time"], "event": step, "hash": name if step["kind"] == "reserve" else ""} for step in steps]
    document["entries"] = [*entries[:place], *more, *entries[place:]]
    rechained(document, lambda _: None)


@pytest.mark.parametrize(
    ("before", "kinds"),
    [
        ("reserve", ("reserve", "spend", "withdraw")),
        ("reserve", ("reserve", "withdraw", "spend")),
        ("spend", ("withdraw",)),
        ("spend", ("burn",)),
    ],
)
def test_a_draw_that_was_withdrawn_or_burned_is_found_from_the_folder(
    released: Town, tmp_path: Path, before: str, kinds: tuple[str, ...]
) -> None:
    """Steps that no ledger takes, in a chain whose hashes fit; the near-miss is a member withdrawn before its draw."""
    folder = Path(shutil.copytree(released.target, tmp_path / "release"))
    edited(folder, "ledger.json", lambda document: with_steps(document, before, kinds))
    resealed(folder)
    found = failed(verified(folder))
    assert "In ledger order: committed, then reserved, then drawn" in found
    assert "Each member of the batch was drawn at most once" in found


def test_a_member_withdrawn_before_its_draw_may_be_drawn_later(released: Town, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(released.target, tmp_path / "release"))
    edited(folder, "ledger.json", lambda document: with_steps(document, "reserve", ("reserve", "withdraw")))
    assert not any("drawn" in words or "currency" in words for words in failed(verified(folder)))


@pytest.mark.parametrize("change", ["another currency", "no first entry", "a pure ledger"])
def test_the_currency_is_the_one_that_the_ledger_was_made_with(released: Town, tmp_path: Path, change: str) -> None:
    """A batch that spends δ, told as one of a ledger that has none."""
    folder = Path(shutil.copytree(released.target, tmp_path / "release"))

    def forged(document: dict[str, Any]) -> None:
        if change == "no first entry":
            document["entries"] = document["entries"][1:]
            rechained(document, lambda _: None)
            return
        document["currency"] = "pure"
        if change == "a pure ledger":
            document["entries"][0]["event"]["currency"] = "pure"
            rechained(document, lambda _: None)

    edited(folder, "ledger.json", forged)
    stated = json.loads((folder / "ledger.json").read_text())["currency"]
    edited(folder, "facts.json", lambda d: d["accounting"].update(currency=stated))
    restated_metadata(folder)
    resealed(folder)
    assert "The currency is the one that the ledger was made with" in failed(verified(folder))


def test_plans_about_different_people_are_no_batch(tmp_path: Path) -> None:
    town, *others = make_batch(tmp_path / "town")
    others[0].plan.write_text(others[0].plan.read_text().replace("the town", "another town"))
    with town.ledger() as book:
        with pytest.raises(InputError, match="different populations"):
            commit_batch([town.bundle(), others[0].bundle()], book, town.signer)
        with pytest.raises(InputError, match="twice"):
            commit_batch([town.bundle(), town.bundle()], book, town.signer)
        with pytest.raises(InputError, match="more δ than is left"):
            commit_batch([town.bundle(), others[1].bundle()], book, town.signer, delta=Fraction(1, 10))


def test_what_is_spent_on_the_batch_is_not_there_for_others(tmp_path: Path) -> None:
    """The charge of a batch and of single releases add up: the near-miss of one more release."""
    town, *_ = make_batch(tmp_path / "town", 3, cap=Fraction(4) - Fraction(1, 10**9))
    town.publish()
    other = make_town(tmp_path / "other")
    shutil.copy(other.plan, town.folder / "plan.toml")
    single = Town(town.folder)
    with single.ledger() as book:
        commit(single.bundle(), book, single.signer)
    with pytest.raises(BudgetExceeded):
        single.publish()
    assert single.remaining() == 1 - Fraction(1, 10**9)
