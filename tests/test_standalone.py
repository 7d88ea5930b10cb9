"""The standalone verifier: a process of its own that agrees with the checker on everything, and believes nothing."""

from __future__ import annotations

import copy
import importlib.util
import json
import random
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import mpmath
import pytest

import discreet
from discreet import certify, files
from discreet.errors import DiscreetError
from discreet.files.mechanism import mechanism_document, mechanism_from_document
from discreet.model.certificate import Certificate
from discreet.model.kernel import TableKernel
from discreet.model.mechanism import Mechanism
from discreet.numerics.brackets import log_bracket

HERE = Path(__file__).parent
SCRIPT = Path(discreet.__file__).parent / "verify_standalone.py"


def module_at(path: Path, name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


worlds = module_at(HERE / "model" / "random_worlds.py", "random_worlds_of_the_standalone")
verifier = module_at(SCRIPT, "the_standalone_verifier")


def run(path: Path) -> subprocess.CompletedProcess[str]:
    """The verifier in an interpreter without site packages, environment or user folders."""
    command = [sys.executable, "-I", "-S", str(SCRIPT), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def outcome(document: Any) -> int:
    """0 proved, 1 refuted, 2 not readable, in this process."""
    try:
        verifier.verify(json.dumps(document))
    except verifier.Refuted:
        return 1
    except (verifier.TooLarge, IndexError, OSError, ValueError, KeyError, TypeError, RecursionError, ZeroDivisionError):
        return 2
    return 0


@pytest.fixture(scope="module")
def geometric() -> dict[str, Any]:
    """The document of the truncated geometric table at N = 40, ε = 1."""
    from discreet.mechanisms.geometric import TruncatedGeometric
    from discreet.model.neighbours import ReplaceOne
    from discreet.model.summary import LinearSummary
    from discreet.model.universe import Universe

    problem = worlds.problem_of(Universe.of(40, (Fraction(0), Fraction(1))), ReplaceOne())
    kernel = TruncatedGeometric(Fraction(1), 0, 40).table()
    return mechanism_document(worlds.mechanism_on(problem, LinearSummary((0, 1)), kernel))


def raise_weight(document: dict[str, Any], output: int, state: int, neighbour: int, beyond: int) -> dict[str, Any]:
    """One weight raised to `beyond` units past e^ε times the neighbour's, the state's own output lowered."""
    weights = document["kernel"]["weights"]
    with mpmath.workdps(80):
        most = int(mpmath.floor(mpmath.e * int(weights[output][neighbour]))) - int(weights[output][state])
    weights[output][state] = str(int(weights[output][state]) + most + beyond)
    weights[state][state] = str(int(weights[state][state]) - most - beyond)
    return document


def test_it_is_short_and_stands_alone() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 460, "one sitting"
    assert "discreet." not in text and "import numpy" not in text


def test_the_geometric_table_is_proved_in_a_bare_process(geometric: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "x.mechanism.json"
    files.write_mechanism(path, mechanism_from_document(geometric))
    done = run(path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert files.mechanism_hash(files.read_mechanism(path)) in done.stdout
    _, low, high, _, _ = verifier.verify(path.read_text(encoding="utf-8"))
    assert 1 - Fraction(1, 10**12) < low <= high <= 1


@pytest.mark.parametrize(("output", "state", "neighbour"), [(0, 1, 2), (40, 39, 38), (7, 20, 21)])
def test_one_unit_beyond_is_refuted_with_that_edge(
    geometric: dict[str, Any], tmp_path: Path, output: int, state: int, neighbour: int
) -> None:
    path = tmp_path / "x.mechanism.json"
    path.write_text(json.dumps(raise_weight(copy.deepcopy(geometric), output, state, neighbour, 1)), encoding="utf-8")
    done = run(path)
    assert done.returncode == 1
    assert f"output {output} is more than exp(1) times as likely at {state} as at {neighbour}" in done.stdout
    path.write_text(json.dumps(raise_weight(copy.deepcopy(geometric), output, state, neighbour, 0)), encoding="utf-8")
    assert run(path).returncode == 0


def set_in(document: dict[str, Any], path: str, value: Any) -> None:
    *way, last = path.split("/")
    here: Any = document
    for key in way:
        here = here[int(key)] if isinstance(here, list) else here[key]
    if isinstance(here, list):
        here[int(last)] = value
    else:
        here[last] = value


def one_digit(document: dict[str, Any]) -> None:
    weight = document["kernel"]["weights"][3][5]
    set_in(document, "kernel/weights/3/5", weight[:-1] + str((int(weight[-1]) + 1) % 10))


FORGERIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "an edge deleted": lambda d: d["kernel"]["edges"].pop(17),
    "an edge added": lambda d: d["kernel"]["edges"].append([0, 2]),
    "an edge twice": lambda d: d["kernel"]["edges"].append([0, 1]),
    "a forged epsilon": lambda d: set_in(d, "guarantee/epsilon", "0.999"),
    "a weaker promise": lambda d: set_in(d, "guarantee/epsilon", "1.001"),
    "a negative epsilon": lambda d: set_in(d, "guarantee/epsilon", "-1"),
    "a delta": lambda d: set_in(d, "guarantee/delta", "0.1"),
    "other neighbours promised": lambda d: set_in(d, "guarantee/neighbours", "add-remove-one"),
    "unknown neighbours": lambda d: (
        set_in(d, "guarantee/neighbours", "none"),
        set_in(d, "problem/data/neighbours", "none"),
        set_in(d, "problem/data/respondents", {"from": 40, "to": 40}),
    ),
    "a duplicate output": lambda d: set_in(d, "kernel/outputs/3/label", "2"),
    "weights that do not sum": lambda d: set_in(d, "kernel/weights/0/0", "1"),
    "one digit changed": one_digit,
    "a negative weight": lambda d: (
        set_in(d, "kernel/weights/0/40", "-5"),
        set_in(d, "kernel/weights/40/40", str(int(d["kernel"]["weights"][40][40]) + int(geometric_weight(d)) + 5)),
    ),
    "a denominator that is no power of two": lambda d: set_in(d, "kernel/denominator", "3"),
    "another problem embedded": lambda d: set_in(d, "problem/data/respondents", 39),
    "another summary": lambda d: set_in(d, "summary/weights", [0, 2]),
    "a summary of too few types": lambda d: set_in(d, "summary/weights", [0]),
    "an unknown summary": lambda d: set_in(d, "summary/kind", "sum"),
    "a clip added": lambda d: set_in(d, "summary/high", 30),
    "states renamed": lambda d: set_in(d, "kernel/states/3", "03"),
    "another format": lambda d: set_in(d, "format", "discreet-mechanism/2"),
    "a row missing": lambda d: d["kernel"]["weights"].pop(),
    "an unknown family": lambda d: set_in(d, "kernel/family", "gaussian"),
    "a float": lambda d: set_in(d, "summary/weights", [0, 1.0]),
    "not a number": lambda d: set_in(d, "guarantee/epsilon", float("nan")),
    "an exponent to choke on": lambda d: set_in(d, "guarantee/epsilon", "1e999999999"),
    "no kernel": lambda d: d.pop("kernel"),
    "a list instead of a table": lambda d: set_in(d, "problem", []),
}


def geometric_weight(document: dict[str, Any]) -> str:
    return document["kernel"]["weights"][0][40] if int(document["kernel"]["weights"][0][40]) > 0 else "0"


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_not_proved_by_either(geometric: dict[str, Any], name: str) -> None:
    document = copy.deepcopy(geometric)
    FORGERIES[name](document)
    assert outcome(document) in (1, 2)
    try:
        found = certify.privacy(mechanism_from_document(document))
    except DiscreetError:
        return
    assert not isinstance(found, Certificate)


def test_an_altered_clamp_is_refuted_by_both(tmp_path: Path) -> None:
    rng = random.Random(5)
    seen = 0
    while seen < 20:
        mechanism = worlds.random_mechanism(rng)
        document = mechanism_document(mechanism)
        clamp = document["summary"].get("clamp")
        if clamp is None:
            continue
        seen += 1
        assert outcome(document) in (0, 1)
        for key in ("lower", "upper"):
            forged = copy.deepcopy(document)
            place = next(j for j in range(len(clamp["upper"])) if j != clamp.get("reference"))
            forged["summary"]["clamp"][key][place] += 1
            both_refuse_or_agree(forged)
        for rest in (None, [0, 1], [1, 1], [0, 9], [2, 1]):
            forged = copy.deepcopy(document)
            forged["summary"]["clamp"]["rest"] = rest
            both_refuse_or_agree(forged)


def both_refuse_or_agree(document: dict[str, Any]) -> int:
    """The verdict of the verifier, which must be the checker's; what cannot be read is no proof either."""
    verdict = outcome(document)
    try:
        proved = isinstance(certify.privacy(mechanism_from_document(document)), Certificate)
    except DiscreetError:
        proved = False
    assert proved == (verdict == 0), document
    return verdict


def with_epsilon(mechanism: Mechanism, epsilon: Fraction) -> dict[str, Any]:
    return mechanism_document(worlds.mechanism_on(mechanism.problem, mechanism.summary, mechanism.kernel, epsilon))


@pytest.mark.parametrize("seed", range(250))
def test_it_agrees_with_the_checker(seed: int) -> None:
    """Random mechanisms at ε a hair above and below their largest log-ratio, and with one weight moved."""
    rng = random.Random(seed)
    mechanism = worlds.random_mechanism(rng, zeros=seed % 10 == 0)
    kernel = mechanism.kernel
    assert isinstance(kernel, TableKernel)
    edges = mechanism.space.edges.tolist()
    ratios = [Fraction(max(row[a], row[b]), min(row[a], row[b])) for row in kernel.weights for a, b in edges if min(row[a], row[b])]
    worst = max(ratios, default=Fraction(1))
    low, high = (Fraction(0), Fraction(1)) if worst == 1 else log_bracket(worst, 150)
    assert both_refuse_or_agree(with_epsilon(mechanism, high)) == 0
    assert both_refuse_or_agree(with_epsilon(mechanism, low)) == (0 if worst == 1 else 1)
    if len(kernel.outputs) > 1:
        moved = mechanism_document(mechanism)
        weights = moved["kernel"]["weights"]
        s, t = rng.sample(range(len(weights)), 2)
        h = rng.randrange(len(weights[0]))
        by = rng.randint(0, int(weights[t][h]))
        weights[s][h], weights[t][h] = str(int(weights[s][h]) + by), str(int(weights[t][h]) - by)
        both_refuse_or_agree(moved)


@pytest.mark.parametrize("seed", range(60))
def test_the_brackets_agree(seed: int) -> None:
    rng = random.Random(seed)
    x = Fraction(rng.randint(1, 3000), rng.randint(1, 300))
    low, high = verifier.exp_between(x, 80)
    with mpmath.workdps(60 + int(x)):
        true = mpmath.e ** (mpmath.mpf(x.numerator) / x.denominator)
        assert mpmath.mpf(low.numerator) / low.denominator < true < mpmath.mpf(high.numerator) / high.denominator
    assert (high - low) / low < Fraction(1, 2**60)
    top, bottom = rng.randint(2, 10**9), rng.randint(1, 10**4)
    if top > bottom:
        ours = log_bracket(Fraction(top, bottom), 100)
        limit = Fraction(rng.randint(25, 30))
        theirs = verifier.log_between(top, bottom, limit)
        assert theirs[0] <= ours[1] and ours[0] <= theirs[1] and theirs[1] - theirs[0] == limit / 2**60


@pytest.mark.parametrize("family", ["geometric", "staircase"])
def test_closed_forms_agree_with_the_checker(family: str) -> None:
    from discreet.model.kernel import GeometricKernel, StaircaseKernel
    from discreet.model.neighbours import AddRemoveOne, ReplaceOne
    from discreet.model.summary import LinearSummary
    from discreet.model.universe import Universe

    rng = random.Random(family)
    verdicts = set()
    for _ in range(70):
        values = tuple(map(Fraction, range(rng.choice([2, 3]))))
        fixed = rng.random() < 0.5
        universe = Universe.of(rng.randint(1, 30), values) if fixed else Universe(values, 2, rng.randint(3, 30))
        summary = LinearSummary(tuple(rng.randint(-3, 4) for _ in values), *rng.choice([(None, None), (-3, 12), (0, None)]))
        neighbours = ReplaceOne() if fixed else AddRemoveOne()
        low, high = summary.range(universe)
        step = max(1, summary.step(neighbours))
        epsilon = Fraction(rng.randint(1, 40), 10)
        falls = step if family == "geometric" else 1
        ratio = 1 / log_exp(epsilon / falls) + Fraction(rng.choice([-3, -1, 1, 3]), 10**9)
        if not 0 < ratio < 1:
            continue
        kernel = GeometricKernel(low, high + 1, step, ratio)
        if family == "staircase":
            kernel = StaircaseKernel(low, high + 1, step, rng.randint(1, step), ratio)
        mechanism = worlds.mechanism_on(worlds.problem_of(universe, neighbours, epsilon), summary, kernel)
        verdicts.add(both_refuse_or_agree(mechanism_document(mechanism)))
    assert verdicts == {0, 1}


def log_exp(x: Fraction) -> Fraction:
    """e^x to about 30 digits."""
    with mpmath.workdps(40):
        return Fraction(mpmath.nstr(mpmath.e ** (mpmath.mpf(x.numerator) / x.denominator), 32))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"from": 1}, "cover"), ({"to": 9}, "cover"), ({"step": 0}, "further than the kernel's step"),
        ({"ratio": "1"}, "between 0 and 1"), ({"ratio": "0"}, "between 0 and 1"), ({"family": "laplace"}, "not known"),
        ({"family": "staircase", "plateau": 2}, "longer than the step"), ({"family": "staircase", "plateau": 0}, "plateau"),
        ({"ratio": "0.3678"}, "more than exp(1)"),
    ],
)  # fmt: skip
def test_a_closed_form_that_does_not_fit_is_refuted(change: dict[str, Any], words: str) -> None:
    from discreet.model.kernel import GeometricKernel
    from discreet.model.neighbours import ReplaceOne
    from discreet.model.summary import LinearSummary
    from discreet.model.universe import Universe

    problem = worlds.problem_of(Universe.of(10, (Fraction(0), Fraction(1))), ReplaceOne())
    kernel = GeometricKernel(0, 10, 1, Fraction(36_788, 10**5))
    document = mechanism_document(worlds.mechanism_on(problem, LinearSummary((0, 1)), kernel))
    assert outcome(document) == 0
    document["kernel"] |= change
    with pytest.raises(verifier.Refuted, match=words.replace("(", r"\(").replace(")", r"\)")):
        verifier.verify(json.dumps(document))


