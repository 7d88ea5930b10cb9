"""A released table as a frame: the same cells in pandas, Polars and Arrow, and words when the library is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from discreet.engines.frames import frame_of
from discreet.engines.writer import write_parquet
from discreet.errors import InputError, MissingExtra
from discreet.publish import released_table

COLUMNS = {"block": ["a", "b"], "size": np.array([40, 41]), "published": ["3", "5"], "posterior_mean": np.array([3.1, 5.2])}


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_every_kind_holds_the_same_cells(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow" if kind == "arrow" else kind, reason="discreet[frames] is not installed")
    write_parquet(tmp_path / "release.parquet", COLUMNS)
    found = released_table(tmp_path, kind)
    columns = found.to_pydict() if kind == "arrow" else {name: found[name].to_list() for name in COLUMNS}
    assert columns == {name: list(column) for name, column in COLUMNS.items()}


def test_an_unknown_kind_and_a_missing_library_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError):
        frame_of(COLUMNS, "spreadsheet")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match="frames"):
        frame_of(COLUMNS, "polars")
