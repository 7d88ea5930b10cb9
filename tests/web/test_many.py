"""Several people at once: no error, nothing of another's, and no more work at a time than was allowed (`tools/crowd.py`)."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

from serving import running

from discreet.web.desk import Limits


def crowd(root: Path) -> ModuleType:
    """tools/crowd.py as a module."""
    specification = importlib.util.spec_from_file_location("tools_crowd", root / "tools" / "crowd.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


def test_a_small_crowd_is_served_and_kept_apart(tmp_path: Path, root: Path) -> None:
    with running(tmp_path, Limits(workers=1, waiting=2, patience=600, quick_seconds=600, grace=600, points=1)) as visitor:
        seen = crowd(root).crowd(visitor.port, 5)
        assert seen.wrong == [] and seen.ended == 5
        assert seen.most_at_work <= 1 and seen.most_waiting <= 2
        mine = re.compile("guest-00[0-4]-end")
        names = [mine.findall((folder / "question.json").read_text()) for folder in visitor.served.bench.shelf.answers.iterdir()]
        assert all(len(set(found)) <= 1 for found in names)
