"""Command lines that race and are killed, on both stores; `tools/races.py` does the same ten thousand times."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RACES = Path(__file__).parent.parent.parent / "tools" / "races.py"


@pytest.mark.slow
@pytest.mark.parametrize("store", ["sqlite", pytest.param("postgres", marks=pytest.mark.needs_postgres)])
def test_nothing_is_overspent_lost_or_drawn_twice(store: str) -> None:
    asked = ["--store", store, "--races", "80", "--folders", "3", "--kills", "8"]
    done = subprocess.run([sys.executable, str(RACES), *asked], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 kills of a live process" in done.stdout and " 0 failures" in done.stdout
