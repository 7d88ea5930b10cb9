"""Delimited text as agencies and spreadsheets write it: comma, semicolon or tab, decimal point or comma, several
encodings.

What can be told for certain is told (a byte order mark, the separator of the header line); what cannot is asked for.
Numbers are read exactly and never through a binary float.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from discreet.errors import InputError, TooLarge
from discreet.files.atomic import read_bytes
from discreet.numerics.exact import exact

MOST_BYTES = 256_000_000
SEPARATORS = (";", "\t", ",")
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", re.ASCII)
MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True)
class Delimited:
    """A header and rows of text, each with the number of its line; `separator` decides what a comma in a number means."""

    source: str
    separator: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    def number(self, row: int, column: int) -> Fraction:
        """The exact number in one field."""
        text = self.rows[row][column].strip()
        if self.separator != "," and DECIMAL_COMMA.fullmatch(text):
            text = text.replace(",", ".")
        return exact(text, f"{self.header[column] or 'the number'} in line {self.lines[row]} of {self.source}")

    def whole(self, row: int, column: int) -> int:
        """The whole number in one field; 3.0 counts as 3."""
        text = self.rows[row][column].strip()
        if len(text) < 19 and text.isascii() and text.removeprefix("-").isdigit():
            return int(text)
        number = self.number(row, column)
        if number.denominator != 1:
            raise InputError(
                f"{self.header[column]} in line {self.lines[row]} of {self.source} is no whole number",
                found=self.rows[row][column],
                allowed="whole numbers",
                remedy="correct the entry",
            )
        return number.numerator

    def column(self, name: str) -> int | None:
        """The place of a column by its name, whatever its case; None when there is none."""
        names = [held.strip().casefold() for held in self.header]
        return names.index(name.casefold()) if name.casefold() in names else None


def read_delimited(path: Path, encoding: str | None = None) -> Delimited:
    """The table in a file."""
    return parse_delimited(read_text(path, encoding), Path(path).name)


def read_text(path: Path, encoding: str | None = None) -> str:
    """The text of a file: in the encoding given, by its byte order mark, or in UTF-8."""
    place = Path(path)
    if place.is_file() and place.stat().st_size > MOST_BYTES:
        raise TooLarge(
            f"{place.name} is too long for a table of probabilities",
            size=f"{place.stat().st_size:,} bytes",
            fits=f"{MOST_BYTES:,} bytes",
            remedy="leave out columns and digits that nobody needs",
        )
    data = read_bytes(place, "table")
    chosen = encoding or next((name for mark, name in MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(chosen)
    except LookupError:
        raise InputError(
            "This encoding is not known",
            found=chosen,
            allowed="for instance utf-8, latin-1, cp1252, utf-16",
            remedy="give the name of the file's encoding",
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{place.name} is not written in {chosen}",
            found=f"byte 0x{data[error.start]:02x} at position {error.start:,}",
            allowed="UTF-8, UTF-16 with a byte order mark, or the encoding that you name",
            remedy="save it as UTF-8, or name its encoding, for instance latin-1",
        ) from None
    if "\0" in text:
        raise InputError(
            f"{place.name} is no text",
            found="a zero byte",
            allowed="a table in text, or a .npy file",
            remedy="export it as CSV; text in UTF-16 needs a byte order mark or its encoding named",
        )
    return text


def parse_delimited(text: str, source: str) -> Delimited:
    """A table from its text; the separator is the first of ; tab , that the header line holds outside quotes."""
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    bare = re.sub(r'"[^"]*"', "", first)
    separator = next((mark for mark in SEPARATORS if mark in bare), ",")
    rows: list[tuple[str, ...]] = []
    numbers: list[int] = []
    reader = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    try:
        for fields in reader:
            if any(field.strip() for field in fields):
                rows.append(tuple(fields))
                numbers.append(reader.line_num)
    except csv.Error as error:
        raise InputError(
            f"{source} breaks off in line {reader.line_num}",
            found=str(error),
            allowed="quotes that are closed",
            remedy="correct the line",
        ) from None
    if len(rows) < 2:
        raise InputError(
            f"{source} holds no table",
            found=f"{len(rows)} lines",
            allowed="a header line and at least one more",
            remedy="write the names of the columns first",
        )
    header = tuple(field.strip() for field in rows[0])
    for row, number in zip(rows, numbers, strict=True):
        if len(row) != len(header):
            raise InputError(
                f"Line {number} of {source} has another number of fields than the header",
                found=str(len(row)),
                allowed=str(len(header)),
                remedy="complete the line",
            )
    return Delimited(source, separator, header, tuple(rows[1:]), tuple(numbers[1:]))
