"""`discreet commit`: binds a plan before any data is there, and refuses what is not private."""

from __future__ import annotations

from pathlib import Path

from shell import discreet, make_town, read


def test_a_plan_is_committed_before_its_data_exists(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town")
    (town.folder / "people.csv").unlink()
    result = read(town.folder, "commit", "plan.toml", "--key", "key.pem")
    assert len(result["commitment"]) == 64 and result["signed"] is True
    assert result["cost"]["epsilon"] == "1" and result["remaining"] == "5" and result["cells"] == 3


def test_a_person_is_told_the_promise_and_the_next_step(tmp_path: Path) -> None:
    done = discreet(make_town(tmp_path / "town", signed=False).folder, "commit", "plan.toml")
    assert done.returncode == 0
    for words in ("Committed:", "values of one person", "ε = 1", "give --key to sign", "Next: discreet publish plan.toml"):
        assert words in done.stdout


def test_a_ledger_with_a_key_wants_one(tmp_path: Path) -> None:
    folder = make_town(tmp_path / "town").folder
    done = discreet(folder, "commit", "plan.toml")
    assert done.returncode == 2 and "only signed entries" in done.stderr and "--key" in done.stderr
    signed = discreet(folder, "commit", "plan.toml", "--key", "key.pem").stdout
    assert "Next: discreet publish plan.toml -o RELEASE --key key.pem" in signed, "so that the release is signed too"


def test_a_mechanism_that_is_not_private_is_refused_with_one(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town")
    path = town.folder / "yes.mechanism.json"
    text = path.read_text(encoding="utf-8")
    start = text.index('"ratio":"') + len('"ratio":"')
    path.write_text(text[:start] + "1/3" + text[text.index('"', start) :], encoding="utf-8")
    done = discreet(town.folder, "commit", "plan.toml")
    assert done.returncode == 1 and "not private" in done.stderr


def test_no_ledger_and_no_plan_end_with_two(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town")
    assert discreet(town.folder, "commit", "nothing.toml").returncode == 2
    (town.folder / "ledger.db").unlink()
    done = discreet(town.folder, "commit", "plan.toml")
    assert done.returncode == 2 and "no ledger" in done.stderr
