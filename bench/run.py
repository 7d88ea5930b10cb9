"""Run every bench and print what it measured: `make bench`, or `python bench/run.py startup design`.

A bench is a script in this folder that prints a table. Speeds are printed, never asserted: ratios within one
run mean something, seconds on a shared machine mean little.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Run the benches named, or all of them; the number that failed."""
    wanted = sys.argv[1:]
    scripts = [path for path in sorted(HERE.glob("*.py")) if path.name != "run.py"]
    unknown = set(wanted) - {path.stem for path in scripts}
    if unknown:
        print(f"There is no bench {', '.join(sorted(unknown))}. Known: {', '.join(p.stem for p in scripts)}.")
        return 2
    failed = 0
    for path in scripts:
        if wanted and path.stem not in wanted:
            continue
        print(f"\n=== {path.stem} ===", flush=True)
        started = time.perf_counter()
        code = subprocess.run([sys.executable, str(path)], check=False).returncode
        failed += code != 0
        print(
            f"=== {path.stem}: {time.perf_counter() - started:.1f} s{', FAILED' if code else ''} ===",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
