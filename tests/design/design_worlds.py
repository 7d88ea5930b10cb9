"""Problems as documents, and the same problems solved by brute force from the document alone.

`World` lists every database (or histogram) with its prior, its statistic and its neighbours, written again from the
definitions; `optimum` hands SY's program (2) over all of them to HiGHS. Nothing here uses the library but `problem`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp, factorial, gamma, prod
from random import Random
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from discreet.files.problem import problem_from_document
from discreet.model.problem import Problem

Document = dict[str, Any]


def problem(document: Document) -> Problem:
    return problem_from_document(document)


def document(
    respondents: Any = 3,
    values: Any = (0, 1, 2),
    prior: Any = ("1/2", "1/3", "1/6"),
    decision: Any = None,
    epsilon: Any = 1,
    statistic: Any = "sum",
    neighbours: Any = None,
) -> Document:
    """A problem document with sensible parts; a list of probabilities stands for an iid prior."""
    data: Document = {"respondents": respondents, "values": [str(v) for v in values]}
    if neighbours is not None:
        data["neighbours"] = neighbours
    return {
        "data": data,
        "prior": prior if isinstance(prior, dict) else {"kind": "iid", "probabilities": [str(p) for p in prior]},
        "statistic": statistic if isinstance(statistic, dict) else {"kind": statistic},
        "decision": decision or {"kind": "squared-error", "actions": "integer"},
        "privacy": {"epsilon": str(epsilon)},
    }


def school(respondents: int, actions: Any = "integer", types: int = 3, epsilon: Any = 1) -> Document:
    """The school-planning family: SY Example 1 has 40 households, three types and ε = 1."""
    prior = {2: (".89", ".11"), 3: (".89", ".09", ".02"), 4: (".86", ".09", ".03", ".02")}[types]
    return document(respondents, range(types), prior, {"kind": "squared-error", "actions": actions}, epsilon)


@dataclass(frozen=True)
class World:
    """States with prior probability, statistic and neighbours (pairs of positions)."""

    states: list[tuple[int, ...]]
    prior: np.ndarray
    omegas: list[Fraction]
    edges: list[tuple[int, int]]


def world(doc: Document, histograms: bool = False) -> World:
    """Every database of a document with replace-one neighbours and fixed respondents, or every histogram."""
    n, types = doc["data"]["respondents"], len(doc["data"]["values"])
    databases = list(product(range(types), repeat=n)) if not histograms else []
    if histograms:
        counts = [tuple(c.count(t) for t in range(types)) for c in combinations_with_replacement(range(types), n)]
        weights = [arrangements(h) * chance(doc, spread(h)) for h in counts]
        omegas = [statistic(doc, spread(h)) for h in counts]
        place = {h: i for i, h in enumerate(counts)}
        edges = {(place[h], place[moved]) for h in counts for moved in moves(h) if place[h] < place[moved]}
        return World(counts, np.array(weights, dtype=float), omegas, sorted(edges))
    place = {d: i for i, d in enumerate(databases)}
    edges = {
        (place[d], place[other])
        for d in databases
        for i in range(n)
        for t in range(types)
        if place[d] < place[other := (*d[:i], t, *d[i + 1 :])]
    }
    chances = np.array([float(chance(doc, d)) for d in databases])
    return World(databases, chances, [statistic(doc, d) for d in databases], sorted(edges))


def moves(histogram: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for i, j in product(range(len(histogram)), repeat=2):
        if i != j and histogram[i]:
            moved = list(histogram)
            moved[i] -= 1
            moved[j] += 1
            yield tuple(moved)


def spread(histogram: tuple[int, ...]) -> tuple[int, ...]:
    """One database with this histogram."""
    return tuple(t for t, count in enumerate(histogram) for _ in range(count))


def arrangements(histogram: tuple[int, ...]) -> int:
    return factorial(sum(histogram)) // prod(factorial(c) for c in histogram)


def chance(doc: Document, database: tuple[int, ...]) -> float:
    """The prior probability of one database."""
    prior, types = doc["prior"], len(doc["data"]["values"])
    counts = tuple(database.count(t) for t in range(types))
    if prior["kind"] == "iid":
        return float(prod(Fraction(prior["probabilities"][t]) for t in database))
    if prior["kind"] == "independent":
        return float(prod(Fraction(row[t]) for row, t in zip(prior["probabilities"], database, strict=True)))
    if prior["kind"] == "table":
        return float(Fraction(prior["probabilities"].get(",".join(map(str, database)), 0)))
    if "histogram" in prior:
        return float(Fraction(prior["histogram"].get(",".join(map(str, counts)), 0))) / arrangements(counts)
    alpha = [float(Fraction(a)) for a in prior["concentration"]]
    total = sum(alpha)
    ratio = gamma(total) / gamma(total + len(database))
    return ratio * prod(gamma(a + c) / gamma(a) for a, c in zip(alpha, counts, strict=True))


def statistic(doc: Document, database: tuple[int, ...]) -> Fraction:
    kind = doc["statistic"]["kind"]
    if kind == "table":
        return Fraction(doc["statistic"]["values"][",".join(map(str, database))])
    if kind == "count":
        return Fraction(sum(t in doc["statistic"]["of"] for t in database))
    total = sum((Fraction(doc["data"]["values"][t]) for t in database), Fraction(0))
    return total if kind == "sum" else total / len(database)


def optimum(world: World, loss: np.ndarray, epsilon: float) -> float:
    """The least expected loss of any ε-private mechanism; `loss` is [action, state]."""
    actions, states = loss.shape
    rows, columns, entries = [], [], []
    for a in range(actions):
        for i, j in [*world.edges, *((j, i) for i, j in world.edges)]:
            rows += [len(rows) // 2] * 2
            columns += [a * states + i, a * states + j]
            entries += [1.0, -exp(epsilon)]
    edge_count = 2 * len(world.edges) * actions
    upper = coo_array((entries, (rows, columns)), shape=(edge_count, actions * states)) if edge_count else None
    index = np.arange(actions * states)
    whole = coo_array((np.ones(len(index)), (index % states, index)), shape=(states, len(index)))
    found = linprog(
        (loss * world.prior).ravel(),
        A_ub=upper,
        b_ub=None if upper is None else np.zeros(edge_count),
        A_eq=whole,
        b_eq=np.ones(states),
        bounds=(0, 1),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0, found.message
    return float(found.fun)


def payoff(decision: Document, action: Any, omega: Fraction, omegas: list[Fraction]) -> float:
    """u(a, ω) of one decision, from its document."""
    kind = decision["kind"]
    if kind == "table":
        return float(Fraction(decision["payoff"][decision["actions"].index(action)][omegas.index(omega)]))
    a, w = float(Fraction(action)), float(omega)
    if kind == "expression":
        return float(eval(decision["payoff"], {"__builtins__": {}}, {"a": a, "omega": w, "abs": abs, "max": max}))  # noqa: S307
    if kind == "match":
        return float(a == w)
    if kind == "pinball":
        q = float(Fraction(decision["quantile"]))
        return -max(q * (w - a), (q - 1) * (w - a))
    return -((a - w) ** 2) if kind == "squared-error" else -abs(a - w)


def loss_table(doc: Document, omegas: list[Fraction], decision: Document | None = None) -> np.ndarray:
    """−weight·u [action, state] of a single decision with listed actions."""
    decision = decision or doc["decision"]
    values = sorted(set(omegas))
    actions = decision["actions"]
    if actions == "integer":
        low, high = values[0], values[-1]
        actions = range(low.numerator // low.denominator, -(-high.numerator // high.denominator) + 1)
    if isinstance(actions, dict):
        low, high, step = (Fraction(actions[key]) for key in ("from", "to", "step"))
        actions = [low + k * step for k in range(int((high - low) / step) + 1)]
    weight = float(Fraction(decision.get("weight", 1)))
    by_omega = {w: [-weight * payoff(decision, a, w, values) for a in actions] for w in values}
    return np.array([by_omega[w] for w in omegas]).T


def random_document(random: Random) -> Document:
    """A small problem of any kind."""
    respondents, types = random.choice(
        [(1, 2), (1, 4), (2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (4, 2), (4, 3), (5, 2), (5, 3), (6, 2), (8, 2)]
    )
    values = random_values(random, types)
    prior = random_prior(random, respondents, types)
    kind = random.choice(["sum", "sum", "mean", "count"])
    counted = sorted(random.sample(range(types), random.randint(1, types - 1)))
    doc = document(
        respondents,
        values,
        prior,
        None,
        random.choice([".1", ".5", "1", "2", "3"]),
        {"kind": kind} | ({"of": counted} if kind == "count" else {}),
    )
    everything = {statistic(doc, d) for d in product(range(types), repeat=respondents)}
    return doc | {"decision": random_decision(random, sorted(everything))}


def random_values(random: Random, types: int) -> list[str]:
    ways = [
        [str(t) for t in range(types)],
        ["0", "1", "5", "7"][:types],
        ["-2", "0", "3", "4"][:types],
        ["-1/2", "1/3", "3/4", "2"][:types],
    ]
    return random.choice(ways)


def random_prior(random: Random, respondents: int, types: int) -> Document:
    kind = random.choice(["iid", "independent", "table", "exchangeable", "dirichlet"])

    def simplex(size: int) -> list[str]:
        parts = [random.choice([0, 1, 2, 5]) if size > 4 else random.randint(1, 9) for _ in range(size)]
        parts[0] += 1
        return [f"{part}/{sum(parts)}" for part in parts]

    if kind == "iid":
        return {"kind": "iid", "probabilities": simplex(types)}
    if kind == "independent":
        return {"kind": "independent", "probabilities": [simplex(types) for _ in range(respondents)]}
    if kind == "dirichlet":
        return {"kind": "exchangeable", "concentration": [f"{random.randint(1, 8)}/3" for _ in range(types)]}
    if kind == "table":
        names = [",".join(map(str, d)) for d in product(range(types), repeat=respondents)]
        return {"kind": "table", "probabilities": dict(zip(names, simplex(len(names)), strict=True))}
    multisets = combinations_with_replacement(range(types), respondents)
    names = [",".join(str(c.count(t)) for t in range(types)) for c in multisets]
    return {"kind": "exchangeable", "histogram": dict(zip(names, simplex(len(names)), strict=True))}


def random_decision(random: Random, omegas: list[Fraction]) -> Document:
    kind = random.choice(["squared-error", "absolute-error", "pinball", "match", "table", "table", "expression"])
    if kind == "table":
        rows = random.randint(2, 5)
        return {
            "kind": kind,
            "actions": [f"act {i}" for i in range(rows)],
            "payoff": [[str(random.randint(-9, 9)) for _ in omegas] for _ in range(rows)],
        }
    if kind == "expression":
        formula = random.choice(["-omega/a - a/10", "(2*a - 3)*omega - a**2", "-abs(a - omega)*(1 + a)", "max(0, omega - a) - a"])
        return {"kind": kind, "actions": ["1/2", "1", "3"], "payoff": formula}
    low, high = omegas[0], omegas[-1]
    actions: Any = "integer" if high - low <= 12 else {"from": str(low), "to": str(high), "step": str((high - low) / 8)}
    if kind == "match":
        actions = [str(w) for w in omegas[:12]]
    return {"kind": kind, "actions": actions} | ({"quantile": "3/4"} if kind == "pinball" else {})
