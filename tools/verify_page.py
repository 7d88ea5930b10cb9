"""Compare verify.html with verify_standalone.py on mutated files: both must give the same verdict, hash and brackets on each.

`python tools/verify_page.py [COUNT [SEED]]` makes COUNT files (10,000 by default): random mechanisms, closed forms and families,
with and without promises that hold, most of them mutated; it asks the Python verifier in this process and the page's
script in Node.
"""

from __future__ import annotations

import base64
import copy
import importlib.util
import json
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import lcm
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "src" / "discreet" / "verify.html"
STRANGE: tuple[Any, ...] = (
    0, 1, 2, -1, 3, True, False, None, "", "0", "1", "-1", "1/2", "0.5", "00", "1e3", [], {}, [0, 1], ["0", "1"], "replace-one",
    "add-remove-one", "given", "database", "histogram", "linear", "table", "geometric", "staircase", {"from": 0, "to": 3}, 10**30,
    "10000", "10001", "é", "\ud800", [[0, 1]], ["a"], {"lower": [0, 0], "upper": [1, 1], "reference": 0}, 1.5, 10**7,
)  # fmt: skip
NODE = """
const verifier = new Function(require("fs").readFileSync(process.argv[1], "utf8") + "; return verifier;")();
const lines = require("fs").readFileSync(0, "utf8").trim().split("\\n");
for (const line of lines) {
  const found = verifier.verdict(Buffer.from(line, "base64"));
  console.log(JSON.stringify([found.code, found.words, found.found.map((f) => [f.hash, f.low, f.high])]));
}
"""


def module_at(path: Path, name: str) -> ModuleType:
    """A Python file as a module."""
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


