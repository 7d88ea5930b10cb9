"""A zoo of problems of every kind that the file format allows: is any design worse than its baselines, too slow or too large?

Each problem runs in a process of its own with a limit of memory. Time is processor time, so that a busy machine shows the same.
Printed: what went wrong, by name; then percentiles of gaps, time and memory. `--json` keeps what is found, problem by problem;
what it already holds is not run again. `--beside` prints another such file's percentiles over the same problems.

    python bench/zoo.py [--seconds 1] [--every 1] [--only WORD] [--json FILE] [--beside FILE] [--source OTHER/src]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Document = dict[str, Any]
MEMORY = 4 << 30
GRACE = 5.0
"""Seconds beyond the limit and a fifth of it that a design may take: proofs and what needs no search."""
ENDLESS = 15.0
"""Seconds beyond the limit after which a problem is ended."""


def problem(respondents: Any, values: Any, prior: Any, decision: Any = None, epsilon: Any = 1, statistic: Any = None,
            neighbours: Any = None) -> Document:  # fmt: skip
    """A document; a list stands for an iid prior."""
    data = {"respondents": respondents, "values": [str(v) for v in values]}
    if neighbours:
        data["neighbours"] = neighbours
    return {
        "data": data,
        "prior": prior if isinstance(prior, dict) else {"kind": "iid", "probabilities": [str(p) for p in prior]},
        "statistic": statistic or {"kind": "sum"},
        "decision": decision or {"kind": "squared-error", "actions": "real"},
        "privacy": {"epsilon": str(epsilon)},
    }


SQUARED, WHOLE = {"kind": "squared-error", "actions": "real"}, {"kind": "squared-error", "actions": "integer"}
ABSOLUTE = {"kind": "absolute-error", "actions": "integer"}
PINBALL = {"kind": "pinball", "quantile": "0.9", "actions": "real"}
MATCH = {"kind": "match", "actions": "integer"}
THREE = (".89", ".09", ".02")


def falling(types: int) -> list[str]:
    """Probabilities that fall by 0.6 from type to type, as exact fractions."""
    parts = [3**t * 5 ** (types - 1 - t) for t in range(types)]
    return [f"{part}/{sum(parts)}" for part in parts]


def threshold(at: float) -> Document:
    """Act or not: acting pays what lies above a threshold."""
    return {"kind": "expression", "actions": [0, 1], "payoff": f"a*(omega-{at})"}


def zoo() -> Iterator[tuple[str, Document]]:
    """Every kind, small to table size, with scales and levels of privacy far from one."""
    for n in (2, 6, 20, 40, 100, 200):
        for name, decision in (
            ("squared", SQUARED),
            ("whole", WHOLE),
            ("absolute", ABSOLUTE),
            ("pinball", PINBALL),
        ):
            yield f"iid T=2 N={n} {name}", problem(n, (0, 1, 2), THREE, decision)
        yield f"iid T=2 N={n} match", problem(n, (0, 1, 2), THREE, MATCH)
        yield f"iid T=2 N={n} threshold", problem(n, (0, 1, 2), THREE, threshold(0.13 * n))
        yield (
            f"spread T=2 N={n}",
            problem(n, (0, 1, 2), {"kind": "exchangeable", "concentration": ["8", "1.4", "0.6"]}),
        )
        yield f"uniform T=2 N={n}", problem(n, (0, 1, 2), ("1/3", "1/3", "1/3"))
    for n in (5, 40, 1000, 100_000, 1_000_000):
        for decision in (SQUARED, ABSOLUTE):
            yield f"binary N={n} {decision['kind']}", problem(n, (0, 1), (".9", ".1"), decision)
        yield f"binary N={n} threshold", problem(n, (0, 1), (".9", ".1"), threshold(0.1 * n))
    for types in (4, 5, 6, 11, 21):
        for n in (10, 50, 200, 1000):
            yield f"iid T={types - 1} N={n}", problem(n, range(types), falling(types))
            yield (
                f"spread T={types - 1} N={n}",
                problem(n, range(types), {"kind": "exchangeable", "concentration": scaled(falling(types))}),
            )
        yield f"threshold T={types - 1} N=200", problem(200, range(types), falling(types), threshold(200))
        yield f"match T={types - 1} N=100", problem(100, range(types), falling(types), MATCH)
        yield f"absolute T={types - 1} N=100", problem(100, range(types), falling(types), ABSOLUTE)
        yield (
            f"two makers T={types - 1} N=100",
            problem(
                100,
                range(types),
                falling(types),
                [
                    {**SQUARED, "weight": "1"},
                    {"kind": "pinball", "quantile": "0.9", "actions": "real", "weight": "2"},
                ],
            ),
        )
    for most in (5, 20, 40, 60):
        size = [f"1/{most + 1}"] * (most + 1)
        for name, values, p in (
            ("two", (0, 1), (".9", ".1")),
            ("three", (0, 1, 2), THREE),
            ("five", range(5), falling(5)),
        ):
            prior = {"kind": "iid", "probabilities": [str(x) for x in p], "size": size}
            for decision in (SQUARED, WHOLE):
                yield (
                    f"unbounded {name} 0..{most} {decision['actions']}",
                    problem({"from": 0, "to": most}, values, prior, decision, neighbours="add-remove-one"),
                )
            if name != "two":
                yield (
                    f"unbounded count {name} 0..{most}",
                    problem(
                        {"from": 0, "to": most},
                        values,
                        prior,
                        WHOLE,
                        statistic={"kind": "count", "of": [1]},
                        neighbours="add-remove-one",
                    ),
                )
    for exponent in (-12, -9, -6, 6, 9, 15):
        unit = f"1e{exponent}"
        yield f"values of {unit}", problem(6, (0, unit, f"3e{exponent}"), THREE)
        yield f"values of {unit} N=40", problem(40, (0, unit, f"3e{exponent}"), THREE)
        yield (
            f"payoff times {unit}",
            problem(
                6,
                (0, 1, 2),
                THREE,
                {
                    "kind": "expression",
                    "actions": {"from": 0, "to": 12, "step": 1},
                    "payoff": f"-(a-omega)**2*{unit}",
                },
            ),
        )
    yield "values beside 1e15", problem(6, ("1e15", "1000000000000001", "1000000000000002"), THREE)
    yield "odd values", problem(60, ("0.37", "1.113", "2.71828"), THREE)
    yield "odd incomes", problem(60, (0, 12345, 45678, 99999, 1000000), falling(5))
    for epsilon in ("1e-6", "0.01", "0.1", "0.5", "2", "5", "12", "20", "30"):
        yield f"T=2 N=10 at {epsilon}", problem(10, (0, 1, 2), THREE, epsilon=epsilon)
        yield f"T=2 N=40 whole at {epsilon}", problem(40, (0, 1, 2), THREE, WHOLE, epsilon)
        yield f"T=10 N=100 at {epsilon}", problem(100, range(11), falling(11), epsilon=epsilon)
    for n in (3, 6, 9):
        rows = [[f"{k + 1}/{n + 2}", f"{n + 1 - k}/{n + 2}"] for k in range(n)]
        yield f"independent N={n}", problem(n, (0, 1), {"kind": "independent", "probabilities": rows}, WHOLE)
    yield from graphs(20)
    yield "income brackets N=100", problem(100, (0, 1, 2, 3, 5, 8, 12, 20, 35, 60, 100), falling(11))
    yield (
        "bus",
        problem(
            40,
            (0, 1),
            (".89", ".11"),
            {"kind": "expression", "actions": {"from": "0.1", "to": 40}, "payoff": "-omega/a - 0.1*a"},
        ),
    )
    yield "mean of N=40", problem(40, (0, 1, 2), THREE, statistic={"kind": "mean"})
    yield "signed values", problem(30, (-2, 0, 1), ("1/4", "1/2", "1/4"))
    yield "one type impossible", problem(30, (0, 1, 2), (".9", "0", ".1"))


def scaled(probabilities: list[str]) -> list[str]:
    """Concentrations that add up to twenty."""
    return [f"{20 * int(p.split('/')[0])}/{p.split('/')[1]}" for p in probabilities]


def graphs(count: int) -> Iterator[tuple[str, Document]]:
    """Given graphs with table priors, random but the same each time."""
    rng = random.Random(11)
    for k in range(count):
        size = rng.randint(3, 9)
        names = [f"s{i}" for i in range(size)]
        edges = [[names[i], names[rng.randrange(i)]] for i in range(1, size)]
        weights = [rng.randint(1, 16) for _ in names]
        total = sum(weights)
        values = {name: f"{rng.randint(-12, 20)}/4" for name in names}
        yield (
            f"graph {k}",
            {
                "data": {"neighbours": {"states": names, "edges": edges}},
                "prior": {
                    "kind": "table",
                    "probabilities": {n: f"{w}/{total}" for n, w in zip(names, weights, strict=True)},
                },
                "statistic": {"kind": "table", "values": values},
                "decision": rng.choice([SQUARED, ABSOLUTE | {"actions": "real"}]),
                "privacy": {"epsilon": rng.choice(["0.1", "1", "4", "12"])},
            },
        )


def one(document: Document, seconds: float) -> dict[str, Any]:
    """Design one problem in this process, with all that is shown beside it without being asked, and say how that went."""
    from discreet.design import design
    from discreet.design.schedule import until_all_is_shown
    from discreet.files.problem import problem_from_document
    from discreet.views.design import design_view
    from discreet.views.reliance import relied_on

    _count_processor_time()
    begun = time.process_time()
    whole = until_all_is_shown(seconds)
    found = design(problem_from_document(document), seconds=seconds)
    searched = time.process_time() - begun
    relied = design_view(found, whole) + relied_on(found, None, whole)
    spent = time.process_time() - begun
    shown = sum(name in relied.facts and relied.facts[name] is not None for name in ("evaluation", "wrong_prior", "hedge_advice"))
    losses = {
        name: b.loss for name, b in found.baselines.items() if b.loss is not None and name != "full information"
    }  # fmt: skip
    loss, lower = float(found.loss), float(found.lower_bound)
    # actions are written with seven decimals: at a large ε that is all that is lost
    slack = 1e-6 * max(abs(loss), 1e-300) + 1e-12 * abs(losses.get("no information", 0.0))
    gap = 0.0 if loss == lower else (loss - lower) / max(abs(loss), abs(lower))
    return {
        "loss": loss, "lower_bound": lower, "gap": gap, "status": found.status, "route": found.reduction,
        "worse_than": [name for name, other in losses.items() if loss > other + slack],
        "took": dict(found.seconds), "cpu": spent, "searched": searched, "shown": shown,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }  # fmt: skip


def _count_processor_time() -> None:
    """Let every clock and every waiting in this process go by its own processor time."""
    waits = threading.Event.wait

    def wait(event: threading.Event, timeout: float | None = None) -> bool:
        ends = None if timeout is None else time.process_time() + timeout
        while ends is None or time.process_time() < ends:
            if waits(event, 0.02):
                return True
        return event.is_set()

    threading.Event.wait = wait  # type: ignore[method-assign]
    time.monotonic = time.perf_counter = time.process_time


def ran(document: Document, seconds: float, source: str) -> dict[str, Any]:
    """The same in a process of its own, ended when it takes too long or too much."""

    def limits() -> None:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        space = 6 * 10**9 if most == resource.RLIM_INFINITY else min(6 * 10**9, most)
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
        ends = int(1.2 * seconds + GRACE + ENDLESS)
        resource.setrlimit(resource.RLIMIT_CPU, (ends, ends))

    command = [sys.executable, __file__, "--one", json.dumps(document), "--seconds", str(seconds)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if source:
        environment["PYTHONPATH"] = source
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limits, env=environment)
    if done.returncode == -signal.SIGKILL or done.returncode == -signal.SIGXCPU:
        return {"failed": "endless"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"died ({done.returncode})"])[-1][:300]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def judged(result: dict[str, Any], seconds: float) -> str:
    """What is wrong with a result; nothing when nothing is."""
    if "failed" in result:
        return str(result["failed"])
    if result["worse_than"]:
        return f"worse than {', '.join(result['worse_than'])}"
    if result["cpu"] > 1.2 * seconds + GRACE:
        return f"{result['cpu']:.0f} CPU s"
    return f"{result['memory'] / 2**30:.1f} GiB" if result["memory"] > MEMORY else ""


def table(found: dict[str, dict[str, Any]], seconds: float, title: str) -> str:
    """Percentiles of gaps, times and memory as a table, under a line that counts what went wrong."""
    good = [r for r in found.values() if "failed" not in r]
    late = sum(r["cpu"] > 1.2 * seconds + GRACE for r in good)
    lines = [
        f"{title}: {len(found)} problems, {len(found) - len(good)} without a design, "
        f"{sum(bool(r['worse_than']) for r in good)} worse than a baseline, {late} too late, "
        f"{sum(r['memory'] > MEMORY for r in good)} too large",
        "",
        "| | " + " | ".join(name for name, _ in SHARES) + " |",
        "|---|" + "---|" * len(SHARES),
    ]
    for what, numbers in (("gap", [r["gap"] for r in good]), ("CPU s", [r["cpu"] for r in good]),
                          ("GiB", [r["memory"] / 2**30 for r in good])):  # fmt: skip
        ordered = sorted(numbers) or [float("nan")]
        cells = [f"{ordered[min(len(ordered) - 1, int(share * len(ordered)))]:.2g}" for _, share in SHARES]
        lines.append(f"| {what} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


SHARES = (("25 %", 0.25), ("median", 0.5), ("75 %", 0.75), ("90 %", 0.9), ("99 %", 0.99), ("largest", 1.0))


def main() -> None:
    """Run the zoo and print what it shows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", default="")
    parser.add_argument("--beside", default="")
    parser.add_argument("--source", default="")
    parser.add_argument("--one", default="")
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(one(json.loads(asked.one), asked.seconds)))
        return
    kept = Path(asked.json) if asked.json else None
    found: dict[str, dict[str, Any]] = json.loads(kept.read_text()) if kept and kept.exists() else {}
    chosen = [(name, d) for name, d in zoo() if asked.only in name][asked.first :: asked.every]
    for name, document in chosen:
        if name not in found:
            found[name] = ran(document, asked.seconds, asked.source)
            if kept:
                kept.write_text(json.dumps(found, indent=1))
        result, bad = found[name], judged(found[name], asked.seconds)
        shown = "" if "failed" in result else f"gap {result['gap']:.2g}, {result['cpu']:.1f} CPU s, {result['route']}"
        print(f"{'BAD ' if bad else 'ok  '} {name}: {shown} {bad}", flush=True)
    names = {name for name, _ in chosen}
    print(table({n: r for n, r in found.items() if n in names}, asked.seconds, "these"))
    if asked.beside:
        other = json.loads(Path(asked.beside).read_text())
        both = names & set(other)
        for title, results in (("beside", other), ("these, on the same", found)):
            print(table({n: results[n] for n in both}, asked.seconds, title))


if __name__ == "__main__":
    main()
