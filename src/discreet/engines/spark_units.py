"""Units on Spark: the plan of the DuckDB engine, with a shuffle between its two halves.

Where the rows are, they become (word, check, code), are dealt by a hash of their unit and packed, a million at a time, into one
binary value for each hand. The shuffle moves these few values. Then all rows of a unit are in one task, which counts them and
takes off the surplus with `discreet.engines.units`. Only counts leave it. The workers need `discreet`, NumPy and pyarrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.engines.roll import Roll
from discreet.engines.tally import Tally
from discreet.engines.units import LONG, Order, Rows, Words

HANDS = 256
AT_ONCE = 1 << 20
LIMIT = 1 << 28
"""Bytes of rows that one task holds in memory."""

Batches = Iterable[Any]


def counted(rows: Any, order: Order, most: int) -> Any:
    """Counts by code of a frame with the columns `u` (a long or a string) and `code`, units held to `most` rows."""
    packed = rows.mapInArrow(_packer(order), "hand int, long boolean, rows binary")
    held = packed.repartition("hand").mapInArrow(_holder(order, most), "code long, many long")
    return held.groupBy("code").sum("many")


def nothing_done(batches: Batches) -> Iterator[Any]:
    """What came in: a worker that can do this has what `counted` needs."""
    import pyarrow

    assert pyarrow.__version__ and np.__version__
    yield from batches


def _packer(order: Order) -> Callable[[Batches], Iterator[Any]]:
    def pack(batches: Batches) -> Iterator[Any]:
        import pyarrow

        waiting: list[Any] = []
        size = 0
        for batch in batches:
            waiting.append(batch)
            size += batch.num_rows
            if size >= AT_ONCE:
                yield from _packed(pyarrow.Table.from_batches(waiting), order)
                waiting, size = [], 0
        if size:
            yield from _packed(pyarrow.Table.from_batches(waiting), order)

    return pack


def _packed(table: Any, order: Order) -> Iterator[Any]:
    import pyarrow

    codes = table.column("code").to_numpy().astype(np.uint64)
    units = table.column("u")
    if pyarrow.types.is_integer(units.type) and units.null_count == 0:
        words = units.to_numpy().astype(np.int64).view(np.uint64)
        checks: Words | None = None
    else:
        listed = units.cast(pyarrow.string()).fill_null("").combine_chunks().dictionary_encode()
        pairs = np.array([order.unit(text) for text in listed.dictionary.to_pylist()], dtype=np.uint64).reshape(-1, 2)
        words, checks = (np.ascontiguousarray(half) for half in pairs[listed.indices.to_numpy()].T)
    fits = words < np.uint64(2 ** (63 - order.code_bits))
    if checks is not None:
        fits &= checks == 0
    yield from _dealt(order, words[fits] << np.uint64(order.code_bits) | codes[fits])
    if not fits.all():
        rows = np.zeros(len(codes) - np.count_nonzero(fits), LONG)
        rows["word"], rows["code"] = words[~fits], codes[~fits]
        if checks is not None:
            rows["check"] = checks[~fits]
        yield from _dealt(order, rows)


def _dealt(order: Order, rows: Rows) -> Iterator[Any]:
    """One batch: a value for every hand that gets any rows."""
    import pyarrow

    rows, ends = order.dealt(rows, HANDS)
    dealt = [(i, rows[start:end].tobytes()) for i, (start, end) in enumerate(pairwise(ends)) if end > start]
    if dealt:
        hands, values = zip(*dealt, strict=True)
        columns = [
            pyarrow.array(hands, pyarrow.int32()), pyarrow.array([rows.dtype == LONG] * len(hands)),
            pyarrow.array(values, pyarrow.binary()),
        ]  # fmt: skip
        yield pyarrow.RecordBatch.from_arrays(columns, ["hand", "long", "rows"])


def _holder(order: Order, most: int) -> Callable[[Batches], Iterator[Any]]:
    def hold(batches: Batches) -> Iterator[Any]:
        import pyarrow

        tally = Tally(order, most)
        rolls = {long: Roll(order, most, LIMIT) for long in (False, True)}
        for batch in batches:
            for long, value in zip(batch.column("long").to_pylist(), batch.column("rows"), strict=True):
                rows = np.frombuffer(value.as_buffer(), LONG if long else np.uint64)
                tally.add(rows)
                rolls[long].add(rows)
        for roll in rolls.values():
            tally.hold(roll)
        codes = np.flatnonzero(tally.flat)
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array(codes), pyarrow.array(tally.flat[codes])], ["code", "many"])

    return hold
