"""Hands out a small town with a committed plan."""

from pathlib import Path

import pytest
from towns import Town, make_town


@pytest.fixture
def town(tmp_path: Path) -> Town:
    """Three streets of four people each, a ledger of ε = 5, and a signed commitment."""
    return make_town(tmp_path / "town")
