"""What contribution bounds cost: seconds of processor time beside the bare GROUP BY of the same counts in the same run.

    python bench/engines.py [ROWS] [--spark] [--csv] [--repeats N]

20 million rows in 8,000 cells; values 0, 1, 2, some missing or beyond the bounds. Two tables: *idle*, where every unit has
two rows and may have two, and *active*, where a million units have twenty rows each and may keep two. Goals on DuckDB: 1.5 times
the bare query when each row is a unit, 3 times with an idle bound, 10 times with an active one, all within 1 GiB resident.
On Spark: within twice Spark's own GROUP BY. Whoever bounds contributions must bring a unit's rows together, so there each table is
also set beside Spark's own GROUP BY of its units, which only counts them. Every line is the best of N (three) runs, each in a
process of its own, on one thread, our runs and the peer's by turns.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from discreet.engines import DuckEngine, Engine, SparkEngine, histograms
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan, Source, Unit
from discreet.model.recoding import Bounds, Recoding

ROWS = 20_000_000
CELLS = 8_000
MEMORY = "1GB"
BARE = """
SELECT block, count(*) FILTER (WHERE children <= 0) AS n0, count(*) FILTER (WHERE children = 1) AS n1,
    count(*) FILTER (WHERE children >= 2) AS n2
FROM {source} GROUP BY block
"""
BY_UNIT = "SELECT max(n) FROM (SELECT count(*) AS n FROM {source} GROUP BY household)"
UNITS = {"idle": "(i // 2) * 2654435761 % 40000000003", "active": "hash(i) % 1000000"}


def make_table(path: Path, rows: int, unit: str) -> None:
    """A table, from hashes of the row number, so that every run has the same one."""
    with duckdb.connect() as con:
        con.execute(
            f"""COPY (
                SELECT CAST(hash(i) % {CELLS} AS INTEGER) AS block,
                    CAST(CASE WHEN h < 890 THEN 0 WHEN h < 980 THEN 1 WHEN h < 998 THEN 2 WHEN h < 999 THEN 7 END
                        AS TINYINT) AS children,
                    CAST({unit} AS BIGINT) AS household
                FROM (SELECT i, hash(i + 1000000007) % 1000 AS h FROM range({rows}) AS t(i))
            ) TO '{path}' (FORMAT {path.suffix[1:]})"""
        )


def plan(path: Path, unit: str | None) -> Plan:
    """Children clipped to 0..2; missing counts as none."""
    return Plan(
        dataset="bench", source=Source(path.suffix[1:], str(path)), keys=("block",), key_set="blocks.csv",
        recoding=Recoding("children", Bounds(0, 2), 3, missing=0, outside=0, absent=0),
        unit=Unit("household", unit, 2 if unit else 1), mechanism="m", population="bench", protects="presence",
    )  # fmt: skip


def key_set(rows: int) -> KeySet:
    """Cells of a size that some fill and some do not."""
    return KeySet(("block",), tuple((str(i),) for i in range(CELLS)), (rows // CELLS,) * CELLS)


def processor_seconds() -> float:
    """Of this process and of those it waited for; Spark's Java process is read from the system."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used) + _of_living_children()


def _of_living_children() -> float:
    """User and system time of the processes below this one."""
    parents, times = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        process = int(stat.parent.name)
        parents[process] = int(fields[1])
        times[process] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def below(process: int) -> bool:
        parent = parents.get(process, 0)
        return parent == os.getpid() or (parent > 1 and below(parent))

    return sum(times[process] for process in times if below(process))


def duck(path: Path, rows: int, what: str) -> Callable[[], None]:
    """The bare query of DuckDB, or ours."""
    if what == "bare":
        con = duckdb.connect(config={"threads": "1"})
        columns = "{'block': 'INTEGER', 'children': 'TINYINT', 'household': 'BIGINT'}"
        lines = f"read_csv('{path}', header = true, columns = {columns})"
        query = BARE.format(source=f"read_parquet('{path}')" if path.suffix == ".parquet" else lines)

        def run() -> None:
            con.execute(query).fetchall()

        return run
    return ours(path, rows, what, DuckEngine(MEMORY, 1))


