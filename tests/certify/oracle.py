"""Which claims of an accepted file are lies, by other means than the checker's.

Privacy by the standalone verifier, payoffs by enumeration, bounds by a linear program solved in floats. A lie that the verdict
does not name as unproved is a false acceptance.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from forger import Document, parts
from scipy.optimize import linprog

from discreet import verify_standalone
from discreet.certify import verdict
from discreet.files.canonical import document_hash
from discreet.files.certificate import certificate_from_document
from discreet.files.family import family_from_document
from discreet.files.mechanism import mechanism_from_document, mechanism_hash
from discreet.files.problem_document import problem_document
from discreet.files.robust import robust_from_document
from discreet.model.mechanism import Mechanism
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem, believed
from discreet.model.universe import Universe

NEAR = 1e-9
"""How far floats of the oracle may be off; a smaller lie of the forger's is taken for the truth."""


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
