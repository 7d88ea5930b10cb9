"""What a command is about: a mechanism, one member of a family, or one cell of a release, found by its keys.

Whatever takes a mechanism takes a family and a release. A member is named by the size of its cells; a cell by its keys, such as
`region=west sex=male`, which also tells which output was drawn there.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.files.artefact import read_artefact
from discreet.files.atomic import read_bytes
from discreet.files.strata import strata_from_document
from discreet.model.family import Family
from discreet.model.mechanism import Mechanism
from discreet.publish.bundle import is_stratified, mechanism_for, members_of
from discreet.publish.folder import MECHANISM, document_in
from discreet.publish.spreadsheets import armed

SHOWN = 8


@dataclass(frozen=True, eq=False)
class Subject:
    """A mechanism with the size of its cells (None: it stands alone), and for a cell of a release its keys and code."""

    mechanism: Mechanism
    size: int | None = None
    cell: Mapping[str, str] = field(default_factory=dict)
    code: str | None = None

    @property
    def words(self) -> str:
        """Which one this is, in words; empty for a mechanism that stands alone."""
        if self.cell:
            return ", ".join(f"{name} = {value}" for name, value in self.cell.items()) + f" (size {self.size})"
        return "" if self.size is None else f"cells of size {self.size}"


def subject_of(path: str | Path, size: int | None = None, where: Sequence[str] = ()) -> Subject:
    """The mechanism that is meant; a family needs a size, a release the keys of a cell or a size."""
    place = Path(path)
    keys = [word.partition("=") for word in where]
    if place.is_dir():
        if keys:
            return _cell(place, {name.strip(): value.strip() for name, _, value in keys})
        return _member(_served(place), size, f"the keys of a cell, such as {_example(place)}, or --size")
    if keys:
        raise InputError(
            "Only a release has cells with keys",
            found=f"{where[0]} for {place.name}",
            allowed="a release folder",
            remedy="name the folder that publish wrote, or give the published value",
        )
    held, _ = read_artefact(place)
    if isinstance(held, Mechanism):
        if size is not None:
            _must_have(size, held)
        return Subject(held)
    if isinstance(held, Family):
        return _member({n: mechanism_for(m) for m in held.members for n in range(m.low, m.high + 1)}, size, "--size")
    return Subject(held.mechanism)


def subjects_of(path: str | Path) -> list[Subject]:
    """Every different mechanism of a file or release, by the size of its cells."""
    place = Path(path)
    held = None if place.is_dir() else read_artefact(place)[0]
    if held is not None and not isinstance(held, Family):
        return [Subject(held if isinstance(held, Mechanism) else held.mechanism)]
    served = _served(place) if held is None else {m.high: m.mechanism for m in held.members}
    return [Subject(mechanism, size) for size, mechanism in served.items()]


def by_size(path: str | Path) -> dict[int, Mechanism]:
    """The mechanism for each size of cells; one that stands alone is for the respondents that it has."""
    found = {}
    for one in subjects_of(path):
        size = getattr(one.mechanism.problem.universe, "respondents", None) if one.size is None else one.size
        if isinstance(size, int):
            found[size] = one.mechanism
    return found


def _served(folder: Path) -> dict[int, Mechanism]:
    members = members_of(_document(folder))
    used = {int(row["size"]) for row in _rows(folder)}
    found = {size: mechanism_for(member) for size, member in members.items() if isinstance(size, int) and size in used}
    if not found:
        raise InputError(
            "This release has mechanisms by stratum and size",
            found=str(folder),
            allowed="a cell by its keys",
            remedy=f"give the keys of a cell, such as {_example(folder)}",
        )
    return found


def _document(folder: Path) -> Any:
    return document_in(folder, MECHANISM)


def _member(served: Mapping[int, Mechanism], size: int | None, needs: str) -> Subject:
    if size is None and len(served) == 1:
        only = next(iter(served))
        return Subject(served[only], only)
    if size not in served:
        sizes = list(map(str, sorted(served)))
        raise InputError(
            "There are mechanisms for several sizes of cells" if size is None else "No mechanism is for cells of this size",
            found="no size" if size is None else str(size),
            allowed=sizes if len(sizes) <= SHOWN else [*sizes[:SHOWN], "…"],
            remedy=f"give {needs}, for instance --size {max(served)}",
        )
    assert size is not None
    return Subject(served[size], size)


def _must_have(size: int, mechanism: Mechanism) -> None:
    respondents = getattr(mechanism.problem.universe, "respondents", None)
    if respondents != size:
        raise InputError(
            "This mechanism is for cells of another size",
            found=str(size),
            allowed=str(respondents),
            remedy="leave --size out",
        )


def _rows(folder: Path) -> Iterator[dict[str, str]]:
    text = read_bytes(folder / "release.csv", "release.csv").decode("utf-8")
    yield from csv.DictReader(io.StringIO(text, newline=""))


def _example(folder: Path) -> str:
    row = next(_rows(folder), {})
    return " ".join(f"{name}={row[name]}" for name in _keys(row)) or "region=west"


def _keys(row: Mapping[str, str]) -> list[str]:
    columns = list(row)
    return columns[: columns.index("size")] if "size" in columns else []


def _cell(folder: Path, wanted: Mapping[str, str]) -> Subject:
    """The one cell with these keys; as many keys as tell it apart are enough."""
    found = []
    for row in _rows(folder):
        unknown = [name for name in wanted if name not in _keys(row)]
        if unknown:
            raise InputError(
                "The release has no such key",
                found=unknown[0],
                allowed=_keys(row),
                remedy=f"for instance {_example(folder)}",
            )
        if all(row[name] == value for name, value in wanted.items()):
            found.append(row)
    if len(found) != 1:
        missing = [] if not found else [name for name in _keys(found[0]) if name not in wanted]
        raise InputError(
            "These keys name several cells" if found else "These keys name no cell of the release",
            found=" ".join(f"{name}={value}" for name, value in wanted.items()),
            allowed="one cell",
            remedy=f"add {', '.join(missing)}" if missing else f"for instance {_example(folder)}",
        )
    row = found[0]
    size, document = int(row["size"]), _document(folder)
    strata = strata_from_document(document).keys if is_stratified(document) else ()
    member = members_of(document)[(*(armed(row[name]) for name in strata), size) if strata else size]
    return Subject(mechanism_for(member), size, {name: row[name] for name in _keys(row)}, row.get("code", row["published"]))
