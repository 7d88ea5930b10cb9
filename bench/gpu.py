"""What a GPU gives: designs with listed actions that two processor cores do not reach, and the ratio where both do.

    python bench/gpu.py [--only WORD] [--seconds 600]

Every row is a fresh process, imports, proof and certificate included. `N=40, T=3` is solved twice, as a
machine with a GPU does and with `DISCREET_GPU=off`: its steps are too small to be moved, unless `schedule.WORTH_MOVING` says so.
Needs `discreet[gpu]` and a device; without them it says so and ends with 2.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time

from design import PRIORS, problem

WIDER = PRIORS | {4: (".84", ".09", ".04", ".02", ".01")}
ROWS = (
    ("N=40, T=3, two cores", 40, 3, 1e-6, "off"),
    ("N=40, T=3, GPU", 40, 3, 1e-6, ""),
    ("N=60, T=4, GPU", 60, 4, 1e-4, ""),
    ("N=200, T=3, GPU", 200, 3, 1e-4, ""),
)


def carry_out(respondents: int, types: int, gap: float, seconds: float) -> None:
    """Design and certify in this process; print what came out."""
    from discreet.design import design

    found = design(
        problem(respondents, WIDER[types], range(types + 1), "integer"), gap=gap, seconds=seconds, compare=False  # type: ignore[arg-type]
    )  # fmt: skip
    facts = {"loss": float(found.loss), "lower": float(found.lower_bound), "gap": found.relative_gap, "status": found.status}
    print(json.dumps(facts | {"solve": found.seconds["solve"], "certify": found.seconds["certify"]}))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.task:
        carry_out(*json.loads(asked.task), asked.seconds)
        return 0
    from discreet.numerics.devices import device

    if device() is None:
        print("no GPU, or no cupy: pip install 'discreet[gpu]'")
        return 2
    wall: dict[str, float] = {}
    print(f"{'':<24}{'loss':>12}{'at least':>12}{'gap':>10}{'solve s':>10}{'certify s':>11}{'all s':>8}  status")
    for name, respondents, types, gap, setting in ROWS:
        if asked.only not in name:
            continue
        begun = time.perf_counter()
        environment = os.environ | {"DISCREET_GPU": setting, "OMP_NUM_THREADS": "2" if setting else "1"}
        task = [sys.executable, __file__, "--seconds", str(asked.seconds), "--task", json.dumps([respondents, types, gap])]
        done = subprocess.run(task, capture_output=True, text=True, check=False, env=environment)
        seconds = time.perf_counter() - begun
        if done.returncode:
            print(f"{name:<24}{done.stderr.strip().splitlines()[-1]}", flush=True)
            continue
        found, wall[name] = json.loads(done.stdout), seconds
        print(
            f"{name:<24}{found['loss']:>12.7g}{found['lower']:>12.7g}{found['gap']:>10.1e}{found['solve']:>10.1f}"
            f"{found['certify']:>11.1f}{wall[name]:>8.1f}  {found['status']}",
            flush=True,
        )
    if {"N=40, T=3, two cores", "N=40, T=3, GPU"} <= set(wall):
        print(f"ratio at N=40, T=3: {wall['N=40, T=3, two cores'] / wall['N=40, T=3, GPU']:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
