"""Regions: sets of cells of a release, chosen by their keys, one for each value of a key, or listed in a file.

`region=west` chooses cells by a key; the same key again allows another value, another key narrows the choice, and a `*` in a value
stands for any text (`tract=0101*`). A file of regions is CSV with the key columns and one more, which names the region of each
cell. Regions may overlap; one that names no cell, or a cell twice, is refused.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from discreet.errors import InputError, suggest
from discreet.files.atomic import read_bytes
from discreet.numerics.arrays import Integers
from discreet.publish.cells import PublishedCells

LARGEST_FILE = 1 << 28


def chosen(cells: PublishedCells, where: Sequence[str]) -> Integers:
    """The places of the cells with these keys; all of them when none are given."""
    wanted: dict[str, list[str]] = {}
    for word in where:
        name, equals, value = (part.strip() for part in word.partition("="))
        if not equals or name not in cells.columns:
            near = suggest(name, cells.columns)
            raise InputError(
                "The release has no such key" if equals else "Cells are chosen by their keys",
                found=word,
                allowed=[f"{column}=…" for column in cells.columns],
                remedy=f"did you mean {near}={value}?" if near else f"for instance {example(cells)}",
            )
        wanted.setdefault(name, []).append(value)
    inside = np.ones(len(cells), dtype=bool)
    for name, values in wanted.items():
        held, which = np.unique(cells.keys[name], return_inverse=True)
        allowed = np.zeros(len(held), dtype=bool)
        for value in values:
            matches = held == value
            if not matches.any() and "*" in value:
                matches = np.array([fnmatchcase(text, value.replace("[", "[[]").replace("?", "[?]")) for text in held.tolist()])
            if not matches.any():
                near = suggest(value, held.tolist()[:10_000])
                raise InputError(
                    "No cell has this key",
                    found=f"{name}={value}",
                    allowed=_some(held.tolist()),
                    remedy=f"did you mean {name}={near}?" if near else f"for instance {example(cells)}",
                )
            allowed |= matches
        inside &= allowed[which.reshape(-1)]
    places = np.flatnonzero(inside)
    if not len(places):
        raise InputError(
            "These keys together name no cell",
            found=" ".join(where),
            allowed="at least one cell",
            remedy=f"for instance {example(cells)}",
        )
    return places


def example(cells: PublishedCells) -> str:
    """How a cell is named."""
    return " ".join(f"--where {name}={value}" for name, value in zip(cells.columns, cells.cells[0], strict=True))


def _some(names: Sequence[str]) -> list[str]:
    return [*names[:8], "…"] if len(names) > 8 else list(names)


def by_keys(cells: PublishedCells, keys: Sequence[str], among: Integers | None = None) -> dict[str, Integers]:
    """A region for each combination of values of these keys, in the order in which they first occur."""
    unknown = [key for key in keys if key not in cells.columns]
    if unknown or not keys:
        raise InputError(
            "The release has no such key",
            found=", ".join(unknown) or "none",
            allowed=list(cells.columns),
            remedy="name one of its keys",
        )
    places = np.arange(len(cells)) if among is None else among
    columns = [cells.columns.index(key) for key in keys]
    found: dict[str, list[int]] = {}
    for place in places.tolist():
        found.setdefault(" / ".join(cells.cells[place][i] for i in columns), []).append(place)
    return {name: np.array(held, dtype=np.int64) for name, held in found.items()}


def listed_regions(cells: PublishedCells, path: str | Path, among: Integers | None = None) -> dict[str, Integers]:
    """The regions of a CSV file: the key columns, and a column that names the region of each cell; only cells `among` these."""
    header, rows = _lines(Path(path))
    others = [name for name in header if name not in cells.columns]
    if len(others) != 1 or set(header) - set(others) != set(cells.columns) or len(set(header)) != len(header):
        raise InputError(
            "The file of regions has other columns",
            found=", ".join(header) or "none",
            allowed=f"{', '.join(cells.columns)} and one more that names the region",
            remedy="correct its first line",
        )
    regions = _regions(cells, header, rows, header.index(others[0]))
    if among is None:
        return regions
    inside = {name: np.intersect1d(held, among) for name, held in regions.items()}
    if not any(map(len, inside.values())):
        raise InputError(
            "No region has a cell with these keys",
            found="no cells",
            allowed="at least one cell",
            remedy="choose other keys",
        )
    return {name: held for name, held in inside.items() if len(held)}


def _lines(place: Path) -> tuple[list[str], list[list[str]]]:
    """The first line of the file of regions, and the others."""
    if place.is_file() and place.stat().st_size > LARGEST_FILE:
        raise InputError(
            "The file of regions is too large",
            found=f"{place.stat().st_size:,} bytes",
            allowed=f"{LARGEST_FILE:,} bytes",
            remedy="list fewer regions",
        )
    try:
        lines = list(csv.reader(io.StringIO(read_bytes(place, "the file of regions").decode("utf-8-sig"), newline=""), strict=True))
    except (csv.Error, UnicodeDecodeError):
        raise InputError(
            "The file of regions is not a table",
            found=place.name,
            allowed="CSV in UTF-8",
            remedy="save it as CSV",
        ) from None
    return (lines[0], lines[1:]) if lines else ([], [])


def _regions(cells: PublishedCells, header: list[str], rows: list[list[str]], region: int) -> dict[str, Integers]:
    """The cells of each region; `region` is the column that names it."""
    at = [header.index(name) for name in cells.columns]
    found: dict[str, dict[int, None]] = {}
    for number, row in enumerate(rows, 2):
        if not row:
            continue
        cell = tuple(row[i].strip() for i in at) if len(row) == len(header) else ()
        where = cells.position.get(cell)
        if where is None:
            raise InputError(
                f"Line {number} of the file of regions names no cell of the release",
                found=" / ".join(cell) or "another number of fields",
                allowed=f"keys as in the release, such as {' / '.join(cells.cells[0])}",
                remedy="correct or remove that line",
            )
        name = row[region].strip()
        if not name:
            raise InputError(
                f"Line {number} of the file of regions has no region",
                found="nothing",
                allowed="a name",
                remedy="name the region",
            )
        if where in found.setdefault(name, {}):
            raise InputError(
                f"Line {number} lists a cell twice in the region {name}",
                found=" / ".join(cell),
                allowed="each cell once",
                remedy="remove that line: a cell is added up once",
            )
        found[name][where] = None
    if not found:
        raise InputError("The file of regions lists no region", found="no lines", allowed="one or more cells", remedy="list some")
    return {name: np.array(sorted(held), dtype=np.int64) for name, held in found.items()}


def overlap(regions: Mapping[str, Integers]) -> bool:
    """Whether two regions share a cell."""
    every = np.concatenate(list(regions.values()))
    return len(np.unique(every)) != len(every)
