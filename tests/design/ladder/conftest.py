"""The whole histogram program for tiny problems: the truth that bounds and mechanisms are held against."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

Optimum = Callable[..., float]


def histograms(respondents: int, types: int) -> list[tuple[int, ...]]:
    return [counts for counts in itertools.product(range(respondents + 1), repeat=types) if sum(counts) == respondents]


def full_optimum(p, v, respondents, epsilon, actions, loss=np.square) -> float:
    """Least expected loss(omega - action) of any epsilon-DP mechanism with these actions, by HiGHS."""
    states = histograms(respondents, len(p))
    index = {h: i for i, h in enumerate(states)}
    n, k = len(states), len(actions)
    prior = np.array(
        [math.factorial(respondents) * math.prod(q**c / math.factorial(c) for q, c in zip(p, h, strict=True)) for h in states]
    )
    omega = np.array([sum(c * x for c, x in zip(h, v, strict=True)) for h in states], dtype=float)
    edges = []
    for h, i in index.items():
        for a, b in itertools.permutations(range(len(p)), 2):
            if h[a]:
                other = list(h)
                other[a] -= 1
                other[b] += 1
                edges.append((i, index[tuple(other)]))
    cost = (prior[None, :] * loss(omega[None, :] - np.asarray(actions)[:, None])).ravel()
    rows, cols, data = [], [], []
    for a in range(k):
        for e, (i, j) in enumerate(edges):
            rows += [a * len(edges) + e] * 2
            cols += [a * n + i, a * n + j]
            data += [1.0, -math.exp(epsilon)]
    privacy = coo_array((data, (rows, cols)), shape=(k * len(edges), k * n)).tocsr()
    total = coo_array((np.ones(k * n), (np.tile(np.arange(n), k), np.arange(k * n))), shape=(n, k * n)).tocsr()
    solved = linprog(
        cost,
        A_ub=privacy,
        b_ub=np.zeros(k * len(edges)),
        A_eq=total,
        b_eq=np.ones(n),
        bounds=(0, 1),
        method="highs",
    )
    assert solved.status == 0
    return float(solved.fun)


@pytest.fixture(scope="session")
def optimum() -> Optimum:
    return full_optimum


def random_instance(rng: np.random.Generator, most_types: int = 4, most_respondents: int = 4):
    """(p, v, N, epsilon): few types with random, possibly negative or fractional values."""
    types = int(rng.integers(2, most_types + 1))
    p = rng.dirichlet(np.ones(types))
    v = [float(x) for x in rng.choice(np.arange(-4, 9) / 2, size=types, replace=False)]
    respondents = int(rng.integers(1, most_respondents + 1 if types < 4 else 4))
    return [float(x) for x in p], v, respondents, float(rng.choice([0.2, 0.5, 1.0, 2.0]))


@pytest.fixture(scope="session")
def instances():
    rng = np.random.default_rng(20240611)
    return [random_instance(rng) for _ in range(150)]


def action_grid(v, respondents, points=41):
    return np.linspace(respondents * min(v), respondents * max(v), points)


@pytest.fixture(scope="session")
def truths(instances):
    """(instance, least loss on a grid of actions, the most a finer grid could save)."""
    found = []
    for p, v, respondents, epsilon in instances:
        grid = action_grid(v, respondents)
        found.append(
            (
                (p, v, respondents, epsilon),
                full_optimum(p, v, respondents, epsilon, grid),
                (grid[1] - grid[0]) ** 2 / 4,
            )
        )
    return found


T5 = ([0.8, 0.1, 0.05, 0.03, 0.015, 0.005], [0, 1, 2, 3, 4, 5])
T10LIN = ([0.6**t / sum(0.6**s for s in range(11)) for t in range(11)], list(range(11)))
T10INC = (
    [0.30, 0.18, 0.14, 0.11, 0.09, 0.07, 0.05, 0.03, 0.018, 0.009, 0.003],
    [0, 1, 2, 3, 5, 8, 12, 20, 35, 60, 100],
)


@pytest.fixture(scope="session")
def named():
    return {"T5": T5, "T10lin": T10LIN, "T10inc": T10INC}
