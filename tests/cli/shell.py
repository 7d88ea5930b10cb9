"""`discreet` as it is typed, and a small town to publish with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from forging import other_values, resealed
from office import shell as discreet
from towns import Town, make_batch, make_town, town_mechanism

__all__ = ["Town", "discreet", "make_batch", "make_town", "other_values", "read", "resealed", "town_mechanism"]


def read(folder: Path, *words: str) -> dict[str, Any]:
    """What a command prints as JSON; it must succeed."""
    done = discreet(folder, *words, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found
