"""`discreet publish`: dry runs, releases, refusals and their exit codes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from shell import discreet, make_town, read


def test_a_dry_run_opens_nothing_and_spends_nothing(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town")
    (town.folder / "people.csv").unlink()
    result = read(town.folder, "publish", "plan.toml", "--dry-run")
    assert result["cost"]["epsilon"] == "1" and result["remaining"] == "5" and "release" not in result
    assert result["granted"] is True
    done = discreet(town.folder, "publish", "plan.toml", "--dry-run")
    assert "Nothing was opened or spent" in done.stdout
    assert town.stages() == []


def test_a_release_is_made_and_paid(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town")
    done = discreet(town.folder, "publish", "plan.toml", "-o", "release", "--key", "key.pem")
    assert done.returncode == 0 and "Published: release" in done.stdout and "remaining  4" in done.stdout
    assert (town.target / "index.html").exists()


def test_the_cost_is_told_in_the_ledgers_currency(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town", currency="zcdp")
    assert read(town.folder, "publish", "plan.toml", "--dry-run")["currency"] == "zcdp"
    assert "cost       ρ = 0.462118" in discreet(town.folder, "publish", "plan.toml", "--dry-run").stdout
    done = discreet(town.folder, "commit", "plan.toml", "--key", "key.pem")
    assert "cost     ρ = 0.462118 when published; 5 remains now" in done.stdout


def test_another_engine_is_named(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town")
    line = ("publish", "plan.toml", "-o", "release", "--key", "key.pem", "--engine", "reference")
    assert read(town.folder, *line)["remaining"] == "4"
    done = discreet(town.folder, "publish", "plan.toml", "-o", "other", "--engine", "abacus")
    assert done.returncode == 2 and "duckdb" in done.stderr and town.stages() == ["released"]


def test_without_a_folder_or_a_commitment_it_ends_with_two(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town")
    assert discreet(town.folder, "publish", "plan.toml").returncode == 2
    town.plan.write_text(town.plan.read_text().replace("by street", "by road"))
    done = discreet(town.folder, "publish", "plan.toml", "-o", "release", "--key", "key.pem")
    assert done.returncode == 2 and "discreet commit" in done.stderr and town.stages() == []


def test_a_budget_that_is_spent_ends_with_one_and_both_amounts(tmp_path: Path) -> None:
    from fractions import Fraction

    town = make_town(tmp_path / "town", cap=Fraction(3, 2))
    assert discreet(town.folder, "publish", "plan.toml", "-o", "one", "--key", "key.pem").returncode == 0
    done = discreet(town.folder, "publish", "plan.toml", "-o", "two", "--key", "key.pem")
    assert done.returncode == 1 and "ε = 1" in done.stderr and "0.5" in done.stderr
    assert read(town.folder, "publish", "plan.toml", "--dry-run")["granted"] is False
    assert "would be refused now" in discreet(town.folder, "publish", "plan.toml", "--dry-run").stdout
    assert not (town.folder / "two").exists()


COUNTING_FOR_EVER = """
import os, signal
from discreet.cli.main import main
from discreet.engines import duck

def endless(con, *_):
    pressed = []
    def press(row: int) -> int:
        if not pressed:
            pressed.append(row)
            os.kill(os.getpid(), signal.SIGINT)
        return row
    con.execute("SET threads = 1")  # another thread would count on while this one waits, deaf to Ctrl-C
    con.create_function("press", press, ["BIGINT"], "BIGINT")
    con.execute("SELECT sum(press(row)) FROM range(1000000000000) t(row)").fetchall()

duck._by_row = endless
main()
"""
"""A command line whose count never ends and presses Ctrl-C in its midst: inside DuckDB on every machine."""


def test_ctrl_c_while_counting_is_an_interruption(tmp_path: Path) -> None:
    """The library that counts turns Ctrl-C into an error of its own, which was told as a defect. What was reserved is spent."""
    town = make_town(tmp_path / "town")
    command = [sys.executable, "-c", COUNTING_FOR_EVER, "publish", "plan.toml", "-o", "release", "--key", "key.pem"]
    done = subprocess.run(command, cwd=town.folder, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 130 and done.stderr.endswith("discreet: Interrupted.\n") and "defect" not in done.stderr
    assert len(town.stages()) == 1 and town.remaining() == 4


def test_an_error_that_follows_ctrl_c_is_the_interruption() -> None:
    """A library that hears Ctrl-C and raises an error of its own."""
    code = """
import duckdb, os, signal, sys, time
from discreet.cli import failures
with failures.told() as outcome:
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(600)
    except KeyboardInterrupt:
        raise duckdb.InterruptException("INTERRUPT Error: Interrupted!") from None
sys.exit(outcome.code)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stderr) == (130, "discreet: Interrupted.\n")
