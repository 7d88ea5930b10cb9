"""Are the limits kept? Odd problems through the command line: processor seconds and memory beside what was asked for.

A search ends within 1.2 times `--seconds` and 5 s of processor time, and takes no more than `--memory`. Each line runs in a process
of its own whose clocks count its own processor time (`bench/zoo.py`), so that a busy machine shows the same; imports and the start
of Python are counted. A family has `--limit` for the whole; every point of a frontier is a search of its own. LATE and LARGE mark
what breaks a limit, WORSE a design that loses more than a baseline shown beside it, FAILED what came to no answer; words that
refuse a problem before any work are an answer (refused). What it says of the version at hand stands in `docs/design.md`.

    python bench/limits.py [--seconds 1 3 10] [--memory 2GB] [--only WORD ...] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from limits_written import Case, written
from zoo import ABSOLUTE, GRACE, MATCH, PINBALL, SQUARED, THREE, WHOLE, Document, falling, problem, scaled, threshold

POINTS = 3
REFUSED = 2
"""What the command line answers to a question that cannot be asked."""
IMPORTS = 60 << 20
"""What an interpreter with NumPy holds before anything is asked."""


def dirichlet(types: int) -> Document:
    return {"kind": "exchangeable", "concentration": scaled(falling(types))}


def cases(seconds: float) -> Iterator[Case]:
    """What might not end: each is a search that some part of the house is too small for."""

    def designed(name: str, document: Document, *more: str) -> Case:
        return name, document, ["design", "PROBLEM", "--seconds", str(seconds), *more], 1.0

    makers = [{**SQUARED, "weight": "1"}, {**PINBALL, "weight": "2"}, {**ABSOLUTE, "actions": "real"}]
    listed = {"kind": "squared-error", "actions": {"from": 0, "to": 1000, "step": 5}}
    buses = {"kind": "expression", "actions": {"from": "0.1", "to": 1000}, "payoff": "-omega/a - 0.1*a"}
    size = ["1/201"] * 201
    unbounded = {"kind": "iid", "probabilities": list(THREE), "size": size}
    yield designed("T=50 N=2 real", problem(2, range(51), ["1/51"] * 51))
    yield designed("T=200 N=2 real", problem(2, range(201), ["1/201"] * 201))
    yield designed("T=200 N=1000 real", problem(1000, range(201), ["1/201"] * 201))
    yield designed("T=300 N=50 absolute", problem(50, range(301), falling(301), ABSOLUTE))
    yield designed("T=20 N=10,000 pinball", problem(10_000, range(21), falling(21), PINBALL))
    yield designed("T=2 N=400 real", problem(400, (0, 1, 2), THREE))
    yield designed("T=2 N=400 uniform whole", problem(400, (0, 1, 2), ["1/3"] * 3, WHOLE))
    yield designed("T=4 N=60 whole", problem(60, range(5), falling(5), WHOLE))
    yield designed("T=10 N=10^6 real", problem(10**6, range(11), falling(11)))
    yield designed("binary N=10^8 real", problem(10**8, (0, 1), (".9", ".1")))
    yield designed("binary N=10^6 threshold", problem(10**6, (0, 1), (".9", ".1"), threshold(10**5)))
    yield designed("values of 1e15 T=5 N=300", problem(300, (0, "1e15", "2e15", "3e15", "4e15", "9e15"), falling(6)))
    yield designed("odd values T=6 N=200", problem(200, ("0.37", "1.113", "2.71828", "3.3", "7.77", "19.1"), falling(6)))
    yield designed("three makers T=5 N=100", problem(100, range(6), falling(6), makers))
    yield designed("three makers Dirichlet T=5 N=100", problem(100, range(6), dirichlet(6), makers))
    yield designed("three makers T=2 N=30", problem(30, (0, 1, 2), THREE, makers))
    yield designed("201 listed actions T=10 N=100", problem(100, range(11), falling(11), listed))
    yield designed("buses Dirichlet T=5 N=200", problem(200, range(6), dirichlet(6), buses))
    yield designed("Dirichlet T=2 N=400 real", problem(400, (0, 1, 2), dirichlet(3)))
    yield designed("Dirichlet T=10 N=1000 absolute", problem(1000, range(11), dirichlet(11), ABSOLUTE))
    yield designed("Dirichlet threshold N=5,000", problem(5_000, (0, 1, 2), dirichlet(3), threshold(700)))
    yield designed(
        "unbounded 0..200 three types real",
        problem({"from": 0, "to": 200}, (0, 1, 2), unbounded, neighbours="add-remove-one"),
    )
    rows = [[f"{k + 1}/62", f"{61 - k}/62"] for k in range(60)]
    yield designed("laws of their own N=60", problem(60, (0, 1), {"kind": "independent", "probabilities": rows}))
    yield designed("T=5 N=50 at 12", problem(50, range(6), falling(6), epsilon=12))
    for name, document in (
        ("rho T=2 N=200", problem(200, (0, 1, 2), THREE)),
        ("rho T=10 N=1000", problem(1000, range(11), falling(11))),
        ("rho Dirichlet T=5 N=100", problem(100, range(6), dirichlet(6))),
    ):
        yield designed(name, {**document, "privacy": {"rho": "1/2"}})
    yield designed("hedge T=5 N=100", problem(100, range(6), falling(6)), "--hedge", "50%")
    yield designed("hedge T=2 N=200 whole", problem(200, (0, 1, 2), THREE, WHOLE), "--hedge", "50%")
    yield designed("oblivious T=10 N=100", problem(100, range(11), falling(11)), "--within", "oblivious")
    within = ["design", "PROBLEM", "--workers", "1", "--limit", str(seconds), "--seconds", str(seconds)]
    yield "family 1..100 T=2 whole", problem(10, (0, 1, 2), THREE, WHOLE), [*within, "--sizes", "1..100"], 1.0
    yield "family 10..200 by 10 T=5", problem(10, range(6), falling(6)), [*within, "--sizes", "10, 50, 100, 200"], 1.0
    levels = ["frontier", "PROBLEM", "--workers", "1", "--points", str(POINTS), "--against", "none", "--seconds", str(seconds)]
    yield "frontier T=5 N=100", problem(100, range(6), falling(6)), levels, POINTS
    yield "frontier T=2 N=200 whole", problem(200, (0, 1, 2), THREE, WHOLE), levels, POINTS
    yield from unthought_of(seconds)
    yield from contrived(seconds)
    yield from written(seconds)


def unthought_of(seconds: float) -> Iterator[Case]:
    """Kinds that go together in no example."""

    def asked(name: str, document: Document, *more: str, searches: float = 1.0) -> Case:
        return name, document, ["design", "PROBLEM", "--seconds", str(seconds), *more], searches

    small, usual, wide = problem(6, (0, 1, 2), THREE), problem(60, range(4), falling(4)), problem(100, range(6), falling(6))
    twenty = [{"kind": "pinball", "quantile": f"{k}/21", "actions": "real", "weight": str(k)} for k in range(1, 21)]
    kinds = [
        {"weight": "1/12", **({"concentration": scaled(falling(11))} if k % 2 else {"probabilities": falling(11)})}
        for k in range(12)
    ]
    fine = {"kind": "squared-error", "actions": {"from": 0, "to": 500, "step": "0.05"}}
    steep = {"kind": "expression", "actions": {"from": 0, "to": 10**6}, "payoff": "omega*a/(1 + a) - a/1000"}
    grown = {"kind": "iid", "probabilities": list(THREE), "size": ["1/101"] * 101}
    yield asked("twenty makers T=3 N=60", {**usual, "decision": twenty})
    yield asked("twelve kinds T=10 N=100,000", problem(10**5, range(11), {"kind": "mixture", "components": kinds}))
    yield asked("T=300 N=10^5 real", problem(10**5, range(301), ["1/301"] * 301))
    yield asked("10,001 listed actions T=5 N=100", {**wide, "decision": fine})
    yield asked("unbounded 0..100 formula", problem({"from": 0, "to": 100}, (0, 1, 2), grown, steep, neighbours="add-remove-one"))
    yield asked("rho T=3 N=60 whole", {**usual, "decision": WHOLE, "privacy": {"rho": "1/8"}})
    yield asked("rho twenty makers T=3 N=60", {**usual, "decision": twenty, "privacy": {"rho": "1/8"}})
    yield asked("unbiased T=5 N=100", {**wide, "decision": {**SQUARED, "unbiased": "everywhere"}})
    yield asked("unbiased nearby T=2 N=200", problem(200, (0, 1, 2), THREE, {**SQUARED, "unbiased": "nearby"}))
    yield asked("hedge never none T=10 N=1000", problem(1000, range(11), falling(11)), "--hedge", "50%", "--never", "none")
    yield asked("hedge never 1.01 Dirichlet", problem(50, range(6), dirichlet(6)), "--hedge", "20%", "--never", "1.01")
    histogram = {f"{40 - b - c},{b},{c}": f"{1 + (7 * b + 3 * c) % 11}" for b in range(41) for c in range(41 - b)}
    mass = sum(map(int, histogram.values()))
    table = {"kind": "exchangeable", "histogram": {h: f"{w}/{mass}" for h, w in histogram.items()}}
    yield asked("any histogram N=40", problem(40, (0, 1, 2), table))
    rows = [[f"{k + 1}/302", "1/302", f"{300 - k}/302"] for k in range(300)]
    yield asked("laws of their own N=300 T=2", problem(300, (0, 1, 2), {"kind": "independent", "probabilities": rows}, WHOLE))
    yield asked(
        "count of two T=20 N=5,000", problem(5000, range(21), falling(21), WHOLE, statistic={"kind": "count", "of": [3, 7]})
    )
    names = [f"s{k}" for k in range(2000)]
    path = {
        "data": {"neighbours": {"states": names, "edges": [[a, b] for a, b in pairwise(names)]}},
        "prior": {"kind": "table", "probabilities": dict.fromkeys(names, "1/2000")},
        "statistic": {"kind": "table", "values": {name: str(k % 37) for k, name in enumerate(names)}},
        "decision": SQUARED,
        "privacy": {"epsilon": "1"},
    }
    yield asked("a path of 2,000 states", path)
    others = [{"kind": "iid", "probabilities": list(p)} for p in (THREE, (".8", ".15", ".05"), ("1/3", "1/3", "1/3"))]
    yield asked(
        "three priors N=60 whole", {**problem(60, (0, 1, 2), THREE, WHOLE), "priors": others}, "--priors", "PRIORS", searches=4
    )
    yield asked("slopes T=2 N=40 whole", problem(40, (0, 1, 2), THREE, WHOLE), "--slopes", "--workers", "1", searches=2)
    yield asked("radius T=5 N=100", wide, "--radius", "0.05", "--workers", "1", searches=2)
    yield asked("200 draws T=5 N=100", wide, "--draws", "200", "--counts", "800,100,50,30,15,5", "--workers", "1", searches=2)
    within = ["--workers", "1", "--limit", str(seconds)]
    yield asked("family to 100,000 T=5", wide, *within, "--sizes", "10, 1000, 100000")
    yield asked("family 1..2000 binary", problem(10, (0, 1), (".9", ".1")), *within, "--sizes", "1..2000")
    points = ["frontier", "PROBLEM", "--workers", "1", "--against", "none", "--seconds", str(seconds), "--points"]
    yield "frontier of 100 levels binary N=1000", problem(1000, (0, 1), (".9", ".1")), [*points, "100"], 100
    yield "smallest epsilon N=6", small, [*points, "2", "--target", "1"], 12


def contrived(seconds: float) -> Iterator[Case]:
    """Numbers and sizes that nobody would write down, and every command that searches."""

    def asked(name: str, document: Document, *more: str, searches: float = 1.0, time: float = seconds) -> Case:
        return name, document, ["design", "PROBLEM", "--seconds", str(time), *more], searches

    primes = ["1/99991", "2/99989", "5/100003", "7/100019", "11/100043"]
    long = [f"{10**40 + 7 * k}/{5 * 10**40 + 70}" for k in range(5)]
    six, eleven = falling(6), falling(11)
    sized = {"kind": "iid", "probabilities": falling(5), "size": ["1/501"] * 501}
    differing = {**dirichlet(3), "size": ["1/61"] * 61}
    makers = [
        {**MATCH, "weight": "10"},
        {"kind": "squared-error", "actions": {"from": 0, "to": 400, "step": "1/3"}},
        {**threshold(150), "weight": "1/7"},
        {**PINBALL, "actions": "integer"},
    ]
    mixed = [{"weight": "1/2", "concentration": ["1/5"] * 6}, {"weight": "1/2", "probabilities": six}]
    wide = problem(3000, (0, 1, 2, 3, 5, 800), {"kind": "mixture", "components": mixed})
    yield asked("guesses of a sum T=10 N=200", problem(200, range(11), eleven, MATCH))
    yield asked("guesses at 30 Dirichlet T=5 N=50", problem(50, range(6), dirichlet(6), MATCH, epsilon=30))
    yield asked("absolute at 30 T=5 N=200", problem(200, range(6), six, ABSOLUTE, epsilon=30))
    yield asked("pinball at 1e-6 Dirichlet T=10 N=1000", problem(1000, range(11), dirichlet(11), PINBALL, epsilon="1e-6"))
    yield asked("zeros T=10 N=300", problem(300, range(11), ["0", "1/4", "0", "0", "1/2", "0", "0", "0", "0", "0", "1/4"]))
    yield asked("all but one zero N=50", problem(50, range(4), ["0", "0", "1", "0"], WHOLE))
    yield asked("T=2000 N=20 real", problem(20, range(2001), ["1/2001"] * 2001))
    yield asked("T=3000 N=3 absolute", problem(3, range(3001), ["1/3001"] * 3001, ABSOLUTE))
    yield asked("Dirichlet T=500 N=40", problem(40, range(501), {"kind": "exchangeable", "concentration": ["1/25"] * 501}))
    yield asked("values of 1e40", problem(100, (0, "1e40", "3e40", "1e41"), falling(4)))
    yield asked("values over primes N=50", problem(50, (0, *primes), six))
    yield asked("values over primes listed", problem(9, (0, *primes), six, {**SQUARED, "actions": {"from": 0, "to": 1}}))
    yield asked("long probabilities N=500", problem(500, range(5), long))
    yield asked("long concentrations N=300", problem(300, range(5), {"kind": "exchangeable", "concentration": long}))
    yield asked(
        "unbounded 0..500 absolute", problem({"from": 0, "to": 500}, range(5), sized, ABSOLUTE, neighbours="add-remove-one")
    )
    yield asked("unbounded Dirichlet 0..60", problem({"from": 0, "to": 60}, (0, 1, 2), differing, neighbours="add-remove-one"))
    yield asked("four kinds of maker T=5 N=100", problem(100, range(6), six, makers))
    yield asked("four kinds of maker Dirichlet N=30", problem(30, (0, 1, 2), dirichlet(3), makers))
    yield asked("wide mixture T=5 N=3000", wide)
    yield asked("wide mixture in no time", wide, time=seconds / 20)
    yield asked("signed values N=10^7 absolute", problem(10**7, (-1, 0, 1), ("1/4", "1/2", "1/4"), ABSOLUTE))
    yield asked("mean of a thousand T=5", problem(997, ("1/7", "2/11", 3, 4, 5, 6), six, statistic={"kind": "mean"}))
    rows = [[f"{k % 97 + 1}/100", f"{99 - k % 97}/100"] for k in range(2000)]
    yield asked("laws of their own N=2000", problem(2000, (0, 1), {"kind": "independent", "probabilities": rows}, ABSOLUTE))
    names = [f"s{k}" for k in range(400)]
    whole = {
        "data": {"neighbours": {"states": names, "edges": [[a, b] for k, a in enumerate(names) for b in names[:k]]}},
        "prior": {"kind": "table", "probabilities": dict.fromkeys(names, "1/400")},
        "statistic": {"kind": "table", "values": {name: str(k * k) for k, name in enumerate(names)}},
        "decision": ABSOLUTE,
        "privacy": {"epsilon": "2"},
    }
    yield asked("400 states, all neighbours", whole)
    yield asked("rho Dirichlet listed T=2 N=60", {**problem(60, (0, 1, 2), dirichlet(3), WHOLE), "privacy": {"rho": "2"}})
    yield asked(
        "rho unbounded",
        {**problem({"from": 0, "to": 60}, (0, 1, 2), differing, neighbours="add-remove-one"), "privacy": {"rho": "1/2"}},
    )
    yield asked("hedge Dirichlet T=10 N=200 absolute", problem(200, range(11), dirichlet(11), ABSOLUTE), "--hedge", "50%")
    yield asked("hedge T=100 N=100", problem(100, range(101), ["1/101"] * 101), "--hedge", "30%")
    others = [{"kind": "iid", "probabilities": six[k:] + six[:k]} for k in range(5)]
    yield asked("five priors T=5 N=100", {**problem(100, range(6), six), "priors": others}, "--priors", "PRIORS", searches=6)
    cells = [dirichlet(6), {"kind": "mixture", "components": mixed}]
    yield asked("priors of cells that differ", {**problem(60, range(6), six), "priors": cells}, "--priors", "PRIORS", searches=3)
    within = ["--workers", "1", "--limit", str(seconds), "--sizes"]
    yield asked("family Dirichlet T=10 to 5,000", problem(10, range(11), dirichlet(11), ABSOLUTE), *within, "20, 500, 5000")
    yield asked("family 1..40 hedged", problem(10, (0, 1, 2), THREE), *within, "1..40", "--hedge", "50%")
    yield asked("family T=300 padded", problem(10, range(301), ["1/301"] * 301), *within, "5-30, 900-1000")
    points = ["frontier", "PROBLEM", "--workers", "1", "--seconds", str(seconds), "--points", "2", "--against", "none"]
    yield "frontier Dirichlet makers", problem(100, range(6), dirichlet(6), makers), points, 2
    yield "frontier rho both", {**problem(60, range(4), falling(4)), "privacy": {"rho": "1/4"}}, points, 8


def as_toml(value: Any) -> str:
    """A value of a problem file, inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {as_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple, range)):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return json.dumps(value)


