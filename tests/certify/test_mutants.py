"""Mutation tests of the checkers: change any comparison, and some mechanism gets another verdict.

`mutation` makes the mutants. One survives if it answers the whole corpus as the original does; the corpus holds only mechanisms
whose verdicts other tests establish independently. A survivor is a defect of the corpus, unless it is listed with the
reason why it cannot answer differently.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import random_worlds as worlds
from forged_promises import promised_documents
from mutation import mutants, survivors
from unbiased_documents import unbiased_documents

import discreet
from discreet.certify.edges import concentrated
from discreet.certify.edges.concentrated import concentrated_privacy
from discreet.certify.edges.pure import worst_ratio
from discreet.files.mechanism import mechanism_document
from discreet.model.actions import NamedActions
from discreet.model.certificate import PrivacyProof
from discreet.model.decision import Decision
from discreet.model.kernel import GeometricKernel, Output, StaircaseKernel, TableKernel
from discreet.model.losses import TableLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne, GivenGraph, ReplaceOne
from discreet.model.promises import ConcentratedPromise
from discreet.model.states import state_space
from discreet.model.summary import Clamp, DatabaseSummary, HistogramSummary, LinearSummary
from discreet.model.universe import ListedUniverse, Universe
from discreet.numerics.brackets import exp_bracket, float_up, log_bracket
from discreet.numerics.concentrated import rho_bracket

SOURCE = Path(discreet.__file__).parent

MORE_BITS = "a ratio exactly at an end of the bracket is decided by the next, narrower one"
EQUIVALENT: dict[str, str] = {
    "closed_forms: near < far [Lt→LtE at 0]": "a total does not fall towards itself, whatever the output",
    "closed_forms: fall.near < fall.far [Lt→LtE at 0]": "pairs of one total twice are alike",
    "closed_forms: kernel.high - kernel.low < FEW_OUTPUTS [Lt→LtE at 0]": "a wider search finds the same fall",
    "verify_standalone: a < b [Lt→LtE at 0]": "no pair has the same state twice",
    "verify_standalone: top * high.denominator >= high.numerator * bottom [GtE→Gt at 0]": MORE_BITS,
    "verify_standalone: least <= delta [LtE→Lt at 0]": "both ends are equal only where the upper one has already decided",
    "verify_standalone: p * bottom > top * q [Gt→GtE at 0]": "of two equal ratios either is the largest",
    "verify_standalone: len(roots) < extra.denominator.bit_length() [Lt→LtE at 0]": "a root more than is needed changes nothing",
    "verify_standalone: logs[order] - SURE <= rho * order * (order - 1) [LtE→Lt at 0]": "the logarithm is no fraction",
}


def corpus() -> list[Mechanism]:
    """Mechanisms of every kind at ε just above and just below their largest log-ratio, and with misleading edges."""
    return worlds_at_random(60) + _special()


def worlds_at_random(count: int) -> list[Mechanism]:
    """Random tables at ε just above and just below their largest log-ratio."""
    rng = random.Random(7)
    found: list[Mechanism] = []
    for k in range(count):
        mechanism = worlds.random_mechanism(rng, zeros=k % 7 == 0)
        kernel = mechanism.kernel
        assert isinstance(kernel, TableKernel)
        ratios = [
            Fraction(max(row[a], row[b]), min(row[a], row[b]))
            for row in kernel.weights
            for a, b in mechanism.space.edges.tolist()
            if min(row[a], row[b])
        ]
        worst = max(ratios, default=Fraction(1))
        sides = (Fraction(0), Fraction(1)) if worst == 1 else log_bracket(worst, 150)
        found += [worlds.mechanism_on(mechanism.problem, mechanism.summary, kernel, epsilon) for epsilon in sides]
    return found


def _special() -> list[Mechanism]:
    two = (Fraction(0), Fraction(1))
    three = (*two, Fraction(2))
    problem = worlds.problem_of(Universe.of(3, two), ReplaceOne())
    outputs = (Output("x"), Output("y"))
    states = ("0", "1", "2", "3")
    even = TableKernel(states, outputs, ((4, 4, 4, 4), (4, 4, 4, 4)), 8)
    zero = TableKernel(states, outputs, ((8, 8, 8, 8), (0, 0, 0, 0)), 8)
    apart = TableKernel(states, outputs, ((8, 7, 8, 8), (0, 1, 0, 0)), 8)
    tie = TableKernel(states, outputs, ((5, 3, 5, 3), (3, 5, 3, 5)), 8)
    count = LinearSummary((0, 1))
    found = [
        worlds.mechanism_on(problem, count, kernel, epsilon)
        for kernel in (even, zero, apart, tie)
        for epsilon in (Fraction(0), Fraction(1, 2), Fraction(1))
    ]
    line = [(0, 1), (1, 2), (2, 3)]
    for edges in (line, line[1:], [*line, (0, 2)], [*line, (1, 0)], [*line, (2, 4)], [*line, (-1, 0)], [(1, 0), (2, 1), (3, 2)]):
        stated = TableKernel(states, outputs, even.weights, 8, tuple(edges))
        found.append(worlds.mechanism_on(problem, count, stated))
    low, high = exp_bracket(Fraction(1), 64)
    for ratio in (1 / high, 1 / low, Fraction(9, 10)):
        for universe, neighbours in ((Universe.of(5, three), ReplaceOne()), (Universe(three, 1, 4), AddRemoveOne())):
            for weights in ((0, 1, 1), (-2, 0, 1), (3, 3, 3), (1, 2, 4)):
                for ends in ((None, None), (1, 3), (-1, None), (None, 2)):
                    summary = LinearSummary(weights, *ends)
                    bottom, top = summary.range(universe)
                    step = max(1, summary.step(neighbours))
                    of = worlds.problem_of(universe, neighbours)
                    found.append(worlds.mechanism_on(of, summary, GeometricKernel(bottom, top + 1, step, ratio)))
                    for plateau, wide in ((1, 1), (step, 80)):
                        stairs = StaircaseKernel(bottom - (wide > 1), top + wide, step, plateau, ratio)
                        found.append(worlds.mechanism_on(of, summary, stairs))
    pair = worlds.problem_of(Universe.of(2, three), ReplaceOne())
    heavy = LinearSummary((1, 2, 4))  # no type weighs nothing, so totals of one respondent less join other pairs
    totals = state_space(pair.universe, pair.neighbours, heavy).labels
    found.append(worlds.mechanism_on(pair, heavy, TableKernel(totals, outputs[:1], ((2,) * len(totals),), 2)))
    one = worlds.problem_of(Universe.of(1, two), ReplaceOne())
    for bottom, top in ((0, 2), (-1, 1)):
        found.append(worlds.mechanism_on(one, count, StaircaseKernel(bottom, top, 3, 3, Fraction(1, 2))))
    for rows in (((7, 5), (1, 3)), ((5, 7), (3, 1))):
        found.append(worlds.mechanism_on(one, count, TableKernel(states[:2], outputs, rows, 8)))
    free = worlds.problem_of(ListedUniverse(("a", "b")), GivenGraph(()))
    found.append(worlds.mechanism_on(free, DatabaseSummary(), TableKernel(("a", "b"), outputs, ((8, 0), (0, 8)), 8)))
    return found


def facts(found: Any) -> Any:
    """A proof or counterexample by its contents, whichever module made it."""
    return repr(found)


def test_no_comparison_of_the_privacy_checker_can_change_unnoticed() -> None:
    tables = [m for m in corpus() if isinstance(m.kernel, TableKernel)]
    questions: list[Callable[[ModuleType], Any]] = [lambda module, m=m: facts(module.privacy(m)) for m in tables]
    closed = worlds.problem_of(Universe.of(3, (Fraction(0), Fraction(1))), ReplaceOne())
    geometric = worlds.mechanism_on(closed, LinearSummary((0, 1)), GeometricKernel(0, 3, 1, Fraction(1, 2)))
    questions.append(lambda module: facts(module.privacy(geometric)))
    assert unexplained("privacy", survivors(SOURCE / "certify" / "edges" / "privacy.py", questions)) == []
    pure: list[Callable[[ModuleType], Any]] = [
        lambda module, m=m: facts(module.pure_privacy(m, m.guarantee.promise)) for m in [*tables, geometric]
    ]
    pure += [
        lambda module: module.tight_bracket(5, 5, Fraction(1)),
        lambda module: module.tight_bracket(6, 5, Fraction(1)),
    ]
    assert unexplained("pure", survivors(SOURCE / "certify" / "edges" / "pure.py", pure)) == []


def test_no_comparison_of_the_concentrated_checker_can_change_unnoticed() -> None:
    """Tables at the upper side of their ρ, just above it, inside the bracket and below it; closed forms around ε·tanh(ε/2)."""
    questions: list[Callable[[ModuleType], Any]] = []
    table, *others = [*worlds_at_random(6), *_special()]
    for m in (table, *others):
        if isinstance(m.kernel, TableKernel) and m.kernel.stated_edges is None:
            best = concentrated_privacy(m, ConcentratedPromise(Fraction(10**6)))
            low, high = (best.tight_low, best.tight_high) if isinstance(best, PrivacyProof) else (Fraction(1), Fraction(1))
            table = m if isinstance(best, PrivacyProof) and low else table
            levels = {Fraction(0), low * Fraction(99, 100), low, (low + high) / 2, high, high * Fraction(101, 100)}
            questions += [
                lambda module, m=m, rho=rho: facts(module.concentrated_privacy(m, ConcentratedPromise(rho)))
                for rho in sorted(levels)
            ]
    closed = worlds.problem_of(Universe.of(3, (Fraction(0), Fraction(1))), ReplaceOne())
    geometric = worlds.mechanism_on(closed, LinearSummary((0, 1)), GeometricKernel(0, 3, 1, Fraction(1, 2)))
    proved = concentrated_privacy(geometric, ConcentratedPromise(Fraction(1)))
    assert isinstance(proved, PrivacyProof)
    for rho in (proved.tight_high, proved.tight_high * (1 - Fraction(1, 10**15)), Fraction(0)):
        questions.append(lambda module, rho=rho: facts(module.concentrated_privacy(geometric, ConcentratedPromise(rho))))
    top, bottom, *_ = worst_ratio(table.kernel.weights, table.space.edges.tolist())
    largest = float_up(log_bracket(Fraction(top, bottom), concentrated.LOG_BITS)[1])
    bracket = rho_bracket(concentrated._rows(table, table.kernel), largest)
    direction, order = bracket.at
    ends = table.space.edges[direction % len(table.space.edges)].tolist()
    first, second = ends if direction < len(table.space.edges) else ends[::-1]
    attained = concentrated.least_quotient(table.kernel, first, second, Fraction(order))
    for rho in (attained, Fraction(bracket.upper)):
        questions.append(lambda module, rho=rho: facts(module.concentrated_privacy(table, ConcentratedPromise(rho))))
    assert unexplained("concentrated", survivors(SOURCE / "certify" / "edges" / "concentrated.py", questions)) == []


@pytest.mark.slow
def test_no_comparison_of_the_closed_forms_can_change_unnoticed() -> None:
    closed = [m for m in corpus() if not isinstance(m.kernel, TableKernel)]
    questions: list[Callable[[ModuleType], Any]] = [
        lambda module, m=m: facts(module.closed_form_privacy(m, m.kernel, m.guarantee.promise)) for m in closed
    ]
    table = worlds.mechanism_on(
        worlds.problem_of(Universe.of(1, (Fraction(0), Fraction(1))), ReplaceOne()),
        HistogramSummary(),
        TableKernel(("1,0", "0,1"), (Output("x"),), ((2, 2),), 2),
    )
    edge = GeometricKernel(0, 3, 1, Fraction(1, 2))
    questions += [
        lambda module: facts(module.closed_form_privacy(table, edge, table.guarantee.promise)),
        lambda module: module.Fall(0, 0, 0, Fraction(2), 0).exceeds(Fraction(0)),
        lambda module: module.Fall(0, 0, 0, Fraction(1), 1).exceeds(Fraction(0)),
    ]
    assert unexplained("closed_forms", survivors(SOURCE / "certify" / "edges" / "closed_forms.py", questions)) == []


@pytest.mark.slow
def test_no_comparison_of_the_standalone_verifier_can_change_unnoticed(tmp_path: Path) -> None:
    documents = [mechanism_document(m) for m in corpus()] + forged_documents() + promised_documents() + unbiased_documents()
    texts = [json.dumps(document) for document in documents]
    questions: list[Callable[[ModuleType], Any]] = [lambda module, text=text: verdict(module, text) for text in texts]
    questions += [
        lambda module: module.exceeds_exp(2, 0, Fraction(1)),
        lambda module: module.exceeds_exp(0, 0, Fraction(1)),
        lambda module: module.exceeds_exp(3, 3, Fraction(0)),
        lambda module: [module.exp_between(Fraction(x, 7), 50) for x in (1, 3, 6, 7, 8, 14, 29)],
        *[lambda module, count=count: module.affordable(count, 5) for count in (4, 5, 6)],
        *[lambda module, count=count: said(module.affordable, module.TooLarge, count) for count in (10**299, 10**300, 10**301)],
        *[lambda module, text=text: module.number(text) for text in (1, True, "1", None)],
        *[lambda module, text=text: module.whole(text) for text in (1, "1", "-1", "")],
        lambda module: module.main([]),
        lambda module: module.main(["/nowhere"]),
        *[lambda module, path=path: printed(module, path) for path in told_files(tmp_path)],
    ]
    sizes = [(2, 2), (1, 2), (3, 2), (0, 2), (-1, 2), (1, 1), (3, 3)]
    questions += [lambda module, low=low, high=high: module.members(family_text(low, high)) for low, high in sizes]
    questions += [lambda module, data=data: module.sizes(data) for data in universes()]
    assert unexplained("verify_standalone", survivors(SOURCE / "verify_standalone.py", questions)) == []


def told_files(folder: Path) -> list[Path]:
    """Mechanisms of every promise, one without any edge and one with unbiased values, as files."""
    kinds: dict[str, dict[str, Any]] = {str(sorted(d["guarantee"])): d for d in promised_documents()}
    chosen = [*kinds.values(), mechanism_document(corpus()[-1]), *unbiased_documents()[:2]]
    for k, document in enumerate(chosen):
        (folder / f"{k}.json").write_text(json.dumps(document), encoding="utf-8")
    return [folder / f"{k}.json" for k in range(len(chosen))]


def printed(module: ModuleType, path: Path) -> tuple[int, str]:
    """What the verifier says about a file."""
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        code = module.main([str(path)])
    return code, shown.getvalue()


def said(function: Callable[..., Any], kind: type[Exception], *arguments: Any) -> str:
    """The words with which a function refuses."""
    try:
        return str(function(*arguments))
    except kind as error:
        return str(error)


def universes() -> list[dict[str, Any]]:
    """Numbers of respondents at every edge of what is allowed, for both relations."""
    ends = [0, 1, 2, 3, True, "2", None, -1]
    ranged = [{"neighbours": "add-remove-one", "respondents": {"from": a, "to": b}} for a in ends for b in ends]
    return ranged + [{"neighbours": "replace-one", "respondents": n} for n in ends]


def family_text(low: int, high: int) -> str:
    """A family of one member, for two respondents, that says it serves these sizes."""
    mechanism = {"problem": {"data": {"respondents": 2}}}
    return json.dumps({"format": "discreet-family/1", "members": [{"from": low, "to": high, "mechanism": mechanism}]})


def verdict(module: ModuleType, text: str) -> Any:
    try:
        return repr(module.verify(text))
    except module.Refuted as reason:
        return f"refuted: {reason}"


def forged_documents() -> list[dict[str, Any]]:
    """Documents that only a reader who checks everything refuses."""
    two = (Fraction(0), Fraction(1))
    problem = worlds.problem_of(Universe.of(2, two), ReplaceOne())
    kernel = TableKernel(("0", "1", "2"), (Output("x"), Output("y")), ((4, 4, 5), (4, 4, 3)), 8)
    base = mechanism_document(worlds.mechanism_on(problem, LinearSummary((0, 1)), kernel))
    closed = mechanism_document(worlds.mechanism_on(problem, LinearSummary((0, 1)), GeometricKernel(0, 2, 1, Fraction(1, 2))))
    stairs = mechanism_document(worlds.mechanism_on(problem, LinearSummary((0, 2)), StaircaseKernel(0, 4, 2, 1, Fraction(1, 2))))
    changes: list[tuple[dict[str, Any], tuple[Any, ...], Any]] = [
        (base, ("format",), "x"), (base, ("guarantee", "delta"), "0"), (base, ("guarantee", "delta"), "0.5"),
        (base, ("guarantee", "epsilon"), "0"), (base, ("guarantee", "epsilon"), "-1"), (base, ("guarantee", "epsilon"), "2"),
        (base, ("guarantee", "neighbours"), "given"), (base, ("problem", "data", "neighbours"), "none"),
        (base, ("kernel", "denominator"), "0"), (base, ("kernel", "denominator"), "12"), (base, ("kernel", "denominator"), "-8"),
        (base, ("kernel", "weights", 0), ["4", "4"]), (base, ("kernel", "weights", 0), ["4", "4", "6"]),
        (base, ("kernel", "weights"), [["9", "9", "9"], ["-1", "-1", "-1"]]), (base, ("kernel", "weights"), [["8", "8", "8"]]),
        (base, ("kernel", "outputs"), [{"label": "x"}, {"label": "x"}]), (base, ("kernel", "states", 0), "9"),
        (base, ("kernel", "outputs"), [{"label": "x"}, {"label": "y"}, {"label": "z"}]),
        (base, ("summary", "weights"), [0]), (base, ("summary", "kind"), "sum"), (base, ("summary", "kind"), "histogram"),
        (base, ("kernel", "family"), "laplace"), (base, ("kernel", "edges"), [[0, 1]]), (base, ("summary", "low"), 1),
        (base, ("kernel", "edges"), [[0, 1], [1, 2], [2, 1]]), (base, ("kernel", "edges"), [[1, 0], [2, 1]]),
        (base, ("guarantee", "epsilon"), ["1"]), (base, ("guarantee", "epsilon"), "1e0"), (base, ("guarantee", "epsilon"), 1),
        (closed, ("kernel", "ratio"), "1"), (closed, ("kernel", "ratio"), "0"), (closed, ("kernel", "ratio"), "3/2"),
        (closed, ("kernel", "from"), 1), (closed, ("kernel", "to"), 1), (closed, ("kernel", "step"), 0),
        (closed, ("summary", "weights"), [0, 1, 2]), (closed, ("summary", "kind"), "histogram"),
        (closed, ("kernel", "family"), "gaussian"), (closed, ("problem", "data", "respondents"), -1),
        (stairs, ("kernel", "plateau"), 0), (stairs, ("kernel", "plateau"), 2), (stairs, ("kernel", "plateau"), 3),
        (stairs, ("kernel", "step"), 3), (stairs, ("kernel", "step"), 1),
    ]  # fmt: skip
    found = [base, closed, stairs]
    for document, way, value in changes:
        forged = copy.deepcopy(document)
        here = forged
        for key in way[:-1]:
            here = here[key]
        here[way[-1]] = value
        found.append(forged)
    return found + _clamped_documents() + _absurd_documents(base)


def _absurd_documents(base: dict[str, Any]) -> list[dict[str, Any]]:
    """Promises at and beyond the largest ε that is looked at, and graphs with a name twice."""
    found = []
    for promised, asked in (("10000", "10000"), ("10001", "10001"), ("1", "1/2"), ("1/2", "1/2")):
        document = copy.deepcopy(base)
        document["guarantee"]["epsilon"], document["problem"]["privacy"]["epsilon"] = promised, asked
        found.append(document)
    listed = worlds.problem_of(ListedUniverse(("a", "b", "c")), GivenGraph((("c", "a"), ("a", "b"))))
    kernel = TableKernel(("a", "b", "c"), (Output("x"),), ((1, 1, 1),), 1)
    given = mechanism_document(worlds.mechanism_on(listed, DatabaseSummary(), kernel))
    twice = copy.deepcopy(given)
    twice["problem"]["data"]["neighbours"]["states"][1] = "a"
    twice["kernel"]["states"][1] = "a"
    other = copy.deepcopy(given)
    other["summary"]["kind"] = "histogram"
    return [*found, given, twice, other]


def _clamped_documents() -> list[dict[str, Any]]:
    """Clamps within, at and beyond what they may ask for, fixed and varying sizes, with a level kernel."""
    found = []
    three = tuple(map(Fraction, range(3)))
    cases: list[tuple[Any, Any, Any]] = [
        (Universe.of(3, three), ReplaceOne(), Clamp((0, 0, 0), (0, 2, 1), 0)),
        (Universe.of(3, three), ReplaceOne(), Clamp((0, 1, 0), (0, 2, 2), 0)),
        (Universe.of(3, three), ReplaceOne(), Clamp((0, 0, 1), (2, 1, 2), 1)),
        (Universe.of(3, three), ReplaceOne(), Clamp((0, 1, 1), (0, 1, 2), 0)),
        (Universe.of(3, three), ReplaceOne(), Clamp((0, 0, 0), (1, 5, 5), 0)),
        (Universe.of(3, three), ReplaceOne(), Clamp((0, 0, 0), (0, 3, 2), 0, (1, 2))),
        (Universe(three, 1, 3), AddRemoveOne(), Clamp((0, 0, 0), (1, 2, 1), None)),
        (Universe(three, 2, 3), AddRemoveOne(), Clamp((0, 0, 0), (1, 1, 1), None)),
        (Universe(three, 1, 3), AddRemoveOne(), None),
        (Universe.of(2, three), ReplaceOne(), None),
    ]
    for universe, neighbours, clamp in cases:
        summary = HistogramSummary(clamp)
        states = state_space(universe, neighbours, summary).labels
        kernel = TableKernel(states, (Output("x"),), ((2,) * len(states),), 2)
        decision = Decision(TableLoss(((Fraction(0),) * 7,)), NamedActions(("go",)))
        problem = worlds.problem_of(universe, neighbours, decision=decision if universe.largest == 3 else None)
        document = mechanism_document(worlds.mechanism_on(problem, summary, kernel))
        found.append(document)
        for key in ("lower", "upper"):
            for place in range(3):
                for by in (-1, 1, 2):
                    if clamp is not None:
                        forged = copy.deepcopy(document)
                        forged["summary"]["clamp"][key][place] += by
                        found.append(forged)
        if clamp is not None:
            for reference in (None, 0, 1, 3, -1):
                forged = copy.deepcopy(document)
                forged["summary"]["clamp"]["reference"] = reference
                found.append(forged)
            for rest in ([0, 3], [0, 2], [1, 3], [1, 1], [2, 1], [3, 3], [4, 4], [-1, 3], [0]):
                forged = copy.deepcopy(document)
                forged["summary"]["clamp"]["rest"] = rest
                found.append(forged)
            short = copy.deepcopy(document)
            short["summary"]["clamp"]["lower"].append(0)
            found.append(short)
    return found


def unexplained(file: str, alive: list[str]) -> list[str]:
    return [name for name in alive if f"{file}: {name}" not in EQUIVALENT]


def test_every_file_that_can_accept_a_claim_is_mutated() -> None:
    """A new file of `certify` with a comparison needs a corpus: its path stands in one of the tests of this folder."""
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    forgotten = []
    for path in (SOURCE / "certify").rglob("*.py"):
        room = path.parent.name
        named = any(f'{word} / "{path.name}"' in tests for word in (f'"{room}"', room.upper()))
        if not named and any(mutants(path.read_text(encoding="utf-8"))):
            forgotten.append(f"{room}/{path.name}")
    assert forgotten == []


def test_the_mutator_itself_kills_and_spares(tmp_path: Path) -> None:
    """Near-miss: where equality makes no difference a mutant lives, where the order does it dies."""
    path = tmp_path / "sample.py"
    path.write_text("def larger(a, b):\n    return a if a > b and a != 7 else b\n", encoding="utf-8")
    questions: list[Callable[[ModuleType], Any]] = [lambda m, a=a, b=b: m.larger(a, b) for a, b in ((1, 2), (2, 1), (7, 1), (2, 2))]
    assert survivors(path, questions) == ["a > b [Gt→GtE at 0]"]
    assert len(list(mutants(path.read_text(encoding="utf-8")))) == 6