def spark(path: Path, rows: int, what: str) -> Callable[[], None]:
    """Spark's own GROUP BY, or ours, on a session that has counted once already."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {"spark.ui.enabled": "false", "spark.driver.memory": "2g", "spark.ui.showConsoleProgress": "false"}
    session = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    if what in ("bare", "by unit"):
        query = {"bare": BARE, "by unit": BY_UNIT}[what].format(source=f"parquet.`{path}`")

        def run() -> None:
            session.sql(query).collect()
    else:
        run = ours(path, rows, what, SparkEngine(session))

    run()
    return run


def ours(path: Path, rows: int, what: str, engine: Engine) -> Callable[[], None]:
    """From the plan to the histograms; `what` is "row" or "unit"."""
    listed, used = key_set(rows), plan(path, None if what == "row" else "household")

    def run() -> None:
        assert (histograms(used, listed, key=b"bench", engine=engine).sum(axis=1) == rows // CELLS).all()

    return run


def measured(engine: str, path: Path, rows: int, what: str) -> tuple[float, float, float]:
    """Processor seconds, seconds and GiB resident, in a process of its own."""
    command = [sys.executable, __file__, "--one", engine, str(path), str(rows), what]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    processor, seconds, size = json.loads(found.splitlines()[-1])
    return processor, seconds, size


def one(engine: str, path: Path, rows: int, what: str) -> None:
    """Measure, and say it to the process above."""
    run = {"duckdb": duck, "spark": spark}[engine](path, rows, what)
    processor, started = processor_seconds(), time.perf_counter()
    run()
    seconds = time.perf_counter() - started
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    sys.stdout.write("\n" + json.dumps([processor_seconds() - processor, seconds, size]) + "\n")


def compared(title: str, engine: str, lines: list[tuple[str, Path, str, str]], rows: int, repeats: int) -> None:
    """Print a table: the first line is the peer, and so is a line by unit for the lines of the same table after it."""
    best: dict[str, tuple[float, float, float]] = {}
    for _ in range(repeats):
        for name, path, what, _goal in lines:
            found = measured(engine, path, rows, what)
            best[name] = min(best.get(name, found), found)
    peer = best[lines[0][0]][0]
    sys.stdout.write(f"{title}: {rows:,} rows, {CELLS:,} cells, one thread, best of {repeats}\n")
    by_unit: dict[Path, float] = {}
    for name, path, what, goal in lines:
        processor, seconds, size = best[name]
        beside = f"{processor / by_unit[path]:>7.2f} times by unit" if what == "unit" and path in by_unit else ""
        sys.stdout.write(
            f"  {name:<42}{processor:>8.2f} s of processor{seconds:>8.2f} s{processor / peer:>7.2f} times"
            f"{size:>7.2f} GiB{'   goal ' + goal if goal else ''}{beside}\n"
        )
        if what == "by unit":
            by_unit[path] = processor
    sys.stdout.flush()


def main() -> None:
    """Print seconds and ratios."""
    if sys.argv[1:2] == ["--one"]:
        engine, path, rows, what = sys.argv[2:6]
        one(engine, Path(path), int(rows), what)
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="?", type=int, default=ROWS)
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tables = {name: Path(folder) / f"{name}.parquet" for name in UNITS}
        for name, path in tables.items():
            make_table(path, options.rows, UNITS[name])
        lines = [
            ("bare GROUP BY", tables["idle"], "bare", ""),
            ("histograms, unit = row", tables["idle"], "row", "1.5"),
            ("histograms, units, idle bound", tables["idle"], "unit", "3"),
            ("histograms, units, active bound", tables["active"], "unit", "10"),
        ]
        compared("DuckDB, Parquet", "duckdb", lines, options.rows, options.repeats)
        if options.csv:
            text = Path(folder) / "idle.csv"
            make_table(text, options.rows // 4, UNITS["idle"])
            lines = [
                ("bare GROUP BY over read_csv", text, "bare", ""),
                ("histograms, unit = row", text, "row", ""),
                ("histograms, units, idle bound", text, "unit", ""),
            ]
            compared("DuckDB, CSV", "duckdb", lines, options.rows // 4, options.repeats)
        if options.spark:
            lines = [
                ("bare GROUP BY", tables["idle"], "bare", ""),
                ("histograms, unit = row", tables["idle"], "row", "2"),
                ("bare GROUP BY of units, idle table", tables["idle"], "by unit", ""),
                ("histograms, units, idle bound", tables["idle"], "unit", "2"),
                ("bare GROUP BY of units, active table", tables["active"], "by unit", ""),
                ("histograms, units, active bound", tables["active"], "unit", "2"),
            ]
            compared("Spark, Parquet", "spark", lines, options.rows, options.repeats)


if __name__ == "__main__":
    main()
