"""Problems whose likely states are many, whose actions are real or whose ε is large: how near is each design to the best possible?

Truncation to likely histograms does not help an overdispersed or uniform prior, and at a large ε what is lost is tiny. Each problem
runs in a process of its own (`bench/zoo.py`), time is processor time, memory the largest seen.

    python bench/wide.py [--seconds 60] [--only WORD] [--json FILE] [--source OTHER/src]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from zoo import ABSOLUTE, PINBALL, SQUARED, THREE, WHOLE, Document, falling, problem, ran

OVERDISPERSED = {"kind": "exchangeable", "concentration": ["17.8", "1.8", "0.4"]}
"""Twenty times (.89, .09, .02)."""


def wide() -> Iterator[tuple[str, float, Document]]:
    """Name, the gap to reach, and the problem."""
    for n, gap in ((40, 1e-6), (100, 1e-6), (200, 1e-4)):
        yield f"spread N={n} whole", gap, problem(n, (0, 1, 2), OVERDISPERSED, WHOLE)
    yield "even N=20 real", 1e-6, problem(20, (0, 1, 2), (".5", ".3", ".2"), SQUARED)
    for n, gap in ((40, 1e-6), (100, 1e-6), (200, 1e-4)):
        yield f"spread N={n} real", gap, problem(n, (0, 1, 2), OVERDISPERSED, SQUARED)
    yield "iid N=100 real", 1e-6, problem(100, (0, 1, 2), THREE, SQUARED)
    yield "uniform N=40 real", 1e-6, problem(40, (0, 1, 2), ("1/3", "1/3", "1/3"), SQUARED)
    size = ["1/61"] * 61
    unbounded = {"kind": "iid", "probabilities": [".9", ".1"], "size": size}
    for name, decision in (("whole", WHOLE), ("real", SQUARED)):
        yield (
            f"unbounded 0..60 {name}",
            1e-6,
            problem({"from": 0, "to": 60}, (0, 1), unbounded, decision, neighbours="add-remove-one"),
        )
    yield "T=4 N=20 whole", 1e-2, problem(20, range(5), falling(5), WHOLE)
    yield "T=4 N=20 real", 1e-2, problem(20, range(5), falling(5), SQUARED)
    yield "T=50 N=2 whole", 1e-2, problem(2, range(51), falling(51), WHOLE)
    yield "T=50 N=2 real", 1e-2, problem(2, range(51), falling(51), SQUARED)
    yield "T=50 N=2 even real", 1e-2, problem(2, range(51), ["1/51"] * 51, SQUARED)
    for n in (1, 2, 3):
        yield f"T=20 N={n} even real", 1e-2, problem(n, range(21), ["1/21"] * 21, SQUARED)
    yield "T=100 N=1 even real", 1e-2, problem(1, range(101), ["1/101"] * 101, SQUARED)
    for name, decision in (("real", SQUARED), ("whole", WHOLE), ("absolute", ABSOLUTE), ("pinball", PINBALL)):
        yield f"N=1,000,000 {name}", 1e-2, problem(10**6, (0, 1, 2), THREE, decision)
    yield "N=10,000 real", 1e-2, problem(10**4, (0, 1, 2), THREE, SQUARED)
    yield "T=3 N=1,000,000 real", 1e-2, problem(10**6, range(4), falling(4), SQUARED)
    for epsilon in (8, 12, 16, 20, 24, 30, 40):
        yield f"at {epsilon} N=10 real", 1e-6, problem(10, (0, 1, 2), THREE, SQUARED, epsilon)
        yield f"at {epsilon} N=10 whole", 1e-6, problem(10, (0, 1, 2), THREE, WHOLE, epsilon)
        yield f"at {epsilon} N=40 whole", 1e-6, problem(40, (0, 1, 2), THREE, WHOLE, epsilon)


def main() -> None:
    """Print one line for each problem."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", default="")
    parser.add_argument("--source", default="")
    asked = parser.parse_args()
    kept = Path(asked.json) if asked.json else None
    found = json.loads(kept.read_text()) if kept and kept.exists() else {}
    print("| problem | loss | lower bound | gap | asked | route | CPU s | MB |\n|---|---|---|---|---|---|---|---|", flush=True)
    for name, gap, document in wide():
        if asked.only not in name:
            continue
        if name not in found:
            found[name] = ran(document, asked.seconds, asked.source)
            if kept:
                kept.write_text(json.dumps(found, indent=1))
        r = found[name]
        if "failed" in r:
            print(f"| {name} | {r['failed']} |", flush=True)
            continue
        cells = [f"{r['loss']:.9g}", f"{r['lower_bound']:.9g}", f"{r['gap']:.1e}", f"{gap:.0e}", r["route"]]
        print(f"| {name} | {' | '.join(cells)} | {r['cpu']:.1f} | {r['memory'] / 2**20:.0f} |", flush=True)


if __name__ == "__main__":
    main()
