"""A zoo of problems of every kind that the file format allows: is any design worse than its baselines, too slow or too large?

Each problem runs in a process of its own with a limit of memory. Printed: what went wrong, by name; then percentiles of gaps, of
time over the time that was allowed, and of memory.

    python bench/zoo.py [--seconds 3] [--every 1] [--only WORD] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

Document = dict[str, Any]
MEMORY = 4 << 30
GRACE = 25.0
"""Seconds beyond the limit (and a fifth of it) after which a problem counts as endless: imports, proofs and a busy machine."""


def problem(respondents: Any, values: Any, prior: Any, decision: Any = None, epsilon: Any = 1, statistic: Any = None,
            neighbours: Any = None) -> Document:  # fmt: skip
    """A document; a list stands for an iid prior."""
    data = {"respondents": respondents, "values": [str(v) for v in values]}
    if neighbours:
        data["neighbours"] = neighbours
    return {
        "data": data,
        "prior": prior
        if isinstance(prior, dict)
        else {"kind": "iid", "probabilities": [str(p) for p in prior]},
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
    """Design one problem in this process and say how that went."""
    from discreet.design import design
    from discreet.files.problem import problem_from_document

    begun = time.process_time()
    found = design(problem_from_document(document), seconds=seconds)
    spent = time.process_time() - begun
    losses = {
        name: b.loss
        for name, b in found.baselines.items()
        if b.loss is not None and name != "full information"
    }
    loss, lower = float(found.loss), float(found.lower_bound)
    slack = 1e-6 * max(abs(loss), 1e-300)
    return {
        "loss": loss, "lower_bound": lower, "gap": found.relative_gap, "status": found.status, "route": found.reduction,
        "worse_than": [name for name, other in losses.items() if loss > other + slack],
        "cpu": spent, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }  # fmt: skip


def ran(document: Document, seconds: float) -> dict[str, Any]:
    """The same in a process of its own, ended when it takes too long or too much."""

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (4 * MEMORY, 4 * MEMORY))

    begun = time.monotonic()
    command = [sys.executable, __file__, "--one", json.dumps(document), "--seconds", str(seconds)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=1.2 * seconds + 3 * GRACE,
            preexec_fn=limits,
        )
    except subprocess.TimeoutExpired:
        return {"failed": "endless", "wall": time.monotonic() - begun}
    if done.returncode:
        return {
            "failed": (done.stderr.strip().splitlines() or ["died"])[-1][:200],
            "wall": time.monotonic() - begun,
        }
    return {**json.loads(done.stdout.splitlines()[-1]), "wall": time.monotonic() - begun}


def percentiles(numbers: list[float]) -> str:
    """Of a list: median, nine tenths, the largest."""
    ordered = sorted(numbers)
    return "  ".join(f"{name} {ordered[min(len(ordered) - 1, int(share * len(ordered)))]:.3g}" for name, share in
                     (("median", 0.5), ("90 %", 0.9), ("99 %", 0.99), ("largest", 1.0)))  # fmt: skip


def main() -> None:
    """Run the zoo and print what it shows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", default="")
    parser.add_argument("--one", default="")
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(one(json.loads(asked.one), asked.seconds)))
        return
    chosen = [(name, d) for name, d in zoo() if asked.only in name][:: asked.every]
    found: dict[str, dict[str, Any]] = {}
    for name, document in chosen:
        result = found[name] = ran(document, asked.seconds)
        bad = result.get("failed") or (
            f"worse than {', '.join(result['worse_than'])}" if result["worse_than"] else ""
        )
        if not bad and result["cpu"] > 1.2 * asked.seconds + 5:
            bad = f"{result['cpu']:.0f} CPU s"
        if not bad and result["memory"] > MEMORY:
            bad = f"{result['memory'] / 2**30:.1f} GiB"
        shown = (
            ""
            if "failed" in result
            else f"gap {result['gap']:.2g}, {result['cpu']:.1f} CPU s, {result['route']}"
        )
        print(f"{'BAD ' if bad else 'ok  '} {name}: {shown} {bad}", flush=True)
    good = [r for r in found.values() if "failed" not in r]
    print(
        f"{len(found)} problems, {len(found) - len(good)} failed, {sum(bool(r['worse_than']) for r in good)} worse than a baseline"
    )
    for what, numbers in (("gap", [r["gap"] for r in good]), ("CPU s", [r["cpu"] for r in good]),
                          ("GiB", [r["memory"] / 2**30 for r in good])):  # fmt: skip
        print(f"{what}: {percentiles(numbers)}")
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:  # noqa: PTH123
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
