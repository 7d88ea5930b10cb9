"""A family for cells of 1..80 households of SY Example 1: CPU seconds of all members against those of the largest alone.

`python bench/families.py [FROM TO [WORKERS]] [--gap GAP] [--real]`. Whole-number actions to a gap of 1e-6 (`discreet design` asks
for 1e-3 with --sizes), real ones with --real, nothing from a cache. Counted are all processes with their imports; the single design
is a process of its own, to the same gap. Goal: at most 8 times the largest.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from pathlib import Path

from design import in_a_fresh_process, school_places
from discreet.design.questions.family import design_family
from discreet.design.schedule import cores

SECONDS = 60.0


def cpu_seconds() -> float:
    """Of this process and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def main() -> None:
    """Print every tenth member and the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[1, 80], help="FROM TO [WORKERS]")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--gap", type=float, default=1e-6)
    chosen = parser.parse_args()
    low, high, workers = (*chosen.sizes, cores())[:3]
    actions = "real" if chosen.real else "integer"
    task = {"work": "ours", "respondents": high, "kind": "2", "actions": actions, "seconds": SECONDS, "gap": chosen.gap}
    single = float(in_a_fresh_process(task)["cpu"])  # type: ignore[arg-type]
    begun = cpu_seconds()
    with tempfile.TemporaryDirectory() as folder:
        asked = school_places(high, actions)
        found = design_family(asked, range(low, high + 1), gap=chosen.gap, seconds=SECONDS, folder=Path(folder), workers=workers)
    every = cpu_seconds() - begun
    print(f"{'size':>5}{'loss':>12}{'gap':>10}{'seconds':>9}")
    for member, how in zip(found.family.members, found.made, strict=True):
        if how.high % 10 == 0 or how.high in (low, high):
            print(f"{how.high:>5}{-float(member.values[0][1]):>12.7f}{how.relative_gap:>10.1e}{how.seconds:>9.1f}")
    print(
        f"{len(found.made)} members in {found.seconds:.1f} s with {workers} workers (at most {SECONDS:g} s each); "
        f"{found.share_within(chosen.gap):.0%} proved within {chosen.gap:g}"
    )
    print(f"CPU seconds: {every:.1f} for all, {single:.1f} for size {high} alone; ratio {every / single:.1f}")


if __name__ == "__main__":
    main()
