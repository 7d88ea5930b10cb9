"""What the engine tests share: small tables with every kind of trouble, plans for them, and ways to store them."""

from __future__ import annotations

import csv
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from discreet.model.key_set import KeySet
from discreet.model.plan import Plan, Source, Unit
from discreet.model.recoding import Bins, Bounds, Recoding, Values

KEY = b"a key fixed before the data is opened"
Row = tuple[str | None, str | None, str | None, str | None]
COLUMNS = ("region", "block", "children", "household")

KEY_SET = KeySet(
    ("region", "block"),
    tuple((region, block) for region in ("north", "süd", 'q"u,o', "O'Brien; DROP TABLE keys --") for block in "127"),
    (3, 5, 2, 1, 4, 30, 2, 2, 2, 6, 1, 3),
)
RULES = {
    "bounds": Bounds(0, 2),
    "bins": Bins((Fraction(0), Fraction(1, 2), Fraction(2), Fraction("7.5"))),
    "values": Values((("0", "none"), ("1", "2"), ("many", "'; DROP TABLE keys; --"))),
}
REGIONS = [*(cell[0] for cell in KEY_SET.cells), "nowhere", "", None, "North", "north ", "=1+1"]
BLOCKS = ["1", "2", "7", "07", "8", "", None, "1.0", " 1"]
VALUES = [
    "0", "1", "2", "3", "-1", "100", "0.5", "1.999", "2.0", "7.5", "1e0", "none", "many", "", None, " 1", "1 ", "+1",
    "nan", "inf", "1_0", "=SUM(A1)", "'; DROP TABLE keys; --", "９", "1e99", "0x1", "1,5", "a\nb", 'say "hi"', "-0",
    "00", "1.", ".5", "true", " ", "NA", "\tNA ", "na", "NAN", "N A",
]  # fmt: skip


def plan(rule: str = "bounds", unit: str | None = None, at_most: int = 1, source: Source | None = None, **changes: object) -> Plan:
    """A plan over the table, in every respect harmless."""
    made = Plan(
        dataset="people",
        source=source or Source("frame"),
        keys=("region", "block"),
        key_set="cells.csv",
        recoding=Recoding("children", RULES[rule], 5, missing=3, outside=4, absent=0),
        unit=Unit("household", unit, at_most),
        mechanism="m.json",
        population="people",
        protects="presence",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def random_rows(seed: int, count: int, units: int = 12) -> list[Row]:
    """Rows with listed and unlisted cells, missing and nonsensical values, repeated and missing units."""
    dice = random.Random(seed)
    return [random_row(dice, units) for _ in range(count)]


def random_row(dice: random.Random, units: int = 12) -> Row:
    """One row; two thirds lie in a listed cell."""
    unit = dice.choice([None, "", *(f"u{i}" for i in range(units))])
    if dice.random() < 2 / 3:
        region, block = dice.choice(KEY_SET.cells)
        return region, block, dice.choice(VALUES), unit
    return dice.choice(REGIONS), dice.choice(BLOCKS), dice.choice(VALUES), unit


def write_csv(path: Path, rows: list[Row]) -> Source:
    """As a careful program would write it; missing is empty, and a line break, which CSV cannot hold, is a blank."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([["" if x is None else x.replace("\n", " ") for x in row] for row in rows])
    return Source("csv", str(path))


def as_arrow(rows: list[Row]) -> object:
    """As an Arrow table of texts."""
    import pyarrow

    return pyarrow.table({name: pyarrow.array([row[i] for row in rows], pyarrow.string()) for i, name in enumerate(COLUMNS)})


def write_parquet(path: Path, rows: list[Row]) -> Source:
    """As a Parquet file of texts."""
    import pyarrow.parquet

    pyarrow.parquet.write_table(as_arrow(rows), path)
    return Source("parquet", str(path))


def edges_between(a: np.ndarray, b: np.ndarray) -> int:
    """How many replacements lead from one table of histograms to another."""
    assert (a.sum(axis=1) == b.sum(axis=1)).all()
    return int(np.abs(a - b).sum()) // 2
