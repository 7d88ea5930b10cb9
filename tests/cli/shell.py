"""`discreet` in a real process, and a small town to publish with it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "publish"))

from towns import Town, make_batch, make_town, town_mechanism

__all__ = ["Town", "discreet", "make_batch", "make_town", "read", "town_mechanism"]


def discreet(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder."""
    command = [sys.executable, "-c", "from discreet.cli.main import main; main()", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def read(folder: Path, *words: str) -> dict[str, Any]:
    """What a command prints as JSON; it must succeed."""
    done = discreet(folder, *words, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found
