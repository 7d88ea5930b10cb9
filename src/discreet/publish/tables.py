"""The published table: for each cell its keys and size, the value to use, the code that was drawn, and what it means to a reader.

`published` is in the units of the statistic (the recommended action), whatever the mechanism reads; `code` names the output that
was drawn, which may be the noisy total of a weighted sum. Tables of earlier versions hold the code as `published`, beside `action`.

Every column is a function of the committed public facts and the drawn output, so a release says nothing beyond its draws;
`restated` computes all of them again from the published values alone.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from discreet.engines.frames import frame_of
from discreet.engines.writer import read_parquet
from discreet.errors import DiscreetError
from discreet.files.bulk import in_bulk
from discreet.files.strata import Served
from discreet.interpret.reading import readings
from discreet.model.key_set import KeySet
from discreet.model.mechanism import Mechanism
from discreet.model.unbiased import unbiased_values
from discreet.numerics.arrays import Floats, Integers
from discreet.publish.spreadsheets import Disarming, csv_text, disarmed, is_number

LEVEL = 0.9
MEANING = ("posterior_mean", f"interval_low_{LEVEL:g}", f"interval_high_{LEVEL:g}")
ADDING = "to_add_up"
"""The column for sums over cells: unbiased values where every cell has one, else posterior means."""
OWN_COLUMNS = ("size", "published", "code", "action", *MEANING, "unbiased", ADDING)
"""Columns of a release beside its keys; a key may not be called so."""


@in_bulk()
def columns_of(
    key_set: KeySet,
    mechanisms: Mapping[Served, Mechanism],
    positions: Integers,
    *,
    earlier: bool = False,
    served: Sequence[Served] | None = None,
    meant: bool = True,
    adding: bool = True,
) -> dict[str, Any]:
    """The table as columns in the order of the key set; `earlier` writes it as versions without a column of codes did.

    `served` names the mechanism of each cell, by default its size. Without `meant`, no reading stands beside a value: numbers to
    learn from are read together. Without `adding` there is no column for sums, as in versions that had none.
    """
    sizes = np.array(key_set.sizes)
    places = {kind: np.flatnonzero(sizes == kind) for kind in mechanisms} if served is None else places_of(served)
    count = len(key_set)
    codes, values = np.empty(count, dtype=object), np.empty(count, dtype=object)
    mean, low, high, unbiased = (np.full(count, np.nan) for _ in range(4))
    for kind, mechanism in mechanisms.items():
        at = places[kind]
        drawn = positions[at]
        outputs = mechanism.outputs
        codes[at] = np.array([output.label for output in outputs], dtype=object)[drawn]
        values[at] = np.array([*(output.action for output in outputs), ""], dtype=object)[drawn]
        meaning = _meaning(mechanism) if meant else None
        if meaning is not None:
            mean[at], low[at], high[at] = (column[drawn] for column in meaning)
        estimator = unbiased_values(mechanism) if meant else None
        if estimator is not None:
            unbiased[at] = estimator[drawn]
    keys = {name: [cell[i] for cell in key_set.cells] for i, name in enumerate(key_set.columns)}
    if earlier:
        told: dict[str, Any] = {"published": list(codes), "action": list(map(shown, values))}
    else:
        used = [code if value is None else value for code, value in zip(codes, values, strict=True)]
        told = {"published": _as_numbers(used), "code": _as_numbers(list(map(_number_or_text, codes)))}
    table: dict[str, Any] = {**keys, "size": sizes, **told}
    if not meant:
        return table
    table |= dict(zip(MEANING, (mean, low, high), strict=True))
    # a column for adding up that some cells lack would be added up as if they were empty
    if np.isfinite(unbiased).all() or (earlier and np.isfinite(unbiased).any()):
        table["unbiased"] = unbiased
    summed = table.get("unbiased", mean)
    if adding and not earlier and np.isfinite(summed).all():
        table[ADDING] = summed
    return table


def places_of(served: Sequence[Served]) -> dict[Served, Integers]:
    """The lines that each member serves."""
    if served and isinstance(served[0], int):
        sizes = np.array(served)
        return {int(size): np.flatnonzero(sizes == size) for size in np.unique(sizes)}
    found: dict[Served, list[int]] = {}
    for place, kind in enumerate(served):
        found.setdefault(kind, []).append(place)
    return {kind: np.array(places) for kind, places in found.items()}


def _number_or_text(label: str) -> Fraction | str:
    """A code as a whole number where it is written as one."""
    digits = label.removeprefix("-")
    plain = digits.isascii() and digits.isdigit() and str(int(digits)) == digits and label != "-0"
    return Fraction(label) if plain and abs(int(label)) < 2**63 else label


def _as_numbers(values: list[Any]) -> Any:
    """Whole numbers, numbers, or texts: one kind for all cells, so that a column can be added up."""
    if not all(isinstance(value, Fraction) for value in values):
        return list(map(shown, values))
    if all(value.denominator == 1 and abs(value) < 2**63 for value in values):
        return np.array([int(value) for value in values], dtype=np.int64)
    return np.array([float(value) for value in values])


def _meaning(mechanism: Mechanism) -> tuple[Floats, ...] | None:
    """Posterior mean and interval of each output under the designer's prior, where they can be tabulated."""
    try:
        found = readings(mechanism, level=LEVEL)
    except DiscreetError:
        return None
    return found.mean, found.lower, found.upper