def test_a_bare_process_says_why_it_cannot_read(tmp_path: Path) -> None:
    for text in ("", "{", "[]", "{}", '{"format": 1, "format": 1}', "[" * 100_000, '"' + "x" * 100 + '"', "\\u0000"):
        path = tmp_path / "bad.json"
        path.write_text(text, encoding="utf-8")
        done = run(path)
        assert done.returncode in (1, 2) and done.stderr == "", (text[:20], done.stderr)
    assert run(tmp_path / "missing.json").returncode == 2


def test_the_hash_is_the_one_of_the_files(geometric: dict[str, Any]) -> None:
    from discreet.files.canonical import document_hash

    assert verifier.verify(json.dumps(geometric))[-1] == document_hash(geometric)


def test_every_member_of_a_family_is_proved_and_one_bad_one_refutes_it(geometric: dict[str, Any], tmp_path: Path) -> None:
    bad = raise_weight(copy.deepcopy(geometric), 7, 20, 21, 1)
    path = tmp_path / "x.family.json"
    for second, code, words in ((geometric, 0, "PROVED for cells of 35 to 40"), (bad, 1, "REFUTED: output 7")):
        members = [{"from": 35, "to": 40, "mechanism": geometric}, {"from": 40, "to": 40, "mechanism": second}]
        path.write_text(json.dumps({"format": "discreet-family/1", "members": members}), encoding="utf-8")
        done = run(path)
        assert done.returncode == code and words in done.stdout, done.stdout
        assert done.stdout.count("PROVED") == (0 if code else 2)


