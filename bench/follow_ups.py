"""Whatever `design` can design, its follow-ups take, or refuse before any work: every question to problems of every kind.

Each problem of a selection of the zoo is designed from the command line; then every command that takes a problem, a mechanism or a
family is asked about it, each in a process of its own. Wrong is: an error of the program (exit 70), a refusal after work, more
processor time than stated, and nan, inf or None in what is printed. `--json` keeps what is found; what it holds is not run again.

    python bench/follow_ups.py [--seconds 1] [--only WORD] [--ask WORD] [--json FILE] [--light]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from zoo import SQUARED, WHOLE, problem, zoo

Document = dict[str, Any]
NAMES = (
    "iid T=2 N=2 squared", "iid T=2 N=6 match", "iid T=2 N=20 threshold", "iid T=2 N=40 pinball", "iid T=2 N=100 absolute",
    "iid T=2 N=200 whole", "spread T=2 N=40", "spread T=2 N=200", "binary N=5 threshold", "binary N=1000 squared-error",
    "binary N=100000 absolute-error", "binary N=1000000 squared-error", "iid T=3 N=50", "spread T=4 N=200", "iid T=10 N=1000",
    "spread T=20 N=1000", "iid T=20 N=200", "threshold T=5 N=200", "match T=4 N=100", "two makers T=3 N=100",
    "unbounded two 0..40 real", "unbounded three 0..60 integer", "unbounded five 0..20 real", "unbounded count three 0..20",
    "values of 1e-12", "values of 1e15 N=40", "payoff times 1e-6", "values beside 1e15", "odd values", "odd incomes",
    "T=2 N=10 at 1e-6", "T=2 N=40 whole at 30", "T=10 N=100 at 0.01", "T=10 N=100 at 12", "independent N=6", "graph 3",
    "graph 7", "income brackets N=100", "bus", "mean of N=40", "signed values", "one type impossible",
)  # fmt: skip
"""Of the zoo, one or two of every kind."""
LIGHT = (
    "iid T=2 N=6 match", "binary N=1000000 squared-error", "spread T=4 N=200", "two makers T=3 N=100",
    "unbounded three 0..60 integer", "T=2 N=10 at 1e-6", "independent N=6", "graph 3", "rho three N=20",
)  # fmt: skip
NONSENSE = re.compile(r"(?<![\w-])(nan|inf|None|NaN|Infinity|Traceback)(?![\w-])")
STARTING = 4.0
"""Processor seconds that a command may take beyond what it is given: reading, proving, printing."""
FIRM = 4.0
"""A refusal after more than this is one after work."""


def selection() -> Iterator[tuple[str, Document]]:
    """The problems, those under ρ included."""
    known = dict(zoo())
    yield from ((name, known[name]) for name in NAMES)
    for name, n, values, decision in (("three N=20", 20, (0, 1, 2), WHOLE), ("eleven N=300", 300, range(11), SQUARED)):
        document = problem(n, values, [f"1/{len(values)}"] * len(values), decision)
        yield f"rho {name}", {**document, "privacy": {"rho": "1/2"}}


def toml(document: Document) -> str:
    """A problem file."""
    lines = []
    for name, table in document.items():
        for one in table if isinstance(table, list) else [table]:
            lines.append(f"[[{name}]]" if isinstance(table, list) else f"[{name}]")
            lines += [f"{json.dumps(key)} = {_written(value)}" for key, value in one.items()]
    return "\n".join(lines) + "\n"


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_written(held)}" for key, held in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_written, value)) + "]"
    return json.dumps(value)


def other_prior(document: Document) -> Document:
    """The same prior the other way round."""
    prior = document["prior"]
    turned = {key: held[::-1] for key, held in prior.items() if isinstance(held, list) and key != "size"}
    turned |= {
        key: dict(zip(held, list(held.values())[::-1], strict=True)) for key, held in prior.items() if isinstance(held, dict)
    }
    return {**prior, **turned}


def questions(document: Document, seconds: float) -> dict[str, tuple[list[str], float]]:
    """What is asked, in order, with the processor time that it may take; files lie in the folder where it runs."""
    each = ["--seconds", str(seconds), "--workers", "1"]
    n = document["data"].get("respondents", 1)
    sizes = f"{max(n // 2, 1)},{n}" if isinstance(n, int) else "2,3"
    counts = ",".join(str(9 - k % 7) for k in range(len(document["data"].get("values", ())) or 2))
    other = {**document, "prior": other_prior(document)}
    Path("p.toml").write_text(toml(document))
    Path("other.toml").write_text(toml(other))
    Path("priors.toml").write_text("[[prior]]\n" + toml({"prior": other["prior"]}).split("\n", 1)[1])
    own = 1.2 * seconds + 5
    return {
        "design": (["design", "p.toml", "-o", "m.mechanism.json", *each], own + STARTING),
        "radius": (["design", "p.toml", "--radius", "0.05", *each], 2 * own + STARTING),
        "draws": (["design", "p.toml", "--draws", "3", "--counts", counts, *each], 2 * own + STARTING),
        "alternative": (["design", "p.toml", "--alternative", "other.toml", *each], 2 * own + STARTING),
        "priors": (["design", "p.toml", "--priors", "priors.toml", *each], 2 * own + STARTING),
        "sizes": (["design", "p.toml", "--sizes", sizes, "-o", "f.family.json", *each], 3 * own + STARTING),
        "choose": (["choose", "p.toml", "--seconds", str(seconds)], 4 * own + STARTING),
        "limits": (["limits", "p.toml"], STARTING),
        "certify": (["certify", "m.mechanism.json"], 10 + STARTING),
        "profile": (["profile", "m.mechanism.json"], 30 + STARTING),
        "limits of it": (["limits", "m.mechanism.json"], 10 + STARTING),
        "read": (["read", "m.mechanism.json", "CODE"], 10 + STARTING),
        "report": (["report", "m.mechanism.json", "--no-frontier", "-o", "m.html"], 20 + STARTING),
        "family profile": (["profile", "f.family.json"], 60 + STARTING),
        "family limits": (["limits", "f.family.json"], 20 + STARTING),
        "family report": (["report", "f.family.json", "--no-frontier", "-o", "f.html"], 40 + STARTING),
    }


def middle_code(place: Path) -> str:
    """The middle output of a mechanism file."""
    kernel = json.loads(place.read_text())["kernel"]
    if kernel["family"] == "table":
        return str(kernel["outputs"][len(kernel["outputs"]) // 2]["label"])
    return str((kernel["from"] + kernel["to"]) // 2)


def asked(words: list[str], limit: float) -> dict[str, Any]:
    """One command in a process of its own: how it ended, what it printed and the processor time it took."""
    if words[1].endswith(".json") and not Path(words[1]).exists():
        return {"code": None}
    if "CODE" in words:
        words = [middle_code(Path(words[1])) if word == "CODE" else word for word in words]
    ends = int(2 * limit) + 10

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (ends, ends))

    command = [sys.executable, "-c", "from discreet.cli.main import main; main()", *words]
    with tempfile.TemporaryFile("w+") as said:
        begun = time.monotonic()
        child = subprocess.Popen(command, stdout=said, stderr=said, preexec_fn=limits)
        _, status, used = os.wait4(child.pid, 0)
        said.seek(0)
        text = said.read()
    code = child.returncode = os.waitstatus_to_exitcode(status)
    spent = used.ru_utime + used.ru_stime
    return {"code": code, "cpu": spent, "wall": time.monotonic() - begun, "memory": used.ru_maxrss * 1024, "said": text[-4000:]}


def judged(result: dict[str, Any], limit: float) -> str:
    """What is wrong with an answer; nothing when nothing is."""
    if result["code"] is None:
        return ""
    if result["code"] not in (0, 2):
        return f"exit {result['code']}: {(result['said'].strip().splitlines() or [''])[-1][:160]}"
    if result["code"] == 2 and result["cpu"] > FIRM:
        return f"refused after {result['cpu']:.0f} CPU s: {result['said'][-300:]}"
    if result["cpu"] > limit:
        return f"{result['cpu']:.0f} CPU s, at most {limit:.0f}"
    if nonsense := NONSENSE.search(result["said"]):
        return f"says {nonsense.group()}: …{result['said'][max(nonsense.start() - 80, 0) : nonsense.end() + 30]!r}"
    return "" if result["said"].strip() else "says nothing"


def walk(name: str, document: Document, seconds: float, only: str, done: Callable[[str, dict[str, Any], str], None]) -> None:
    """Ask everything about one problem in a folder of its own."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for question, (words, limit) in questions(document, seconds).items():
                if not only or only in question or question == "design" or (only in f"{question} family" and question == "sizes"):
                    result = asked(words, limit)
                    done(f"{name} | {question}", result, judged(result, limit))
        finally:
            os.chdir(before)


