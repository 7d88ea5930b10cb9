"""How long a certified design takes, beside what a user would write: HiGHS interior point without crossover on the full LP.

`python bench/design.py [--quick] [--seconds S] [--only WORD]`. Every row is a fresh process on one core, imports included:
wall and CPU seconds, largest resident memory; what takes less than a second is the middle one of five such processes.
Ratios are of CPU seconds, because a shared machine makes wall time mean little.
Modules are compiled beforehand, as they are once installed. Problems are made of the nouns of `model`, as the peer's of arrays; the
row "from a document" reads the same problem the way a file is read.
`--quick` gives the peer N=20 instead of N=40 (which takes minutes) and leaves out what takes longer than a minute here.
`--seconds` is how long N=40, T=3 may search (600).
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.model.problem import Problem

PRIORS = {
    1: (".89", ".11"), 2: (".89", ".09", ".02"), 3: (".86", ".09", ".03", ".02"), 4: (".85", ".09", ".03", ".02", ".01"),
    5: (".85", ".08", ".03", ".02", ".01", ".01"),
}  # fmt: skip
LADDER = {
    "T5": ((".8", ".1", ".05", ".03", ".015", ".005"), range(6)),
    "T10lin": (tuple(f"{6**t * 10 ** (10 - t)}/{sum(6**k * 10 ** (10 - k) for k in range(11))}" for t in range(11)), range(11)),
    "T10inc": (
        (".30", ".18", ".14", ".11", ".09", ".07", ".05", ".03", ".018", ".009", ".003"),
        (0, 1, 2, 3, 5, 8, 12, 20, 35, 60, 100),
    ),
}  # fmt: skip


def problem(respondents: int, prior: tuple[str, ...], values: Iterable[int], actions: object) -> Problem:
    """A problem of the school-planning family."""
    from discreet.model.actions import Actions, ListedActions, RealActions
    from discreet.model.decision import Decision, integer_actions
    from discreet.model.losses import SquaredLoss
    from discreet.model.neighbours import ReplaceOne
    from discreet.model.priors import IidPrior
    from discreet.model.problem import Problem
    from discreet.model.promises import PurePromise
    from discreet.model.statistic import SumStatistic
    from discreet.model.universe import Universe

    exact = tuple(map(Fraction, values))
    chosen: Actions
    if isinstance(actions, dict):
        low, high, step = (Fraction(actions[key]) for key in ("from", "to", "step"))
        chosen = ListedActions(tuple(low + k * step for k in range(int((high - low) / step) + 1)))
    else:
        chosen = RealActions() if actions == "real" else integer_actions(respondents * min(exact), respondents * max(exact))
    return Problem(
        Universe.of(respondents, exact),
        ReplaceOne(),
        IidPrior(tuple(map(Fraction, prior))),
        SumStatistic(),
        (Decision(SquaredLoss(), chosen),),
        PurePromise(Fraction(1)),
    )


def from_document(respondents: int, prior: tuple[str, ...], values: Iterable[int], actions: object) -> Problem:
    """The same, read as a file is."""
    from discreet.files.problem import problem_from_document

    return problem_from_document(
        {
            "data": {"respondents": respondents, "values": [str(v) for v in values]},
            "prior": {"kind": "iid", "probabilities": list(prior)},
            "statistic": {"kind": "sum"},
            "decision": {"kind": "squared-error", "actions": actions},
            "privacy": {"epsilon": "1"},
        }
    )


def ours(
    respondents: int,
    kind: str,
    actions: object,
    seconds: float,
    baselines: bool = False,
    document: bool = False,
    level: str = "1",
    gap: float = 1e-6,
) -> dict[str, object]:
    """Design and certify; what came out and what each part took."""
    from discreet.design import design

    prior, values = LADDER[kind] if kind in LADDER else (PRIORS[int(kind)], range(int(kind) + 1))
    asked = (from_document if document else problem)(respondents, prior, values, actions).with_level(Fraction(level))
    begun = time.process_time()
    found = design(asked, gap=gap, seconds=seconds, compare=baselines)  # type: ignore[arg-type]
    facts: dict[str, object] = {
        "loss": float(found.loss), "lower": float(found.lower_bound), "gap": found.relative_gap,
        "solve": found.seconds["solve"], "certify": found.seconds["certify"], "designing": time.process_time() - begun,
    }  # fmt: skip
    if baselines and found.baselines.get("geometric") is not None:
        facts["geometric"] = found.baselines["geometric"].loss
    return facts


def peer(respondents: int) -> dict[str, object]:
    """The full histogram program with integer actions, T=2, handed to HiGHS as it is."""
    import highspy
    import numpy as np

    p = np.array([0.89, 0.09, 0.02])
    states = [(respondents - i - j, i, j) for i in range(respondents + 1) for j in range(respondents + 1 - i)]
    place = {h: k for k, h in enumerate(states)}
    edges = [
        (k, place[moved])
        for k, h in enumerate(states)
        for a in range(3)
        for b in range(3)
        if a != b and (moved := tuple(c - (t == a) + (t == b) for t, c in enumerate(h))) in place
    ]
    from math import lgamma

    logs = [lgamma(respondents + 1) - sum(lgamma(c + 1) for c in h) + float(np.array(h) @ np.log(p)) for h in states]
    prior, omega = np.exp(logs), np.array([i + 2 * j for _, i, j in states])
    actions = np.arange(2 * respondents + 1)
    count, width = len(states), len(states) * len(actions)
    solver = highspy.Highs()
    for option, value in (("output_flag", False), ("solver", "ipm"), ("run_crossover", "off"), ("threads", 1)):
        solver.setOptionValue(option, value)
    cost = ((actions[:, None] - omega) ** 2 * prior).ravel()
    empty = np.array([], dtype=np.int32)
    solver.addCols(width, cost, np.zeros(width), np.full(width, 1.0), 0, empty, empty, np.array([], dtype=float))
    pairs = np.array(edges)
    columns = (np.arange(len(actions))[:, None, None] * count + pairs[None]).reshape(-1, 2).astype(np.int32)
    rows = len(columns)
    coefficients = np.tile([-1.0, np.e], rows)
    starts = np.arange(0, 2 * rows, 2, dtype=np.int32)
    solver.addRows(rows, np.zeros(rows), np.full(rows, np.inf), 2 * rows, starts, columns.ravel(), coefficients)
    each = (np.arange(count)[:, None] + count * np.arange(len(actions))).astype(np.int32)
    solver.addRows(
        count, np.ones(count), np.ones(count), each.size, np.arange(0, each.size, len(actions), dtype=np.int32), each.ravel(),
        np.ones(each.size),
    )  # fmt: skip
    solver.run()
    return {"loss": solver.getInfo().objective_function_value, "status": solver.modelStatusToString(solver.getModelStatus())}


@cache
def compiled() -> str:
    """A folder with everything compiled that the processes import."""
    import atexit
    import shutil
    import subprocess
    import tempfile

    folder = tempfile.mkdtemp(prefix="compiled-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    small = {"respondents": 2, "kind": "2", "actions": "integer", "seconds": 60}
    for task in ({"work": "ours", **small}, {"work": "ours", **small, "document": True}, {"work": "peer", "respondents": 2}):
        subprocess.run(
            [sys.executable, __file__, "--task", json.dumps(task)], capture_output=True, env=surroundings(folder), check=True
        )
    return folder


def surroundings(folder: str) -> dict[str, str]:
    """One thread, and modules compiled into this folder."""
    others = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return {**others, "OMP_NUM_THREADS": "1", "PYTHONPYCACHEPREFIX": folder}


def in_a_fresh_process(task: dict[str, object], script: str = __file__) -> dict[str, object]:
    """Run one task alone on one core; its result with wall and CPU seconds and memory."""
    import subprocess

    command = [sys.executable, script, "--task", json.dumps(task)]
    where = surroundings(compiled())
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=where)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no output"}
    return json.loads(done.stdout) | {"wall": time.perf_counter() - started}


def middle_of_five(task: dict[str, object]) -> dict[str, object]:
    """One run where it takes a second or more; the middle one of five where it takes less, which a busy moment could double."""
    runs = [in_a_fresh_process(task)]
    if float(runs[0].get("cpu", 1.0)) < 1.0:  # type: ignore[arg-type]
        runs += [in_a_fresh_process(task) for _ in range(4)]
    runs.sort(key=lambda found: float(found.get("cpu", 0.0)))  # type: ignore[arg-type]
    return runs[len(runs) // 2]


def carry_out(task: dict[str, object]) -> None:
    """What a fresh process does."""
    work = task.pop("work")
    told(ours(**task) if work == "ours" else peer(**task))  # type: ignore[arg-type]


def told(found: dict[str, object]) -> None:
    """Print what was found with the CPU seconds of this process and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps(found | {"cpu": sum(u.ru_utime + u.ru_stime for u in used), "megabytes": used[0].ru_maxrss / 1024}))


