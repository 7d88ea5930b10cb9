"""Extreme points: integer labellings of the neighbour graph with a spanning tree of tight edges.

A vertex of K attains n − 1 independent privacy bounds on its component, so the edges whose bound it attains connect
the component, and along each of them π/π0 changes by the factor e^{±ε}:

    π(i) ∝ π0(i)·e^{ε k(i)},  k integer,  |k(i) − k(j)| ≤ 1 on every edge,  tight edges (|k(i)−k(j)| = 1) connected.

Conversely each such labelling is a vertex. Labellings are counted up to a constant; min k = 0. The labelling is the
exact vertex: no number is rounded until a rational ratio is put in the place of e^ε. Where the graph has several
components a vertex lives on one of them (exponent None elsewhere); at ε = 0 each component has the single vertex
k = 0. References: SY Lemma 6, SY Cor. 4. On a bipartite graph (two types) every edge is tight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import TooLarge
from discreet.geometry.beliefs import Belief
from discreet.geometry.private_beliefs import PrivateBeliefs

MOST_LABELLINGS = 1_500_000
"""The most labellings, complete or not, that are held at once."""


@dataclass(frozen=True)
class ExtremePoint:
    """Exponents k(i) of e^ε, None where the belief is zero."""

    exponents: tuple[int | None, ...]

    def weights(self, prior: Sequence[Fraction], ratio: Fraction) -> tuple[Fraction, ...]:
        """π0(i)·ratio^k(i), not normalised."""
        powers: dict[int, Fraction] = {k: ratio**k for k in set(self.exponents) if k is not None}
        return tuple(Fraction(0) if k is None else p * powers[k] for p, k in zip(prior, self.exponents, strict=True))

    def belief(self, prior: Sequence[Fraction], ratio: Fraction) -> Belief:
        """The vertex of the polytope in which e^ε is the rational `ratio`."""
        weights = self.weights(prior, ratio)
        total = sum(weights, Fraction(0))
        return tuple(w / total for w in weights)

    def tight(self, edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """The edges whose privacy bound this point attains."""
        k = self.exponents
        found = []
        for i, j in edges:
            a, b = k[i], k[j]
            if a is not None and b is not None and abs(a - b) == 1:
                found.append((i, j))
        return found


def extreme_points(polytope: PrivateBeliefs) -> tuple[ExtremePoint, ...]:
    """Every vertex of the polytope, exactly."""
    table = extreme_labels(polytope)
    return tuple(ExtremePoint(tuple(None if k < 0 else k for k in row)) for row in table.tolist())


def extreme_point_count(polytope: PrivateBeliefs) -> int:
    """How many vertices the polytope has."""
    return len(extreme_labels(polytope))


def extreme_labels(polytope: PrivateBeliefs) -> np.ndarray:
    """Exponents [vertex, state], −1 where a vertex is zero; int16."""
    parts = []
    for component in polytope.components:
        inner = (
            np.zeros((1, len(component)), dtype=np.int16)
            if polytope.epsilon == 0 or len(component) == 1
            else _component_labels(polytope, component)
        )
        labels = np.full((len(inner), len(polytope)), -1, dtype=np.int16)
        labels[:, list(component)] = inner
        parts.append(labels)
    return np.concatenate(parts)


def beliefs_of_labels(labels: np.ndarray, prior: Sequence[Fraction], epsilon: float) -> np.ndarray:
    """Floating-point beliefs [vertex, state] of exponents as `extreme_labels` gives them."""
    weights = likelihoods_of_labels(labels, epsilon) * np.array([float(p) for p in prior])
    scaled: np.ndarray = weights / weights.sum(axis=1, keepdims=True)
    return scaled


def likelihoods_of_labels(labels: np.ndarray, epsilon: float) -> np.ndarray:
    """e^{ε(k − max k)} [vertex, state], zero where a vertex is; never above one."""
    return np.where(labels < 0, 0.0, np.exp(epsilon * (labels - labels.max(axis=1, keepdims=True))))


def _component_labels(polytope: PrivateBeliefs, order: tuple[int, ...]) -> np.ndarray:
    """Labellings of one component, a state at a time in breadth-first order, all partial ones side by side."""
    place = {state: i for i, state in enumerate(order)}
    earlier = [[place[s] for s in polytope.around[state] if place[s] < i] for i, state in enumerate(order)]
    last_neighbour = [max(place[s] for s in polytope.around[state]) for state in order]
    even = _two_colouring(polytope, order)
    labels = np.zeros((1, 1), dtype=np.int16)
    for i in range(1, len(order)):
        near = labels[:, earlier[i]]
        low, high = near.max(axis=1) - 1, near.min(axis=1) + 1
        grown = []
        for step in (0, 2) if even else (0, 1, 2):
            kept = low + step <= high
            grown.append(np.column_stack([labels[kept], (low + step)[kept]]))
        _must_fit(sum(map(len, grown)), polytope)
        labels = np.concatenate(grown)
        for done in range(i + 1):
            if max(last_neighbour[done], done) == i:
                around = [place[s] for s in polytope.around[order[done]]]
                tight = np.abs(labels[:, around] - labels[:, [done]]) == 1
                labels = labels[tight.any(axis=1)]
    labels = labels[_tightly_connected(labels, [[place[s] for s in polytope.around[state]] for state in order])]
    return labels - labels.min(axis=1, keepdims=True)


def _tightly_connected(labels: np.ndarray, around: list[list[int]]) -> np.ndarray:
    """Whether the tight edges of each row connect all states: spread from the first state until nothing changes."""
    reached = np.zeros(labels.shape, dtype=bool)
    reached[:, 0] = True
    while True:
        before = reached.sum()
        for i, near in enumerate(around):
            touching = reached[:, near] & (np.abs(labels[:, near] - labels[:, [i]]) == 1)
            reached[:, i] |= touching.any(axis=1)
        if reached.sum() == before:
            return np.asarray(reached.all(axis=1))


def _two_colouring(polytope: PrivateBeliefs, order: tuple[int, ...]) -> bool:
    """Whether the component is bipartite: then labels along tight edges alternate in parity, so every edge is tight."""
    colour = {order[0]: 0}
    for state in order:
        for there in polytope.around[state]:
            if colour.setdefault(there, 1 - colour[state]) == colour[state]:
                return False
    return True


def _must_fit(count: int, polytope: PrivateBeliefs) -> None:
    if count > MOST_LABELLINGS:
        raise TooLarge(
            f"{polytope.name} has too many extreme points to list",
            size=f"{len(polytope)} states and more than {MOST_LABELLINGS:,} labellings",
            fits="for instance 5 respondents of 2 types, 2 respondents of 3 types, or a statistic with about 15 values",
            remedy="solve the design program instead, or look at the statistic alone (K_Omega)",
        )
