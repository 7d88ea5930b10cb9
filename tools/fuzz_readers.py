"""Malformed files, read by every reader and by an automaton that goes through them byte by byte.

    python tools/fuzz_readers.py [--files N] [--seed S] [--postgres N] [--spark]

For every random file: the definition (`discreet.engines.rows`), the fast reader and DuckDB must give the rows that the
automaton gives. Files come in pairs: the second has one record replaced by other bytes (or one more, where there was none), and the
histograms may move by one replacement at most, in the cell that the record left and in the one it came to. `--postgres N`
reads N random tables on a cluster of its own; `--spark` reads the records of all files together. Prints what was done, or the first
file that differs. The automaton below is the grammar of docs/engines.md, written a second time in another way.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.engines import rows
from discreet.engines.blocks import csv_lines
from discreet.engines.cells import fitted
from discreet.engines.reference import count_rows
from discreet.engines.tables import connection, tables
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan, Source, Unit
from discreet.model.recoding import Bounds, Recoding

COLUMNS = ("s", "v", "u")
HEADERS = [b"s,v,u", b'"s","v","u"', b"s,v,u,more", b"\xef\xbb\xbfs,v,u", b's,"v",u', b"u,x,v,s"]
PIECES = [
    b",", b",", b",", b'"', b'"', b'""', b"\r", b"s0", b"s0", b"s1", b"1", b"2", b"0", b" ", b"\0", b"\xff", b"\xc3\xa9",
    b"\xe2\x82", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"s0,1", b's0,"1"', b's0, "1"', b"s,v,u", b"\x1a", b"\\", b"'", b";",
    b"\t", b"#", b"=", b"-1",
    b"1e0", b"\xf0\x9f\x98\x80", b"s0,1,u0", b'"s0","2","u1"', b',"', b'",', b"\x0b", b"\x85", b"\xc2\x85", b"\xe2\x80\xa8",
]  # fmt: skip
ANY = [byte for byte in range(256) if byte != 10]
LISTED = KeySet(("s",), (("s0",), ("s1",), ("1",)), (6, 3, 4))
Row = tuple[str, ...]


def automaton(data: bytes) -> list[Row]:
    """The rows of a file, byte by byte."""
    lines: list[list[bytes]] = []
    line = b""
    for byte in data + b"\n":
        if byte != 10:
            line += bytes([byte])
            continue
        lines.append(_split(line))
        line = b""
    names, *records = [[_text(field) for field in fields] for fields in lines]
    places = [names.index(name) for name in COLUMNS]
    found = [tuple(record[i] if i < len(record) else "" for i in places) for record in records]
    return [row for row in found if row != COLUMNS]


def _split(line: bytes) -> list[bytes]:
    """States: at the begin of a field, in a plain field, in quotes, after a quote in quotes."""
    if line.startswith(b"\xef\xbb\xbf"):
        line = line[3:]
    if line.endswith(b"\r"):
        line = line[:-1]
    fields, field, state = [], b"", "begin"
    for byte in line:
        letter = bytes([byte])
        if state == "quoted" and letter != b'"':
            field += letter
        elif state == "quoted":
            state = "quote"
        elif state == "quote" and letter == b'"':
            field += letter
            state = "quoted"
        elif letter == b",":
            fields.append(field)
            field, state = b"", "begin"
        elif state == "begin" and letter == b'"':
            state = "quoted"
        else:
            field += letter
            state = "plain"
    return [*fields, field]


def _text(field: bytes) -> str:
    try:
        text = field.decode()
    except UnicodeDecodeError:
        return "\ufffd"
    return "\ufffd" if "\0" in text else text


def some_record(dice: random.Random) -> bytes:
    """A record in the way of records, more or less."""
    kind = dice.random()
    if kind < 0.3:
        return dice.choice([b"s0,1,u0", b"s0,2,u1", b"s1,0,", b's0,"1",u2', b's0, "1",u0', b's1,"1""2",u', b"s0,,u"])
    if kind < 0.4:
        return bytes(dice.choices(ANY, k=dice.randrange(12)))
    return b"".join(dice.choices(PIECES, k=dice.randrange(10)))


def some_file(dice: random.Random) -> bytes:
    """A header that holds, records that need not, and an end of any kind."""
    lines = [some_record(dice) for _ in range(dice.randrange(13))]
    end = dice.choice([b"\n", b"\n", b"\r\n"])
    return dice.choice(HEADERS) + end + end.join(lines) + dice.choice([b"", end, b"\n\n", b"\r"])


def plan(path: Path) -> Plan:
    """One key, values 0..2, every row a unit."""
    return Plan(
        dataset="d", source=Source("csv", str(path)), keys=("s",), key_set="k", population="p", mechanism="m", protects="presence",
        recoding=Recoding("v", Bounds(0, 2), 6, missing=3, outside=4, absent=5), unit=Unit("row", "u", 1000),
    )  # fmt: skip


class Readers:
    """Every way to read a file, on one DuckDB."""

    def __init__(self, con: Any, folder: Path) -> None:
        self.con = con
        self.path = folder / "file.csv"
        self.plan = plan(self.path)

    def all(self, data: bytes) -> dict[str, list[Row]]:
        """The rows that each reader gives."""
        self.path.write_bytes(data)
        header, *rest = data.split(b"\n", 1)
        names = rows.fields(header)
        places = [names.index(name) for name in COLUMNS]
        fast = [line.split("\0") for line in csv_lines(rest[0])] if rest else []
        picked = [tuple(line[i] if i < len(line) else "" for i in places) for line in fast]
        return {
            "definition": list(rows.records(self.path, COLUMNS)),
            "fast": [row for row in picked if row != COLUMNS],
            "duckdb": list(fetched(self.con, self.plan)),
        }


def in_order(read: Sequence[Row]) -> list[Row]:
    """Rows that can be compared; an empty line, the last one too, is a row in no cell."""
    return sorted(row for row in read if any(row))


def fetched(con: Any, used: Plan) -> Iterator[Row]:
    """The rows that DuckDB sees."""
    for table in tables(con, used, None):
        yield from con.execute(f"SELECT c0, c1, c2 FROM {table.source}").fetchall()


def histogram(read: Sequence[Row]) -> np.ndarray:
    """Of rows, each a unit."""
    used = plan(Path("unused"))
    alone = [(*row[:2], str(i)) for i, row in enumerate(read)]
    return fitted(used, LISTED, count_rows(used, LISTED, alone, b"fuzz"), b"fuzz")


def must_be_near(before: Sequence[Row], after: Sequence[Row], what: object) -> int:
    """In how many cells one record made a difference: one replacement, in the cell it left and in the one it came to."""
    moved = np.abs(histogram(before) - histogram(after)).sum(axis=1) // 2
    if moved.max() > 1 or moved.sum() > 2:
        raise SystemExit(f"One record moved the histograms by {moved.tolist()}: {what!r}")
    return int(moved.sum())


def files(count: int, seed: int, say: Callable[[str], None] = print) -> list[bytes]:
    """Fuzz `count` files in pairs that differ by one record; all records of the first ones."""
    dice = random.Random(seed)
    moved = Counter[int]()
    records: list[bytes] = []
    with tempfile.TemporaryDirectory() as folder, connection("1GB", 1) as con:
        readers = Readers(con, Path(folder))
        for _ in range(-(-count // 2)):
            data = some_file(dice)
            lines = data.split(b"\n")
            records += lines[1:]
            where = dice.randrange(1, len(lines)) if len(lines) > 1 else len(lines)
            changed = b"\n".join([*lines[:where], some_record(dice), *lines[where + 1 :]])
            before, after = (must_agree(readers, one) for one in (data, changed))
            moved[must_be_near(before, after, (data, changed))] += 1
    say(f"{count:,} malformed files: three readers agree with the automaton on every one")
    say(f"pairs that differ by one record, by how many cells moved, each by one replacement: {dict(sorted(moved.items()))}")
    return records


def must_agree(readers: Readers, data: bytes) -> list[Row]:
    """The rows that DuckDB gives, when every reader gives those of the automaton."""
    wanted = automaton(data)
    read = readers.all(data)
    for name, found in read.items():
        if in_order(found) != in_order(wanted):
            raise SystemExit(f"{name} reads {found}, not {wanted}, in {data!r}")
    return read["duckdb"]


def spark(records: list[bytes], session: Any, say: Callable[[str], None] = print) -> None:
    """The records of all files as one file on Spark."""
    from discreet.engines.spark_rows import csv_frame

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "all.csv"
        data = b"s,v,u\n" + b"\n".join(records)
        path.write_bytes(data)
        found = Counter(in_order([tuple(row) for row in csv_frame(session, path, COLUMNS).collect()]))
    wanted = Counter(in_order([row for record in records for row in automaton(b"s,v,u\n" + record)]))
    if found != wanted:
        raise SystemExit(f"Spark differs: {list((found - wanted).items())[:3]} for {list((wanted - found).items())[:3]}")
    say(f"{len(records):,} records on Spark: as the automaton reads them")


def postgres(count: int, seed: int, link: Any, say: Callable[[str], None] = print) -> None:
    """Random tables of texts on PostgreSQL; `ROWS_DB` holds the connection that `link` is, too."""
    dice = random.Random(seed)
    letters = [
        "s0", "s1", "1", "2", "\r", "\n", "\t", "\\", '"', ",",
        "\\N", "\\.", "", " ", "é", "😀", "\x1a", "\x7f", "\x0b", "\u2028", "u0",
    ]  # fmt: skip
    with connection("1GB", 1) as con:
        used = plan(Path("unused"))
        used = Plan(**{**vars(used), "source": Source("postgres", "ROWS_DB", "fuzzed")})
        link.execute("DROP TABLE IF EXISTS fuzzed; CREATE TABLE fuzzed (s text, v text, u text)")
        before: list[Row] = []
        for _ in range(count):
            cells = [["".join(dice.choices(letters, k=dice.randrange(3))) if dice.random() > 0.1 else None for _ in range(3)]
                     for _ in range(dice.randrange(8))]  # fmt: skip
            link.execute("TRUNCATE fuzzed")
            if cells:
                link.cursor().executemany("INSERT INTO fuzzed VALUES (%s, %s, %s)", cells)
            wanted = sorted(tuple(cell or "" for cell in row) for row in cells)
            found = sorted(fetched(con, used))
            if found != wanted:
                raise SystemExit(f"PostgreSQL gives {found}, not {wanted}")
            before = found
    say(f"{count:,} random tables on PostgreSQL: every row as it was put in (the last had {len(before)})")


def main() -> None:
    """Read the options, and fuzz."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--postgres", type=int, default=0)
    parser.add_argument("--spark", action="store_true")
    options = parser.parse_args()
    started = time.perf_counter()
    records = files(options.files, options.seed, _say)
    if options.spark:
        from discreet.engines.spark import _session

        spark(records, _session(), _say)
    if options.postgres:
        import psycopg

        from cluster import cluster

        with cluster() as socket:
            os.environ["ROWS_DB"] = f"host={socket} user=tester dbname=postgres"
            with psycopg.connect(os.environ["ROWS_DB"], autocommit=True) as link:
                postgres(options.postgres, options.seed, link, _say)
    _say(f"{time.perf_counter() - started:.0f} s")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
