"""Batches on the command line: committed together, shown before and after, published one by one."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from shell import Town, discreet, make_batch, make_town, read, town_mechanism

from discreet import views

DELTA = Fraction(1, 10**5)


def checked(name: str, result: dict[str, Any]) -> dict[str, Any]:
    """A result that its schema allows."""
    schema = json.loads((Path(views.__file__).parent / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
    assert [error.message for error in Draft202012Validator(schema).iter_errors(result)] == []
    return result


@pytest.fixture
def town(tmp_path: Path) -> Town:
    """Ten plans of which nothing is committed as a batch yet, and a budget of (3, 1e-5)."""
    first, *_ = make_batch(
        tmp_path / "town", 10, currency="approximate", cap=Fraction(3), delta=DELTA, mechanism=town_mechanism(epsilon="1/10"),
    )  # fmt: skip
    return first


def test_a_batch_is_committed_and_its_cost_told(town: Town) -> None:
    plans = [f"plan{i}.toml" for i in range(4)]
    result = checked("commit", read(town.folder, "commit", *plans, "--batch", "spring", "--delta", "1e-6", "--key", "key.pem"))
    assert result["batch"]["name"] == "spring" and len(result["batch"]["plans"]) == 4
    assert Fraction(result["cost"]["epsilon"]) <= Fraction(4, 10) and result["cells"] == 12
    done = discreet(town.folder, "commit", *(f"plan{i}.toml" for i in range(10)), "--key", "key.pem")
    assert done.returncode == 0
    for words in ("and 9 more: 10 plans, each drawn once", "kairouz-oh-viswanath", "as a sum", "Next: discreet publish plan9.toml"):
        assert words in done.stdout, done.stdout


def test_a_dry_run_tells_what_is_reserved(town: Town) -> None:
    before = checked("publish", read(town.folder, "publish", "plan3.toml", "--dry-run"))["batch"]
    assert (before["member"], before["plans"], before["reserved"], before["drawn"]) == (4, 10, 0, None)
    assert "for the whole batch" in discreet(town.folder, "publish", "plan3.toml", "--dry-run").stdout
    assert town.stages() == []
    done = discreet(town.folder, "publish", "plan3.toml", "-o", "release", "--key", "key.pem")
    assert done.returncode == 0 and "for the whole batch" in done.stdout
    after = checked("publish", read(town.folder, "publish", "plan3.toml", "--dry-run"))["batch"]
    assert (after["reserved"], after["drawn"]) == (1, "released")
    told = discreet(town.folder, "publish", "plan3.toml", "--dry-run").stdout
    assert "nothing more" in told and "released already" in told
    again = discreet(town.folder, "publish", "plan3.toml", "-o", "again", "--key", "key.pem")
    assert again.returncode == 2 and "at most once" in again.stderr
    verified = checked("verify", read(town.folder, "verify", "release"))
    assert verified["holds"] and any("whole batch" in check["words"] for check in verified["checks"])
    shown = discreet(town.folder, "ledger", "show", "ledger.db").stdout
    assert "batch waves, 10 plans" in shown and "plan 4 of batch waves" in shown
    assert discreet(town.folder, "ledger", "verify", "ledger.db", "--against", "release").returncode == 0


def test_one_plan_is_no_batch(tmp_path: Path) -> None:
    folder = make_town(tmp_path / "town").folder
    done = discreet(folder, "commit", "plan.toml", "--batch", "lonely", "--key", "key.pem")
    assert done.returncode == 2 and "two or more plans" in done.stderr
    done = discreet(folder, "commit", "plan.toml", "plan.toml", "--key", "key.pem")
    assert done.returncode == 2 and "twice" in done.stderr


def test_plans_that_name_different_ledgers_are_no_batch(town: Town) -> None:
    other = town.folder / "plan1.toml"
    other.write_text(other.read_text(encoding="utf-8").replace("ledger.db", "other.db"), encoding="utf-8")
    done = discreet(town.folder, "commit", "plan0.toml", "plan1.toml", "--key", "key.pem")
    assert done.returncode == 2 and "different ledgers" in done.stderr
