"""The example in every command's help, run as it stands in a real process, in an office that has what it names."""

from __future__ import annotations

import inspect
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from office import process

from discreet.cli.main import command_names, load
from discreet.ledger.keys import Signer

EXAMPLE = re.compile(r"Example: discreet (.+)$", re.MULTILINE)
STARTS_FROM = {"commit": "planned", "publish": "committed"}
NOT_YET = {"new": ("places.toml",), "ledger init": ("ledger.db", "publisher.pem"), "design": ("places.mechanism.json",)}
LONG = {"demo"}
STAYS = {"serve"}


def helps() -> dict[str, str]:
    """The help of every command and of every command of a group."""
    found: dict[str, str] = {}
    for name in command_names():
        loaded: Any = load(name)
        for inner, command in getattr(loaded, "commands", {}).items():
            found[f"{name} {inner}"] = inspect.cleandoc(command.help)
        if not getattr(loaded, "commands", {}):
            found[name] = inspect.cleandoc(loaded.help)
    return found


HELPS = helps()
RUN = [name for name in HELPS if name not in LONG | STAYS]


@pytest.mark.parametrize("name", HELPS)
def test_every_help_has_one_example_of_its_own_command(name: str) -> None:
    examples = EXAMPLE.findall(HELPS[name])
    assert len(examples) == 1 and examples[0].startswith(name + " "), (name, examples)
    assert len(HELPS[name].splitlines()[0]) <= 66, "the first line must fit into the list of commands"


@pytest.fixture
def office(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A fresh copy of the office as the command needs it."""
    name = request.getfixturevalue("name")
    folder = tmp_path / "office"
    shutil.copytree(request.getfixturevalue(STARTS_FROM.get(name, "released")), folder)
    for missing in NOT_YET.get(name, ()):
        (folder / missing).unlink()
    return folder


def words_of(name: str, folder: Path) -> list[str]:
    """The example's words, with the one fingerprint that must be looked up filled in."""
    words = shlex.split(EXAMPLE.findall(HELPS[name])[0])
    if name == "ledger restore":
        assert process(folder, "ledger", "backup", "ledger.db", "-o", "ledger.backup").returncode == 0
    if name == "ledger approve":
        public = Signer.create(folder / "second.pem").public
        for path in folder.glob("ledger.db*"):
            path.unlink()
        told = ("--population", "p", "--unit", "u", "--budget", "1", "--key", "publisher.pem", "--also", public, "--approvals", "2")
        assert process(folder, "ledger", "init", "ledger.db", *told).returncode == 0
    if name != "ledger revoke":
        return words
    rotated = process(folder, "ledger", "rotate", "ledger.db", "--old", "publisher.pem", "--new", "publisher-2027.pem")
    assert rotated.returncode == 0, rotated.stderr
    return [fingerprint_of(folder, "publisher.pem") if word.endswith("…") else word for word in words]


def fingerprint_of(folder: Path, key: str) -> str:
    return Signer.read(folder / key).fingerprint


@pytest.mark.parametrize("name", RUN)
def test_the_example_runs(name: str, office: Path) -> None:
    done = process(office, *words_of(name, office))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() and "Traceback" not in done.stderr
    assert "\x1b" not in done.stdout + done.stderr, "colours without a terminal"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LONG))
def test_the_long_example_runs(name: str, office: Path) -> None:
    done = process(office, *words_of(name, office))
    assert done.returncode == 0, done.stderr
