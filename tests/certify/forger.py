"""A forger of mechanism, family and robust files: honest ones, and one change with everything repaired that would give it away.

A digit, a sign, a label, an entry, a multiplier, two members' certificates are changed; hashes and claims are made to fit again.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from discreet.design import design
from discreet.design.questions.family import design_family
from discreet.design.questions.robust import robust_design
from discreet.errors import DiscreetError
from discreet.files.certificate import certificate_document
from discreet.files.family import family_document
from discreet.files.flows import packed, unpacked
from discreet.files.mechanism import mechanism_document, mechanism_from_document, mechanism_hash
from discreet.files.robust import RobustFile, robust_document
from discreet.files.sizes import read_sizes
from discreet.model.actions import ListedActions
from discreet.model.decision import Decision
from discreet.model.losses import loss_of
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.universe import Universe

Document = dict[str, Any]


def problem_of(values: tuple[int, ...], probabilities: tuple[str, ...], kind: str = "squared-error") -> Problem:
    top = 2 * max(values)
    return Problem(
        Universe.of(2, tuple(map(Fraction, values))),
        ReplaceOne(),
        IidPrior(tuple(map(Fraction, probabilities))),
        SumStatistic(),
        (Decision(loss_of(kind), ListedActions(tuple(map(Fraction, range(top + 1))))),),
        PurePromise(Fraction(1)),
    )


THREE = problem_of((0, 1, 2), ("0.5", "0.3", "0.2"))
SHIFTED = problem_of((1, 2), ("0.6", "0.4"), "absolute-error")
TWO = problem_of((0, 1), ("0.6", "0.4"))


@cache
def honest(kind: str, folder: str) -> tuple[str, ...]:
    """Honest documents of a kind as JSON text; designs are kept in the folder."""
    if kind == "mechanism":
        found = [design(p, compare=False) for p in (THREE, SHIFTED, TWO)]
        documents = [{"m": mechanism_document(f.mechanism), "c": certificate_document(f.certificate)} for f in found]
    elif kind == "family":
        sizes = ((THREE, "2,3-4"), (SHIFTED, "1,2-3"), (TWO, "2,3-4"))
        families = [design_family(p, read_sizes(s), folder=Path(folder), workers=1).family for p, s in sizes]
        documents = [family_document(family) for family in families]
    else:
        others = {THREE: ("0.2", "0.3", "0.5"), TWO: ("0.3", "0.7")}
        documents = []
        for problem, other in others.items():
            r = robust_design(problem, [problem.prior, IidPrior(tuple(map(Fraction, other)))], workers=1)
            references = tuple((d.mechanism, d.certificate) for d in r.references)
            documents.append(robust_document(RobustFile(r.mechanism, r.certificate, r.weights, references)))
    return tuple(json.dumps(document) for document in documents)


def places(document: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to every value of a document."""
    if way:
        yield way
    inside = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    for key, value in inside:
        yield from places(value, (*way, key))


def changeable(document: Document) -> list[tuple[Any, ...]]:
    """All places but the two halves of a mechanism and its certificate, which are two files."""
    return [way for way in places(document) if way not in (("m",), ("c",))]


def at(document: Any, way: tuple[Any, ...]) -> Any:
    for key in way:
        document = document[key]
    return document


def forged(document: Document, rng: random.Random) -> Document:
    """One change of a copy of the document, and what a careful forger repairs after it."""
    fresh = copy.deepcopy(document)
    kinds: dict[str, list[tuple[Any, ...]]] = {}
    for way in changeable(fresh):
        name = "/".join(str(key) for key in way if isinstance(key, str))
        kinds.setdefault(name, []).append(way)
    way = rng.choice(kinds[rng.choice(sorted(kinds))])  # every key as often as every other, however many entries it has
    change(fresh, way, rng)
    for _ in range(rng.choice((0, 0, 1))):
        change(fresh, rng.choice(list(changeable(fresh))), rng)
    repair(fresh, rng)
    return fresh


