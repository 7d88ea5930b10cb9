"""CSV as rows that never fail: whatever the bytes are, every record is one respondent.

A record ends at a line break outside quotes; fields are separated by commas and may be quoted with `"`, doubled
inside. Bytes that are not UTF-8, and NUL, are read as U+FFFD, so a field with them is just a value that nothing lists.
Fields that a short record lacks are missing; fields beyond the header are ignored; empty lines are no records. Nothing
is evaluated: a field that begins with `=` is text.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from discreet.errors import InputError, suggest

LONGEST_FIELD = 2**31 - 1


def header(path: Path) -> list[str]:
    """The names in the first record."""
    with _opened(path) as file:
        return next(_reader(file), [])


def records(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The given columns of every record, as text; missing fields are empty."""
    with _opened(path) as file:
        reader = _reader(file)
        names = next(reader, [])
        places = [place(names, column) for column in columns]
        for record in reader:
            if record or len(names) == 1:
                yield tuple(record[i].replace("\0", "\ufffd") if i < len(record) else "" for i in places)


def plain_header(path: Path, names: Sequence[str]) -> bool:
    """Whether the header is one line without quotes, so that every reader agrees where the rows begin."""
    with path.open("rb") as file:
        line = file.readline().removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n")
    return b'"' not in line and b"\r" not in line and line == ",".join(names).encode()


def place(names: Sequence[str], column: str) -> int:
    """Where a column stands, or words about the columns there are."""
    found = [i for i, name in enumerate(names) if name == column]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(
            "A column occurs twice in the source", found=column, allowed="each name once", remedy="rename one of them"
        )
    near = suggest(column, list(names)[:1000])
    raise InputError(
        "The source lacks a column", found=f"no column {column!r}", allowed=f"{len(names)} columns",
        remedy=f"did you mean {near!r}?" if near else "check the plan's column names",
    )


def _reader(file: TextIO) -> Iterator[list[str]]:
    csv.field_size_limit(LONGEST_FIELD)
    return iter(csv.reader(file))


def _opened(path: Path) -> TextIO:
    try:
        return path.open(encoding="utf-8-sig", errors="replace", newline="")
    except OSError as error:
        raise InputError(
            "The source could not be opened", found=f"{path}: {error.strerror or type(error).__name__}",
            allowed="a file that this user may read", remedy="check source.path and its permissions",
        ) from None
