"""A release of a million cells, and durable spends beside bare inserts.

    python bench/publish.py [CELLS] [SPENDS]

Publishing starts from histograms that were made elsewhere (their unit bound attested), with one committed mechanism: 40
respondents, a geometric proxy. Goal: within 10 s on two cores, from reading plan and key set to the recorded release. Spends: a
reservation in the ledger (checked, hashed, chained, durable) beside an insert of the same bytes into a bare SQLite table with the
same durability. Goal: within 3 times.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
import time
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np

from discreet import files
from discreet.cli.stages.certify import write_problem
from discreet.ledger import Cost, open_ledger
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.summary import LinearSummary
from discreet.publish import commit, gather, publish, verify
from discreet.watch import Silent

CELLS = 1_000_000
SPENDS = 1_000
HOUSEHOLDS = 40
REPEATS = 3

PLAN = """\
dataset = "a million blocks"
mechanism = "places.mechanism.json"
[source]
kind = "csv"
path = "made-elsewhere.csv"
[cells]
keys = ["county", "block"]
key_set = "blocks.csv"
[recoding]
column = "children"
kind = "values"
values = [["0"], ["1"], ["2"]]
missing = 0
outside = 2
absent = 0
[unit]
name = "household"
[budget]
population = "households"
"""


class Clock(Silent):
    """Keeps how long each stage took."""

    def report(self, **told: object) -> None:
        """A stage begins."""
        self.__dict__.setdefault("begun", []).append((told["stage"], time.perf_counter()))

    def spans(self) -> list[tuple[str, float]]:
        """Stages with their seconds."""
        begun = [*self.__dict__["begun"], ("end", time.perf_counter())]
        return [(name, later - now) for (name, now), (_, later) in pairwise(begun)]


def write_town(folder: Path, cells: int) -> np.ndarray:
    """Plan, mechanism and key set; the histograms are returned."""
    problem = write_problem(folder / "places.toml", HOUSEHOLDS)
    files.write_mechanism(folder / "places.mechanism.json", geometric_mechanism(problem, LinearSummary((0, 1, 1))))
    lines = "\n".join(f"county {i // 1000:04},{i % 1000},{HOUSEHOLDS}" for i in range(cells))
    (folder / "blocks.csv").write_text(f"county,block,size\n{lines}\n", encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    return np.random.default_rng(0).multinomial(HOUSEHOLDS, [0.89, 0.09, 0.02], size=cells)


def release(folder: Path, cells: int) -> None:
    """Commit, publish and verify one table."""
    counts = write_town(folder, cells)
    with open_ledger(str(folder / "ledger.db"), create=True) as ledger:
        ledger.init("pure")
        ledger.declare("households", "household", Fraction(4))
        commit(gather(folder / "plan.toml"), ledger)
        clock = Clock()
        started = time.perf_counter()
        bundle = gather(folder / "plan.toml")
        gathered = time.perf_counter() - started
        publish(bundle, folder / "release", ledger, counts=counts, watch=clock)
        took = time.perf_counter() - started
    print(f"{cells:,} cells from histograms: {took:.2f} s (goal: within 10 s for 1,000,000)")
    print("  " + ", ".join(f"{name} {seconds:.2f}" for name, seconds in [("gather", gathered), *clock.spans()]))
    started = time.perf_counter()
    assert verify(folder / "release").holds
    print(f"  verified from the folder alone: {time.perf_counter() - started:.2f} s")


def spends(folder: Path, count: int) -> tuple[float, float]:
    """Seconds for `count` reservations and for as many bare inserts of entries as long, alternating in small batches."""
    with open_ledger(str(folder / "spends.db"), create=True) as ledger:
        ledger.init("pure")
        ledger.declare("households", "household", Fraction(count))
        name = ledger.commit("households", "household", Cost(Fraction(1)), {"mechanism": "a" * 64}).hash
        bare = sqlite3.connect(folder / "bare.db", isolation_level=None)
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute("PRAGMA synchronous = FULL")
        bare.execute("CREATE TABLE entries (sequence INTEGER PRIMARY KEY, previous TEXT, time TEXT, event TEXT, hash TEXT UNIQUE)")
        ours = theirs = 0.0
        for i in range(0, count, 50):
            batch = range(i, min(i + 50, count))
            started = time.perf_counter()
            for _ in batch:
                ledger.reserve(name)
            middle = time.perf_counter()
            for k in batch:
                event = json.dumps({"commitment": name, "kind": "reserve"})
                bare.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", (k, name, "2026-01-01T00:00:00", event, f"{k:064}"))
            ours, theirs = ours + middle - started, theirs + time.perf_counter() - middle
        bare.close()
    return ours, theirs


def main() -> None:
    """Print seconds and ratios."""
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else CELLS
    count = int(sys.argv[2]) if len(sys.argv) > 2 else SPENDS
    with tempfile.TemporaryDirectory() as folder:
        release(Path(folder), cells)
    ratios = []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = spends(Path(folder), count)
        ratios.append(ours / theirs)
        print(f"{count:,} durable spends {ours:.2f} s, bare durable inserts {theirs:.2f} s: {ratios[-1]:.2f} times")
    print(f"best ratio {min(ratios):.2f} (goal: within 3)")


if __name__ == "__main__":
    main()