def change(document: Document, way: tuple[Any, ...], rng: random.Random) -> None:
    """Change what stands at a place."""
    parent, key = at(document, way[:-1]), way[-1]
    value = parent[key]
    if isinstance(value, bool) or value is None:
        parent[key] = rng.choice((0, 1, None))
    elif isinstance(value, int):
        parent[key] = rng.choice((value + 1, value - 1, 0, -value, value * 10, 10**6))
    elif isinstance(value, str) and key == "flows":
        parent[key] = changed_flows(value, rng)
    elif isinstance(value, str):
        parent[key] = changed_text(value, parent, rng)
    elif isinstance(value, list) and value:
        i, j = rng.randrange(len(value)), rng.randrange(len(value))
        rng.choice(
            (
                lambda: value.__delitem__(i),
                lambda: value.append(copy.deepcopy(value[i])),
                lambda: value.__setitem__(slice(None), value[::-1]),
                lambda: value.__setitem__(i, copy.deepcopy(value[j])),
            )
        )()
    elif isinstance(value, dict) and value:
        swapped = parent[rng.choice([k for k, v in items(parent) if isinstance(v, dict)])]
        if rng.random() < 0.5:
            parent[key] = copy.deepcopy(swapped)
        elif isinstance(parent, dict):
            del parent[key]


def items(parent: Any) -> list[tuple[Any, Any]]:
    return list(parent.items()) if isinstance(parent, dict) else list(enumerate(parent))


def changed_flows(text: str, rng: random.Random) -> str:
    flows = [list(flow) for flow in unpacked(text)]
    if flows and rng.random() < 0.9:
        flow, part = rng.choice(flows), rng.randrange(3)
        flow[part] = max(0, rng.choice((flow[part] + 1, flow[part] - 1, flow[part] * 2, 0, flow[part] + 10**9)))
    else:
        flows.append([0, 1, 10**12])
    return packed(tuple(tuple(flow) for flow in flows))


def changed_text(text: str, parent: Any, rng: random.Random) -> str:
    try:
        number = Fraction(text)
    except (ValueError, ZeroDivisionError):
        others = [v for _, v in items(parent) if isinstance(v, str)]
        return rng.choice((*others, text + "x", text[:-1]))
    tiny = Fraction(1, 10 ** rng.choice((3, 6, 8)))
    moved = rng.choice(
        (
            number + 1,
            number - 1,
            number * (1 + tiny),
            number * (1 - tiny),
            -number,
            Fraction(0),
            number * 2,
            number / 2,
            number + tiny,
            number - tiny,
            Fraction(1, 1000),
        )
    )
    return str(moved)


def repair(document: Document, rng: random.Random) -> None:
    """Hashes made to fit, claims made to agree, witnesses thrown away: whatever hides the change."""
    level = rng.choice(("none", "hash", "hash", "agree", "agree", "strip"))
    for mechanism, certificate in parts(document):
        try:
            if level in ("agree", "strip"):
                claim = certificate.get("optimality")
                if claim is not None:
                    mechanism["claims"] = {"value": claim["value"], "bound": claim["bound"]}
                certificate["privacy"]["epsilon"] = mechanism["guarantee"]["epsilon"]
            if level == "strip":
                certificate.pop("optimality", None)
            if level != "none":
                certificate["mechanism"] = mechanism_hash(mechanism_from_document(mechanism))
        except (DiscreetError, KeyError, TypeError, AttributeError):
            continue


def parts(document: Document) -> Iterator[tuple[Any, Any]]:
    """Every mechanism document with its certificate's."""
    if "m" in document:
        yield document["m"], document.get("c", {})
    for holder in (document, *document.get("members", ()), *document.get("references", ())):
        if isinstance(holder, dict) and "mechanism" in holder and "certificate" in holder:
            yield holder["mechanism"], holder["certificate"]
