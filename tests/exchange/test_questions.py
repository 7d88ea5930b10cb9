"""Labels: every question of the pyramid answered from evidence, attested or open, and nothing believed of a release that fails."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from forging import resealed
from random_worlds import mechanism_on, problem_of
from towns import make_town

import discreet
from discreet.cli.main import run
from discreet.design import design
from discreet.errors import InputError
from discreet.exchange.questions import QUESTIONS, SOURCES, QuestionAnswer, mechanism_answers, release_answers
from discreet.model.kernel import Output, TableKernel
from discreet.model.neighbours import ReplaceOne
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.present.label import mechanism_label, release_label

TWO = (Fraction(0), Fraction(1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_town(tmp_path_factory.mktemp("town") / "town").publish()


def by_name(answers: tuple[QuestionAnswer, ...]) -> dict[str, QuestionAnswer]:
    return {name: answer for (name, _, _), answer in zip(QUESTIONS, answers, strict=True)}


def test_a_release_answers_from_certificate_ledger_and_folder(folder: Path) -> None:
    answers, verdict = release_answers(folder)
    said = by_name(answers)
    assert verdict.holds and {a.source for a in answers} == set(SOURCES)
    assert said["loss"].source == "certificate" and "ε = 1" in said["loss"].answer
    assert said["budget"].source == "ledger" and "5 in the currency pure" in said["budget"].answer
    assert said["unprotected"].source == "release" and "key set" in said["unprotected"].answer
    assert said["collection"].source == said["security"].source == "unanswered"
    assert said["unit"].source == "attested" and "person" in said["unit"].answer


def test_what_a_forged_release_says_is_not_repeated(folder: Path, tmp_path: Path) -> None:
    """The adversary lowers ε in the facts and makes the manifest fit: the label must not print the better number."""
    forged = tmp_path / "forged"
    shutil.copytree(folder, forged)
    facts = json.loads((forged / "facts.json").read_text())
    facts["privacy_loss"]["epsilon"] = "1/1000"
    (forged / "facts.json").write_text(json.dumps(facts))
    resealed(forged)
    text, answers = release_label(forged)
    assert "1/1000" not in text and "FAILS VERIFICATION" in text
    assert [a.source for a in answers if a.source != "unanswered"] == ["release"]


def test_counts_made_elsewhere_are_called_attested(tmp_path: Path) -> None:
    import numpy as np

    town = make_town(tmp_path / "town")
    answers, _ = release_answers(town.publish(counts=np.array([[4, 0], [0, 4], [2, 2]])))
    assert "made elsewhere" in by_name(answers)["contributions"].answer


def test_a_mechanism_answers_what_the_checker_proves_now() -> None:
    problem = discreet.problem(respondents=4, values=[0, 1], probabilities=["0.7", "0.3"], epsilon=1).problem
    found = design(problem, compare=False)
    said = by_name(mechanism_answers(found.mechanism, found.certificate))
    assert "no private mechanism loses less" in said["accuracy"].answer and said["accuracy"].source == "certificate"
    assert said["budget"].source == "unanswered"
    bare = by_name(mechanism_answers(found.mechanism))
    assert bare["accuracy"].source == "unanswered"


def test_a_false_promise_is_told_as_false() -> None:
    problem = problem_of(Universe.of(2, TWO), ReplaceOne())
    loud = TableKernel(("0", "1", "2"), (Output("a"), Output("b")), ((8, 4, 0), (0, 4, 8)), 8)
    text, answers = mechanism_label(mechanism_on(problem, LinearSummary((0, 1)), loud))
    assert "is false" in by_name(answers)["loss"].answer and "Proved" not in text


def test_names_are_shown_as_text(folder: Path) -> None:
    problem = replace(problem_of(Universe.of(2, TWO), ReplaceOne()), name="<script>alert(1)</script>", unit="<b>person</b>")
    flat = TableKernel(("0", "1", "2"), (Output("a"),), ((8, 8, 8),), 8)
    text, _ = mechanism_label(mechanism_on(problem, LinearSummary((0, 1)), flat))
    assert "<script>" not in text and "<b>person" not in text
    page, _ = release_label(folder)
    for outside in ("<script", "http://", "https://", "<img", "url("):
        assert outside not in page


def test_a_folder_that_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no release"):
        release_answers(tmp_path)


def test_a_release_that_fails_is_not_registered(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    forged = tmp_path / "forged"
    shutil.copytree(folder, forged)
    (forged / "release.csv").write_text("nothing")
    words = ["register", str(forged), "-o", str(tmp_path / "r.json"), "--curator", "A", "--region", "B"]
    assert run(words) == 2 and not (tmp_path / "r.json").exists()
    assert "does not verify" in capfd.readouterr().err
    words[1] = str(folder)
    assert run(words) == 0 and json.loads((tmp_path / "r.json").read_text())["deployment"]["basic"]["data_curators"] == ["A"]
