"""A release whose mechanism is large is zipped: everything that reads releases reads it, and no second story fits in."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from towns import Town, make_town

from discreet.cli.main import run
from discreet.files import zipped
from discreet.publish.folder import mechanism_in
from discreet.publish.verification import verified


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    """A town that has published, every document being large."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zipped, "LARGE", 100)
        made = make_town(tmp_path_factory.mktemp("zipped") / "town")
        made.publish()
    return made


def test_it_is_zipped_and_holds(town: Town) -> None:
    assert mechanism_in(town.target).name == "mechanism.json.gz" and not (town.target / "mechanism.json").exists()
    assert verified(town.target).holds
    done = subprocess.run(
        [sys.executable, "-I", "-S", "verify_standalone.py", "mechanism.json.gz"],
        cwd=town.target, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.startswith("PROVED")


@pytest.mark.parametrize("command", ["certify", "cite", "profile", "limits"])
def test_commands_take_it(town: Town, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, str(town.target)]) == 0, capsys.readouterr().err


def test_the_mechanism_in_the_clear_beside_it_is_a_second_story(town: Town, tmp_path: Path) -> None:
    """Adversary: readers that prefer one name would prove another mechanism than those that prefer the other."""
    folder = tmp_path / "release"
    shutil.copytree(town.target, folder)
    (folder / "mechanism.json").write_bytes(zipped.unzipped((folder / "mechanism.json.gz").read_bytes(), "it"))
    assert not verified(folder).holds
    assert run(["profile", str(folder)]) == 2


def test_other_bytes_fail(town: Town, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(town.target, folder)
    data = (folder / "mechanism.json.gz").read_bytes()
    (folder / "mechanism.json.gz").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert not verified(folder).holds
