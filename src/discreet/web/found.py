"""What lies in the served folder: release folders and ledgers, found by looking and named by the hash of their place.

Nobody names a path: a page is asked for by a name, and a name that is not among those found leads nowhere. Links that leave the
folder are not followed, and files that might be microdata are not opened: a release is known by its manifest, a ledger by its first
sixteen bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import InputError
from discreet.web.keeping import must_be_name, name_of, read_json

DEEPEST = 3
MOST_LOOKED_AT = 5_000
RELEASE = ("manifest.json", "release.csv")
SQLITE = b"SQLite format 3\x00"


@dataclass(frozen=True)
class Lying:
    """A release folder or a ledger: where it lies under the served folder, and a stamp that changes with it."""

    kind: str
    place: str
    stamp: str

    @property
    def name(self) -> str:
        """What it is called in addresses."""
        return name_of(self.kind, self.place)


def lying_in(folder: Path, kind: str, leave_out: Path) -> list[Lying]:
    """The releases or the ledgers of a folder, in the order of their names."""
    return sorted((item for item in _looked(folder, leave_out) if item.kind == kind), key=lambda item: item.place)


def learned_in(folder: Path, leave_out: Path) -> list[Lying]:
    """The releases from which a prior follows: of a plan that learns, or with the release inside that they were learned from."""
    return [
        item for item in lying_in(folder, "release", leave_out)
        if (folder / item.place / "learned.json").is_file() or read_json(folder / item.place / "plan.json").get("learning")
    ]  # fmt: skip


def found_by_name(folder: Path, kind: str, name: str, leave_out: Path) -> Lying:
    """The one of this name."""
    must_be_name(name)
    for item in lying_in(folder, kind, leave_out):
        if item.name == name:
            return item
    raise InputError(f"There is no {kind} of this name", found=name, allowed=f"a {kind} of this folder", remedy="see the list")


def _looked(folder: Path, leave_out: Path) -> Iterator[Lying]:
    waiting, looked = [(folder, 0)], 0
    while waiting and looked < MOST_LOOKED_AT:
        here, depth = waiting.pop()
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError:
            continue
        names = {entry.name for entry in entries}
        if set(RELEASE) <= names:
            yield Lying("release", here.relative_to(folder).as_posix(), _stamp(here / RELEASE[0], here / RELEASE[1]))
            continue
        for entry in entries:
            looked += 1
            if entry.is_symlink() or entry.name.startswith("."):
                continue
            if entry.is_dir() and depth < DEEPEST and Path(entry.path) != leave_out:
                waiting.append((Path(entry.path), depth + 1))
            elif entry.name.endswith(".db") and entry.is_file() and _is_database(Path(entry.path)):
                place = Path(entry.path)
                yield Lying("ledger", place.relative_to(folder).as_posix(), _stamp(place, Path(f"{place}-wal")))


def _stamp(*places: Path) -> str:
    parts = []
    for place in places:
        try:
            seen = place.stat()
        except OSError:
            continue
        parts.append(f"{seen.st_size}.{seen.st_mtime_ns}")
    return " ".join(parts)


def _is_database(place: Path) -> bool:
    try:
        with place.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError:
        return False
