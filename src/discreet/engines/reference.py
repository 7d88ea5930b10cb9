"""The plain-Python engine: the definition that the others must meet, written to be read.

counts[c, t] = number of rows in cell c of type t, after units were held to k rows. Rows are tuples of the key columns,
the recoded column and, where the plan has one, the unit, as Python objects.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from discreet.engines.selection import Counts
from discreet.engines.units import Order
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan
from discreet.model.recoding import as_text

Rows = Iterable[tuple[object, ...]]


def count_rows(plan: Plan, key_set: KeySet, rows: Rows, key: bytes) -> Counts:
    """Counts [cell, type] of an iterable of rows."""
    counts = np.zeros((len(key_set), plan.recoding.types), dtype=np.int64)
    units: dict[str, list[tuple[int, int]]] = defaultdict(list)
    width = len(plan.keys)
    for row in rows:
        cell = _cell(key_set, row[:width])
        if cell is None:
            continue
        type_ = plan.recoding.type_of(row[width])
        if plan.unit.column is None:
            counts[cell, type_] += 1
        else:
            unit = row[width + 1]
            units["" if unit is None else as_text(unit)].append((cell, type_))
    order = Order(key, len(key_set), plan.recoding.types)
    for unit_name, held in units.items():
        for cell, type_ in kept(held, unit_name, plan.unit.at_most, order):
            counts[cell, type_] += 1
    return counts


def _cell(key_set: KeySet, keys: tuple[object, ...]) -> int | None:
    if any(key is None for key in keys):
        return None
    return key_set.position.get(tuple(map(as_text, keys)))


def kept(held: list[tuple[int, int]], unit: str, most: int, order: Order) -> list[tuple[int, int]]:
    """The rows (cell, type) of one unit that stay."""
    word, check = order.unit(unit)
    return sorted(held, key=lambda row: order.place(word, check, *row))[:most]
