"""Fifty random problems of every kind: the design's value and bound enclose HiGHS's optimum of the whole program.

Seeds are fixed, so there is no false alarm: HiGHS is asked for 1e-10 and trusted to 1e-7 of the largest payoff.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
from design_worlds import (
    World,
    document,
    loss_table,
    optimum,
    problem,
    random_decision,
    random_document,
    world,
)

from discreet.certify import privacy
from discreet.certify.optimality import optimality
from discreet.design import design
from discreet.model.certificate import Certificate, OptimalityClaim

WANTED = 1e-6


def encloses(doc: dict, listed: World) -> None:
    """The design is private, as good as proved, and the optimum lies between its two numbers."""
    found = design(problem(doc))
    losses = loss_table(doc, listed.omegas)
    best = optimum(listed, losses, float(Fraction(doc["privacy"]["epsilon"])))
    trust = 1e-7 * max(float(np.abs(losses).max()), 1e-3)
    assert float(found.lower_bound) <= best + trust
    assert float(found.loss) >= best - trust
    assert float(found.loss - found.lower_bound) <= max(WANTED * abs(float(found.value)), trust)
    assert isinstance(privacy(found.mechanism), Certificate)
    assert isinstance(optimality(found.mechanism, found.claim), OptimalityClaim)
    for name, baseline in found.baselines.items():
        if name != "full information" and baseline.loss is not None:
            assert baseline.loss >= float(found.loss) - max(2 * WANTED * abs(float(found.loss)), trust), name


@pytest.mark.parametrize("seed", range(50))
def test_a_small_problem_of_any_kind(seed: int) -> None:
    doc = random_document(Random(seed))
    encloses(doc, world(doc))


@pytest.mark.parametrize("seed", range(6))
def test_an_exchangeable_problem_with_more_histograms(seed: int) -> None:
    random = Random(1000 + seed)
    respondents, types = random.choice([(12, 3), (7, 4), (25, 2), (10, 3)])
    values = random.choice([range(types), (0, 1, 5, 9)[:types], ("-1", "1/2", "2", "3")[:types]])
    parts = [random.randint(1, 9) for _ in range(types)]
    prior = [f"{part}/{sum(parts)}" for part in parts]
    if seed % 2:
        prior = {"kind": "exchangeable", "concentration": [str(part) for part in parts]}
    doc = document(respondents, values, prior, epsilon=random.choice([".5", "1", "2"]))
    listed = world(doc, histograms=True)
    omegas = sorted(set(listed.omegas))
    low, high = omegas[0], omegas[-1]
    kind = random.choice(["squared-error", "absolute-error", "table"])
    if kind == "table":
        rows = [[str(random.randint(-5, 5)) for _ in omegas] for _ in range(3)]
        doc["decision"] = {"kind": kind, "actions": ["x", "y", "z"], "payoff": rows}
    else:
        doc["decision"] = {"kind": kind, "actions": {"from": str(low), "to": str(high), "step": str((high - low) / 4)}}
    encloses(doc, listed)


@pytest.mark.parametrize("seed", range(6))
def test_add_remove_one(seed: int) -> None:
    random = Random(2000 + seed)
    most, types = random.choice([(3, 2), (4, 2), (2, 3), (3, 3)])
    least = random.choice([0, 1])
    parts = [random.randint(1, 9) for _ in range(types)]
    p = [Fraction(part, sum(parts)) for part in parts]
    values = [Fraction(v) for v in (1, 2, 4)[:types]]
    sizes = range(least, most + 1)
    doc = document(
        {"from": least, "to": most},
        values,
        {"kind": "iid", "probabilities": [str(x) for x in p], "size": "uniform"},
        None,
        random.choice([".5", "1", "2"]),
        neighbours="add-remove-one",
    )
    states = [h for h in product(range(most + 1), repeat=types) if least <= sum(h) <= most]
    place = {h: i for i, h in enumerate(states)}
    chances, omegas = [], []
    for h in states:
        ways, left = 1.0, sum(h)
        for count, x in zip(h, p, strict=True):
            ways *= _choose(left, count) * float(x) ** count
            left -= count
        chances.append(ways / len(sizes))
        omegas.append(sum((c * v for c, v in zip(h, values, strict=True)), Fraction(0)))
    edges = [(place[h], place[more]) for h in states for t in range(types) if (more := (*h[:t], h[t] + 1, *h[t + 1 :])) in place]
    doc["decision"] = random_decision(random, sorted(set(omegas)))
    encloses(doc, World(states, np.array(chances), omegas, edges))


def _choose(n: int, k: int) -> int:
    from math import comb

    return comb(n, k)


@pytest.mark.parametrize("seed", range(6))
def test_a_given_graph(seed: int) -> None:
    """States by name, in one piece or in several."""
    random = Random(3000 + seed)
    names = [f"db{i}" for i in range(random.randint(3, 9))]
    edges = [(i, j) for i in range(len(names)) for j in range(i) if random.random() < (0.5 if seed % 2 else 0.2)]
    parts = [random.randint(0, 5) for _ in names]
    parts[0] += 1
    omegas = [Fraction(random.randint(-3, 6), random.choice([1, 2])) for _ in names]
    doc = {
        "data": {"neighbours": {"states": names, "edges": [[names[i], names[j]] for i, j in edges]}},
        "prior": {
            "kind": "table",
            "probabilities": {name: f"{part}/{sum(parts)}" for name, part in zip(names, parts, strict=True)},
        },
        "statistic": {"kind": "table", "values": dict(zip(names, map(str, omegas), strict=True))},
        "decision": random_decision(random, sorted(set(omegas))),
        "privacy": {"epsilon": random.choice([".5", "1", "2"])},
    }
    chances = np.array([part / sum(parts) for part in parts])
    encloses(doc, World([(i,) for i in range(len(names))], chances, omegas, edges))


@pytest.mark.parametrize("seed", range(6))
def test_real_actions_against_a_fine_grid(seed: int) -> None:
    """The optimum over a grid of width δ is at most δ²/4 (squared error) or 0 (kinks on the grid) above the real one."""
    random = Random(4000 + seed)
    respondents, types = random.choice([(2, 3), (3, 3), (4, 2), (3, 2)])
    kind = "squared-error" if seed % 2 else random.choice(["absolute-error", "pinball"])
    parts = [random.randint(1, 9) for _ in range(types)]
    doc = document(respondents, range(types), [f"{x}/{sum(parts)}" for x in parts], epsilon=random.choice([".5", "1", "2"]))
    if types == 2:
        rows = [random.randint(1, 9) for _ in range(respondents)]
        doc["prior"] = {"kind": "independent", "probabilities": [[f"{x}/10", f"{10 - x}/10"] for x in rows]}
    listed = world(doc)
    top, width = max(listed.omegas), Fraction(1, 10)
    extra = {"quantile": "3/4"} if kind == "pinball" else {}
    grid = {"kind": kind, "actions": {"from": "0", "to": str(top), "step": str(width)}} | extra
    best = optimum(listed, loss_table(doc, listed.omegas, grid), float(Fraction(doc["privacy"]["epsilon"])))
    found = design(problem(doc | {"decision": {"kind": kind, "actions": "real"} | extra}))
    coarse = float(width**2 / 4) if kind == "squared-error" else 0.0
    assert best - coarse - 1e-7 <= float(found.loss) <= best + 1e-6 * best + 1e-7
    assert float(found.lower_bound) <= best + 1e-7
    assert found.relative_gap <= 1e-6
