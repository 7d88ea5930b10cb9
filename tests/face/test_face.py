"""The Python face: from data to a read value and to a release with one import; helpful words for what goes wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import InputError
from discreet.exchange import finite, judge
from discreet.face import Answer, AskedProblem, DesignedFamily, DesignedMechanism

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCKS = {"block": ["A", "B"], "size": [4, 5]}


@pytest.fixture(scope="module")
def places() -> AskedProblem:
    return discreet.problem(respondents=4, values=[0, 1, 2], probabilities=[0.89, 0.09, 0.02], epsilon=1, unit="household")


@pytest.fixture(scope="module")
def best(places: AskedProblem) -> DesignedMechanism:
    return places.design()


@pytest.fixture(scope="module")
def family(places: AskedProblem, tmp_path_factory: pytest.TempPathFactory) -> DesignedFamily:
    os.environ.setdefault("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    return places.design(sizes=BLOCKS)


@pytest.fixture(scope="module")
def frontier(places: AskedProblem) -> Answer[Any]:
    return places.frontier(["1/2", 1])


def test_a_problem_comes_from_keywords_a_mapping_a_file_or_a_problem(places: AskedProblem, tmp_path: Path) -> None:
    from discreet.files.problem_document import problem_document

    file = tmp_path / "places.toml"
    file.write_text(
        '[data]\nrespondents = 4\nvalues = [0, 1, 2]\n[prior]\nkind = "iid"\nprobabilities = [0.89, 0.09, 0.02]\n[statistic]\n'
        'kind = "sum"\n[decision]\nkind = "squared-error"\nactions = "integer"\n[privacy]\nepsilon = 1\nunit = "household"\n',
        encoding="utf-8",
    )
    others = (str(file), file, problem_document(places.problem), places.problem)
    for other in map(discreet.problem, others):
        assert problem_document(other.problem) | {"name": None} == problem_document(places.problem) | {"name": None}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "needs respondents, values, one belief"),
        ({"respondents": 4, "values": [0, 1], "probabilities": [0.5, 0.5]}, "one level of privacy"),
        ({"respondents": 4, "values": [0, 1], "probabilities": [0.5, 0.5], "counts": [1, 1], "epsilon": 1}, "one belief"),
        ({"respondents": 4, "values": [0, 1], "probabilities": [0.5, 0.6], "epsilon": 1}, "sum"),
        ({"respondents": 4, "values": [0, "x"], "probabilities": [0.5, 0.5], "epsilon": 1}, "not a number"),
    ],
)
def test_what_is_no_problem_is_refused_in_words(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        discreet.problem(**asked)


def test_calling_the_package_or_giving_a_path_says_what_to_write(places: AskedProblem) -> None:
    """Near-miss: 'module' object is not callable, and 'str' object has no attribute 'statistic'."""
    with pytest.raises(InputError, match=r"discreet\.problem\(…\)\.design\(\)"):
        discreet.design(places)  # type: ignore[operator]
    with pytest.raises(InputError, match=r"discreet\.problem"):
        discreet.design.design("places.toml")


def test_a_design_is_certified_read_written_and_reported(best: DesignedMechanism, tmp_path: Path) -> None:
    assert best.lower_bound <= best.loss and best.certify().result.proved
    reading = best.read(1)
    assert reading.facts["action"] == 1 and reading.result.mean() == pytest.approx(reading.facts["mean"])
    again = discreet.files.read_mechanism(best.write(tmp_path / "p.mechanism.json"))
    assert again == best.mechanism and (tmp_path / "p.record.json").exists() and (tmp_path / "p.certificate.json").exists()
    assert best.report(tmp_path / "p.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_things_show_themselves_briefly_and_in_full(places: AskedProblem, best: DesignedMechanism, family: DesignedFamily) -> None:
    """Near-miss: the repr of a design had 139,190 characters."""
    for thing in (places, best, family, best.found, best.mechanism, best.found.certificate, best.certify()):
        assert len(repr(thing)) < 250 and "\n" not in repr(thing)
    for shown in (places, best, family, best.certify(), best.read(1), best.profile(), best.cite()):
        assert shown._repr_html_().startswith("<div class=") and len(str(shown)) > 40 and shown.facts
    assert "this design" in str(best) and "\x1b" not in str(best)


def test_a_family_is_published_from_a_frame(family: DesignedFamily, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"block": list("AAAABBBBB"), "children": [0, 1, 0, 2, 0, 0, None, 1, 0]})
    asked: dict[str, Any] = {"population": "households", "unit": "household", "key": tmp_path / "k.pem"}
    budget = discreet.budget(tmp_path / "ledger.db", epsilon=3, **asked)
    assert discreet.budget(tmp_path / "ledger.db", epsilon=3, **asked) == budget, "asking again changes nothing"
    with pytest.raises(InputError, match="another budget"):
        discreet.budget(tmp_path / "ledger.db", epsilon=4, **asked)
    with pytest.raises(InputError, match="must count as one of the values"):
        family.publish(frame, keys=BLOCKS, column="children", otherwise=7, ledger=budget, folder=tmp_path / "r")
    with pytest.raises(InputError, match="no column of sizes"):
        family.publish(frame, keys={"block": ["A"]}, column="children", otherwise=0, ledger=budget, folder=tmp_path / "r")
    assert budget.remaining == 3, "what is refused costs nothing"
    release = family.publish(frame, keys=BLOCKS, column="children", otherwise=0, ledger=budget, folder=tmp_path / "r")
    assert list(release.table()["block"]) == ["A", "B"] and budget.remaining == 2
    assert release.verify().result.holds and discreet.release(tmp_path / "r") == release
    with pytest.raises(InputError, match="no release"):
        discreet.release(tmp_path)


def made(kind: str, columns: dict[str, list[Any]]) -> Any:
    """A frame of a kind."""
    library = pytest.importorskip("pyarrow" if kind == "arrow" else kind, reason="discreet[frames] is not installed")
    return library.table(columns) if kind == "arrow" else library.DataFrame(columns)


def unmade(frame: Any) -> dict[str, list[Any]]:
    """Its columns, whatever its kind."""
    if hasattr(frame, "to_pydict"):
        return dict(frame.to_pydict())
    return frame.to_dict(as_series=False) if hasattr(frame, "to_series") else dict(frame.to_dict(orient="list"))


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames_of_every_kind_go_in_and_out_at_every_step(
    kind: str, places: AskedProblem, best: DesignedMechanism, family: DesignedFamily, frontier: Answer[Any], tmp_path: Path
) -> None:
    known = made(kind, {"value": [0, 1, 2], "probability": [0.89, 0.09, 0.02], "count": [89, 9, 2]})
    asked = discreet.problem(
        respondents=4, values=known["value"], probabilities=known["probability"], epsilon=1, unit="household"
    )  # fmt: skip
    assert asked.problem == places.problem
    counted = discreet.problem(respondents=4, values=known["value"], counts=known["count"], counts_from="a census", epsilon=1)
    assert counted.problem.prior.kind == "reference"
    blocks = made(kind, BLOCKS)
    assert unmade(asked.design(sizes=blocks).table(kind)) == unmade(family.table(kind)), "designs are kept"
    tables = {thing: unmade(thing.table(kind)) for thing in (best, family, best.read(1), frontier)}
    assert [list(table) for table in tables.values()][:3] == [
        ["state", "output", "probability"], ["size", "loss", "relative_gap", "status", "padded"], ["statistic", "probability"],
    ]  # fmt: skip
    points = tables[frontier]
    assert points["epsilon"] == [0.5, 1.0] and points["loss"][1] >= points["lower_bound"][1] and "geometric" in points
    assert sum(tables[best]["probability"]) == pytest.approx(len(set(tables[best]["state"])))
    budget = discreet.budget(tmp_path / "ledger.db", population="households", unit="household", epsilon=1)
    rows = made(kind, {"block": list("AAAABBBBB"), "children": [0, 1, 0, 2, 0, 0, None, 1, 0]})
    release = family.publish(rows, keys=blocks, column="children", otherwise=0, ledger=budget, folder=tmp_path / "r")
    assert unmade(release.table(kind))["block"] == ["A", "B"]
    response = finite(made(kind, {"no": [0.75, 0.25], "yes": [0.25, 0.75]}))
    assert judge(response).tight.ratio == 3


def test_what_is_no_table_says_so(best: DesignedMechanism) -> None:
    with pytest.raises(InputError, match="This is no table"):
        best.certify().table()
    with pytest.raises(InputError, match="kind of frame"):
        best.table("spreadsheet")


def test_the_top_offers_what_a_person_begins_with() -> None:
    assert {"problem", "budget", "release", "design", "files"} <= set(dir(discreet))
    assert "respondents" in (discreet.problem.__doc__ or "")


def test_the_python_lines_of_the_readme_run(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    done = subprocess.run([sys.executable, "-c", "\n".join(blocks)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "The published value 5 means" in done.stdout and (tmp_path / "places.html").exists()
    lines = blocks[0].strip().splitlines()
    assert len(lines) <= 8 and sum("import" in line for line in lines) == 1


def test_values_to_add_up_are_asked_for_by_a_keyword() -> None:
    told: dict[str, Any] = {"respondents": 2, "values": [0, 1], "probabilities": [0.7, 0.3], "epsilon": 1}
    asked = discreet.problem(**told, unbiased="nearby").problem
    assert asked.unbiased == "nearby" and asked.real_actions
    with pytest.raises(InputError, match="not all real"):
        discreet.problem(**told, unbiased="nearby", actions="integer")