def school_places(households: int, actions: str = "real", epsilon: Fraction = Fraction(1)) -> Problem:
    """Children in a block: SY Example 1 with squared error."""
    return problem(households, PRIORS[2], range(3), actions).with_level(epsilon)


def line(name: str, found: dict[str, object]) -> None:
    """One row of the table."""
    if "failed" in found:
        print(f"{name:<38} {found['failed']}", flush=True)
        return
    cells = [f"{found[key]:>11.7g}" if key in found else f"{'':>11}" for key in ("loss", "lower")]
    gap = f"{found['gap']:>9.1e}" if "gap" in found else f"{'':>9}"
    parts = [f"{found[key]:>9.2f}" if key in found else f"{'':>9}" for key in ("solve", "certify")]
    rest = f"{found['wall']:>9.2f}{found['cpu']:>9.2f}{found['megabytes']:>7.0f}"
    print(f"{name:<38}{''.join(cells)}{gap}{''.join(parts)}{rest}", flush=True)


def rows(quick: bool, seconds: float) -> list[tuple[str, dict[str, object]]]:
    """Name and task of every row that is ours."""
    every: list[tuple[str, dict[str, object]]] = []
    for n in (10, 20, 40) if quick else (10, 20, 40, 100, 200):
        every.append((f"N={n}, T=2, integer", {"respondents": n, "kind": "2", "actions": "integer", "seconds": 600}))
    again = {"respondents": 40, "kind": "2", "actions": "integer", "seconds": 600, "document": True}
    every.append(("N=40, T=2, integer, from a document", again))
    for step in ("1", "1/2") if quick else ("1", "1/2", "1/4"):
        fine = {"from": "0", "to": "40", "step": step}
        every.append((f"N=20, T=2, actions every {step}", {"respondents": 20, "kind": "2", "actions": fine, "seconds": 600}))
    every.append(("N=10, T=3, integer", {"respondents": 10, "kind": "3", "actions": "integer", "seconds": 600}))
    if not quick:
        every.append(("N=40, T=2, real", {"respondents": 40, "kind": "2", "actions": "real", "seconds": 600}))
        every.append(("N=20, T=3, integer", {"respondents": 20, "kind": "3", "actions": "integer", "seconds": 600}))
        every.append(
            (f"N=40, T=3, integer, {seconds:g} s", {"respondents": 40, "kind": "3", "actions": "integer", "seconds": seconds})
        )
    every.append(("N=1,000,000, T=1, real", {"respondents": 10**6, "kind": "1", "actions": "real", "seconds": 600}))
    for kind, sizes in (("T5", (50, 200, 1000)), ("T10lin", (50, 100, 1000)), ("T10inc", (100, 1000))):
        for n in sizes[:1] if quick else sizes:
            task = {"respondents": n, "kind": kind, "actions": "real", "seconds": 10, "baselines": True}
            every.append((f"{kind}, N={n}, real", task))
    return [(name, {"work": "ours", **task}) for name, task in every]


