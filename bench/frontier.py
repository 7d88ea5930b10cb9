"""A frontier of 30 levels with all baselines against its largest design alone: SY Example 1, 40 households, ε = 1/15 … 2.

`python bench/frontier.py [WORKERS] [--gap GAP] [--real]`. CPU seconds of all processes with imports, of modules compiled as
they are once installed; the single design is the last level, a process of its own, with its baselines. Each is run three times,
in turn, and the middle one counts. Both to the gap that they have by default (1e-4 for thirty levels, 1e-6 for one design), or both
to the one given. Whole-number actions, or real ones. Goal: at most 8 times the largest.
"""

from __future__ import annotations

import argparse
import json
import sys
from fractions import Fraction

from design import in_a_fresh_process, school_places, told

LEVELS = 30
SECONDS = 600.0
TRIES = 3


def frontier_of(households: int, actions: str, gap: float | None, workers: int, levels: int = LEVELS) -> dict[str, object]:
    """What came of the frontier."""
    from discreet.design.questions.frontier import frontier

    asked = [Fraction(k, 15) for k in range(1, levels + 1)]
    found = frontier(school_places(households, actions, asked[-1]), asked, gap=gap, workers=workers, seconds=SECONDS)
    return {"gap": max(p.relative_gap for p in found.points), "bends": len(found.bends)}


def main() -> None:
    """Print one design, the frontier, and their ratio."""
    if sys.argv[1:2] == ["--task"]:
        told(frontier_of(**json.loads(sys.argv[2])))
        return
    from discreet.design.schedule import cores

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workers", nargs="?", type=int, default=cores())
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--gap", type=float)
    chosen = parser.parse_args()
    actions = "real" if chosen.real else "integer"
    one: dict[str, object] = {
        "work": "ours", "respondents": 40, "kind": "2", "actions": actions, "seconds": SECONDS, "baselines": True, "level": "2",
    }  # fmt: skip
    one |= {} if chosen.gap is None else {"gap": chosen.gap}
    every = {"households": 40, "actions": actions, "gap": chosen.gap, "workers": chosen.workers}
    in_a_fresh_process(every | {"households": 3, "levels": 2 * chosen.workers}, __file__)  # compiles what is not yet
    in_a_fresh_process(one | {"respondents": 3})
    runs = [(in_a_fresh_process(one), in_a_fresh_process(every, __file__)) for _ in range(TRIES)]
    single, thirty = (sorted(float(run[k]["cpu"]) for run in runs)[TRIES // 2] for k in range(2))  # type: ignore[arg-type]
    found = runs[0][1]
    print(f"one design at ε = 2, gap {runs[0][0]['gap']:.1e}: {single:.2f} CPU s")
    print(f"{LEVELS} levels with all baselines, largest gap {found['gap']:.1e}, {chosen.workers} workers: {thirty:.2f} CPU s")
    print(f"ratio {thirty / single:.1f}; {found['bends']} proved bends (the curve is not convex there)")


if __name__ == "__main__":
    main()
