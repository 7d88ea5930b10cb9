"""Several people at once: no error, nothing of another's, and no more work at a time than was allowed (`tools/crowd.py`)."""

from __future__ import annotations

import re
from pathlib import Path

from serving import running

from discreet.web.desk import Limits
from scripts import tool


def test_a_small_crowd_is_served_and_kept_apart(tmp_path: Path) -> None:
    with running(tmp_path, Limits(workers=1, waiting=2, patience=600, quick_seconds=600, grace=600, points=1)) as visitor:
        seen = tool("crowd").crowd(visitor.port, 5)
        assert seen.wrong == [] and seen.ended == 5
        assert seen.most_at_work <= 1 and seen.most_waiting <= 2
        mine = re.compile("guest-00[0-4]-end")
        names = [mine.findall((folder / "question.json").read_text()) for folder in visitor.served.bench.shelf.answers.iterdir()]
        assert all(len(set(found)) <= 1 for found in names)
