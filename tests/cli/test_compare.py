"""`discreet compare` and `discreet cite` on real files."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from office import shell

import discreet
from discreet import files
from discreet.design import design
from discreet.model.problem import Problem


def asked(respondents: int = 4, epsilon: str = "1") -> Problem:

    return discreet.problem(
        respondents=respondents, values=["0", "1", "2"], probabilities=["1/2", "1/3", "1/6"], epsilon=epsilon
    ).problem


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Best, oblivious, less private, and for another universe."""
    made = tmp_path_factory.mktemp("compare")
    found = {
        "best": design(asked(), compare=False),
        "noise": design(asked(), compare=False, within="oblivious"),
        "loose": design(asked(epsilon="2"), compare=False),
        "other": design(asked(3), compare=False),
    }
    for name, one in found.items():
        path = made / f"{name}.mechanism.json"
        files.write_mechanism(path, one.mechanism)
        files.write_certificate(files.certificate_path(path), one.certificate)
    return made


def test_losses_privacy_and_orders_stand_side_by_side(folder: Path) -> None:
    done = shell(folder, "compare", "best.mechanism.json", "noise.mechanism.json", "loose.mechanism.json", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    best, noise, loose = result["mechanisms"]
    assert loose["followed"] < best["followed"] < noise["followed"]
    assert all(row["reread"] <= row["followed"] + 1e-9 and row["private"] for row in result["mechanisms"])
    assert [row["epsilon"] for row in result["mechanisms"]] == ["1", "1", "2"]
    assert float(Fraction(str(loose["tight_epsilon"][1]))) > 1
    assert len(result["orders"]) == 3


def test_a_person_sees_a_table(folder: Path) -> None:
    done = shell(folder, "compare", "best.mechanism.json", "noise.mechanism.json")
    assert done.returncode == 0 and "loss when followed" in " ".join(done.stdout.split())
    assert "Blackwell" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [(["best.mechanism.json"], "nothing to compare"), (["best.mechanism.json", "other.mechanism.json"], "another universe")],
)
def test_what_cannot_be_compared_is_refused(folder: Path, words: list[str], said: str) -> None:
    done = shell(folder, "compare", *words)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


def test_a_citation_names_the_hash_and_the_theorem(folder: Path) -> None:
    done = shell(folder, "cite", "best.mechanism.json", "--json")
    result = json.loads(done.stdout)
    assert result["mechanism"] == files.mechanism_hash(files.read_mechanism(folder / "best.mechanism.json"))
    assert result["theorem"] == "SY Prop. 5" and "SY" in result["sources"]
    plain = shell(folder, "cite", "best.mechanism.json").stdout
    assert result["mechanism"] in plain and "Schmutte" in plain


def test_a_citation_of_no_mechanism_is_refused(folder: Path) -> None:
    done = shell(folder, "cite", "best.certificate.json")
    assert done.returncode == 2 and "Traceback" not in done.stderr