@pytest.mark.parametrize(("low", "high"), [(35, 41), (41, 40), (0, 40), (40, 39)])
def test_a_member_for_other_sizes_than_its_mechanism_is_refuted(
    geometric: dict[str, Any], tmp_path: Path, low: int, high: int
) -> None:
    path = tmp_path / "x.family.json"
    family = {"format": "discreet-family/1", "members": [{"from": low, "to": high, "mechanism": geometric}]}
    path.write_text(json.dumps(family), encoding="utf-8")
    assert run(path).returncode == 1
    path.write_text(json.dumps({"format": "discreet-family/1", "members": []}), encoding="utf-8")
    assert run(path).returncode == 1


# --- small files that ask for endless work, and numbers that are not written as numbers -----------------------------
def table_of(respondents: Any, types: int, summary: dict[str, Any], neighbours: str = "replace-one") -> dict[str, Any]:
    """A small file about a large world: one output and two states."""
    return {
        "format": "discreet-mechanism/1",
        "summary": summary,
        "problem": {
            "data": {"respondents": respondents, "values": ["0"] * types, "neighbours": neighbours},
            "privacy": {"epsilon": "1", "unit": "person"},
        },
        "kernel": {
            "family": "table",
            "states": ["0", "1"],
            "outputs": [{"label": "x"}],
            "weights": [["1", "1"]],
            "denominator": "1",
            "edges": [[0, 1]],
        },
        "guarantee": {"epsilon": "1", "neighbours": neighbours, "unit": "person"},
        "claims": {},
        "provenance": {},
    }


