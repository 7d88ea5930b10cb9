"""`frontier`, `allocate`, `design --sizes` and `design --priors` as they are typed."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path

import pytest
from office import problem_text

from discreet import files
from discreet.cli.main import run
from discreet.cli.questions.several_priors import SeveralPriors
from discreet.model.family import sizes_in_words
from discreet.views.view import View

OTHERS = '[[prior]]\nkind = "iid"\nprobabilities = [0.89, 0.05, 0.06]\n'


@pytest.fixture
def places(tmp_path: Path) -> Path:
    path = tmp_path / "places.toml"
    path.write_text(problem_text(3), encoding="utf-8")
    return path


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, object]:
    assert run([str(word) for word in words] + ["--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_frontier_for_programs_and_people(places: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "f.svg"
    words = ["frontier", places, "--points", 4, "--target", "0.3", "--workers", 1]
    found = answer(capsys, *words, "--figure", picture, "-o", tmp_path / "t.mechanism.json")
    made = files.read_mechanism(tmp_path / "t.mechanism.json")
    assert str(made.guarantee.epsilon) == found["target"]["between"][1]  # type: ignore[index]
    assert run(["certify", str(tmp_path / "t.mechanism.json")]) == 0
    capsys.readouterr()
    points = found["points"]
    assert [p["epsilon"] for p in points] == ["1/2", "1", "3/2", "2"]  # type: ignore[attr-defined]
    assert all(p["lower_bound"] <= p["loss"] <= p["baselines"]["geometric"] + 1e-9 for p in points)  # type: ignore[attr-defined]
    share = found["saving"]["share"]  # type: ignore[index]
    assert 0 < share[0] < share[1] < 1 and picture.exists()
    low, high = map(Fraction, found["target"]["between"])  # type: ignore[index]
    assert low < high and found["target"]["loss_reached"] <= 0.3  # type: ignore[index]
    assert run([str(w) for w in words]) == 0
    told = capsys.readouterr().out
    assert "Saved: the loss" in told and "Target: for a loss of 0.3 ε =" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--epsilon", "1", "--against", "magic"], "This baseline is not known here"),
        (["--epsilon", "1", "--figure", "f.pdf"], "SVG, PNG"),
        (["--points", "1"], "several levels"),
        (["--epsilon", "2", "-o", "x.mechanism.json"], "no single mechanism"),
        (["--epsilon", "-1"], "level of a promise"),
    ],
)
def test_frontier_refuses_in_words(places: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["frontier", str(places), "--workers", "1", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_family_is_written_and_read(places: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes, family = tmp_path / "sizes.txt", tmp_path / "places.family.json"
    sizes.write_text("1\n2\n2\n3-4\n", encoding="utf-8")
    words = ["design", places, "--sizes", sizes, "-o", family, "--kept", tmp_path / "kept", "--workers", 1, "--gap", "1e-6"]
    found = answer(capsys, *words)
    assert found["sizes"] == "1..2, 3-4" and found["within_1e-6"] == 1.0 and found["missing"] == []
    read = files.read_family(family)
    assert files.family_hash(read) == found["hash"] and read.member(4).padded
    proved = answer(capsys, "certify", family)
    assert proved["proved"] is True and len(proved["members"]) == 3  # type: ignore[arg-type]
    assert run(["certify", str(family)]) == 0
    assert "3 mechanisms for sizes 1..2, 3-4" in capsys.readouterr().out
    assert run([*map(str, words), "--figure", str(tmp_path / "s.svg")]) == 0
    told = capsys.readouterr().out
    assert "3-4 (padded)" in told and "kept" in told and (tmp_path / "s.svg").exists()


def test_a_robust_design_is_written_with_its_proof(places: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    others, output = tmp_path / "others.toml", tmp_path / "robust.mechanism.json"
    others.write_text(OTHERS, encoding="utf-8")
    places.write_text(problem_text(5), encoding="utf-8")
    found = answer(capsys, "design", places, "--priors", others, "-o", output, "--workers", 1)
    assert found["least_worst_regret"] <= found["worst_regret"]  # type: ignore[operator]
    first, second = found["priors"]  # type: ignore[misc]
    assert second["loss"] < second["plain"] and first["loss"] - first["plain"] == pytest.approx(found["price"])
    assert run(["certify", str(output)]) == 0
    capsys.readouterr()
    again = answer(capsys, "certify", tmp_path / "robust.robust.json")
    assert float(Fraction(again["worst_regret"])) == pytest.approx(found["worst_regret"])  # type: ignore[arg-type]


def test_a_forged_family_and_a_forged_robust_file_are_refuted(
    places: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others, output, family = (tmp_path / name for name in ("others.toml", "r.mechanism.json", "fam.json"))
    others.write_text(OTHERS, encoding="utf-8")
    assert run(["design", str(places), "--priors", str(others), "-o", str(output), "--workers", "1"]) == 0
    sized = ["design", str(places), "--sizes", "2", "-o", str(family), "--kept", str(tmp_path / "kept"), "--workers", "1"]
    assert run(sized) == 0
    assert run(["certify", str(family)]) == run(["certify", str(tmp_path / "r.robust.json")]) == 0
    robust, sized_file = (json.loads(path.read_text()) for path in (tmp_path / "r.robust.json", family))
    forgeries = [
        (robust, ("weights",), robust["weights"][::-1]),
        (robust, ("certificate", "privacy", "epsilon"), "1/1000"),
        (robust, ("references", 1, "certificate", "mechanism"), "0" * 64),
        (sized_file, ("members", 0, "certificate", "optimality", "bound"), "0"),
        (sized_file, ("members", 0, "certificate", "privacy", "epsilon"), "1/1000"),
        (sized_file, ("members", 0, "values", "2"), "0"),
    ]
    capsys.readouterr()
    for number, (document, way, value) in enumerate(forgeries):
        forged = copy.deepcopy(document)
        here = forged
        for key in way[:-1]:
            here = here[key]
        here[way[-1]] = value
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(forged))
        assert run(["certify", str(path)]) == 1
        assert "Refuted:" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["prior = 1\n", "[[prior]]\nkind = 'iid'\nprobabilities = [1.0]\n", "[[", "[data]\n"])
def test_files_of_priors_are_refused_in_words(places: Path, tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "others.toml").write_text(text, encoding="utf-8")
    assert run(["design", str(places), "--priors", str(tmp_path / "others.toml")]) == 2
    assert "discreet:" in capsys.readouterr().err


def test_questions_that_exclude_each_other(places: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["design", str(places), "--sizes", "1..3", "--slopes"]) == 2
    assert "different questions" in capsys.readouterr().err


def test_slopes_and_a_picture_of_a_design(places: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "design", places, "--slopes", "--figure", tmp_path / "d.svg")
    assert [s["of"] for s in found["slopes"]] == ["epsilon", "type 0", "type 1", "type 2"]  # type: ignore[attr-defined]
    assert found["slopes"][0]["slope"] < 0 and (tmp_path / "d.svg").exists()  # type: ignore[index]


def test_decision_makers_are_told_their_price(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.toml"
    second = '[[decision]]\nkind = "absolute-error"\nactions = "integer"\nweight = 2\nname = "buses"\n'
    path.write_text(problem_text(3).replace("[decision]", "[[decision]]") + second, encoding="utf-8")
    found = answer(capsys, "design", path, "--workers", 1)
    assert [s["name"] for s in found["decision_makers"]] == ["decision 1", "buses"]  # type: ignore[attr-defined]


def test_allocate(places: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["allocate", places, places, "--budget", 2, "--weight", 1, "--weight", 2, "--steps", 3, "--rounds", 1]
    found = answer(capsys, *words, "--workers", 1, "--figure", tmp_path / "a.svg")
    assert Fraction(str(found["spent"])) <= 2 and found["lower_bound"] <= found["loss"] and (tmp_path / "a.svg").exists()  # type: ignore[operator]
    assert [p["name"] for p in found["parts"]] == ["places 1", "places 2"]  # type: ignore[attr-defined]
    assert run([*map(str, words), "--workers", "1", "-o", str(tmp_path / "parts")]) == 0
    for name, part in zip(("places 1", "places 2"), found["parts"], strict=True):  # type: ignore[call-overload]
        made = files.read_mechanism(tmp_path / "parts" / f"{name}.mechanism.json")
        assert str(made.guarantee.epsilon) == part["epsilon"]
    assert "no split has less than" in " ".join(capsys.readouterr().out.split())
    assert run(["allocate", str(places), "--budget", "2", "--weight", "1", "--weight", "2"]) == 2


def test_a_regret_surface_from_the_shell(places: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["design", places, "--radius", "0.2", "--workers", 1, "--figure", tmp_path / "r.svg"]
    found = answer(capsys, *words)
    surface = found["neighbourhood"]["surface"]  # type: ignore[index]
    assert len(surface) == 12 and {p["towards"] for p in surface} == {0, 1, 2}
    assert sorted({p["radius"] for p in surface}) == pytest.approx([0.05, 0.1, 0.15, 0.2])
    assert all(p["regret"] <= p["regret_at_most"] + 1e-9 for p in surface)
    corners = found["neighbourhood"]["corners"]  # type: ignore[index]
    assert [c["regret"] for c in corners] == sorted((c["regret"] for c in corners), reverse=True) and len(corners) == 3
    assert "Regret of following" in found["alt"] and (tmp_path / "r.svg").exists()  # type: ignore[operator]
    assert run([*map(str, words[:-2])]) == 0
    assert "If the prior moves by 0.2: worst at" in capsys.readouterr().out


def test_priors_drawn_around_counts_from_the_shell(places: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["design", places, "--draws", 3, "--counts", "89,9,2", "--workers", 1, "--figure", tmp_path / "d.svg"]
    found, again = answer(capsys, *words), answer(capsys, *words)
    assert len(found["drawn_priors"]["places"]) == 3 and (tmp_path / "d.svg").exists()  # type: ignore[index]
    assert found["drawn_priors"] == again["drawn_priors"]
    assert run([*map(str, words)]) == 0
    assert "3 priors drawn around the reference counts" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--draws", "3"], "no reference counts"),
        (["--counts", "89,9,2"], "without --draws"),
        (["--draws", "3", "--counts", "89,9"], "one for each type"),
        (["--draws", "3", "--counts", "89,9,-2"], "one for each type"),
        (["--draws", "0", "--counts", "89,9,2"], "positive counts"),
        (["--draws", "3", "--counts", "89,9,2", "--radius", "0.1"], "different questions"),
    ],
)
def test_neighbourhoods_are_refused_in_words(places: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["design", str(places), "--workers", "1", *words]) == 2
    assert said in capsys.readouterr().err


def test_sizes_that_time_did_not_reach_are_told_as_they_are_asked_for() -> None:
    assert sizes_in_words([(1, 1), (2, 2), (3, 3), (7, 7), (9, 12), (13, 13)]) == "1..3, 7, 9-12, 13"


@pytest.mark.parametrize(("words", "asked"), [([], None), (["--gap", "1e-6"], 1e-6), (["--gap", "0.01"], 0.01)])
def test_the_gap_asked_for_is_the_gap_of_a_robust_design(
    places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], asked: float | None
) -> None:
    """Near-miss: a gap that happens to be the default of other designs is still what was asked for."""
    (tmp_path / "others.toml").write_text(OTHERS, encoding="utf-8")
    heard: list[float | None] = []

    def listen(self: SeveralPriors, _: object) -> View:
        heard.append(self.gap)
        return View({}, ())

    monkeypatch.setattr(SeveralPriors, "answer", listen)
    assert run(["design", str(places), "--priors", str(tmp_path / "others.toml"), *words, "--json"]) == 0
    assert heard == [asked]
