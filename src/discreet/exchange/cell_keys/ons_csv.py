"""Tables of the UK Office for National Statistics (`cell_key_perturbation`): the noise for every count and every cell key.

    pcv,ckey,pvalue      one line for each count pcv and each key ckey = 0, 1, …, K − 1; pvalue is the noise

Keys are equally likely, so chances are multiples of 1/K (K = 256). What the lookup does besides, and what therefore is certified:
- counts above 750 use rows 501 to 750 over and over;
- a count without a row is published as it is, so a shorter table leaves everything beyond it exact;
- an empty cell has no records, so its key is 0: a row for 0 gives the noise at key 0 with certainty.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby

from discreet.errors import InputError
from discreet.exchange.cell_keys.perturbation import MOST_ROWS, PerturbationTable, Row
from discreet.exchange.delimited import Delimited

NEEDED = ("pcv", "ckey", "pvalue")
LAST, CYCLE = 750, 250
KEYS = 256
MOST_KEYS = 65_536
KEPT: Row = ((0, Fraction(1)),)


def is_ons(table: Delimited) -> bool:
    """Whether the columns are those of this format."""
    return all(table.column(name) is not None for name in NEEDED)


def from_ons(table: Delimited, name: str) -> PerturbationTable:
    """The table in a file of this format, as its lookup uses it."""
    pcv, ckey, pvalue = (table.column(key) for key in NEEDED)
    assert pcv is not None and ckey is not None and pvalue is not None
    noise: dict[int, dict[int, int]] = {}
    for line in range(len(table.rows)):
        count, key = table.whole(line, pcv), table.whole(line, ckey)
        if not 0 <= count < MOST_ROWS or not 0 <= key < MOST_KEYS or key in noise.get(count, {}):
            raise InputError(
                f"Line {table.lines[line]} of {table.source} repeats a pair or is out of range",
                found=f"pcv {count}, ckey {key}",
                allowed=f"each pair once, keys from 0 to {MOST_KEYS - 1}",
                remedy="correct it",
            )
        noise.setdefault(count, {})[key] = table.whole(line, pvalue)
    keys = 1 + max(key for row in noise.values() for key in row)
    for count, held in noise.items():
        if len(held) != keys:
            raise InputError(
                f"{table.source} leaves out keys",
                found=f"{len(held)} keys at count {count}",
                allowed=f"keys 0 to {keys - 1}",
                remedy="complete the table",
            )
    last = max(noise)
    missing = [count for count in range(1, last + 1) if count not in noise]
    if missing:
        raise InputError(
            f"{table.source} leaves out counts",
            found=f"no row for {', '.join(map(str, missing[:5]))}",
            allowed=f"1 to {last}",
            remedy="complete the table",
        )
    notes = []
    rows: list[Row] = [KEPT]
    if 0 in noise:
        rows = [((noise[0][0], Fraction(1)),)]
        notes.append("an empty cell has key 0, so zeros get the noise of that key with certainty")
    rows += [_row(noise[count], keys) for count in range(1, last + 1)]
    if last < LAST:
        notes.append(f"counts above {last} have no row and are published as they are")
        rows += [KEPT] * (LAST - last)
    elif last > LAST:
        notes.append(f"rows beyond {LAST} are never looked up")
        rows = rows[: LAST + 1]
    return PerturbationTable(tuple(rows), CYCLE, name, tuple(notes))


def to_ons(table: PerturbationTable, keys: int = KEYS) -> str:
    """The table for every count up to 750 as text of this format; its last row must be the one that all larger counts use."""
    if table.repeats not in (1, CYCLE) or len(table.rows) > LAST + 1 or not table.keeps_zeros:
        raise InputError(
            "This table cannot be looked up as the ONS tables are",
            found=f"{len(table.rows)} rows, {table.repeats} repeated",
            allowed=f"zeros kept, at most {LAST + 1} rows, the last one repeated",
            remedy="write it as ptable text",
        )
    lines = [",".join(NEEDED)]
    for count in range(1, LAST + 1):
        key = 0
        for v, p in table.rows[table.row_of(count)]:
            share = p * keys
            if share.denominator != 1:
                raise InputError(
                    f"This format holds chances in {keys} parts",
                    found=f"a chance of {float(p):.17g}",
                    allowed=f"multiples of 1/{keys}",
                    remedy="round the table to so many keys first",
                )
            lines += [f"{count},{k},{v}" for k in range(key, key + share.numerator)]
            key += share.numerator
    return "\n".join(lines) + "\n"


def _row(noise: dict[int, int], keys: int) -> Row:
    """Runs of keys with the same noise, in the order of the keys."""
    ordered = [noise[key] for key in range(keys)]
    return tuple((v, Fraction(len(list(run)), keys)) for v, run in groupby(ordered))