HUGE = 10**30
ENDLESS: dict[str, dict[str, Any]] = {
    "60 respondents of 12 types": table_of(60, 12, {"kind": "histogram"}),
    "databases of 30 respondents": table_of(30, 2, {"kind": "database"}),
    "databases of one type": table_of(HUGE, 1, {"kind": "database"}),
    "a clipped sum of a billion": table_of(10**9, 2, {"kind": "linear", "weights": [0, 1], "low": 0, "high": 1}),
    "a sum that never moves": table_of(10**9, 2, {"kind": "linear", "weights": [0, 0]}),
    "scattered totals": table_of(40, 9, {"kind": "linear", "weights": [7**k for k in range(9)]}),
    "a clipped histogram of 10^30": table_of(
        HUGE, 3, {"kind": "histogram", "clamp": {"lower": [0, 0, 0], "upper": [0, HUGE, 1], "reference": 0}}
    ),
    "10^30 respondents": table_of(HUGE, 2, {"kind": "histogram"}),
    "a sum of 10^30 respondents": table_of(HUGE, 2, {"kind": "linear", "weights": [0, 1]}),
    "up to 10^30 respondents": table_of({"from": 0, "to": HUGE}, 2, {"kind": "histogram"}, "add-remove-one"),
    "a sum of up to 10^30": table_of({"from": 0, "to": HUGE}, 2, {"kind": "linear", "weights": [0, 1]}, "add-remove-one"),
    "a hundred thousand types": table_of(1, 100_000, {"kind": "histogram"}),
    "a weight of many digits": table_of(1, 2, {"kind": "linear", "weights": [0, 1]}) | {
        "kernel": {"family": "table", "states": ["0", "1"], "outputs": [{"label": "x"}], "weights": [["1" * 60_000] * 2],
                   "denominator": "1", "edges": [[0, 1]]}
    },
    "an epsilon of many digits": table_of(1, 2, {"kind": "linear", "weights": [0, 1]}) | {
        "guarantee": {"epsilon": "1/1" + "0" * 6_000, "neighbours": "replace-one", "unit": "person"}
    },
}  # fmt: skip


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_work_is_refused_before_it_begins_and_is_no_refutation(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.mechanism.json"
    path.write_text(json.dumps(ENDLESS[name]), encoding="utf-8")
    limited = f"ulimit -v {2_000_000}; exec '{sys.executable}' -I -S '{SCRIPT}' '{path}'"
    done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2 and done.stdout.startswith("TOO LARGE"), done.stdout + done.stderr


def test_a_closed_form_for_10_to_the_30_needs_no_list() -> None:
    document = table_of(HUGE, 2, {"kind": "linear", "weights": [0, 1]})
    document["kernel"] = {"family": "geometric", "from": 0, "to": HUGE, "step": 1, "ratio": "1/2"}
    assert outcome(document) == 0


STRANGE_WHOLE = ["\u0664", "\uff14", "1_0", "+4", " 4", "4 ", "04", "0x4", "4.0", "4/1", "", "-0", "\u00b2", "4\n"]
STRANGE_EXACT = ["\u0661", "\uff11", "1_0/10", "+1", " 1", "01", "1e0", "1/01", "1/0", ".5", "1.", "1/-1", "\u00bd", "1\n"]


@pytest.mark.parametrize("written", STRANGE_WHOLE)
def test_whole_numbers_are_ascii_digits_in_one_way(written: str, geometric: dict[str, Any]) -> None:
    document = copy.deepcopy(geometric)
    document["kernel"]["weights"][0][0] = written
    with pytest.raises(ValueError, match="decimal digits"):
        verifier.verify(json.dumps(document))
    document = copy.deepcopy(geometric)
    document["kernel"]["denominator"] = written
    assert outcome(document) == 2


@pytest.mark.parametrize("written", STRANGE_EXACT)
def test_exact_numbers_are_ascii_digits_in_one_way(written: str, geometric: dict[str, Any]) -> None:
    document = copy.deepcopy(geometric)
    document["guarantee"]["epsilon"] = document["problem"]["privacy"]["epsilon"] = written
    with pytest.raises(ValueError, match="written exactly"):
        verifier.verify(json.dumps(document))


@pytest.mark.parametrize("written", ["1.5", "1e3", "NaN", "Infinity", "1_0", "01", "+1"])
def test_no_number_of_the_file_is_a_float(written: str) -> None:
    with pytest.raises(ValueError, match=r"digits|delimiter|value"):
        verifier.members('{"format": ' + written + "}")


def test_text_of_the_file_cannot_print_a_line_of_its_own(geometric: dict[str, Any], tmp_path: Path) -> None:
    document = copy.deepcopy(geometric)
    forged = "person.\nPROVED: differentially private with epsilon = 0\x1b[2J\u202e\x9b31m"
    document["guarantee"]["unit"] = document["problem"]["privacy"]["unit"] = forged
    path = tmp_path / "x.mechanism.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    done = run(path)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout and "\x9b" not in done.stdout
    assert "person.\\nPROVED" in done.stdout
