"""A release opens in R with base R alone: the lines of docs/publish.md, run on keys that a careless reader would change."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from towns import town_mechanism

import discreet
from discreet.engines.writer import read_parquet
from discreet.face.published import published
from discreet.files.mechanism import mechanism_document

STREETS = ["007", "NA", "=1+1", "'quoted", "a,b", "TRUE", "Überweg", "1e3"]
TELL = r"""
cat("told:\n")
plain <- function(values) if (is.character(values)) values else format(values, digits = 15, trim = TRUE)
for (name in names(release)) cat(c(name, plain(release[[name]])), sep = c(rep("\t", nrow(release)), "\n"))
"""


@pytest.mark.needs_r
def test_a_release_opens_in_base_r(root: Path, tmp_path: Path) -> None:
    """Near-miss: `read.csv` alone makes 7 of "007", nothing of "NA" and 1000 of "1e3"."""
    pyarrow = pytest.importorskip("pyarrow", reason="discreet[frames] is not installed")
    mechanism = town_mechanism()
    published(
        {4: mechanism}, mechanism_document(mechanism), mechanism.problem, pyarrow.table({"street": STREETS, "answer": [1] * 8}),
        keys={"street": STREETS, "size": [4] * 8}, column="answer", otherwise=0, folder=tmp_path / "release-2026", dataset="",
        protects="presence", ledger=discreet.budget(tmp_path / "ledger.db", population="town", unit="person", epsilon=1),
    )  # fmt: skip
    page = (root / "docs" / "publish.md").read_text(encoding="utf-8")
    [lines] = re.findall(r"^```r\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "open.R").write_text(lines + TELL, encoding="utf-8")
    done = subprocess.run(
        ["Rscript", "--vanilla", "--encoding=UTF-8", "open.R"], cwd=tmp_path, capture_output=True, check=False,
        env=os.environ | {"LC_ALL": "C.UTF-8", "R_LIBS": "", "R_LIBS_USER": "/nowhere", "R_LIBS_SITE": "/nowhere"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    told = done.stdout.decode().split("told:\n")[1].splitlines()
    found = {name: values for name, *values in (line.split("\t") for line in told)}
    kept = read_parquet(tmp_path / "release-2026" / "release.parquet")
    assert list(found) == list(kept) and found.pop("street") == STREETS
    for name, values in found.items():
        assert [float(text) for text in values] == pytest.approx([float(x) for x in kept[name]]), name
