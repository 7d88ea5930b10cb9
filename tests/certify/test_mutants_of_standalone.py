"""Mutation tests of the standalone verifier: change any comparison, and some file gets another verdict.

As in `test_mutants`, over the same corpus and over documents that only a reader who checks everything refuses.
"""

from __future__ import annotations

import contextlib
import copy
import gzip
import io
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import random_worlds as worlds
from counted_mechanisms import at_random, forged_counted
from forged_promises import promised_documents
from mutation import unexplained
from small_mechanisms import corpus
from unbiased_documents import unbiased_documents

import discreet
from discreet.files.mechanism import mechanism_document
from discreet.model.actions import NamedActions
from discreet.model.decision import Decision
from discreet.model.kernel import GeometricKernel, Output, StaircaseKernel, TableKernel
from discreet.model.losses import TableLoss
from discreet.model.neighbours import AddRemoveOne, GivenGraph, ReplaceOne
from discreet.model.states import state_space
from discreet.model.summary import Clamp, DatabaseSummary, HistogramSummary, LinearSummary
from discreet.model.universe import ListedUniverse, Universe

SOURCE = Path(discreet.__file__).parent
MORE_BITS = "a ratio exactly at an end of the bracket is decided by the next, narrower one"
EQUIVALENT: dict[str, str] = {
    "verify_standalone: a < b [Lt→LtE at 0]": "no pair has the same state twice",
    "verify_standalone: top * high.denominator >= high.numerator * bottom [GtE→Gt at 0]": MORE_BITS,
    "verify_standalone: least <= delta [LtE→Lt at 0]": "both ends are equal only where the upper one has already decided",
    "verify_standalone: p * bottom > top * q [Gt→GtE at 0]": "of two equal ratios either is the largest",
    "verify_standalone: len(roots) < extra.denominator.bit_length() [Lt→LtE at 0]": "a root more than is needed changes nothing",
    "verify_standalone: logs[order] - SURE <= rho * order * (order - 1) [LtE→Lt at 0]": "the logarithm is no fraction",
}


@pytest.mark.slow
def test_no_comparison_of_the_standalone_verifier_can_change_unnoticed(tmp_path: Path) -> None:
    documents = [mechanism_document(m) for m in corpus()] + forged_documents() + promised_documents() + unbiased_documents()
    documents += forged_counted()[:1]
    texts = [json.dumps(document) for document in documents]
    questions: list[Callable[[ModuleType], Any]] = [lambda module, text=text: verdict(module, text) for text in texts]
    questions += [
        lambda module: module.exceeds_exp(2, 0, Fraction(1)),
        lambda module: module.exceeds_exp(0, 0, Fraction(1)),
        lambda module: module.exceeds_exp(3, 3, Fraction(0)),
        lambda module: [module.exp_between(Fraction(x, 7), 50) for x in (1, 3, 6, 7, 8, 14, 29)],
        *[lambda module, count=count: module.affordable(count, 5) for count in (4, 5, 6)],
        *[lambda module, count=count: said(module.affordable, module.TooLarge, count) for count in (10**299, 10**300, 10**301)],
        *[lambda module, last=last: together(module, [20] * 7 + [last]) for last in (19, 20, 21)],
        *[lambda module, text=text: module.number(text) for text in (1, True, "1", None)],
        *[lambda module, text=text: module.whole(text) for text in (1, "1", "-1", "")],
        lambda module: module.main([]),
        lambda module: module.main(["/nowhere"]),
        *[lambda module, path=path: printed(module, path) for path in told_files(tmp_path)],
    ]
    sizes = [(2, 2), (1, 2), (3, 2), (0, 2), (-1, 2), (1, 1), (3, 3)]
    questions += [lambda module, low=low, high=high: module.members(family_text(low, high)) for low, high in sizes]
    questions += [lambda module, data=data: module.sizes(data) for data in universes()]
    small = gzip.compress(texts[0].encode())
    zipped = [small, small[:-4], small + b"{}", gzip.compress(bytes(10**6)), texts[0].encode()]
    questions += [lambda module, data=data: module.inflated(data) for data in zipped]
    assert unexplained(SOURCE / "verify_standalone.py", questions, EQUIVALENT, besides="check_counted") == []


@pytest.mark.slow
def test_no_comparison_of_its_noise_that_follows_a_count_can_change_unnoticed() -> None:
    texts = [json.dumps(document) for document in forged_counted() + [mechanism_document(m) for m in at_random(12)]]
    questions: list[Callable[[ModuleType], Any]] = [lambda module, text=text: factor(module, text) for text in texts]
    left = unexplained(SOURCE / "verify_standalone.py", questions, EQUIVALENT, only="check_counted")
    assert left == [], left


def factor(module: ModuleType, text: str) -> Any:
    """The largest factor and where it is, or why there is none."""
    return repr(module.check_counted(json.loads(text)))


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


def together(module: ModuleType, counts: list[int]) -> list[str]:
    """What it says of members that ask for these steps, and for digits, where all may ask for 160."""
    most, module.TOGETHER = module.TOGETHER, 160
    module.ASKED[:] = 0, 0
    try:
        told = []
        for count in counts:
            module.ASKED[:] = sum(module.ASKED), 0
            told += [said(module.affordable, module.TooLarge, *each) for each in ((1,), (count,), (999, 999, "digits"))]
        return told
    finally:
        module.TOGETHER, module.ASKED[:] = most, (0, 0)


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
