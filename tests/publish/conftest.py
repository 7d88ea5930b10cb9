"""Makes `towns` importable by the tests beside it, and hands out a small town with a committed plan."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from towns import Town, make_town


@pytest.fixture
def town(tmp_path: Path) -> Town:
    """Three streets of four people each, a ledger of ε = 5, and a signed commitment."""
    return make_town(tmp_path / "town")
