"""CSV as records: what a record becomes depends on that record alone, whatever the bytes.

    file   = line LF line LF … line        nothing but LF (0x0A) ends a line, inside quotes or not
    header = the first line; record = every later line (an empty one has no keys, so it belongs to no cell), but for
             those that repeat the header: the names of the plan's columns as their values
    line   = its first LONGEST_RECORD bytes, less a byte order mark at their begin and one CR at their end
    field  = text up to the next comma; one that begins with `"` goes on, commas and all, to its closing `"` (a `"` that
             is not doubled) and from there to the next comma; one whose quote is never closed goes on to the line's end
    value  = the field without its quotes, `""` read as `"`; a field that is not UTF-8, holds NUL or has more than
             LONGEST_TEXT characters is U+FFFD, a text like any other that nothing lists

Fields that a short record lacks are missing; fields beyond the header are ignored. Nothing is evaluated: a field that
begins with `=` is text. A line break inside quotes ends the record all the same, or one open quote would swallow every
record after it. `fields` is the definition; `discreet.engines.blocks` computes the same for many records at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from discreet.errors import InputError, UnreadableRows, suggest

LONGEST_RECORD = 1 << 24
LONGEST_TEXT = 1 << 16
UNREADABLE = "\ufffd"
MARK = b"\xef\xbb\xbf"
BLOCK = 1 << 22
"""Bytes read at once."""


def fields(line: bytes) -> list[str]:
    """The values of one record."""
    return [value(field) for field in _raw(line[:LONGEST_RECORD].removeprefix(MARK).removesuffix(b"\r"))]


def value(field: bytes, encoding: str = "utf-8") -> str:
    """A field's bytes as text."""
    try:
        text = field.decode(encoding)
    except UnicodeDecodeError:
        return UNREADABLE
    return UNREADABLE if "\0" in text or len(text) > LONGEST_TEXT else text


def _raw(line: bytes) -> list[bytes]:
    found: list[bytes] = []
    quoted: list[bytes] | None = None
    for piece in line.split(b","):
        if quoted is None:
            if not piece.startswith(b'"'):
                found.append(piece)
                continue
            quoted, piece = [], piece[1:]
        closing = piece.replace(b'""', b"\0\0").find(b'"')
        if closing < 0:
            quoted.append(piece.replace(b'""', b'"'))
        else:
            quoted.append(piece[:closing].replace(b'""', b'"') + piece[closing + 1 :])
            found.append(b",".join(quoted))
            quoted = None
    return found if quoted is None else [*found, b",".join(quoted)]


def records(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The given columns of every record, as text; missing fields are empty."""
    with opened(path) as file:
        names = header(file)
        places = [place(names, column) for column in columns]
        for block in whole_lines(iter(lambda: file.read(BLOCK), b"")):
            for line in block.split(b"\n"):
                found = fields(line)
                record = tuple(found[i] if i < len(found) else "" for i in places)
                if record != tuple(columns):
                    yield record


def whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in blocks that end where a line ends, the LF left out; of longer lines only what is read."""
    rest = b""
    for chunk in chunks:
        end = chunk.rfind(b"\n")
        if end < 0:
            rest = (rest + chunk)[:LONGEST_RECORD]
        else:
            yield rest + chunk[:end]
            rest = chunk[end + 1 :]
    if rest:
        yield rest


def place(names: Sequence[str], column: str) -> int:
    """Where a column stands, or words about the columns there are."""
    found = [i for i, name in enumerate(names) if name == column]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError("A column occurs twice in the source", found=column, allowed="each name once", remedy="rename one of them")
    near = suggest(column, list(names)[:1000])
    raise InputError(
        "The source lacks a column",
        found=f"no column {column!r}",
        allowed=f"{len(names)} columns",
        remedy=f"did you mean {near!r}?" if near else "check the plan's column names",
    )


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The file, for reading; what stops it later is no matter of what a record says, but counts as if it were."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(
            "The source could not be opened",
            found=f"{path}: {error.strerror or type(error).__name__}",
            allowed="a file that this user may read",
            remedy="check source.path and its permissions",
        ) from None
    with file:
        try:
            yield file
        except OSError:
            raise UnreadableRows from None


def header(file: BinaryIO) -> list[str]:
    """The names in the first line, from a file at its beginning; no record is in it, so it may be refused in words."""
    line = file.readline(LONGEST_RECORD + 1).removesuffix(b"\n").removeprefix(MARK)
    if len(line) >= LONGEST_RECORD:
        raise InputError(
            "The first line of the CSV file is too long",
            found="no line break in the first 16 MiB",
            allowed="a line with the names of the columns",
            remedy="check that this is a CSV file",
        )
    if b"\r" in line.removesuffix(b"\r"):
        raise InputError(
            "The lines of the CSV file end with a carriage return alone",
            found="a carriage return inside the first line",
            allowed="lines that end with LF or CR LF",
            remedy="convert the line endings",
        )
    if _is_open(line):
        raise InputError(
            "A quote in the first line of the CSV file is not closed",
            found="a name with a line break, or a stray quote",
            allowed="every record on one line",
            remedy="rename that column, or store the data as Parquet",
        )
    return fields(line)


def _is_open(line: bytes) -> bool:
    """Whether the last field's quote is never closed: then a letter more lengthens it, quote or not, and a comma too."""
    return len(_raw(line + b",")) == len(_raw(line))
