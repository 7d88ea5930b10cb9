"""A frontier of 30 levels with all baselines against its largest design alone: SY Example 1, 40 households, ε = 1/15 … 2.

`python bench/frontier.py [WORKERS] [--gap GAP] [--real]`. CPU seconds of all processes with imports; the single design is the last
level, a process of its own, with its baselines. Both to the gap that they have by default (1e-4 for thirty levels, 1e-6 for one
design), or both to the one given. Whole-number actions, or real ones. Goal: at most 8 times the largest.
"""

from __future__ import annotations

import argparse
import resource
from fractions import Fraction

from design import in_a_fresh_process
from discreet.design.processes.side_by_side import cores
from discreet.design.questions.frontier import frontier
from families import cpu_seconds, school_places

LEVELS = 30
SECONDS = 600.0


def main() -> None:
    """Print one design, the frontier, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workers", nargs="?", type=int, default=cores())
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--gap", type=float)
    chosen = parser.parse_args()
    levels = [Fraction(k, 15) for k in range(1, LEVELS + 1)]
    actions = "real" if chosen.real else "integer"
    task = {"work": "ours", "respondents": 40, "kind": "2", "actions": actions, "seconds": SECONDS, "baselines": True}
    task |= {} if chosen.gap is None else {"gap": chosen.gap}
    one = in_a_fresh_process(task | {"level": str(levels[-1])})
    single, gap = float(one["cpu"]), float(one["gap"])  # type: ignore[arg-type]
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = frontier(school_places(40, actions, levels[-1]), levels, gap=chosen.gap, workers=chosen.workers, seconds=SECONDS)
    every = cpu_seconds() - begun.ru_utime - begun.ru_stime
    gaps = [p.relative_gap for p in found.points]
    print(f"one design at ε = {float(levels[-1]):g}, gap {gap:.1e}: {single:.1f} CPU s")
    print(f"{LEVELS} levels with all baselines, largest gap {max(gaps):.1e}, {chosen.workers} workers: {every:.1f} CPU s")
    print(f"ratio {every / single:.1f}; {len(found.bends)} proved bends (the curve is not convex there)")


if __name__ == "__main__":
    main()
