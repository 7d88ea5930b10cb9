"""A release under ρ from the problem to the reader, in a ledger of the currency zcdp; a ledger of pure ε refuses it in words."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from office import shell, succeed

from discreet.numerics.exact import exact


@pytest.fixture(scope="module")
def office(planned: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The planned office with a mechanism under ρ = 1/2, and a second plan that charges the old ledger of pure ε."""
    folder = tmp_path_factory.mktemp("zcdp") / "office"
    shutil.copytree(planned, folder)
    text = (folder / "places.toml").read_text(encoding="utf-8").replace("epsilon = 1.0", 'rho = "1/2"')
    (folder / "rho.toml").write_text(text, encoding="utf-8")
    succeed(folder, "design", "rho.toml", "-o", "rho.mechanism.json", "--json")
    plan = (folder / "plan.toml").read_text(encoding="utf-8").replace("places.mechanism", "rho.mechanism")
    (folder / "pure.toml").write_text(plan, encoding="utf-8")
    (folder / "plan.toml").write_text(plan.replace("ledger.db", "rho.db"), encoding="utf-8")
    succeed(
        folder, "ledger", "init", "rho.db", "--currency", "zcdp", "--population", "households 2026", "--unit", "household",
        "--budget", "1", "--key", "publisher.pem",
    )  # fmt: skip
    succeed(folder, "commit", "plan.toml", "--key", "publisher.pem")
    succeed(folder, "publish", "plan.toml", "-o", "release", "--key", "publisher.pem")
    return folder


def test_it_is_published_verified_and_read(office: Path) -> None:
    assert "ρ = 0.5" in succeed(office, "certify", "rho.mechanism.json")
    assert json.loads(succeed(office, "verify", "release", "--json"))["holds"]
    left = json.loads(succeed(office, "ledger", "remaining", "rho.db", "--json"))
    assert left["budgets"][0]["remaining"] == "1/2"
    facts = json.loads((office / "release" / "facts.json").read_text(encoding="utf-8"))
    assert facts["promise"] == "zcdp" and facts["privacy_loss"]["rho"] == "0.5" and "epsilon" not in facts["privacy_loss"]
    page = (office / "release" / "index.html").read_text(encoding="utf-8")
    assert "ρ = 0.5" in page and "no limit that holds after every published value" in page
    succeed(office, "read", "rho.mechanism.json", "2")
    succeed(office, "report", "release", "-o", "report.html", "--no-frontier")
    told = json.loads(succeed(office, "compare", "rho.mechanism.json", "places.mechanism.json", "--json"))["mechanisms"]
    assert 0.4621 < float(exact(told[1]["implied_rho"])) < 0.4622 and exact(told[0]["implied_rho"]) == exact("1/2")
    assert float(exact(told[0]["implied_epsilon"])) > 5 > 1 > float(exact(told[1]["implied_epsilon"]))


@pytest.mark.slow
def test_a_family_under_rho_goes_the_same_way(office: Path, tmp_path: Path) -> None:
    folder = tmp_path / "office"
    shutil.copytree(office, folder)
    succeed(folder, "design", "rho.toml", "--sizes", "6", "-o", "rho.family.json", "--workers", "1")
    assert json.loads(succeed(folder, "certify", "rho.family.json", "--json"))["proved"] is True
    plan = (folder / "plan.toml").read_text(encoding="utf-8")
    plan = plan.replace("rho.mechanism.json", "rho.family.json").replace("children by block", "by family")
    (folder / "family.toml").write_text(plan, encoding="utf-8")
    succeed(folder, "commit", "family.toml", "--key", "publisher.pem")
    succeed(folder, "publish", "family.toml", "-o", "by-family", "--key", "publisher.pem")
    assert json.loads(succeed(folder, "verify", "by-family", "--json"))["holds"]
    assert json.loads(succeed(folder, "limits", "by-family", "--json"))["rho"] == "1/2"


def test_the_verifier_in_the_folder_proves_rho_with_python_alone(office: Path) -> None:
    release = office / "release"
    done = subprocess.run(
        [sys.executable, "-I", "verify_standalone.py", "mechanism.json"], cwd=release, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "rho = 0.5" in done.stdout


def test_a_ledger_of_pure_epsilon_refuses_it_before_anything_is_written(office: Path) -> None:
    before = (office / "ledger.db").read_bytes()
    done = shell(office, "commit", "pure.toml", "--key", "publisher.pem")
    assert done.returncode == 2 and "promises only ρ" in done.stderr and "zcdp" in done.stderr
    assert (office / "ledger.db").read_bytes() == before


def test_a_forged_rho_is_refuted(office: Path, tmp_path: Path) -> None:
    document = json.loads((office / "rho.mechanism.json").read_text(encoding="utf-8"))
    for stated in (document["guarantee"], document["problem"]["privacy"]):
        stated["rho"] = "0.4"
    (tmp_path / "forged.mechanism.json").write_text(json.dumps(document), encoding="utf-8")
    done = shell(tmp_path, "certify", "forged.mechanism.json")
    assert done.returncode == 1 and "Refuted" in done.stdout
