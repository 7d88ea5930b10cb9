"""Whatever takes a mechanism takes a family and a release: one cell by its keys, one member by its size."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import pytest
from office import shell

from discreet.cli.main import run
from discreet.numerics.exact import exact
from discreet.views.sizes import limits_of_sizes, profile_of_sizes
from discreet.views.subject import subjects_of
from discreet.views.view import Grid


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory, planned: Path) -> Path:
    folder = tmp_path_factory.mktemp("family")
    (folder / "places.toml").write_bytes((planned / "places.toml").read_bytes())
    assert run(["design", str(folder / "places.toml"), "--sizes", "3..4", "-o", str(folder / "any.json"), "--workers", "1"]) == 0
    return folder / "any.json"


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, object]:
    capsys.readouterr()
    assert run([*map(str, words), "--json"]) == 0, capsys.readouterr().err
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_a_cell_of_a_release_is_read_by_its_keys(released: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = released / "release-2026"
    with (folder / "release.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    key = next(iter(rows[0]))
    for row in rows:
        found = answer(capsys, "read", folder, f"{key}={row[key]}")
        assert found["cell"] == {key: row[key]} and found["size"] == int(row["size"])
        assert str(found["output"]) == row["code"]
        assert found["mean"] == pytest.approx(float(row["posterior_mean"]), rel=1e-6)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere=1"], "no such key"),
        (["block=none of them"], "no cell of the release"),
        (["1", "--size", "99"], "No mechanism is for cells of this size"),
    ],
)
def test_cells_that_are_not_there_are_refused_in_words(released: Path, words: list[str], said: str) -> None:
    done = shell(released, "read", "release-2026", *words)
    assert done.returncode == 2 and said in " ".join(done.stderr.split())


def test_keys_belong_to_releases(released: Path) -> None:
    done = shell(released, "read", "places.mechanism.json", "block=a")
    assert done.returncode == 2 and "Only a release has cells" in " ".join(done.stderr.split())


@pytest.mark.parametrize("command", ["read", "profile", "limits", "compare"])
def test_a_member_is_named_by_its_size(family: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    words = {"read": [family, "1"], "compare": [family, family]}.get(command, [family])
    assert answer(capsys, command, *words, "--size", "4")
    assert run([command, *map(str, words), "--size", "9"]) == 2
    assert "cells of this size" in " ".join(capsys.readouterr().err.split())


def test_a_value_is_about_a_cell_of_one_size(family: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["read", family, "1"], ["limits", family, "--output", "1"], ["profile", family, "--figure", "p.svg"]):
        assert run([*map(str, words)]) == 2
        assert "--size" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("command", ["profile", "limits"])
def test_the_worst_size_speaks_for_all(family: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    """Adversary: a size that is worse than the one that is told, or a number that is rounded below one that it speaks for."""
    whole = answer(capsys, command, family)
    assert isinstance(whole["worst"], dict) and isinstance(whole["each"], list) and whole["sizes"] == "3..4"
    for name, worst in whole["worst"].items():
        each = {row["size"]: row["at_most"][name] for row in whole["each"]}
        assert worst["at_most"] == max(each.values()) == each[worst["size"]] and worst["least"] == min(each.values())
    for size in (3, 4):
        one = answer(capsys, command, family, "--size", size)
        told = next(row["at_most"] for row in whole["each"] if row["size"] == size)
        if command == "profile":
            assert told["tight ε"] == one["epsilon"] and told["zCDP ρ"] == one["rho"] and told["advantage"] == one["advantage"][1]
        else:
            assert next(iter(told.values())) == one["mechanism"]["alone"]["log_odds"]
    view = (profile_of_sizes if command == "profile" else limits_of_sizes)(subjects_of(family))
    rows = {row[0]: row for grid in view.told if isinstance(grid, Grid) for row in grid.rows}
    for name, worst in whole["worst"].items():
        _, most, size, least, where = rows[name]
        assert Fraction(most) >= exact(worst["at_most"]) and int(size) == worst["size"]
        assert Fraction(least) >= exact(worst["least"]) and int(where) == worst["least_size"]


def test_families_are_compared_size_by_size(family: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stricter = str(tmp_path / "stricter.json")
    problem = str(family.parent / "places.toml")
    assert run(["design", problem, "--epsilon", "1/2", "--sizes", "4..5", "-o", stricter, "--workers", "1"]) == 0
    found = answer(capsys, "compare", family, stricter)
    assert found["sizes"] == "4", "sizes that both have"
    one = answer(capsys, "compare", family, stricter, "--size", 4)
    assert [m["followed"] for m in found["each"][0]["mechanisms"]] == [m["followed"] for m in one["mechanisms"]]
    assert run(["compare", str(family), stricter]) == 0
    assert "loses less than" in " ".join(capsys.readouterr().out.split())
    other = str(tmp_path / "other.json")
    assert run(["design", problem, "--sizes", "6..7", "-o", other, "--workers", "1", "--gap", "0.01"]) == 0
    assert run(["compare", str(family), other]) == 2
    assert "No size of cells is common" in " ".join(capsys.readouterr().err.split())


def test_a_family_that_rests_on_one_result_is_cited_whole(family: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cited, proved = answer(capsys, "cite", family), answer(capsys, "certify", family)
    assert cited["mechanism"] == proved["hash"], "by the hash of the whole family, not by that of a member"


def test_the_mechanisms_of_a_release_are_certified_in_its_folder(released: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = released / "release-2026"
    assert answer(capsys, "certify", folder)["hash"] == answer(capsys, "certify", folder / "mechanism.json")["hash"]


def test_the_report_of_a_family_speaks_of_every_size(family: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run(["report", str(family), "-o", str(page), "--no-frontier"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "Over all 2 sizes the expected loss is at most" in text and "2 mechanisms for cells of sizes 3..4" in text


def test_the_report_of_a_release_shows_the_release(released: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run(["report", str(released / "release-2026"), "-o", str(page), "--no-frontier"]) == 0
    text = page.read_text(encoding="utf-8")
    with (released / "release-2026" / "release.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row[next(iter(row))] in text and row["published"] in text for row in rows)
    assert text.count("<svg") >= 1 and "interval" in text
