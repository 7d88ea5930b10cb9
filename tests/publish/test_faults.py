"""What goes wrong on real machines, and what people do: full disks, read-only places, swapped files, two at once."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import time
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from forging import resealed
from towns import Town, make_town, publish_until_done, town_mechanism

import discreet.files.atomic as atomic
from discreet import certify, files
from discreet.engines import engine_named
from discreet.engines.duck import DuckEngine
from discreet.errors import BudgetExceeded, DiscreetError, InputError, Refuted, TooLarge, UnreadableRows
from discreet.model.certificate import Certificate
from discreet.model.kernel import GeometricKernel
from discreet.model.promises import ApproximatePromise, PurePromise
from discreet.publish import commit, gather, publish, verify
from discreet.publish.verification import verified


class FullDisk:
    """Every file that is made durable from a certain step on meets a full disk."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, since: str) -> None:
        self.since = since
        self.full = False
        durable = os.fsync

        def fsync(handle: int) -> None:
            if self.full:
                raise OSError(errno.ENOSPC, "No space left on device")
            durable(handle)

        monkeypatch.setattr(atomic.os, "fsync", fsync)

    def step(self, name: str) -> None:
        self.full = self.full or name == self.since


def test_a_disk_that_is_full_before_the_draws_are_kept_burns_them(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = FullDisk(monkeypatch, "stage")
    with pytest.raises(InputError, match="No space"):
        town.publish(step=disk.step)
    assert town.stages() == ["spent"] and not town.target.exists()
    disk.full = False
    assert publish_until_done(town) == 1
    assert town.stages() == ["burned", "released"] and town.remaining() == 3


def test_a_disk_that_is_full_afterwards_costs_nothing_more(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = FullDisk(monkeypatch, "write")
    with pytest.raises(InputError, match="No space"):
        town.publish(step=disk.step)
    [kept] = town.folder.glob(".release.staging/draws.bin")
    drawn = np.frombuffer(kept.read_bytes(), dtype="<i8")
    assert not town.target.exists()
    disk.full = False
    town.publish()
    lines = (town.target / "release.csv").read_text().splitlines()[1:]
    assert [line.split(",")[2] for line in lines] == [str(d) for d in drawn], "the kept draws are what is published"
    assert town.stages() == ["released"] and town.remaining() == 4


@pytest.mark.parametrize(("length", "stages"), [(6, ["released"]), (60_000_000, ["reserved"])])
def test_memory_that_runs_out_on_one_long_value_is_not_given_back(tmp_path: Path, length: int, stages: list[str]) -> None:
    """What one row can bring about must not be free: whoever planted the row would learn whether it is in the data."""
    import duckdb

    town = make_town(tmp_path / "town")
    row = f"SELECT 's' || (i // 4) AS street, CASE WHEN i = 5 THEN repeat('0', {length}) ELSE '1' END AS answer"
    duckdb.sql(f"COPY ({row} FROM range(12) t(i)) TO '{town.folder / 'people.parquet'}' (FORMAT parquet, COMPRESSION zstd)")
    text = town.plan.read_text().replace('kind = "csv"', 'kind = "parquet"').replace("people.csv", "people.parquet")
    town.plan.write_text(text)
    with town.ledger() as book:
        commit(town.bundle(), book, town.signer)
    with pytest.raises(TooLarge) if length > 6 else nullcontext():
        town.publish(engine=DuckEngine(memory="32MB"))
    assert town.stages() == stages and town.remaining() == 4


def parquet_town(folder: Path) -> Town:
    """A town whose plan reads people.parquet, which is still to be written."""
    town = make_town(folder)
    text = town.plan.read_text().replace('kind = "csv"', 'kind = "parquet"').replace("people.csv", "people.parquet")
    town.plan.write_text(text)
    with town.ledger() as book:
        commit(town.bundle(), book, town.signer)
    return town


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_a_row_that_breaks_its_file_is_not_given_back(tmp_path: Path, engine: str) -> None:
    """Bytes that are no text in one row of a text column: the reading breaks off there, and that costs the budget."""
    import duckdb

    town = parquet_town(tmp_path / "town")
    file = town.folder / "people.parquet"
    row = "SELECT 's' || (i // 4) AS street, CASE WHEN i = 5 THEN 'QQ' ELSE '1' END AS answer"
    duckdb.sql(f"COPY ({row} FROM range(12) t(i)) TO '{file}' (FORMAT parquet, COMPRESSION uncompressed)")
    file.write_bytes(file.read_bytes().replace(b"QQ", b"\xff\xfe"))
    with pytest.raises(UnreadableRows, match="to its end") as refused:
        town.publish(engine=engine_named(engine))
    assert "QQ" not in str(refused.value)
    assert town.stages() == ["reserved"] and town.remaining() == 4


def test_a_file_of_another_kind_costs_nothing(tmp_path: Path) -> None:
    """Near-miss: what no row can bring about is given back."""
    town = parquet_town(tmp_path / "town")
    (town.folder / "people.parquet").write_text("street,answer\ns0,1\n")
    with pytest.raises(InputError, match="could not be read") as refused:
        town.publish()
    assert not isinstance(refused.value, UnreadableRows)
    assert town.stages() == ["withdrawn"] and town.remaining() == 5


def test_a_place_that_cannot_be_written_to_costs_nothing(town: Town) -> None:
    """/proc refuses new folders even to root."""
    with pytest.raises(InputError, match="staged"):
        town.publish(Path("/proc/release"))
    assert town.stages() == [] and town.remaining() == 5


def test_a_parent_that_is_a_file_or_missing_is_refused_before_anything_is_reserved(town: Town) -> None:
    for parent in (town.plan, town.folder / "nowhere"):
        with pytest.raises(InputError, match="does not exist"):
            town.publish(parent / "release")
    assert town.stages() == []


def test_a_ledger_that_cannot_be_written_stops_everything(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """No entry, no data: a ledger on a read-only disk refuses the reservation, and the source stays closed."""
    (town.folder / "people.csv").unlink()
    with town.ledger() as book:
        book.store.connection.execute("PRAGMA query_only = on")  # type: ignore[attr-defined]
        with pytest.raises(InputError, match="ledger cannot be used"):
            publish(town.bundle(), town.target, book, signer=town.signer)
        book.store.connection.execute("PRAGMA query_only = off")  # type: ignore[attr-defined]
        assert book.verify() is None
    assert town.stages() == [] and not list(town.folder.glob(".release*"))


def test_missing_data_gives_the_reservation_back(town: Town) -> None:
    (town.folder / "people.csv").unlink()
    with pytest.raises(InputError):
        town.publish()
    assert town.stages() == ["withdrawn"] and town.remaining() == 5


def test_an_unforeseen_failure_while_counting_does_not(town: Town) -> None:
    """It may have depended on the data, so it counts as spent."""

    class Broken:
        name = "broken"

        def counts(self, *given: object) -> None:
            raise RuntimeError("row 17 says yes")

    with pytest.raises(RuntimeError):
        town.publish(engine=Broken())
    assert town.stages() == ["reserved"] and town.remaining() == 4
    assert publish_until_done(town) == 1
    assert town.stages() == ["burned", "released"]


def test_a_clock_that_goes_back_changes_no_order(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    import discreet.ledger.writing as writing

    class Past:
        @staticmethod
        def now(_zone: object) -> object:
            from datetime import UTC, datetime

            return datetime(1999, 1, 1, tzinfo=UTC)

    monkeypatch.setattr(writing, "datetime", Past)
    town.publish()
    verdict = verify(town.target)
    assert verdict.holds
    with town.ledger() as opened:
        times = [entry.time for entry in opened.history()]
    assert times == sorted(times) and all(not time.startswith("1999") for time in times)


def refused(town: Town, words: str) -> None:
    """Nothing was committed under what the files say now, and no data is opened to find out."""
    (town.folder / "people.csv").unlink()
    with pytest.raises(InputError, match=words):
        town.publish()
    assert town.stages() == []


def test_a_mechanism_swapped_after_the_commitment(town: Town) -> None:
    files.write_mechanism(town.folder / "yes.mechanism.json", town_mechanism(epsilon="1/2"))
    refused(town, "not committed")


def test_a_plan_changed_after_the_commitment(town: Town) -> None:
    town.plan.write_text(town.plan.read_text().replace("outside = 0", "outside = 1"))
    refused(town, "not committed")


def test_a_key_set_changed_after_the_commitment(town: Town) -> None:
    path = town.folder / "streets.csv"
    path.write_text(path.read_text().replace("s0", "s9"))
    refused(town, "not committed")


def test_a_certificate_added_after_the_commitment(town: Town) -> None:
    proof = certify.privacy(town_mechanism())
    files.write_certificate(town.folder / "yes.certificate.json", proof)  # type: ignore[arg-type]
    refused(town, "not committed")


def test_a_certificate_that_says_other_things_of_its_mechanism_is_never_committed(town: Town) -> None:
    honest, other = (certify.privacy(town_mechanism(epsilon=epsilon)) for epsilon in ("1", "1/2"))
    assert isinstance(honest, Certificate) and isinstance(other, Certificate)
    forged = replace(honest, privacy=replace(honest.privacy, promise=PurePromise(Fraction(1, 1000))))
    for proof, words in ((other, "another mechanism"), (forged, "another ε")):
        files.write_certificate(town.folder / "yes.certificate.json", proof)
        with pytest.raises(Refuted, match=words):
            town.bundle().prove()
    refused(town, "not committed")


def test_a_mechanism_that_is_not_private_is_never_committed(tmp_path: Path) -> None:
    honest = town_mechanism()
    assert isinstance(honest.kernel, GeometricKernel)
    forged = replace(honest, kernel=replace(honest.kernel, ratio=honest.kernel.ratio * Fraction(99, 100)))
    with pytest.raises(Refuted):
        make_town(tmp_path / "town", mechanism=forged)


def test_a_promise_with_a_delta_is_refused_by_a_ledger_of_pure_epsilon(tmp_path: Path) -> None:
    """Even where a mechanism keeps more than it promises."""
    honest = town_mechanism()
    asked = honest.problem.with_promise(ApproximatePromise(honest.guarantee.epsilon, Fraction(1, 10**6)))
    loose = replace(honest, problem=asked, guarantee=asked.guarantee)
    with pytest.raises(InputError, match="takes no release with δ > 0"):
        make_town(tmp_path / "pure", mechanism=loose, currency="pure")
    assert make_town(tmp_path / "approximate", mechanism=loose, currency="approximate", delta=Fraction(1, 10**3)).remaining() > 0


def test_a_release_whose_mechanism_was_given_a_delta_does_not_verify(town: Town) -> None:
    town.publish()
    path = town.target / "mechanism.json"
    document = json.loads(path.read_text())
    document["guarantee"]["delta"] = "0.000001"
    path.write_text(json.dumps(document))
    resealed(town.target)
    assert any("another kind of it" in check.found for check in verified(town.target).checks if check.holds is False)


def test_a_plan_without_a_commitment_opens_nothing(tmp_path: Path) -> None:
    one, other = make_town(tmp_path / "one"), make_town(tmp_path / "other")
    (one.folder / "people.csv").unlink()
    with other.ledger() as book:
        publish(other.bundle(), other.target, book, signer=other.signer)
    one.plan.write_text(one.plan.read_text().replace("the town", "another town"))
    with one.ledger() as book, pytest.raises(InputError, match="not committed"):
        publish(one.bundle(), one.target, book, signer=one.signer)


def test_a_commitment_that_states_a_smaller_cost_is_not_this_plans(town: Town) -> None:
    from discreet.ledger import Cost

    with town.ledger() as book:
        hashes = town.bundle().hashes | {"nonce": "00"}
        cheap = book.commit("the town", "person", Cost(Fraction(1, 100)), hashes, town.signer).hash
        with pytest.raises(InputError, match="too small a cost"):
            publish(town.bundle(), town.target, book, signer=town.signer, commitment=cheap)
    assert town.stages() == []


def test_two_publications_on_one_commitment_are_both_listed_and_both_paid(town: Town) -> None:
    town.publish()
    second = town.publish(town.folder / "second")
    assert town.remaining() == 3
    listed = json.loads((second / "ledger.json").read_text())["entries"]
    assert [e["event"]["kind"] for e in listed].count("reserve") == 2
    assert any("2 up to this release" in check.words for check in verify(second).checks)


def test_the_budget_ends(town: Town) -> None:
    for i in range(5):
        town.publish(town.folder / f"release{i}")
    with pytest.raises(BudgetExceeded):
        town.publish(town.folder / "one too many")
    assert len(town.stages()) == 5


def test_a_release_is_never_overwritten(town: Town) -> None:
    town.publish()
    before = (town.target / "manifest.json").read_bytes()
    with pytest.raises(InputError, match="exists already"):
        town.publish()
    assert (town.target / "manifest.json").read_bytes() == before and len(town.stages()) == 1


def test_an_interrupted_release_of_another_plan_is_not_taken_for_this_one(tmp_path: Path) -> None:
    """The folder was made by one commitment; another that names the same folder must not claim it."""
    town = make_town(tmp_path / "town")

    class Stop(Exception):
        pass

    def stop(name: str) -> None:
        if name == "record":
            raise Stop

    with pytest.raises(Stop):
        town.publish(step=stop)
    town.plan.write_text(town.plan.read_text().replace("answers by street", "other answers"))
    with town.ledger() as book:
        commit(gather(town.plan), book, town.signer)
    with pytest.raises(InputError, match="exists already"):
        town.publish()


def _slowly(folder: str, started: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    def step(name: str) -> None:
        if name == "draw":
            started.put(name)
            time.sleep(600)

    Town(Path(folder)).publish(step=step)


def test_nobody_takes_a_living_process_for_a_dead_one(town: Town) -> None:
    context = multiprocessing.get_context("spawn")
    started = context.Queue()
    worker = context.Process(target=_slowly, args=(str(town.folder), started))
    worker.start()
    try:
        assert started.get(timeout=600) == "draw"
        with pytest.raises(InputError, match="Another process"):
            town.publish()
        assert town.stages() == ["spent"], "its reservation was not burned under its hands"
    finally:
        worker.kill()
        worker.join()
    assert publish_until_done(town) == 1
    assert town.stages() == ["burned", "released"]


@pytest.mark.parametrize("shape", [(3, 3), (2, 2), (6,)])
def test_histograms_from_elsewhere_must_have_the_shape_of_the_table(town: Town, shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="histograms"):
        town.publish(counts=np.zeros(shape, dtype=np.int64))
    with pytest.raises(InputError, match="histograms"):
        town.publish(counts=np.zeros((3, 2)))
    assert town.stages() == []


@pytest.mark.parametrize("counts", [[[4, 0], [0, 4], [2, 2]], [[9, 9], [0, 0], [-5, 2]], [[2**40, 2**40], [1, 1], [0, 1]]])
def test_histograms_from_elsewhere_never_fail_on_what_they_hold(town: Town, counts: list[list[int]]) -> None:
    town.publish(counts=np.array(counts))
    assert verify(town.target).holds
    stated = json.loads((town.target / "facts.json").read_text())
    assert stated["implementation"]["histograms"].startswith("attested")


def test_messages_hold_no_data(town: Town) -> None:
    """Every refusal of this file, with values in the data that would be recognised."""
    secret = "S3CRET-7781"
    people = town.folder / "people.csv"
    people.write_text(people.read_text() + f's0,{secret}\ns1,{secret}\n\x00{secret},"\n')
    told = []
    for change in ('column = "answer"', 'path = "people.csv"'):
        text = town.plan.read_text()
        town.plan.write_text(text.replace(change, change.replace('"', '"no-', 1)))
        with town.ledger() as book:
            commit(town.bundle(), book, town.signer)
            with pytest.raises(DiscreetError) as refusal:
                publish(town.bundle(), town.target, book, signer=town.signer)
        told.append(str(refusal.value))
        town.plan.write_text(text)
    town.publish()
    told += [path.read_text() for path in town.target.iterdir() if path.suffix != ".parquet"]
    told.append((town.target / "release.parquet").read_bytes().decode("latin-1"))
    with town.ledger() as book:
        told.append(json.dumps([entry.document() for entry in book.history()]))
    assert not any(secret in text for text in told)
