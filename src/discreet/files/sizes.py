"""Sizes of cells as people write them: one size or range on each line, or separated by commas.

`12`       one size; written several times it counts as several cells      `10..60`   each size from 10 to 60
`21-30`    a bucket: these sizes share one mechanism, padded to 30         `# …`      a remark
A key set or any other CSV file with a column `size` is read too: each row is a cell.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from discreet.errors import InputError
from discreet.files.atomic import read_bytes

MOST_SIZES = 100_000
SIZE = "size"
"""The column of a table that holds the sizes of its cells."""
_PART = re.compile(r"(\d{1,9})(?:(\.\.|-)(\d{1,9}))?")


@dataclass(frozen=True)
class Sizes:
    """Ranges (low, high) of sizes that share a mechanism, ascending, and how many cells have each size."""

    ranges: tuple[tuple[int, int], ...]
    cells: Mapping[int, int]

    def __post_init__(self) -> None:
        if not self.ranges:
            raise _wrong("no size")
        if any(not 1 <= low <= high for low, high in self.ranges):
            raise _wrong("a size below 1, or a range whose end is before its start")
        for (a, b), (c, d) in pairwise(self.ranges):
            if c <= b:
                raise _wrong(f"{a}-{b} and {c}-{d} overlap")

    def served(self, low: int, high: int) -> dict[int, int]:
        """The sizes of one range with their number of cells; every size once when none is named."""
        named = {size: count for size, count in self.cells.items() if low <= size <= high}
        return named or dict.fromkeys(range(low, high + 1), 1)


def read_sizes(source: str | Path) -> Sizes:
    """Sizes from a file, or from text such as 10..60 when there is no such file."""
    text = str(source)
    if not Path(source).exists() and all(_PART.fullmatch(part.strip()) for part in text.split(",")):
        return sizes_from_text(text)
    written = read_bytes(Path(source), "the file of sizes").decode("utf-8-sig", errors="replace")
    header = next(csv.reader(io.StringIO(written, newline="")), [])
    return _sizes_of_cells(written) if SIZE in header else sizes_from_text(written)


def _sizes_of_cells(text: str) -> Sizes:
    """The sizes of the cells of a table, one in each row."""
    found = [(row.get(SIZE) or "").strip() for row in csv.DictReader(io.StringIO(text, newline=""))]
    wrong = next((size for size in found if not (size.isascii() and size.isdigit() and 0 < len(size) <= 9)), None)
    if wrong is not None:
        raise _wrong(f"{wrong!r} in the column {SIZE}")
    cells = Counter(map(int, found))
    return Sizes(tuple((n, n) for n in sorted(cells)), dict(cells))


def sizes_from_text(text: str) -> Sizes:
    """Sizes from lines or commas; sizes that fall into a bucket count as its cells."""
    cells: Counter[int] = Counter()
    buckets: list[tuple[int, int]] = []
    for line in text.splitlines():
        for part in filter(None, (piece.strip() for piece in line.partition("#")[0].split(","))):
            found = _PART.fullmatch(part)
            if found is None:
                raise _wrong(part)
            low, high = int(found[1]), int(found[3] or found[1])
            if found[2] == "-":
                buckets.append((low, high))
            elif high - low >= MOST_SIZES:
                raise _wrong(part)
            else:
                cells.update(range(low, high + 1))
    held = {(low, high) for low, high in buckets if low < high}
    alone = {(n, n) for n in cells if not any(low <= n <= high for low, high in held)}
    alone |= {(low, high) for low, high in buckets if low >= high}
    return Sizes(tuple(sorted(held | alone)), dict(cells))


def _wrong(found: str) -> InputError:
    return InputError(
        "These are not sizes of cells",
        found=found,
        allowed="lines such as 12, 10..60, or 21-30 for a padded bucket; or a CSV file with a column size",
        remedy="write one size or range on each line, without overlaps",
    )
