"""Random forgeries of mechanism, family and robust files, and an oracle that says which of them tell a lie.

A forger changes one thing of an honest file (a digit, a sign, a label, an entry, a multiplier, two members' certificates) and then
repairs what would give it away: hashes, the claims that must agree. `lies(document, verdict)` judges a file that was accepted by
other means than the checker's: privacy by the standalone verifier, payoffs by enumeration, bounds by a linear program solved in
floats. A lie that the verdict does not name as unproved is a false acceptance.

    python tests/certify/forged_files.py family 7000 [SEED]
"""

from __future__ import annotations

import copy
import json
import math
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import numpy as np
from scipy.optimize import linprog

from discreet import verify_standalone
from discreet.certify import verdict
from discreet.design import design
from discreet.design.questions.family import design_family
from discreet.design.questions.robust import robust_design
from discreet.errors import DiscreetError
from discreet.files.canonical import document_hash
from discreet.files.certificate import _packed, _unpacked, certificate_document, certificate_from_document
from discreet.files.family import family_document, family_from_document
from discreet.files.mechanism import mechanism_document, mechanism_from_document, mechanism_hash
from discreet.files.problem_document import problem_document
from discreet.files.robust import RobustFile, robust_document, robust_from_document
from discreet.files.sizes import read_sizes
from discreet.model.decision import Decision
from discreet.model.losses import loss_of
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem, believed
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.universe import Universe

Document = dict[str, Any]
NEAR = 1e-9
"""How far floats of the oracle may be off; a smaller lie of the forger's is taken for the truth."""


# --- honest files -----------------------------------------------------------------------------------------------------
def problem_of(values: tuple[int, ...], probabilities: tuple[str, ...], kind: str = "squared-error") -> Problem:
    from discreet.model.actions import ListedActions

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
    from pathlib import Path

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


# --- the forger -------------------------------------------------------------------------------------------------------
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
    flows = [list(flow) for flow in _unpacked(text)]
    if flows and rng.random() < 0.9:
        flow, part = rng.choice(flows), rng.randrange(3)
        flow[part] = max(0, rng.choice((flow[part] + 1, flow[part] - 1, flow[part] * 2, 0, flow[part] + 10**9)))
    else:
        flows.append([0, 1, 10**12])
    return _packed(tuple(tuple(flow) for flow in flows))


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


# --- the oracle -------------------------------------------------------------------------------------------------------
def judged(kind: str, document: Document) -> verdict.Verdict:
    """The checker's verdict on a document."""
    if kind == "mechanism":
        return verdict.of_mechanism(mechanism_from_document(document["m"]), certificate_from_document(document["c"]))
    if kind == "family":
        return verdict.of_family(family_from_document(document), document_hash(document))
    return verdict.of_robust(robust_from_document(document), document_hash(document))


def lies(kind: str, document: Document, found: verdict.Verdict) -> list[str]:
    """What an accepted document says that is not so and that the verdict does not name as unproved."""
    wrong = [lie for m, c in parts(document) for lie in _lies(m, c, found)]
    if kind == "family":
        wrong += [lie for member in document["members"] for lie in _member_lies(member, found)]
    if kind == "robust":
        assert isinstance(found, verdict.RobustVerdict) and found.regret is not None
        wrong += _robust_lies(document, found.regret)
    return wrong


