"""Finite mechanisms in files: CSV in three shapes, and NumPy arrays.

| header of the CSV | each line |
|---|---|
| `state, A, B, …` | a state, then the probability of each output |
| `output, S, T, …` | an output, then its probability at each state |
| `state, output, probability` | one entry; those left out are zero |

Any other first word is fine too where it can be told which way round the table stands. Neighbours may be listed in a
second file with two columns of state labels. `write_finite` writes the first shape with exact numbers, which reads back
identically.
"""

from __future__ import annotations

import csv
import io
from fractions import Fraction
from pathlib import Path

from discreet.errors import InputError
from discreet.exchange.delimited import Delimited, read_delimited
from discreet.exchange.finite_mechanism import NEAR_ONE, FiniteMechanism, Pairs, finite
from discreet.files.atomic import write_atomically
from discreet.numerics.exact import format_exact

LONG = ("state", "output", "probability")


def read_finite(
    path: Path,
    *,
    states_in: str | None = None,
    neighbours: str | Pairs | Path = "all",
    step: int = 1,
    encoding: str | None = None,
) -> FiniteMechanism:
    """A finite mechanism from a `.csv` or `.npy` file; `neighbours` may be the path of a file of pairs."""
    place = Path(path)
    joined = read_pairs(neighbours, encoding) if isinstance(neighbours, Path) else neighbours
    if place.suffix.lower() == ".npy":
        return finite(_array(place), states_in=states_in, neighbours=joined, step=step, name=place.stem)
    table = read_delimited(place, encoding)
    if all(table.column(name) is not None for name in LONG):
        return _from_long(table, joined, step, place.stem)
    first = table.header[0].casefold()
    said = states_in or {"state": "rows", "output": "columns"}.get(first)
    down = [row[0].strip() for row in table.rows]
    across = list(table.header[1:])
    matrix = [[table.number(i, j) for j in range(1, len(table.header))] for i in range(len(table.rows))]
    if not across:
        raise InputError(
            f"{table.source} has labels but no probabilities",
            found="one column",
            allowed="a column for each output",
            remedy="write the probabilities beside the labels",
        )
    if said is None and _columns_only(matrix):
        said = "columns"
    states, outputs = (across, down) if said == "columns" else (down, across)
    return finite(matrix, states=states, outputs=outputs, states_in=said, neighbours=joined, step=step, name=place.stem)


def write_finite(mechanism: FiniteMechanism, path: Path) -> None:
    """Write one line for each state, exact numbers."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["state", *mechanism.outputs])
    for label, column in zip(mechanism.states, mechanism.columns, strict=True):
        writer.writerow([label, *map(format_exact, column)])
    write_atomically(Path(path), text.getvalue().encode())


def read_pairs(path: Path, encoding: str | None = None) -> list[tuple[str, str]]:
    """Pairs of neighbours from two columns of state labels under a header line."""
    table = read_delimited(path, encoding)
    if len(table.header) != 2:
        raise InputError(
            f"{table.source} does not list pairs",
            found=f"{len(table.header)} columns",
            allowed="two columns of state labels",
            remedy="write a header line and one pair on each line",
        )
    return [(row[0].strip(), row[1].strip()) for row in table.rows]


def _from_long(table: Delimited, neighbours: str | Pairs, step: int, name: str) -> FiniteMechanism:
    where = [table.column(word) for word in LONG]
    state, output, probability = (place for place in where if place is not None)
    states = list(dict.fromkeys(row[state].strip() for row in table.rows))
    outputs = list(dict.fromkeys(row[output].strip() for row in table.rows))
    held: dict[tuple[str, str], int] = {}
    for i, row in enumerate(table.rows):
        key = (row[state].strip(), row[output].strip())
        if key in held:
            raise InputError(
                f"{table.source} lists an entry twice",
                found=f"state {key[0]}, output {key[1]} in line {table.lines[i]}",
                allowed="each pair once",
                remedy="add the two up, or remove one",
            )
        held[key] = i
    rows = [[table.number(held[s, o], probability) if (s, o) in held else 0 for o in outputs] for s in states]
    return finite(rows, states=states, outputs=outputs, states_in="rows", neighbours=neighbours, step=step, name=name)


def _columns_only(matrix: list[list[Fraction]]) -> bool:
    """Whether the columns sum to one and the rows do not; where both or neither do, `finite` says what is wrong."""
    rows = [sum(row, Fraction(0)) for row in matrix]
    columns = [sum(column, Fraction(0)) for column in zip(*matrix, strict=True)]
    return all(abs(s - 1) <= NEAR_ONE for s in columns) and not all(abs(s - 1) <= NEAR_ONE for s in rows)


def _array(path: Path) -> object:
    import numpy as np

    try:
        found = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise InputError(
            f"There is no file {path}", found="nothing", allowed="a .csv or .npy file", remedy="check the name"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path.name} holds no plain array",
            found=str(error).split("\n")[0],
            allowed="numbers, saved by numpy.save",
            remedy="save the array again without objects",
        ) from None
    if getattr(found, "ndim", 0) != 2 or found.dtype.kind not in "fiu":
        raise InputError(
            f"{path.name} is no table of numbers",
            found=f"{getattr(found, 'ndim', 0)} axes of {found.dtype}",
            allowed="two axes of numbers",
            remedy="save probabilities [state, output]",
        )
    return found
