"""Frames: columns as a frame of the reader's choice, and frames that come in as a source.

A frame that is handed over must hold its rows (pandas, Polars, Arrow): what would compute them when asked, such as a lazy
frame, may differ at every look and is refused. Columns of Python objects become texts by a rule that no object can
break; texts that cannot be written in UTF-8 (a lone surrogate, bytes that are no text) are U+FFFD, as in CSV.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from discreet.engines.rows import UNREADABLE, place
from discreet.errors import InputError, MissingExtra
from discreet.model.recoding import as_text

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


def chosen(frame: object, names: Sequence[str]) -> Any:
    """The columns of a given frame, under names of our own (c0, c1, …), with texts that every engine can read."""
    library, class_ = type(frame).__module__.split(".")[0], type(frame).__name__
    given: Any = frame
    if (library, class_) == ("pandas", "DataFrame"):
        places = [place([str(name) for name in given.columns], name) for name in names]
        columns = {f"c{j}": _readable(given.iloc[:, i]) for j, i in enumerate(places)}
        return import_module("pandas").DataFrame(columns, index=given.index).reset_index(drop=True)
    if (library, class_) == ("polars", "DataFrame"):
        places = [place(given.columns, name) for name in names]
        return import_module("polars").DataFrame([given.to_series(i).alias(f"c{j}") for j, i in enumerate(places)])
    if (library, class_) == ("pyarrow", "Table"):
        places = [place(given.column_names, name) for name in names]
        return import_module("pyarrow").table({f"c{j}": _valid(given.column(i)) for j, i in enumerate(places)})
    raise InputError(
        "The plan reads a frame, and none was handed over",
        found="nothing" if frame is None else f"a {library} {class_}",
        allowed="a pandas, Polars or Arrow table that holds its rows",
        remedy="pass it as `frame`; collect a lazy one first",
    )


def _readable(series: Any) -> Any:
    """A pandas column; one that may hold any object, or texts as Python has them, as texts."""
    if series.dtype.kind != "O" or str(series.dtype) == "category":
        return series
    pandas = import_module("pandas")
    missing = pandas.isna(series).to_numpy(dtype=bool)
    texts = [None if gone else _text(item) for gone, item in zip(missing, series.to_numpy(dtype=object), strict=True)]
    return pandas.Series(texts, dtype=object, index=series.index)


def _text(item: object) -> str:
    try:
        text = as_text(item)
        text.encode()
    except Exception:
        return UNREADABLE
    return text


def _valid(column: Any) -> Any:
    """An Arrow column; texts whose bytes are no text are replaced."""
    pyarrow = import_module("pyarrow")
    try:
        column.validate(full=True)
    except pyarrow.ArrowInvalid:
        return pyarrow.array([_decoded(item) for item in column.cast(pyarrow.large_binary()).to_pylist()], pyarrow.string())
    return column


def _decoded(item: bytes | None) -> str | None:
    try:
        return None if item is None else item.decode()
    except UnicodeDecodeError:
        return UNREADABLE


def _holds_objects(column: Any) -> bool:
    return getattr(getattr(column, "dtype", None), "kind", "") == "O"
