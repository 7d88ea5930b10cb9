"""Counts of codes, from which the surplus of units is taken off: the same for every engine that counts many rows at once.

counts = all rows − the rows of each unit beyond its first k                  (`discreet.engines.units`)
"""

from __future__ import annotations

import numpy as np

from discreet.engines.roll import Roll
from discreet.engines.selection import Counts
from discreet.engines.units import LONG, Codes, Order, Rows, Words, in_cache


class Tally:
    """Rows counted by code, with `most` rows for each unit."""

    def __init__(self, order: Order, most: int) -> None:
        self.order = order
        self.most = most
        self.flat = np.zeros(order.cells << order.type_bits, dtype=np.int64)
        self.missing = np.zeros_like(self.flat)

    def add(self, rows: Rows) -> None:
        """Some rows more, short or long, whosever they are."""
        for some in in_cache([rows], 1 << 20):
            _count(self.flat, some["code"] if some.dtype == LONG else self.order.code_of(some), 1)

    def add_missing(self, codes: Codes) -> None:
        """Rows that have no unit: together they are one."""
        _count(self.flat, codes, 1)
        _count(self.missing, codes, 1)

    def hold(self, roll: Roll) -> None:
        """Hold every unit of a roll to its rows."""
        for blocks in roll.parts():
            for codes in self.order.surplus(self.most, blocks):
                _count(self.flat, codes, -1)
        for codes in roll.gone:
            _count(self.flat, codes, -1)

    def hold_missing(self) -> None:
        """Hold those without a unit to theirs."""
        codes = np.flatnonzero(self.missing).astype(np.uint32)
        word, check = (np.full(len(codes), half, dtype=np.uint64) for half in self.order.unit(""))
        codes = codes[np.argsort(self.order.places(self.order.seeds(word, check), codes))]
        many = self.missing[codes]
        before = np.cumsum(many) - many
        self.flat[codes] -= many - np.clip(self.most - before, 0, many)

    def counts(self) -> Counts:
        """Counts [cell, type]."""
        return np.ascontiguousarray(self.flat.reshape(self.order.cells, -1)[:, : self.order.types])


def _count(flat: Counts, codes: Codes | Words, sign: int) -> None:
    index = codes.view(np.intp) if codes.dtype == np.uint64 else codes.astype(np.intp)
    if len(flat) <= 4 * len(index):
        flat += sign * np.bincount(index, minlength=len(flat))
    elif len(index):
        np.add.at(flat, index, sign)
