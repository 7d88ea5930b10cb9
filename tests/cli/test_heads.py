"""`discreet ledger heads|head|backup|restore|approve|key` and `publish --against`: what is kept elsewhere, and who must agree."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from authority import Authority
from shell import Town, discreet, make_town, other_values, read, resealed

PUBLISH = ("publish", "plan.toml", "--key", "key.pem")


@pytest.fixture
def town(tmp_path: Path) -> Town:
    return make_town(tmp_path / "town")


def rolled_back(town: Town, after: tuple[str, ...]) -> None:
    """Yesterday's ledger put back after a command that it does not know of."""
    yesterday = [(path, path.read_bytes()) for path in town.folder.glob("ledger.db*")]
    assert discreet(town.folder, *after).returncode == 0
    for path in town.folder.glob("ledger.db*"):
        path.unlink()
    for path, data in yesterday:
        path.write_bytes(data)


def test_a_release_shows_that_the_ledger_was_rolled_back(town: Town) -> None:
    """Two releases of ε = 1 from a budget of 1: the second is refused, before anything is opened."""
    rolled_back(town, (*PUBLISH, "-o", "first"))
    line = (*PUBLISH, "-o", "second")
    for words in ((), ("--dry-run",)):
        done = discreet(town.folder, *line, *words, "--against", "first")
        assert done.returncode == 1 and "beyond its end" in done.stderr, done.stderr
    assert not (town.folder / "second").exists() and town.stages() == []
    assert discreet(town.folder, *line).returncode == 0, "nobody who kept nothing can notice"


def test_a_place_for_heads_notices_by_itself(town: Town) -> None:
    (town.folder / "heads").mkdir()
    told = read(town.folder, "ledger", "heads", "ledger.db", "--to", "heads", "--key", "key.pem")
    assert told["kept"] == 1 and told["newest"] == 3
    rolled_back(town, (*PUBLISH, "-o", "first"))
    for line in ((*PUBLISH, "-o", "second"), ("ledger", "remaining", "ledger.db"), ("ledger", "verify", "ledger.db")):
        done = discreet(town.folder, *line)
        assert (done.returncode == 1 and "rolled back" in done.stderr) or "restored" in done.stdout, (line, done)


def test_heads_in_files_and_places_are_compared(town: Town) -> None:
    assert discreet(town.folder, "ledger", "head", "ledger.db", "-o", "head.json", "--key", "key.pem").returncode == 0
    assert read(town.folder, *PUBLISH, "-o", "first", "--against", "head.json")["against"] == 1
    (town.folder / "heads").mkdir()
    assert discreet(town.folder, "ledger", "heads", "ledger.db", "--to", "heads", "--key", "key.pem").returncode == 0
    found = read(town.folder, "ledger", "verify", "ledger.db", "--against", "first", "--against", "head.json", "--against", "heads")
    assert found["holds"] and found["heads"] == 4
    for wrong in ("nowhere", "plan.toml", "streets.csv", "git:nowhere"):
        done = discreet(town.folder, "ledger", "verify", "ledger.db", "--against", wrong)
        assert done.returncode == 2 and "defect" not in done.stderr, done.stderr


def test_a_release_of_another_ledger_is_noticed(town: Town, tmp_path: Path) -> None:
    """A second ledger for the same town: its releases do not agree with the first."""
    other = make_town(tmp_path / "other")
    other.publish()
    for line in ((*PUBLISH, "-o", "x"), ("ledger", "verify", "ledger.db")):
        done = discreet(town.folder, *line, "--against", str(other.target))
        assert done.returncode == 1 and "another ledger" in done.stdout + done.stderr


def test_a_release_that_was_changed_is_no_evidence(town: Town) -> None:
    town.publish()
    other_values(town.target)
    for manifest in ("as it was", "made to fit"):
        done = discreet(town.folder, *PUBLISH, "-o", "x", "--against", "release")
        assert done.returncode == 1 and town.stages() == ["released"], manifest
        resealed(town.target)


