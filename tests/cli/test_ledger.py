"""`discreet ledger`: init, show, remaining, verify, export, rotate, revoke."""

from __future__ import annotations

import json
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest
from shell import discreet, make_town, other_values, read, resealed

from discreet.ledger import Cost

INIT = ("ledger", "init", "l.db", "--population", "people", "--unit", "person", "--budget")


def test_a_ledger_is_made_with_a_key_of_its_own(tmp_path: Path) -> None:
    made = read(tmp_path, *INIT, "2.5", "--key", "k.pem")
    assert len(made["fingerprint"]) == 64 and made["currency"] == "pure"
    assert (tmp_path / "k.pem").stat().st_mode & 0o777 == 0o600
    [budget] = read(tmp_path, "ledger", "remaining", "l.db")["budgets"]
    assert budget["remaining"] == "5/2" and budget["population"] == "people"


def test_a_budget_is_declared_once(tmp_path: Path) -> None:
    assert discreet(tmp_path, *INIT, "1").returncode == 0
    done = discreet(tmp_path, *INIT, "9")
    assert done.returncode == 2 and "already have a budget" in done.stderr
    again = discreet(tmp_path, "ledger", "init", "l.db", "--population", "firms", "--unit", "firm", "--budget", "1")
    assert again.returncode == 0
    assert len(read(tmp_path, "ledger", "remaining", "l.db")["budgets"]) == 2


def test_a_refused_budget_leaves_neither_ledger_entries_nor_key(tmp_path: Path) -> None:
    """A δ was forgotten: the currency is not fixed by that, and the next try may choose another."""
    assert discreet(tmp_path, *INIT, "1", "--currency", "approximate", "--key", "k.pem").returncode == 2
    assert not (tmp_path / "k.pem").exists()
    assert read(tmp_path, *INIT, "1")["currency"] == "pure"


def test_an_existing_ledger_keeps_its_currency_and_its_keys(tmp_path: Path) -> None:
    assert discreet(tmp_path, *INIT, "1", "--key", "k.pem").returncode == 0
    more = ("ledger", "init", "l.db", "--population", "firms", "--unit", "firm", "--budget", "1")
    done = discreet(tmp_path, *more, "--currency", "zcdp")
    assert done.returncode == 2 and "another currency" in done.stderr
    done = discreet(tmp_path, *more, "--key", "new.pem")
    assert done.returncode == 2 and not (tmp_path / "new.pem").exists()
    assert discreet(tmp_path, *more, "--currency", "pure", "--key", "k.pem").returncode == 0
    assert discreet(tmp_path, "ledger", "init", "open.db", *INIT[3:], "1").returncode == 0
    done = discreet(tmp_path, "ledger", "init", "open.db", *more[3:], "--key", "k.pem")
    assert done.returncode == 2 and "made without a key" in done.stderr


def test_what_is_left_of_delta_is_told(tmp_path: Path) -> None:
    assert discreet(tmp_path, *INIT, "3", "--currency", "approximate", "--delta", "1e-6").returncode == 0
    [budget] = read(tmp_path, "ledger", "remaining", "l.db")["budgets"]
    assert budget["remaining_delta"] == "1/2000000" and budget["remaining"] == "3"
    assert "δ = 5e-7 left" in discreet(tmp_path, "ledger", "remaining", "l.db").stdout


@pytest.mark.parametrize("words", [("--currency", "euro"), ("--delta", "0.1"), ("--currency", "approximate")])
def test_nonsense_is_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert discreet(tmp_path, *INIT, "1", *words).returncode == 2
    assert discreet(tmp_path, *INIT, "nothing").returncode == 2


def test_show_and_export_list_every_entry(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town")
    town.publish()
    kinds = [entry["event"]["kind"] for entry in read(town.folder, "ledger", "show", "ledger.db")["entries"]]
    assert kinds == ["init", "budget", "commit", "reserve", "spend", "release"]
    shown = discreet(town.folder, "ledger", "show", "ledger.db").stdout
    assert all(kind in shown for kind in kinds)
    assert read(town.folder, "ledger", "export", "ledger.db", "-o", "out.jsonl")["entries"] == 6
    lines = (town.folder / "out.jsonl").read_text().splitlines()
    assert [json.loads(line)["event"]["kind"] for line in lines] == kinds


def test_show_tells_costs_in_the_ledgers_currency(tmp_path: Path) -> None:
    """Also of a commitment that such a ledger will never grant."""
    town = make_town(tmp_path / "town", currency="zcdp")
    with town.ledger() as book:
        book.commit("the town", "person", Cost(Fraction(1, 10), Fraction(1, 10**6)), {}, town.signer)
    shown = discreet(town.folder, "ledger", "show", "ledger.db").stdout
    assert "the town: ρ = 0.46211" in shown and "the town: ε = 0.1, δ = 1e-6" in shown


def test_verify_compares_with_releases(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town")
    town.publish(signer=town.signer)
    line = ("ledger", "verify", "ledger.db", "--against", "release")
    assert read(town.folder, *line)["holds"] is True
    with sqlite3.connect(town.folder / "ledger.db") as link:
        link.executescript("DROP TRIGGER no_removal; DELETE FROM entries WHERE sequence >= 4;")
    assert discreet(town.folder, "ledger", "verify", "ledger.db").returncode == 0, "a shorter chain is a chain"
    done = discreet(town.folder, *line)
    assert done.returncode == 1 and "cut" in done.stdout


def test_a_release_with_other_values_differs_from_the_record(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town")
    town.publish()
    line = ("ledger", "verify", "ledger.db", "--against", "release")
    other_values(town.target)
    done = discreet(town.folder, *line)
    assert done.returncode == 1 and "not as its manifest says" in done.stdout, "the manifest alone is as recorded"
    resealed(town.target)
    done = discreet(town.folder, *line)
    assert done.returncode == 1 and "differs from the one that the ledger recorded" in done.stdout


def test_keys_rotate_and_are_revoked(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town")
    new = read(town.folder, "ledger", "rotate", "ledger.db", "--old", "key.pem", "--new", "new.pem")["fingerprint"]
    old = town.signer.fingerprint
    assert read(town.folder, "ledger", "revoke", "ledger.db", "--fingerprint", old, "--key", "new.pem")["revoked"] == old
    done = discreet(town.folder, "commit", "plan.toml", "--key", "key.pem")
    assert done.returncode == 2 and "revoked" in done.stderr
    assert discreet(town.folder, "commit", "plan.toml", "--key", "new.pem").returncode == 0
    back = discreet(town.folder, "ledger", "revoke", "ledger.db", "--fingerprint", new, "--key", "key.pem")
    assert back.returncode == 2, "a revoked key revokes nothing"
    assert read(town.folder, "ledger", "verify", "ledger.db")["holds"] is True


def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town")
    (town.folder / "key.pem").chmod(0o644)
    done = discreet(town.folder, "commit", "plan.toml", "--key", "key.pem")
    assert done.returncode == 2 and "chmod 600" in done.stderr
