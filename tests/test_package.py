"""The package as others get it: whole, usable away from this tree, as README says. `tools/package.py --all` tries every extra."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from scripts import tool

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def package() -> ModuleType:
    return tool("package")


@pytest.mark.slow
def test_the_wheel_made_from_the_archive_is_whole_and_works_away_from_here(package: ModuleType, tmp_path: Path) -> None:
    """Dependencies are this environment's; that the wheel names them all, `tools/package.py` shows in a clean one."""
    archive, wheel = package.built(tmp_path)
    assert package.missing_from(archive, wheel) == []
    place = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile", "--target", place, wheel]
    assert subprocess.run([*pip, "--disable-pip-version-check"], check=False).returncode == 0
    environment = os.environ | {"PYTHONPATH": str(place), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", "import discreet; print(discreet.__file__)"], cwd=tmp_path, env=environment, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    assert Path(done.stdout.strip()).is_relative_to(place)
    package.use(sys.executable, [], anywhere=True, cwd=tmp_path, env=environment)
    done = subprocess.run(
        [sys.executable, place / "bin" / "discreet", "--version"], cwd=tmp_path, env=environment, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.strip()


def test_every_extra_that_is_named_exists_and_has_a_trial(package: ModuleType) -> None:
    named = {page.name: package.asked_for(page) for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert named["README.md"] and all(f"`{extra}`" in readme for extra in package.extras()), "the README says how to install each"
    assert all(names <= set(package.extras()) for names in named.values()), named
    assert sorted(package.PROBES) == package.extras()
