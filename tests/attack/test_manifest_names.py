"""A manifest speaks of the files in its folder and looks at no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.files.canonical import canonical_bytes
from discreet.publish.folder import altered, file_hash


def write_manifest(folder: Path, files: dict[str, str]) -> None:
    (folder / "manifest.json").write_bytes(canonical_bytes({"format": "discreet-release/2", "files": files}) + b"\n")


@pytest.mark.parametrize("name", ["../secret", "./release.csv", "inner/../../secret", "", "..", "ABSOLUTE"])
def test_names_that_lead_out_of_the_folder_are_wrong(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "release"
    (folder / "inner").mkdir(parents=True)
    (folder / "release.csv").write_text("x")
    (tmp_path / "secret").write_text("x")
    named = str(tmp_path / "secret") if name == "ABSOLUTE" else name
    write_manifest(folder, {named: file_hash(tmp_path / "secret")})
    assert altered(folder)[0] == [named]


def test_plain_names_are_read(tmp_path: Path) -> None:
    (tmp_path / "release.csv").write_text("x")
    write_manifest(tmp_path, {"release.csv": file_hash(tmp_path / "release.csv")})
    assert altered(tmp_path) == ([], [])