def _lies(stated: Document, certificate: Document, found: verdict.Verdict) -> list[str]:
    mechanism = mechanism_from_document(stated)
    proof, guarantee = certificate["privacy"], mechanism.guarantee
    try:
        _, low, high, _, _ = verify_standalone.prove(stated)
    except verify_standalone.Refuted as reason:
        return [f"not private: {reason}"]
    wrong = []
    tight = [float(Fraction(end)) for end in proof["tight"]]
    if Fraction(proof["epsilon"]) != guarantee.epsilon or not tight[0] - NEAR <= high or not low <= tight[1] + NEAR:
        wrong.append("certificate.privacy")
    if certificate["mechanism"] != mechanism_hash(mechanism):
        wrong.append("certificate.mechanism")
    wrong += _place_lies(stated, mechanism, proof, float(low), float(high))
    claim = certificate.get("optimality")
    unproved = " ".join(found.not_proved)
    if claim is None:
        return wrong + [key for key in stated["claims"] if key not in unproved]
    if any(Fraction(stated["claims"][key]) != Fraction(claim[key]) for key in stated["claims"]):
        wrong.append("claims")
    if float(Fraction(claim["value"])) > payoff(mechanism, mechanism.problem) + NEAR:
        wrong.append("value")
    asked = mechanism.problem.with_promise(guarantee.promise)
    if float(Fraction(claim["bound"])) < best_payoff(json.dumps(problem_document(asked)), asked) - NEAR:
        wrong.append("bound")
    return wrong


def _place_lies(stated: Document, mechanism: Mechanism, proof: Document, low: float, high: float) -> list[str]:
    """Edge, output and the two counts, against the standalone's graph or the kernel's own range."""
    kernel = stated["kernel"]
    if kernel["family"] == "table":
        states, edges = verify_standalone.graph(stated["problem"], stated["summary"])
        wrong = [key for key, size in (("edges", len(edges)), ("outputs", len(kernel["outputs"]))) if proof[key] != size]
        labels = [output["label"] for output in kernel["outputs"]]
    else:
        states = [str(k) for k in range(kernel["from"], kernel["to"] + 1)]
        wrong = [key for key, size in (("outputs", len(states)),) if proof[key] != size]
        labels = states
    if (proof["witness"] == "edge-check") != (kernel["family"] == "table"):
        wrong.append("witness")
    if proof.get("edge") is None:
        return wrong + (["no edge"] if high > NEAR else [])
    if not {*proof["edge"]} <= {*mechanism.space.labels} or proof.get("output") not in labels:
        return [*wrong, "edge or output"]
    a, b = (mechanism.space.labels.index(name) for name in proof["edge"])
    ratio = mechanism.probability(labels.index(proof["output"]), a) / mechanism.probability(labels.index(proof["output"]), b)
    return wrong + ([] if low - NEAR <= math.log(ratio) <= high + NEAR else ["edge or output"])


def _member_lies(member: Document, found: verdict.Verdict) -> list[str]:
    mechanism, absent = mechanism_from_document(member["mechanism"]), member.get("absent")
    universe = mechanism.problem.universe
    assert isinstance(universe, Universe)
    if absent is not None and universe.values[absent] != 0:
        return ["absent"]
    wrong = []
    for size, value in member["values"].items():
        if f"payoff at size {size}" in " ".join(found.not_proved):
            continue
        true = payoff(mechanism, mechanism.problem)
        if absent is not None:
            true = _payoff_of_size(mechanism, absent, Fraction(member["absent_probability"]), int(size))
        if float(Fraction(value)) > true + NEAR:
            wrong.append(f"values.{size}")
    return wrong


def _payoff_of_size(mechanism: Mechanism, absent: int, empty: Fraction, size: int) -> float:
    """Respondents one after the other, each with the prior's law given that he is there."""
    problem = mechanism.problem
    universe, prior = problem.universe, problem.prior
    assert isinstance(universe, Universe) and isinstance(prior, IidPrior)
    law = [float((p - empty * (t == absent)) / (1 - empty)) for t, p in enumerate(prior.probabilities)]
    empty_places = tuple((universe.respondents - size) * (t == absent) for t in range(universe.types))
    cells: dict[tuple[int, ...], float] = {empty_places: 1.0}
    for _ in range(size):
        following: dict[tuple[int, ...], float] = {}
        for counts, mass in cells.items():
            for t, p in enumerate(law):
                more = tuple(c + (i == t) for i, c in enumerate(counts))
                following[more] = following.get(more, 0.0) + mass * p
        cells = following
    return sum(mass * _payoff_at(mechanism, problem, counts) for counts, mass in cells.items() if mass)


