"""Small public tables as people have them: a frame, a mapping of columns, a CSV file. Key sets and sizes of cells."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.files.sizes import Sizes, read_sizes
from discreet.model.key_set import KeySet
from discreet.model.recoding import as_text

SIZE = "size"


def sizes_of(given: Any) -> Sizes | list[int]:
    """Sizes of cells from numbers, a text such as 10..60, or a table with a column `size`."""
    if isinstance(given, (str, Path)) and Path(given).suffix != ".csv":
        return read_sizes(given)
    if isinstance(given, (str, Path)) or _columns(given) is not None:
        return [_whole(n) for n in _table(given)[SIZE]]
    if isinstance(given, Iterable):
        return [_whole(n) for n in given]
    raise InputError(
        "These are not sizes of cells",
        found=type(given).__name__,
        allowed="numbers, a text such as 10..60, a table with a column size",
        remedy="for instance sizes=[38, 40, 41]",
    )


def key_set_of(given: Any) -> KeySet:
    """Every cell with its size, from a table whose other columns are the keys."""
    table = _table(given)
    names = tuple(name for name in table if name != SIZE)
    cells = tuple(zip(*(map(as_text, table[name]) for name in names), strict=True))
    return KeySet(names, cells, tuple(_whole(n) for n in table[SIZE]))


def _table(given: Any) -> dict[str, Sequence[Any]]:
    if isinstance(given, (str, Path)):
        with Path(given).open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        found: dict[str, Sequence[Any]] = {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}
    else:
        found = {name: listed(given[name]) for name in _columns(given) or ()}
    if SIZE not in found:
        raise InputError(
            "The table of cells has no column of sizes",
            found=", ".join(found) or "no columns",
            allowed=f"a column {SIZE!r}",
            remedy="say for how many respondents each cell is published",
        )
    return found


def _columns(given: Any) -> list[str] | None:
    if isinstance(given, Mapping):
        return [str(name) for name in given]
    names = getattr(given, "column_names", None) or getattr(given, "columns", None)
    return None if names is None else [str(name) for name in names]


def listed(column: Any) -> list[Any]:
    """A column of any frame, or anything that can be gone through, as a list of Python's own numbers and texts."""
    for way in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, way):
            found: list[Any] = getattr(column, way)()
            return found
    return list(column)


def _whole(n: Any) -> int:
    text = str(n).strip()
    if not (text.isascii() and text.isdigit()):
        raise InputError(
            "A size of a cell is a whole number", found=text, allowed="1, 2, 3, …", remedy="correct the column of sizes"
        )
    return int(text)