def shown(action: Any) -> str:
    """A recommended action as text."""
    if action is None:
        return ""
    if isinstance(action, tuple):
        return "; ".join(shown(a) for a in action)
    return action if isinstance(action, str) else _decimal(action)


def _decimal(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.10g}"


@in_bulk()
def csv_bytes(columns: Mapping[str, Any]) -> bytes:
    """The table as CSV, with text that a spreadsheet would run as a formula disarmed."""
    return csv_text(list(map(disarmed, columns)), [_texts(column, disarmed) for column in columns.values()]).encode()


def _texts(column: Any, disarming: Disarming) -> list[str]:
    """A column as text; each different value is written out once."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        values, place = np.unique(column, return_inverse=True)
        written = ["" if value != value else f"{value:.10g}" for value in values.tolist()]
        return list(np.array(written, dtype=object)[place])
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu":
        return list(map(str, column.tolist()))
    return list(map({text: disarming(text) for text in set(column)}.__getitem__, column))


@in_bulk()
def restated(
    csv_data: bytes,
    parquet: Path,
    key_set: KeySet,
    mechanisms: Mapping[Served, Mechanism],
    disarming: Disarming = disarmed,
    *,
    served: Sequence[Served] | None = None,
    meant: bool = True,
) -> str | None:
    """None when both tables are exactly what their published values imply; else what differs first.

    The Parquet file is opened last, when it is known what it must hold.
    """
    read = drawn_outputs(csv_data, key_set, mechanisms, disarming, served=served)
    if isinstance(read, str):
        return read
    header, texts, positions = read
    earlier = "code" not in header
    columns = columns_of(key_set, mechanisms, positions, earlier=earlier, served=served, meant=meant, adding=ADDING in header)
    if header != list(map(disarming, columns)):
        return "the columns are not those of a release"
    for i, (name, column) in enumerate(columns.items()):
        if not _same_text(column, list(texts[i]), disarming):
            return f"release.csv, column {name}"
    try:
        found = read_parquet(parquet, like=columns)
    except DiscreetError as error:
        return str(error)
    wrong = next((name for name, column in columns.items() if not _same(column, found[name])), None)
    return None if wrong is None else f"release.parquet, column {wrong}"


def drawn_outputs(
    csv_data: bytes,
    key_set: KeySet,
    mechanisms: Mapping[Served, Mechanism],
    disarming: Disarming = disarmed,
    *,
    served: Sequence[Served] | None = None,
) -> tuple[list[str], list[tuple[str, ...]], Integers] | str:
    """Header, columns of text, and which output was drawn for each cell; or in words what is wrong with the table."""
    try:
        lines = csv.reader(io.StringIO(csv_data.decode("utf-8"), newline=""))
        header = next(lines, [])
        rows = list(islice(lines, len(key_set) + 1))
    except (csv.Error, UnicodeDecodeError):
        return "release.csv is not a table"
    named = "code" if "code" in header else "published"
    if named not in header or len(rows) != len(key_set) or set(map(len, rows)) != {len(header)}:
        return "release.csv lists other cells than the key set"
    texts = list(zip(*rows, strict=True))
    positions = _positions(texts[header.index(named)], key_set.sizes if served is None else served, mechanisms, disarming)
    if positions is None:
        return "release.csv holds a value that its mechanism never publishes"
    return header, texts, positions


def _positions(
    published: Sequence[str], served: Sequence[Served], mechanisms: Mapping[Served, Mechanism], disarming: Disarming
) -> Integers | None:
    """The outputs that the texts of a column name, each among those of its cell's mechanism."""
    place = {
        (kind, disarming(output.label)): i for kind, mechanism in mechanisms.items() for i, output in enumerate(mechanism.outputs)
    }
    found = [place.get(pair, -1) for pair in zip(served, published, strict=True)]
    return None if -1 in found else np.array(found, dtype=np.int64)


def _same_text(column: Any, texts: list[str], disarming: Disarming) -> bool:
    if _texts(column, disarming) == texts:
        return True
    if not (isinstance(column, np.ndarray) and column.dtype.kind == "f"):
        return False
    if not all(text == "" or is_number(text) for text in texts):
        return False
    return _same(column, np.array([float(text) if text else np.nan for text in texts]))


def _same(column: Any, other: Any) -> bool:
    """Equal; readings, which other versions of a library may round otherwise, to six digits."""
    mine, theirs = np.asarray(column), np.asarray(other)
    if mine.dtype.kind == "f":
        return theirs.dtype.kind == "f" and np.allclose(mine, theirs, rtol=1e-6, atol=1e-9, equal_nan=True)
    return list(column) == theirs.tolist()


def texts_of(csv_data: bytes, column: str) -> list[str]:
    """A column of release.csv as text, in the order of the cells."""
    header, *rows = csv.reader(io.StringIO(csv_data.decode("utf-8"), newline=""))
    place = header.index(column)
    return [row[place] for row in rows]


def released_table(folder: str | Path, kind: str = "pandas") -> Any:
    """The table of a release folder as a pandas or Polars frame or an Arrow table."""
    return frame_of(read_parquet(Path(folder) / "release.parquet"), kind)
