"""The scripts that set up a machine: they find programs, ask for what tests need, refuse in words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from scripts import tool

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """tools/system.py as a module, forbidden to install anything."""
    monkeypatch.setenv("DISCREET_INSTALL", "no")
    return tool("system")


def test_a_program_is_found_on_the_path_or_in_its_folder(system: ModuleType, tmp_path: Path) -> None:
    assert system.Tool("A shell", ("no-such-shell", "sh"), "dash").found() is not None
    assert system.Tool("Nothing", ("no-such-program",), "none").found() is None
    hidden = tmp_path / "16" / "bin" / "no-such-initdb"
    hidden.parent.mkdir(parents=True)
    hidden.touch()
    pattern = str(tmp_path.relative_to("/") / "*" / "bin")
    assert system.Tool("PostgreSQL", ("no-such-initdb",), "postgresql", (pattern,)).found() == hidden


def test_only_what_a_test_marks_is_needed(system: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "ROOT", tmp_path)
    (tmp_path / "tests" / "engines").mkdir(parents=True)
    assert system.needed() == []
    marked = "@pytest.mark." + "needs_java\ndef test_spark(): ..."
    (tmp_path / "tests" / "engines" / "test_spark.py").write_text(marked)
    assert system.needed() == ["java"]


def test_nothing_is_installed_when_told_so(system: ModuleType) -> None:
    assert system.installed(["no-such-package"]) is False


def test_every_mark_is_a_tool_and_every_tool_a_mark(system: ModuleType, pytestconfig: pytest.Config) -> None:
    marks = {line.split(":")[0] for line in pytestconfig.getini("markers")}
    assert {f"needs_{name}" for name in system.TOOLS} == {mark for mark in marks if mark.startswith("needs_")}


@pytest.mark.parametrize(
    ("planted", "words"),
    [
        ("sys.version_info = (3, 9, 0)", "is too old. Install Python 3.11 or newer"),
        ("set_up.created = lambda folder: False", "-venv: apt-get install python3."),
    ],
)
def test_a_machine_that_cannot_be_set_up_is_told_why(tmp_path: Path, planted: str, words: str) -> None:
    start = f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); import set_up"
    program = f"{start}; {planted}; sys.exit(set_up.main())"
    command = [sys.executable, "-c", program, str(tmp_path / "environment")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and words in done.stderr, done.stderr
    assert not (tmp_path / "environment").exists()


def test_the_constraints_are_printed_without_addresses() -> None:
    script = ROOT / "tools" / "constraints.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert any(line.startswith("numpy==") for line in lines) and not any("@" in line or "/" in line for line in lines)
    assert not any(line.startswith("discreet==") for line in lines)
