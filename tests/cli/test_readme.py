"""The README's five lines are typed as they stand, and its numbers are those that they print."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from office import process

README = Path(__file__).parents[2] / "README.md"
STANDALONE = Path(__file__).parents[2] / "src" / "discreet" / "verify_standalone.py"


def typed() -> list[list[str]]:
    """The words of each line of the five minutes."""
    text = README.read_text(encoding="utf-8").partition("## Five minutes")[2]
    return [shlex.split(line, comments=True)[1:] for line in re.findall(r"^    (discreet .*)$", text, re.MULTILINE)]


@pytest.mark.slow
def test_five_minutes_as_they_are_written(tmp_path: Path) -> None:
    lines = typed()
    assert [line[0] for line in lines] == ["new", "design", "certify", "read", "report"]
    for line in lines:
        done = process(tmp_path, *line, "--no-frontier") if line[0] == "report" else process(tmp_path, *line)
        assert done.returncode == 0, (line, done.stderr)
    command = [sys.executable, STANDALONE, tmp_path / "places.mechanism.json"]
    proof = subprocess.run(command, capture_output=True, text=True, check=False)
    assert proof.returncode == 0, proof.stdout + proof.stderr
    found = json.loads(process(tmp_path, "design", "places.toml", "--json").stdout)
    text = README.read_text(encoding="utf-8")
    best, usual, face = found["loss"], found["baselines"]["geometric"]["loss"], found["baselines"]["truncated geometric"]["loss"]
    for number in (f"**{best:.3f}: {1 - best / usual:.0%}".replace("%", " %"), f"{usual:.3f}", f"{face:.2f}"):
        assert number in text, number
    stated = re.search(r"does better than ([0-9.]+), publishes", " ".join(text.split()))
    assert stated is not None and float(stated[1]) <= found["lower_bound"], "a lower bound is rounded down"