def main() -> int:
    """Walk through the selection; the number of wrong answers is the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--ask", default="")
    parser.add_argument("--json", default="")
    parser.add_argument("--light", action="store_true")
    given = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    kept = Path(given.json).resolve() if given.json else None
    found: dict[str, dict[str, Any]] = json.loads(kept.read_text()) if kept and kept.exists() else {}
    wrong = 0

    def done(title: str, result: dict[str, Any], bad: str) -> None:
        nonlocal wrong
        found[title] = result | {"bad": bad}
        wrong += bool(bad)
        how = "not asked" if result["code"] is None else f"exit {result['code']}, {result['cpu']:.1f} CPU s"
        print(f"{'BAD ' if bad else 'ok  '} {title}: {how} {bad}", flush=True)
        if kept:
            kept.write_text(json.dumps(found, indent=1))

    for name, document in selection():
        if given.only in name and (name in LIGHT or not given.light) and f"{name} | design" not in found:
            walk(name, document, given.seconds, given.ask, done)
    bad = {title: one["bad"] for title, one in found.items() if one["bad"]}
    refused = sum(one["code"] == 2 for one in found.values())
    print(f"{len(found)} answers, {refused} refusals, {len(bad)} wrong")
    return min(len(bad), 60)


if __name__ == "__main__":
    sys.exit(main())