def _payoff_at(mechanism: Mechanism, problem: Problem, counts: tuple[int, ...]) -> float:
    universe = problem.universe
    assert isinstance(universe, Universe)
    omega = sum((c * v for c, v in zip(counts, universe.values, strict=True)), Fraction(0))
    state = int(mechanism.states_of(np.array([counts]))[0])
    return sum(
        float(mechanism.probability(k, state) * problem.decision.payoff(output.action, omega))  # type: ignore[arg-type]
        for k, output in enumerate(mechanism.outputs)
    ) * float(problem.decision.weight)


def payoff(mechanism: Mechanism, problem: Problem) -> float:
    """The expected payoff, histogram by histogram."""
    space = problem.finest()
    masses = believed(problem, space).weights.floats()
    return sum(m * _payoff_at(mechanism, problem, tuple(v)) for m, v in zip(masses, space.vectors.tolist(), strict=True) if m)


@lru_cache(maxsize=4096)
def _optimum(key: str, problem: Problem) -> float:
    space = problem.finest()
    belief = believed(problem, space)
    decision, actions = problem.decision, list(problem.decision.actions)  # type: ignore[arg-type]
    masses = belief.weights.floats() * float(decision.weight)
    states, factor = len(space), math.exp(float(problem.epsilon))
    gains = np.array([[m * float(decision.payoff(a, w)) for m, w in zip(masses, belief.omegas, strict=True)] for a in actions])
    rows = []
    for k in range(len(actions)):
        for a, b in (pair for i, j in space.edges.tolist() for pair in ((i, j), (j, i))):
            row = np.zeros(states * len(actions))
            row[k * states + a], row[k * states + b] = 1.0, -factor
            rows.append(row)
    sums = np.tile(np.eye(states), (1, len(actions)))
    found = linprog(-gains.ravel(), A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(states))
    return float(-found.fun)


def best_payoff(key: str, problem: Problem) -> float:
    """What the best private mechanism is worth, by a linear program in floats; `key` tells problems apart."""
    return _optimum(key, problem)


def _robust_lies(document: Document, regret: Any) -> list[str]:
    robust = robust_from_document(document)
    problem = robust.mechanism.problem.with_promise(robust.mechanism.guarantee.promise)
    worst = 0.0
    for prior in robust.priors:
        own = replace(problem, prior=prior)
        worst = max(worst, best_payoff(json.dumps(problem_document(own)), own) - payoff(robust.mechanism, own))
    return (["worst"] if float(regret.worst) < worst - NEAR else []) + (["least"] if float(regret.least) > worst + NEAR else [])


def campaign(kind: str, count: int, seed: int, folder: str) -> tuple[Counter[str], list[tuple[list[str], Document]]]:
    """Outcomes of so many forgeries, and the false acceptances."""
    rng = random.Random(seed)
    documents = [json.loads(text) for text in honest(kind, folder)]
    outcomes: Counter[str] = Counter()
    believed_lies = []
    while sum(outcomes.values()) < count:
        document = forged(rng.choice(documents), rng)
        if document in documents:
            continue
        try:
            found = judged(kind, document)
        except DiscreetError as error:
            outcomes["refuted" if error.exit_code == 1 else "refused"] += 1
            continue
        if not found.proved:
            outcomes["refuted"] += 1
            continue
        wrong = lies(kind, document, found)
        outcomes["false acceptance" if wrong else "true, or named as not proved"] += 1
        if wrong:
            believed_lies.append((wrong, document))
    return outcomes, believed_lies


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        result, accepted = campaign(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1, place)
    print(dict(result))  # noqa: T201
    for words, text in accepted[:20]:
        print(words, json.dumps(text)[:2000])  # noqa: T201
    sys.exit(bool(accepted))