def shown(arguments: list[str]) -> None:
    """Run the command in this process, by its own clock."""
    from zoo import _count_processor_time

    _count_processor_time()
    from discreet.cli.main import main

    sys.argv = ["discreet", *arguments]
    main()


def ran(document: Document, arguments: list[str], memory: str) -> dict[str, Any]:
    """Processor seconds and largest memory of a command in a process of its own, with its last words where it failed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.toml"
        path.write_text(
            "".join(f"{name} = {as_toml(part)}\n" for name, part in document.items() if name != "priors"), encoding="utf-8"
        )
        priors = Path(folder) / "priors.toml"
        if "priors" in document:
            tables = ("".join(f"{name} = {as_toml(part)}\n" for name, part in prior.items()) for prior in document["priors"])
            priors.write_text("".join(f"[[prior]]\n{text}" for text in tables), encoding="utf-8")
        line = [{"PROBLEM": str(path), "PRIORS": str(priors)}.get(a, a) for a in arguments]
        answer, words = Path(folder) / "answer", Path(folder) / "words"
        with answer.open("w") as out, words.open("w") as err:
            begun = subprocess.Popen(
                [sys.executable, __file__, "--one", *line, "--memory", memory, "--json"], stdout=out, stderr=err
            )
            _, status, used = os.wait4(begun.pid, 0)
        said, told = words.read_text(encoding="utf-8"), answer.read_text(encoding="utf-8")
    found = {
        "cpu": used.ru_utime + used.ru_stime,
        "memory": used.ru_maxrss * 1024,
        "failed": os.waitstatus_to_exitcode(status) not in (0, REFUSED),
    }
    worse = [] if status else sorted(set(worse_than(json.loads(told))))
    return found | {"refused": status != 0, "worse": worse, "words": said[-600:] if status else ", ".join(worse)}


def worse_than(found: Any) -> Iterator[str]:
    """The baselines beside a design, or beside a point of a frontier, that lose less than it."""
    for point in found.get("points", [found]):
        what, sign = ("loss", 1.0) if "loss" in point else ("value", -1.0)
        shown = {name: b.get(what) if isinstance(b, dict) else b for name, b in (point.get("baselines") or {}).items()}
        losses = {name: sign * number for name, number in shown.items() if number is not None and name != "full information"}
        slack = 1e-6 * abs(point.get(what, 0.0)) + 1e-12 * abs(losses.get("no information", 0.0))
        yield from (name for name, loss in losses.items() if sign * point[what] > loss + slack)


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        shown(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", nargs="+", type=float, default=[1.0, 3.0, 10.0])
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    from discreet.design.memory import bytes_of

    points = []
    for seconds in asked.seconds:
        for name, document, arguments, searches in cases(seconds):
            if not any(word in name for word in asked.only):
                continue
            found = ran(document, arguments, asked.memory)
            most = searches * (1.2 * seconds + GRACE)
            said = {
                "FAILED": found["failed"],
                "refused": found["refused"] and not found["failed"],
                "WORSE": bool(found["worse"]),
                "LATE": found["cpu"] > most,
                "LARGE": found["memory"] > bytes_of(asked.memory) + IMPORTS,
            }
            marks = [word for word, holds in said.items() if holds]
            points.append({"problem": name, "seconds": seconds, "limit": most, **found})
            print(
                f"{seconds:4g} s {name:34} {found['cpu']:6.1f} of {most:5.1f} CPU s {found['memory'] / 2**20:6.0f} MB "
                f"{' '.join(marks)} {found['words']}",
                flush=True,
            )
            if asked.json:
                asked.json.write_text(json.dumps(points, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