def script() -> str:
    """The script of the page."""
    found = re.findall(r"<script>\n(.*?)</script>", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(found) == 1
    return str(found[0])


def documents(rng: random.Random) -> Iterator[dict[str, Any]]:
    """Mechanism and family documents without end, most with a promise that holds."""
    from discreet.files.mechanism import mechanism_document

    worlds = module_at(ROOT / "tests" / "model" / "random_worlds.py", "random_worlds_of_the_page")
    while True:
        mechanism = mechanism_document(worlds.random_mechanism(rng, zeros=rng.random() < 0.1))
        if rng.random() < 0.7:
            large = str(rng.choice([20, 40, 200]))
            mechanism["guarantee"]["epsilon"] = mechanism["problem"]["privacy"]["epsilon"] = large
        promised(mechanism, rng)
        kind = rng.random()
        if kind < 0.2:
            closed(mechanism, rng)
        if kind > 0.85 and isinstance(mechanism["problem"]["data"].get("respondents"), int):
            size = mechanism["problem"]["data"]["respondents"]
            member = {"from": rng.randint(1, size), "to": size, "mechanism": mechanism}
            yield {"format": "discreet-family/1", "members": [member, copy.deepcopy(member)][: rng.randint(1, 2)]}
        else:
            yield mechanism


def promised(mechanism: dict[str, Any], rng: random.Random) -> None:
    """Now and then another promise than pure epsilon, or values that should be unbiased."""
    kind, both = rng.random(), (mechanism["guarantee"], mechanism["problem"]["privacy"])
    if kind < 0.15:
        delta = rng.choice(["0.001", "1/4", "0.5", "9/10"])
        for place in both:
            place |= {"epsilon": rng.choice(["1", "2"]) if kind < 0.02 else "1", "delta": delta}
    elif kind < 0.3:
        rho = rng.choice(["1/10", "1", "3", "10", "40"])
        for place in both:
            place.pop("epsilon", None)
            place["rho"] = rho
    if rng.random() < 0.15:
        decision = mechanism["problem"]["decision"]
        (decision[0] if isinstance(decision, list) else decision)["unbiased"] = rng.choice(["everywhere", "nearby"])
        mechanism["problem"]["statistic"] = {"kind": rng.choice(["sum", "mean", "count"]), "of": [1]}
        if rng.random() < 0.6 and "outputs" in mechanism["kernel"]:
            told_truly(mechanism)


def told_truly(mechanism: dict[str, Any]) -> None:
    """A kernel with two outputs, below and above every sum, whose mean is the sum at every state: unbiased, and private."""
    kernel, data = mechanism["kernel"], mechanism["problem"]["data"]
    if mechanism["summary"]["kind"] != "histogram" or not isinstance(data["neighbours"], str) or "clamp" in mechanism["summary"]:
        return
    sums = [sum(Fraction(v) * int(n) for v, n in zip(data["values"], label.split(","), strict=True)) for label in kernel["states"]]
    unit = Fraction(1, lcm(*(x.denominator for x in sums)))
    bits = (int((max(sums) - min(sums)) / unit) + 8).bit_length()
    below = min(sums) - 4 * unit
    kernel["denominator"] = str(1 << bits)
    ends = (below, below + unit * 2**bits)
    kernel["outputs"] = [{"label": str(place), "action": {"number": str(value)}} for place, value in enumerate(ends)]
    high = [int((x - below) / unit) for x in sums]
    kernel["weights"] = [[str((1 << bits) - n) for n in high], [str(n) for n in high]]
    mechanism["problem"]["statistic"] = {"kind": "sum"}
    for place in (mechanism["guarantee"], mechanism["problem"]["privacy"]):
        place.pop("rho", None)
        place |= {"epsilon": "20", "delta": "0"}


def closed(mechanism: dict[str, Any], rng: random.Random) -> None:
    """The same problem with a closed-form kernel on a weighted sum."""
    data = mechanism["problem"]["data"]
    if not isinstance(data["neighbours"], str):
        return
    weights = [rng.randint(-2, 3) for _ in data["values"]]
    most = data["respondents"] if isinstance(data["respondents"], int) else data["respondents"]["to"]
    mechanism["summary"] = {"kind": "linear", "weights": weights}
    reach = most * max(map(abs, weights))
    step = max(1, max(map(abs, weights)) if isinstance(data["respondents"], dict) else max(weights) - min(weights))
    epsilon = Fraction(rng.choice(["1", "1/2", "2"]))
    ratio = rng.choice(["3/8", "1/2", "3679/10000", "9/10", "607/1000", "1/100"])
    family = rng.choice(["geometric", "staircase"])
    mechanism["kernel"] = {"family": family, "from": -reach, "to": reach, "step": step, "ratio": ratio}
    if family == "staircase":
        mechanism["kernel"]["plateau"] = rng.randint(1, step)
    if rng.random() < 0.2:
        mechanism["kernel"] |= {"family": "discrete-gaussian", "sigma_squared": rng.choice(["1", "4", "25/2"])}
    if rng.random() < 0.3:
        counted(mechanism, rng, most)
    for place in (mechanism["guarantee"], mechanism["problem"]["privacy"]):
        if "rho" not in place:
            place["epsilon"] = str(epsilon)


def counted(mechanism: dict[str, Any], rng: random.Random, most: int) -> None:
    """The same problem with noise that follows a count, or two."""
    values = [rng.randint(0, 3) for _ in mechanism["problem"]["data"]["values"]]
    stride, reach, total = most * max(values) + rng.randint(0, 4), rng.randint(0, 2), 1 << 8
    tables = rng.choice([[2, 1], [1, 2], [3], [2, 2, 1]]) if rng.random() < 0.5 else []
    radix = most + rng.randint(0, 2) if tables else 1
    mechanism["summary"]["weights"] = [v + stride * rng.choice((0, 1, radix)) for v in values]
    tail, rows = rng.randint(1, 40), []
    for _ in range(sum(tables) or rng.randint(1, 3)):
        row = [rng.randint(5, 20) for _ in range(2 * reach + 1)]
        row[reach] += total - 2 * tail - sum(row)
        rows.append(list(map(str, row)))
    mechanism["kernel"] = {
        "family": "counted", "from": -1, "to": most * 3 + 1, "step": max(max(values) - rng.randint(0, 1), 1), "stride": stride,
        "ratio": rng.choice(["1/2", "3/8", "9/10"]), "tail": str(tail), "weights": rows, "denominator": str(total),
    } | ({"radix": radix, "tables": tables} if tables else {})  # fmt: skip


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document."""
    if way:
        yield way
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in inner:
        yield from places(item, (*way, name))


def mutated(document: dict[str, Any], rng: random.Random) -> bytes:
    """A document with up to three changes, in its values or in its text."""
    changed = copy.deepcopy(document)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        way = rng.choice([w for w in places(changed) if len(w) < 4 or rng.random() < 0.1] or [("format",)])
        here: Any = changed
        for name in way[:-1]:
            here = here[name]
        last, act = way[-1], rng.random()
        old = here[last]
        if act < 0.1:
            del here[last]
        elif act < 0.3 and isinstance(old, str) and re.fullmatch(r"-?\d+", old):
            here[last] = str(int(old) + rng.choice((-1, 1, 2)))
        elif act < 0.4 and type(old) is int:
            here[last] = old + rng.choice((-1, 1))
        elif act < 0.5 and isinstance(old, list) and old:
            rng.shuffle(old) if rng.random() < 0.5 else old.append(copy.deepcopy(rng.choice(old)))
        else:
            here[last] = copy.deepcopy(rng.choice(STRANGE))
    text = json.dumps(changed, ensure_ascii=rng.random() < 0.5 or "\ud800" in repr(changed) or "\\ud800" in repr(changed))
    if rng.random() < 0.06:
        place = rng.randrange(len(text))
        sign = rng.choice(["", "0", '"', ",", " ", "\n", "é", "\\", "}", "[", "1", "\x01"])
        text = text[:place] + sign + text[place + rng.randint(0, 1) :]
    return text.encode("utf-8", "surrogatepass") if rng.random() < 0.99 else text.encode("utf-16")


def in_python(data: bytes, verifier: ModuleType) -> tuple[int, list[tuple[str, Fraction, Fraction]]]:
    """The verdict of the Python verifier, as its `main` gives it."""
    try:
        found = [verifier.prove(m) for _, m in verifier.members(data.decode("utf-8"))]
    except verifier.Refuted:
        return 1, []
    except (verifier.TooLarge, MemoryError, IndexError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError,
            ArithmeticError):  # fmt: skip
        return 2, []
    return 0, [(digest, low, high) for _, low, high, _, digest in found]


def files(count: int, seed: int) -> list[bytes]:
    """So many files."""
    rng = random.Random(seed)
    made = documents(rng)
    found: list[bytes] = []
    while len(found) < count:
        document = next(made)
        if len(json.dumps(document)) < 60_000:
            found += [mutated(document, rng) for _ in range(12)]
    return found[:count]


def differences(data: list[bytes], answers: list[Any]) -> Iterator[str]:
    """Where the page and Python disagree."""
    verifier = module_at(ROOT / "src" / "discreet" / "verify_standalone.py", "the_python_verifier")
    sys.set_int_max_str_digits(0)
    for place, (one, (code, words, proofs)) in enumerate(zip(data, answers, strict=True)):
        expected, found = in_python(one, verifier)
        if code != expected:
            yield f"file {place}: Python says {expected}, the page {code} ({words}): {one[:2000]!r}"
        for (digest, low, high), (theirs, below, above) in zip(found, proofs, strict=True) if code == expected else ():
            if digest != theirs or not (Fraction(below) <= low and high <= Fraction(above) < high + Fraction(1, 10**14)):
                yield f"file {place}: {digest} {low} {high} against {theirs} {below} {above}"


def main(count: int, seed: int) -> int:
    """Compare, and count the verdicts."""
    node = shutil.which("node")
    if node is None:
        print("verify_page: node was not found. On Debian: apt-get install nodejs", file=sys.stderr)
        return 1
    data = files(count, seed)
    place = ROOT / "build" / "verify_page.js"
    place.parent.mkdir(exist_ok=True)
    place.write_text(script(), encoding="utf-8")
    lines = "\n".join(base64.b64encode(one).decode() for one in data)
    asked = subprocess.run([node, "-e", NODE, str(place)], input=lines, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in asked.stdout.splitlines()]
    wrong = list(differences(data, answers))
    for words in wrong[:10]:
        print(words)
    verdicts = Counter(("proved", "refuted", "neither")[code] for code, _, _ in answers)
    print(f"{len(data):,} files, {dict(verdicts)}, {len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, int(sys.argv[2]) if len(sys.argv) > 2 else 1))
