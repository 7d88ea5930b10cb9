"""Tables as `ptable` exports them for Tau-Argus and SAS: one line for each interval, separated by semicolons.

    i;j;p;v;p_int_ub            and, for SAS,    i;j;p;v;p_int_lb;p_int_ub

i is the count, j = i + v what is published, p the chance, and a key below p_int_ub (and not below the one before) gets
this line. The lookup reads the interval ends, so chances are their differences; p must agree with them. Eight decimals
are written. Zeros are never looked up by `cellKey`, whatever the line for i = 0 says.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InputError
from discreet.exchange.cell_keys.perturbation import PerturbationTable, complete
from discreet.exchange.delimited import Delimited

DIGITS = 8
NEAR = Fraction(2, 10**DIGITS)
"""How far a printed chance may be from the difference of its printed interval ends."""
NEEDED = ("i", "j", "p", "v")
HEADER = {"tau-argus": "i;j;p;v;p_int_ub", "sas": "i;j;p;v;p_int_lb;p_int_ub"}


def is_ptable(table: Delimited) -> bool:
    """Whether the columns are those of this format."""
    return all(table.column(name) is not None for name in NEEDED)


def from_ptable(table: Delimited, name: str) -> PerturbationTable:
    """The table in a file of this format."""
    columns = {key: table.column(key) for key in (*NEEDED, "p_int_ub", "ub")}
    i, j, p, v = (columns[key] for key in NEEDED)
    assert i is not None and j is not None and p is not None and v is not None
    upper = columns["p_int_ub"] if columns["p_int_ub"] is not None else columns["ub"]
    entries = [
        (
            table.whole(row, i),
            table.whole(row, j),
            table.number(row, p),
            table.whole(row, v),
            None if upper is None else table.number(row, upper),
        )
        for row in range(len(table.rows))
    ]
    return from_entries(entries, table.source, name)


def from_entries(entries: list[tuple[int, int, Fraction, int, Fraction | None]], source: str, name: str) -> PerturbationTable:
    """A table from (i, j, p, v, upper end of the interval or None), line by line."""
    rows: dict[int, list[tuple[int, Fraction]]] = {}
    reached: dict[int, Fraction] = {}
    for i, j, p, v, upper in entries:
        if j != i + v:
            raise InputError(
                f"A line of {source} does not add up", found=f"i = {i}, v = {v}, j = {j}", allowed="j = i + v", remedy="correct it"
            )
        chance = p if upper is None else upper - reached.get(i, Fraction(0))
        if abs(chance - p) > NEAR or chance < 0:
            raise InputError(
                f"The chance and the interval of a line of {source} disagree",
                found=f"p = {float(p):.10g}, an interval of {float(chance):.10g} at i = {i}, j = {j}",
                allowed="intervals in order whose lengths are the chances",
                remedy="export the table again",
            )
        reached[i] = reached.get(i, Fraction(0)) + chance
        rows.setdefault(i, []).append((v, chance))
    table = PerturbationTable(complete(rows, source), name=name)
    if not table.keeps_zeros:
        note = "cellKey and Tau-Argus never look up zeros: the row for 0 only counts where the lookup is your own"
        return PerturbationTable(table.rows, name=name, notes=(note,))
    return table


def to_ptable(table: PerturbationTable, tool: str = "tau-argus") -> str:
    """The table as text, for `tau-argus` or `sas`."""
    if tool not in HEADER:
        raise InputError("This tool is not known", found=tool, allowed=list(HEADER), remedy="choose one of these")
    only_one_repeats(table)
    lines = [HEADER[tool]]
    for i, row in enumerate(table.rows):
        below = Fraction(0)
        for v, p in row:
            upper = below + p
            ends = [decimal(upper)] if tool == "tau-argus" else [decimal(below), decimal(upper)]
            lines.append(";".join([str(i), str(i + v), decimal(p), str(v), *ends]))
            below = upper
    return "\n".join(lines) + "\n"


def only_one_repeats(table: PerturbationTable) -> None:
    """Refuse tables whose last row is not the one that all larger counts use."""
    if table.repeats != 1:
        raise InputError(
            "In this format all larger counts use the last row",
            found=f"a table that repeats {table.repeats} rows",
            allowed="one repeated row",
            remedy="write it in the ONS format",
        )


def decimal(number: Fraction) -> str:
    """Eight decimals, exactly."""
    scaled = number * 10**DIGITS
    if scaled.denominator != 1:
        raise InputError(
            f"This format holds {DIGITS} decimals",
            found=f"a chance of {float(number):.17g}",
            allowed=f"multiples of 1e-{DIGITS}",
            remedy="round the table first: it stays unbiased and keeps its variance",
        )
    whole, rest = divmod(scaled.numerator, 10**DIGITS)
    return f"{whole}.{rest:0{DIGITS}d}"
