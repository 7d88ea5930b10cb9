"""Tables in the YAML files of `cellKey` (`ck_params_cnts(ptab, path)` writes them, `ck_read_yaml` reads them).

    params:
      ptable:
        i: [one number for each interval]      likewise j, p, v, lb, ub, and type ("all")
    type: cnts
    version: 1.0.3
    ptype: params_cnts

Only this shape is read: mappings by indentation, and lists of numbers or words, one on each line.
"""

from __future__ import annotations

import re
from fractions import Fraction

from discreet.errors import InputError
from discreet.exchange.cell_keys.perturbation import PerturbationTable
from discreet.exchange.cell_keys.ptable_text import decimal, from_entries, only_one_repeats
from discreet.numerics.exact import exact

COLUMNS = ("i", "j", "p", "v", "lb", "ub")
VERSION = "1.0.3"
"""The version of `cellKey` that is written; `ck_read_yaml` warns about any other than its own."""
ITEM = re.compile(r"(\s*)-\s+(\S.*)")
KEY = re.compile(r"(\s*)([A-Za-z_]+):\s*(\S.*)?")


def is_cellkey(text: str) -> bool:
    """Whether this looks like such a file."""
    return bool(re.search(r"^params:\s*$", text, re.MULTILINE) and re.search(r"^\s+ptable:\s*$", text, re.MULTILINE))


def from_cellkey(text: str, source: str, name: str) -> PerturbationTable:
    """The table in a file of this format."""
    columns, facts = _columns(text, source)
    if facts.get("ptype", "params_cnts") != "params_cnts" or facts.get("type", "cnts") != "cnts":
        raise InputError(
            f"{source} perturbs magnitudes, not counts",
            found=facts.get("ptype", "") or facts.get("type", ""),
            allowed="params_cnts",
            remedy="give the parameters of a count variable",
        )
    missing = [key for key in ("i", "j", "p", "v", "ub") if key not in columns]
    lengths = {len(column) for column in columns.values()}
    if missing or len(lengths) != 1:
        raise InputError(
            f"{source} is not complete",
            found=f"without {', '.join(missing)}" if missing else f"columns of lengths {sorted(lengths)}",
            allowed="columns i, j, p, v, ub of one length",
            remedy="write it again with ck_params_cnts",
        )
    numbers = {key: [exact(word, f"{key} in {source}") for word in columns[key]] for key in ("i", "j", "p", "v", "ub")}
    entries = []
    for i, j, p, v, ub in zip(*(numbers[key] for key in ("i", "j", "p", "v", "ub")), strict=True):
        if any(x.denominator != 1 for x in (i, j, v)):
            raise InputError(
                f"{source} holds counts that are not whole", found=str(i), allowed="whole numbers", remedy="correct it"
            )
        entries.append((i.numerator, j.numerator, p, v.numerator, ub))
    return from_entries(entries, source, name)


def to_cellkey(table: PerturbationTable, version: str = VERSION) -> str:
    """The table as text of this format."""
    only_one_repeats(table)
    held: dict[str, list[str]] = {key: [] for key in (*COLUMNS, "type")}
    for i, row in enumerate(table.rows):
        below = Fraction(0)
        for v, p in row:
            line = [f"{i}.0", f"{i + v}.0", decimal(p), f"{v}.0", decimal(below), decimal(below + p), "all"]
            for key, word in zip(held, line, strict=True):
                held[key].append(word)
            below += p
    lines = ["params:", "  ptable:"]
    for key, words in held.items():
        lines += [f"    {key}:", *(f"    - {word}" for word in words)]
    return "\n".join([*lines, "type: cnts", f"version: {version}", "ptype: params_cnts"]) + "\n"


def _columns(text: str, source: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    columns: dict[str, list[str]] = {}
    facts: dict[str, str] = {}
    current: list[str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        item, key = ITEM.fullmatch(line.rstrip()), KEY.fullmatch(line.rstrip())
        if item is not None and current is not None:
            current.append(item[2].strip("'\""))
        elif key is not None and key[3] is not None and not key[1]:
            facts[key[2]], current = key[3].strip("'\""), None
        elif key is not None and key[3] is None:
            current = columns.setdefault(key[2], []) if len(key[1]) >= 4 else None
        else:
            raise InputError(
                f"Line {number} of {source} is not understood",
                found=line.strip()[:60],
                allowed="the shape that ck_params_cnts writes: a column name, then one number on each line",
                remedy="write it again",
            )
    return columns, facts
