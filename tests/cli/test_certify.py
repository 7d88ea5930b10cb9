"""`discreet certify` as it is typed: proofs, refutations, and what each prints."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from office import shell


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the demo's proving stage has run twice."""
    from discreet.cli.stages import certify

    folder = tmp_path_factory.mktemp("demo")
    for _ in range(2):
        result = certify.run(folder).facts
    assert result["honest"]["proved"] and not result["forged"]["proved"] and result["million"]["proved"]
    return folder


def test_the_tight_epsilon_is_bracketed_to_fifteen_digits(demo: Path) -> None:
    done = shell(demo, "certify", "any-child.mechanism.json", "--json")
    result = json.loads(done.stdout)
    low, high = map(Fraction, result["tight_epsilon"])
    assert done.returncode == 0 and result["proved"] is True
    assert 1 - Fraction(1, 10**15) < low <= high <= 1
    assert result["certificate"] == "any-child.certificate.json"


def test_a_forgery_is_refuted_with_its_edge(demo: Path) -> None:
    done = shell(demo, "certify", "forged.mechanism.json", "--json")
    result = json.loads(done.stdout)
    assert done.returncode == 1 and result["proved"] is False
    assert result["counterexample"]["edge"] == ["0", "1"] and result["counterexample"]["output"] == "0"


def test_the_certificate_of_another_mechanism_is_refused(demo: Path) -> None:
    text = (demo / "any-child.mechanism.json").read_text(encoding="utf-8").replace('"household"', '"dwelling"')
    (demo / "other.mechanism.json").write_text(text, encoding="utf-8")
    done = shell(demo, "certify", "other.mechanism.json", "any-child.certificate.json")
    assert done.returncode == 1
    assert "Refuted: The certificate belongs to another mechanism." in done.stdout


def test_a_certificate_that_claims_less_than_the_truth_is_refuted(demo: Path) -> None:
    document = json.loads((demo / "any-child.certificate.json").read_text(encoding="utf-8"))
    document["privacy"]["epsilon"] = "9/10"
    (demo / "bold.certificate.json").write_text(json.dumps(document), encoding="utf-8")
    done = shell(demo, "certify", "any-child.mechanism.json", "bold.certificate.json")
    assert done.returncode == 1 and "claims another ε" in done.stdout


@pytest.mark.parametrize("name", ["missing.json", "places.toml"])
def test_a_file_that_is_no_mechanism_is_refused_in_words(demo: Path, name: str) -> None:
    done = shell(demo, "certify", name)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("discreet: ") and "Traceback" not in done.stderr
