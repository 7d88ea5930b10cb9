"""One release folder is one draw: several processes, other commitments and other hands meet at the same name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from forging import other_values, resealed
from killing import child
from towns import Town, make_town

from discreet.errors import InputError
from discreet.publish import commit, publish, verify
from discreet.publish.staging import Stage

KILLING = Path(__file__).parent / "killing.py"


def interrupted(town: Town, step: str) -> None:
    subprocess.run([sys.executable, str(KILLING), "step", str(town.folder), step], check=False, capture_output=True)


def publish_or_stand_back(town: Town) -> None:
    with suppress(InputError):
        town.publish()


@pytest.mark.parametrize("attempt", range(3))
def test_six_processes_for_one_folder_cost_one_draw(town: Town, attempt: int) -> None:
    """Twenty such folders used to cost up to 32 draws: the lock comes before the reservation."""
    pids = [child(lambda: publish_or_stand_back(town)) for _ in range(6)]
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * 6
    assert town.stages() == ["released"] and town.remaining() == 4
    assert verify(town.target, town.signer.fingerprint).holds
    assert not list(town.folder.glob(".release*"))


def test_whoever_comes_second_is_told_before_anything_is_reserved(town: Town) -> None:
    with Stage.of(town.target), pytest.raises(InputError, match="Another process is making this release"):
        town.publish()
    assert town.stages() == []


def test_a_lock_on_a_stage_that_was_removed_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first holder removes the folder between the second's opening and locking it: the second takes a new one."""
    import fcntl

    stage = Stage.of(tmp_path / "release")
    true_lock, removed = fcntl.flock, []

    def lock(handle: int, how: int) -> None:
        true_lock(handle, how)
        if not removed:
            removed.append(stage.folder.rmdir())

    monkeypatch.setattr(fcntl, "flock", lock)
    with stage:
        assert removed == [None] and stage.folder.is_dir()
        with pytest.raises(InputError, match="Another process"), Stage.of(tmp_path / "release"):
            pass


def test_a_folder_that_was_replaced_before_it_was_recorded_is_not_recorded(town: Town) -> None:
    """Killed between the folder and its record; then somebody puts other values there, with a manifest that fits."""
    interrupted(town, "record")
    mine = (town.target / "release.csv").read_bytes()
    other_values(town.target)
    for _ in range(2):
        with pytest.raises(InputError, match="not the one that was written"):
            town.publish()
        resealed(town.target)
    assert town.stages() == ["spent"]
    shutil.move(town.target, town.folder / "theirs")
    town.publish()
    assert town.stages() == ["released"] and (town.target / "release.csv").read_bytes() == mine
    assert verify(town.target, town.signer.fingerprint).holds


@pytest.mark.parametrize("step", ["count", "write"])
def test_a_stage_of_another_commitment_is_left_alone(town: Town, step: str) -> None:
    """Its draws are paid for: the command that made them finishes them, and no other touches them."""
    interrupted(town, step)
    with town.ledger() as book:
        newer = commit(town.bundle(), book, town.signer).hash
        first = next(iter(book.state.commitments))
        with pytest.raises(InputError, match="Another publication"):
            publish(town.bundle(), town.target, book, signer=town.signer, commitment=newer)
    other = make_town(town.folder / "other")
    with other.ledger() as book, pytest.raises(InputError, match="Another publication"):
        publish(other.bundle(), town.target, book, signer=other.signer)
    with town.ledger() as book:
        if step == "count":
            with pytest.raises(InputError, match="interrupted"):
                publish(town.bundle(), town.target, book, signer=town.signer, commitment=first)
        publish(town.bundle(), town.target, book, signer=town.signer, commitment=first)
    assert town.stages() == (["burned", "released"] if step == "count" else ["released"])


def test_a_reservation_is_found_again_by_the_name_of_its_attempt(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed when the ledger had the reservation and nobody had heard of it yet: it is burned, not left open for ever."""
    from discreet.ledger import Ledger

    true_reserve = Ledger.reserve

    def reserve(self: Ledger, *words: object, **more: object) -> None:
        true_reserve(self, *words, **more)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "reserve", reserve)
        with pytest.raises(KeyboardInterrupt):
            town.publish()
    assert town.stages() == ["reserved"]
    with pytest.raises(InputError, match="interrupted"):
        town.publish()
    assert town.stages() == ["burned"]
    town.publish()
    assert town.stages() == ["burned", "released"]


@pytest.mark.parametrize("removed", range(5))
def test_killed_while_tidying_up_leaves_nothing_for_good(town: Town, removed: int) -> None:
    """After so many of the stage's files were removed; the empty folder is all that a refusal may clear away."""
    from discreet.publish.staging import ATTEMPT, DRAWS, SEAL, WRITTEN

    interrupted(town, "tidy")
    for name in (SEAL, DRAWS, WRITTEN, ATTEMPT)[:removed]:
        (town.folder / ".release.staging" / name).unlink()
    with suppress(InputError):
        town.publish()
    assert town.stages() == ["released"] and not list(town.folder.glob(".release*"))
    assert verify(town.target, town.signer.fingerprint).holds


def test_a_refusal_before_the_reservation_leaves_no_stage(town: Town) -> None:
    with pytest.raises(InputError):
        town.publish(signer=None)
    town.target.mkdir()
    with pytest.raises(InputError, match="exists already"):
        town.publish()
    assert not list(town.folder.glob(".release*")) and town.stages() == []
