"""Many records at once: lines of CSV, or of PostgreSQL's COPY, as texts in which NUL separates the values.

    csv_lines(block)[i].split(NUL) = rows.fields(line i of the block)

A line is *plain* when it is UTF-8 without NUL, not long, and has no quotes but such as open right after a comma or the
line's begin and close right before a comma or its end. On plain lines

    fields = the line cut at every comma that lies between no pair of quotes, the quotes left out,

because the 1st, 3rd, … quote opens a field, the 2nd, 4th, … closes it where it ends, none is doubled, and fields that do
not begin with a quote hold none. Every other line goes through the definition, by itself. So the way is chosen line by
line: no line can choose for another.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet.engines.rows import LONGEST_TEXT, MARK, fields

Flags = NDArray[np.bool_]

NUL, LF, COMMA, QUOTE = 0, 10, 44, 34


def csv_lines(block: bytes) -> list[str]:
    """The records of some lines of CSV."""
    short = block.replace(b"\r\n", b"\n").removesuffix(b"\r")
    if MARK in short:
        short = short.replace(b"\n" + MARK, b"\n").removeprefix(MARK)
    strange = _strange(block)
    written = _unquoted(short, strange) if b'"' in short else short.replace(b",", b"\0")
    return _texts(written, block, strange, fields)


def copied_lines(block: bytes, definition: Callable[[bytes], list[str]]) -> list[str]:
    """The records of some lines of COPY in PostgreSQL's text format; plain ones hold no backslash."""
    strange = _strange(block)
    data = np.frombuffer(block, dtype=np.uint8)
    if b"\\" in block:
        strange[np.searchsorted(np.flatnonzero(data == LF), np.flatnonzero(data == ord("\\")))] = True
    return _texts(block.replace(b"\t", b"\0"), block, strange, definition)


def _strange(block: bytes) -> Flags:
    """Which lines are long, hold NUL, or are not UTF-8."""
    data = np.frombuffer(block, dtype=np.uint8)
    ends = np.append(np.flatnonzero(data == LF), len(data))
    strange: Flags = np.diff(ends, prepend=-1) > LONGEST_TEXT
    if b"\0" in block:
        strange[np.searchsorted(ends, np.flatnonzero(data == NUL))] = True
    if not _is_text(block):
        strange |= np.fromiter((not _is_text(line) for line in block.split(b"\n")), dtype=np.bool_, count=len(ends))
    return strange


def _unquoted(block: bytes, strange: Flags) -> bytes:
    """The block with NUL for every separating comma and without quotes; marks lines where that would be wrong."""
    data = np.frombuffer(block, dtype=np.uint8)
    quotes = np.flatnonzero(data == QUOTE)
    line_of = np.searchsorted(np.flatnonzero(data == LF), quotes)
    unpaired = np.bincount(line_of, minlength=len(strange)) % 2 == 1
    paired = ~unpaired[line_of]
    opening, closing = quotes[paired][0::2], quotes[paired][1::2]
    before = np.where(opening > 0, data[opening - 1], LF)
    after = np.where(closing < len(data) - 1, data[np.minimum(closing + 1, len(data) - 1)], LF)
    odd = ((before != COMMA) & (before != LF)) | ((after != COMMA) & (after != LF))
    strange |= unpaired
    strange[line_of[paired][0::2][odd]] = True
    inside = np.zeros(len(data), dtype=np.int8)
    inside[opening], inside[closing] = 1, -1
    np.cumsum(inside, out=inside)
    written = data.copy()
    written[(data == COMMA) & (inside == 0)] = NUL
    return written[data != QUOTE].tobytes()


def _texts(written: bytes, block: bytes, strange: Flags, definition: Callable[[bytes], list[str]]) -> list[str]:
    """The lines as texts: plain ones as written, the others by the definition."""
    texts = written.decode("utf-8", "replace").split("\n")
    if strange.any():
        lines = block.split(b"\n")
        for i in np.flatnonzero(strange):
            texts[i] = "\0".join(definition(lines[i]))
    return texts


def _is_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
