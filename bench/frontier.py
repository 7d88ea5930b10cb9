"""How long a frontier of 30 levels takes against one design: SY Example 1 (40 households, real actions).

Goal: at most 20 times one design with its default gap. `python bench/frontier.py [WORKERS]`.
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction

from discreet.design import design
from discreet.design.processes.side_by_side import cores
from discreet.design.questions.frontier import frontier
from families import school_places

LEVELS = 30


def main() -> None:
    """Print one design, the frontier, and their ratio."""
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else cores()
    problem = school_places(40)
    started = time.perf_counter()
    one = design(problem, compare=False)
    single = time.perf_counter() - started
    found = frontier(problem, [Fraction(k, 15) for k in range(1, LEVELS + 1)], workers=workers)
    gaps = [p.relative_gap for p in found.points]
    print(f"one design, gap {one.relative_gap:.1e}: {single:.1f} s")
    print(f"{LEVELS} levels with all baselines, largest gap {max(gaps):.1e}, {workers} workers: {found.seconds:.1f} s")
    print(f"ratio {found.seconds / single:.1f}; {len(found.bends)} proved bends (the curve is not convex there)")


if __name__ == "__main__":
    main()
