"""Shell completion: the script, the commands (which are loaded only when asked for), their options and groups."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from discreet.cli.main import command_names

PROGRAM = "import sys; sys.argv[0] = 'discreet'; from discreet.cli.main import main; main()"


def completed(line: str) -> list[str]:
    """What bash is offered after a line; a space at its end begins a new word."""
    words = line.split(" ")
    environment = {
        **os.environ, "_DISCREET_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout.split()


def test_every_command_is_offered() -> None:
    assert sorted(completed("discreet ")) == command_names()


LEDGER = {
    "init", "show", "remaining", "approve", "verify", "export", "backup", "restore", "heads", "head", "key", "rotate", "revoke",
}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("discreet des", {"design"}),
        ("discreet ledger ", LEDGER),
        ("discreet ledger re", {"remaining", "restore", "revoke"}),
        ("discreet design --se", {"--seconds"}),
        ("discreet publish plan.toml --dry", {"--dry-run"}),
        ("discreet ledger verify --ag", {"--against"}),
        ("discreet nothing-like-it", set()),
    ],
)
def test_words_are_completed(line: str, offered: set[str]) -> None:
    assert set(completed(line)) == offered


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_the_script_calls_back(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**os.environ, "_DISCREET_COMPLETE": f"source_{name}"},
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0 and f"_DISCREET_COMPLETE=complete_{name}" in done.stdout, done.stderr