def main() -> None:
    """Print the table."""
    if sys.argv[1:2] == ["--task"]:  # a fresh process, ours or the peer's, loads nothing that only the table needs
        carry_out(json.loads(sys.argv[2]))
        return
    import argparse

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--only", default="", help="rows whose name holds this word")
    parser.add_argument("--no-peer", action="store_true")
    chosen = parser.parse_args()
    heads = ("loss", "lower"), ("gap",), ("solve", "certify", "wall", "CPU")
    print(f"{'':<38}{''.join(f'{h:>11}' for h in heads[0])}{heads[1][0]:>9}{''.join(f'{h:>9}' for h in heads[2])}{'MB':>7}")
    cpu: dict[str, float] = {}
    for name, task in rows(chosen.quick, chosen.seconds):
        if chosen.only not in name:
            continue
        found = middle_of_five(task)
        line(name, found)
        cpu[name] = float(found.get("cpu", 0.0))  # type: ignore[arg-type]
        if isinstance(found.get("geometric"), float):
            print(f"{'':<38}geometric baseline {found['geometric']:.6g}: {found['geometric'] / found['loss']:.2f} times as much")  # type: ignore[operator]
    if chosen.no_peer:
        return
    size = 20 if chosen.quick else 40
    found = in_a_fresh_process({"work": "peer", "respondents": size})
    line(f"HiGHS IPM, full LP, N={size}, T=2", found)
    mine = cpu.get(f"N={size}, T=2, integer")
    if mine and "cpu" in found:
        print(f"CPU seconds of the peer ÷ ours, N={size}, T=2, integer: {float(found['cpu']) / mine:.0f}")  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
