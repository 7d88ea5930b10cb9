"""A manifest speaks of the files in its folder and looks at no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.publish.folder import file_hash
from discreet.publish.verification import Verdict, _files


@pytest.mark.parametrize("name", ["../secret", "./release.csv", "inner/../../secret", "", "..", "ABSOLUTE"])
def test_names_that_lead_out_of_the_folder_are_wrong(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "release"
    (folder / "inner").mkdir(parents=True)
    (folder / "release.csv").write_text("x")
    (tmp_path / "secret").write_text("x")
    named = str(tmp_path / "secret") if name == "ABSOLUTE" else name
    verdict = Verdict()
    _files(folder, {"files": {named: file_hash(tmp_path / "secret")}}, verdict)
    assert verdict.checks[0].holds is False


def test_plain_names_are_read(tmp_path: Path) -> None:
    (tmp_path / "release.csv").write_text("x")
    verdict = Verdict()
    _files(tmp_path, {"files": {"release.csv": file_hash(tmp_path / "release.csv")}}, verdict)
    assert verdict.holds
