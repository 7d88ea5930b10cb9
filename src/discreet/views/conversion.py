"""A guarantee read in another currency, viewed: the result, the formula and its source. Results are rounded up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from discreet.currencies.conversions import Converted, convert, edges
from discreet.currencies.statements import KINDS, Statement
from discreet.errors import InputError
from discreet.model.promises import Promise
from discreet.numerics.digits import at_least, at_most, number_at_least, number_at_most
from discreet.views.view import Block, Fact, Grid, Mood, Sentence, View

WITH_A_PARAMETER = ("approximate", "renyi")
"""Currencies of which one must say at which δ or order."""


def conversion_view(
    source: Statement,
    kind: str | None = None,
    wanted: dict[str, Any] | None = None,
    *,
    types: int | None = None,
    outputs: int | None = None,
) -> View:
    """The guarantee in one currency, or in all that follow from it."""
    if kind is not None:
        found = [convert(source, kind, types=types, outputs=outputs, **(wanted or {}))]
    else:
        found = []
        for each in KINDS:
            if each in WITH_A_PARAMETER or each == source.kind:
                continue
            try:
                found.append(convert(source, each, types=types, outputs=outputs))
            except InputError:
                continue
    facts = {"from": _numbers(source), "results": [_facts(item) for item in found]}
    return View(facts, (Sentence(f"From {_words(source)}:"), *_told(found)))


def promised_view(promise: Promise, delta: Fraction, order: Fraction = Fraction(2)) -> View:
    """What follows from a promise alone in every currency, whatever the mechanism; where nothing does, why."""
    source = Statement(_KIND_OF.get(promise.kind, promise.kind), promise.numbers)
    wanted: dict[str, dict[str, Any]] = {"approximate": {"delta": delta}, "renyi": {"order": order}}
    rows, facts = [], []
    for kind in KINDS:
        if kind == source.kind:
            continue
        try:
            found = convert(source, kind, **wanted.get(kind, {}))
        except InputError as error:
            rows.append((kind, "nothing finite follows", str(error.found), ""))
            facts.append({"kind": kind, "follows": False})
            continue
        steps = ", then ".join(step.edge.formula for step in found.steps)
        rows.append((kind, _words(found.result).partition(": ")[2] or _words(found.result), steps, "tight" if found.tight else ""))
        facts.append({"follows": True, **_facts(found)})
    grid = Grid(("currency", "at most", "by", ""), rows, left=4)
    return View(
        {"from": _numbers(source), "results": facts}, (Sentence(f"From {_words(source)} alone, whatever the mechanism:"), grid)
    )


_KIND_OF = {"pure": "epsilon"}
"""What statements call a kind of promise, where that differs."""


def conversions_view() -> View:
    """The table of conversions."""
    listed = [{"from": e.source, "to": e.target, "formula": e.formula, "source": e.reference, "tight": e.tight} for e in edges()]
    told: list[Block] = []
    for e in listed:
        tight = "tight" if e["tight"] else "     "
        told += [Fact(f"{e['from']:>11} → {e['to']:<11} {tight}", str(e["formula"])), Fact("", str(e["source"]), Mood.SOFT)]
    return View({"conversions": listed}, tuple(told))


def _numbers(given: Statement) -> dict[str, Any]:
    if given.corners:
        return {"kind": given.kind, "corners": [[number_at_least(a), number_at_least(b)] for a, b in given.corners]}
    return {"kind": given.kind, **{name: number_at_most(value) for name, value in given.numbers.items()}}


def _facts(found: Converted) -> dict[str, Any]:
    return {
        **_numbers(found.result),
        "tight": found.tight,
        "steps": [
            {"to": _numbers(step.result), "formula": step.edge.formula, "source": step.edge.reference, "tight": step.edge.tight}
            for step in found.steps
        ],
    }


def _told(found: Sequence[Converted]) -> Iterator[Block]:
    for item in found:
        yield Sentence(f"  {_words(item.result)}{'  (tight)' if item.tight else ''}", mood=Mood.STRONG)
        for step in item.steps:
            yield Fact("    ", step.edge.formula)
            yield Fact("    ", step.edge.reference, Mood.SOFT)


def _words(given: Statement) -> str:
    if given.corners:
        return "f-DP through " + ", ".join(f"({at_least(a)}, {at_least(b)})" for a, b in given.corners)
    pairs = ", ".join(f"{name} = {at_most(value, 10)}" for name, value in given.numbers.items())
    return f"{given.kind}: {pairs}"
