"""CSV that people open in spreadsheets: text that such a program would run as a formula is disarmed, and no two texts become one.

A text that begins like a formula, or with an apostrophe, gets one more apostrophe before it; numbers are left alone. Whoever wants
the text takes one leading apostrophe away. Releases of format 1 knew fewer beginnings, and every number that Python reads.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence

from discreet.errors import InputError
from discreet.files.bulk import in_bulk

RISKY = "=+-@\t\r\n＝＋－＠"
"""What a spreadsheet takes for the beginning of a formula."""
RISKY_1 = "=+-@\t\r"
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)

Disarming = Callable[[str], str]


def disarmed(text: str) -> str:
    """Text with an apostrophe before it if a spreadsheet would run it, or if it begins with one."""
    risky = text[:1] in RISKY and text != "" and NUMBER.fullmatch(text) is None
    return "'" + text if risky or text.startswith("'") else text


def disarmed_1(text: str) -> str:
    """As releases of format 1 wrote it."""
    risky = text[:1] in RISKY_1 and text != "" and not is_number(text)
    return "'" + text if risky or text.startswith("'") else text


def armed(text: str) -> str:
    """The text that was disarmed."""
    return text.removeprefix("'")


def is_number(text: str) -> bool:
    """Whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def csv_text(header: Sequence[str], columns: Sequence[Sequence[str]]) -> str:
    """Columns of text as CSV, a line for each row; every different text is quoted once, since there may be millions of rows."""
    quoted = [map({text: _quoted(text) for text in set(column)}.__getitem__, column) for column in columns]
    lines = map(",".join, zip(*quoted, strict=True))
    return "\n".join([",".join(map(_quoted, header)), *lines, ""])


def _quoted(text: str) -> str:
    """A field as CSV readers expect it; quoted also where other countries' spreadsheets would cut it in two."""
    risky = any(mark in text for mark in ',"\r\n;\t')
    return '"' + text.replace('"', '""') + '"' if risky else text


@in_bulk()
def rearmed(text: str) -> str:
    """CSV text whose every field is the one that was disarmed."""
    try:
        header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
        if rows and set(map(len, rows)) != {len(header)}:
            raise ValueError
    except (csv.Error, ValueError):
        raise InputError(
            "The table of cells is not well-formed CSV",
            found="lines of different lengths, or quotes that do not end",
            allowed="key_set.csv of a release",
            remedy="check the file",
        ) from None
    plain = [list(map({field: armed(field) for field in set(column)}.__getitem__, column)) for column in columns]
    return csv_text(list(map(armed, header)), plain)
