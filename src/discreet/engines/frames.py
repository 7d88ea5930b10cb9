"""Columns as a frame of the reader's choice: pandas, Polars or Arrow, each imported only when asked for.

Frames also come in: a plan with `source.kind = "frame"` takes one through `histograms(…, frame=…)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from discreet.errors import InputError, MissingExtra

KINDS = ("pandas", "polars", "arrow")


def frame_of(columns: Mapping[str, Any], kind: str = "pandas") -> Any:
    """The columns as a pandas or Polars frame or an Arrow table."""
    if kind not in KINDS:
        raise InputError("This kind of frame is not known", found=kind, allowed=KINDS, remedy="choose one of these")
    library = "pyarrow" if kind == "arrow" else kind
    try:
        module = import_module(library)
    except ImportError:
        raise MissingExtra("frames", needed_for=f"a {kind} frame") from None
    held = {name: list(column) if _holds_objects(column) else column for name, column in columns.items()}
    return module.table(held) if kind == "arrow" else module.DataFrame(held)


def _holds_objects(column: Any) -> bool:
    return getattr(getattr(column, "dtype", None), "kind", "") == "O"