@pytest.mark.needs_openssl
def test_a_head_is_stamped_and_checked(town: Town, tmp_path: Path) -> None:
    pytest.importorskip("rfc3161_client", reason="discreet[stamps] is not installed")
    authority = Authority(tmp_path / "authority")
    server, address = authority.serve()
    try:
        made = read(town.folder, "ledger", "head", "ledger.db", "-o", "head.json", "--key", "key.pem", "--authority", address)
    finally:
        server.shutdown()
    assert made["stamp"] == "head.tsr"
    line = ("ledger", "verify", "ledger.db", "--against", "head.json", "--authority")
    found = read(town.folder, *line, str(authority.root))
    assert found["holds"] and found["stamps"][0]["time"].startswith("20")
    assert "Stamped: head.tsr, at 20" in discreet(town.folder, *line, str(authority.root)).stdout
    forger = Authority(tmp_path / "forger")
    done = discreet(town.folder, *line, str(forger.root))
    assert done.returncode == 1 and "Refuted" in done.stdout
    (town.folder / "head.tsr").write_bytes(b"junk")
    assert discreet(town.folder, *line, str(authority.root)).returncode == 1


def test_a_backup_comes_back_once(town: Town) -> None:
    town.publish()
    assert read(town.folder, "ledger", "backup", "ledger.db", "-o", "b.jsonl", "--key", "key.pem")["entries"] == 6
    done = discreet(town.folder, "ledger", "restore", "b.jsonl", "ledger.db")
    assert done.returncode == 2 and "never overwritten" in done.stderr
    for path in town.folder.glob("ledger.db*"):
        path.unlink()
    assert read(town.folder, "ledger", "restore", "b.jsonl", "ledger.db", "--against", "release")["entries"] == 6
    assert town.remaining() == 4 and read(town.folder, "ledger", "verify", "ledger.db", "--against", "release")["holds"]
    town.publish(town.folder / "later")
    done = discreet(town.folder, "ledger", "restore", "b.jsonl", "again.db", "--against", "later")
    assert done.returncode == 1 and "not the whole ledger" in done.stderr and not (town.folder / "again.db").exists()
    assert "nothing was compared" in discreet(town.folder, "ledger", "restore", "b.jsonl", "again.db").stdout


def test_two_people_approve(tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        assert discreet(tmp_path, "ledger", "key", f"{name}.pem", "--new").returncode == 0
    second = read(tmp_path, "ledger", "key", "second.pem")["public"]
    asked = ("ledger", "init", "l.db", "--population", "people", "--unit", "person", "--budget", "1", "--key", "first.pem")
    assert discreet(tmp_path, *asked, "--approvals", "2").returncode == 2, "one key cannot be two"
    made = read(tmp_path, *asked, "--also", second, "--approvals", "2")
    assert made["waits"]
    told = discreet(tmp_path, "ledger", "remaining", "l.db").stdout
    assert "Waits:" in told and "1 of 2" in told
    done = discreet(tmp_path, "ledger", "approve", "l.db", "--entry", "1", "--key", "first.pem")
    assert done.returncode == 2 and "signed for it already" in done.stderr
    assert read(tmp_path, "ledger", "approve", "l.db", "--entry", "1", "--key", "second.pem")["in_force"] is True
    [budget] = read(tmp_path, "ledger", "remaining", "l.db")["budgets"]
    assert budget["remaining"] == "1"
    third = read(tmp_path, "ledger", "key", "third.pem")["public"]
    assert read(tmp_path, "ledger", "rotate", "l.db", "--old", "first.pem", "--new", third)["waits"]
    assert discreet(tmp_path, "ledger", "approve", "l.db", "--entry", "3", "--key", "third.pem").returncode == 2
    assert read(tmp_path, "ledger", "approve", "l.db", "--entry", "3", "--key", "second.pem")["in_force"] is True
    done = discreet(tmp_path, "ledger", "approve", "l.db", "--entry", "9", "--key", "second.pem")
    assert done.returncode == 2 and "no such entry" in done.stderr and "0 to 4" in done.stderr
    assert read(tmp_path, "ledger", "verify", "l.db")["holds"]


def test_a_copied_office_is_noticed(town: Town, tmp_path: Path) -> None:
    """Somebody copies the whole folder "to try something": both publish, and the second is told."""
    (tmp_path / "heads").mkdir()
    named = ("ledger", "heads", "ledger.db", "--to", str(tmp_path / "heads"), "--key", "key.pem")
    assert discreet(town.folder, *named).returncode == 0
    copy = Path(shutil.copytree(town.folder, tmp_path / "copy"))
    assert discreet(town.folder, *PUBLISH, "-o", "first").returncode == 0
    done = discreet(copy, *PUBLISH, "-o", "first")
    assert done.returncode == 1 and "rolled back" in done.stderr
