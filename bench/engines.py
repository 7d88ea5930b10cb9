"""How fast 50 million rows become histograms, beside the bare DuckDB GROUP BY of the same counts in the same run.

    python bench/engines.py [ROWS]

Unit = row: goal within 1.5 times the bare query. Units of up to 2 rows: goal, completes under DuckDB's limit of 2 GB;
the largest resident size of the whole process is printed beside it. The table: 8,000 cells, values 0, 1, 2 (and some
missing or beyond the bounds), unit numbers in no order. Both sides read the same Parquet file with the same threads.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from discreet.engines import DuckEngine, histograms
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan, Source, Unit
from discreet.model.recoding import Bounds, Recoding

ROWS = 50_000_000
CELLS = 8_000
THREADS = 2
REPEATS = 3
BARE = """
SELECT block, count(*) FILTER (children <= 0) AS n0, count(*) FILTER (children = 1) AS n1,
    count(*) FILTER (children >= 2) AS n2
FROM read_parquet('{path}') GROUP BY block
"""


def make_table(path: Path, rows: int) -> None:
    """The table, from hashes of the row number, so that every run has the same one."""
    with duckdb.connect() as con:
        con.execute(
            f"""COPY (
                SELECT CAST(hash(i) % {CELLS} AS INTEGER) AS block,
                    CAST(CASE WHEN h < 890 THEN 0 WHEN h < 980 THEN 1 WHEN h < 998 THEN 2 WHEN h < 999 THEN 7 END
                        AS TINYINT) AS children,
                    CAST(hash(i // 2 + 7) % 1000000000000 AS BIGINT) AS household
                FROM (SELECT i, hash(i + 1000000007) % 1000 AS h FROM range({rows}) AS t(i))
            ) TO '{path}' (FORMAT parquet)"""
        )


def plan(path: Path, unit: str | None) -> Plan:
    """Children clipped to 0..2; missing counts as none."""
    return Plan(
        dataset="bench", source=Source("parquet", str(path)), keys=("block",), key_set="blocks.csv",
        recoding=Recoding("children", Bounds(0, 2), 3, missing=0, outside=0, absent=0),
        unit=Unit("household", unit, 2 if unit else 1), mechanism="m", population="bench", protects="presence",
    )  # fmt: skip


def key_set(rows: int) -> KeySet:
    """Cells of a size that some fill and some do not."""
    return KeySet(("block",), tuple((str(i),) for i in range(CELLS)), (rows // CELLS,) * CELLS)


def bare(path: Path) -> float:
    """Seconds of the bare query."""
    with duckdb.connect(config={"threads": str(THREADS)}) as con:
        started = time.perf_counter()
        con.execute(BARE.format(path=path)).fetchnumpy()
        return time.perf_counter() - started


def ours(path: Path, rows: int, unit: str | None, memory: str) -> float:
    """Seconds from the plan to the histograms."""
    listed, used = key_set(rows), plan(path, unit)
    started = time.perf_counter()
    found = histograms(used, listed, key=b"bench", engine=DuckEngine(memory, THREADS))
    assert (found.sum(axis=1) == rows // CELLS).all()
    return time.perf_counter() - started


def main() -> None:
    """Print seconds and ratios."""
    if sys.argv[1:2] == ["--units"]:
        print(f"{ours(Path(sys.argv[2]), int(sys.argv[3]), 'household', '2GB'):.1f}", end=" ")
        print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f}")
        return
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        make_table(path, rows)
        bare(path)
        pairs = [(bare(path), ours(path, rows, None, "8GB")) for _ in range(REPEATS)]
        peer, mine = (min(column) for column in zip(*pairs, strict=True))
        print(f"{rows:,} rows, {CELLS:,} cells, {THREADS} threads, best of {REPEATS}")
        print(f"{'bare DuckDB GROUP BY':<44}{peer:>8.2f} s{1:>8.2f}")
        print(f"{'histograms, unit = row':<44}{mine:>8.2f} s{mine / peer:>8.2f}   goal: 1.50")
        # A process of its own, so that its largest resident size is its own.
        command = [sys.executable, __file__, "--units", str(path), str(rows)]
        seconds, size = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        print(f"{'histograms, units of up to 2 rows, 2 GB':<44}{float(seconds):>8.2f} s{float(seconds) / peer:>8.2f}")
        print(f"{'  largest resident size of that process':<44}{float(size):>8.2f} GiB")


if __name__ == "__main__":
    main()
